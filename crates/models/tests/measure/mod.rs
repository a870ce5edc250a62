//! Fits and judges a forecaster of the registry.

use quadcast_core::{Dataset, Protocol, Run, Setting};
use quadcast_eval::{Outcome, fit, judge};
use quadcast_models::{find, set};

pub fn measure(model: &str, settings: &[&str], data: &Dataset, setting: Setting, seed: u64) -> Outcome {
    let entry = find(model).expect("the model exists");
    let mut config = (entry.defaults)();
    for text in settings {
        set(&mut config, text).expect("a valid setting");
    }
    let mut model = entry.forecaster(&config).expect("a valid configuration");
    let protocol = Protocol { setting, ..Protocol::default() };
    let run = Run::silent(seed);
    fit(data, &protocol, model.as_mut(), &run).expect("a model that fits");
    let judged = judge(data, &protocol, model.as_mut(), &run).expect("a fitted model");
    assert_eq!(judged.ranked.len() + judged.repeated, 2 * data.splits.test.len());
    Outcome::new(&judged.ranked, data.entities(), &protocol, seed).expect("queries")
}
