//! Random combinations of all components and settings: each learns, or is refused with a reason.

use proptest::prelude::*;
use proptest::sample::select;

use super::*;

/// The losses of thirty steps on the same questions.
pub(super) fn losses(config: &Config) -> Vec<f64> {
    let mut model = Composition::<f32>::new(config, SIZES, times(), 1);
    let mut optimiser = TableOptimiser::new(optimiser(config), &model.tables);
    let mut gradients = Gradients::zero(&model.tables);
    let (blocks, run) = (blocks(config), Run::silent(3));
    let steps = (0..30).map(|_| {
        gradients.clear();
        let learner = Learner { config, model: &model, entities: SIZES.entities };
        let loss = learner.gradients(&blocks, &run, 0, &mut gradients);
        optimiser.step(&mut model.tables, &gradients);
        loss
    });
    steps.collect()
}

/// Whether the loss falls with one of some learning rates. Adam and Adagrad take steps of the size of their rate; those of
/// gradient descent are as long as the gradient, and what swings with dates is steep.
fn learns(config: &Config) -> bool {
    let rates: &[f64] = match config.optimiser {
        OptimiserName::Sgd => &[0.1, 0.01, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7],
        OptimiserName::Adagrad | OptimiserName::Adam => &[0.01, 0.001, 1e-4],
    };
    rates.iter().any(|&learning_rate| {
        let losses = losses(&Config { learning_rate, ..config.clone() });
        losses.iter().all(|loss| loss.is_finite()) && losses[29] < losses[0]
    })
}

/// Any combination with all that it leaves open, sound or not.
fn settings() -> impl Strategy<Value = (String, Config)> {
    // Several models have no table of times and refuse to penalise it: more often none than not.
    let of_times = [vec![PenaltyName::None; 6], all()].concat();
    let penalties = (select(all::<PenaltyName>()), select(all::<PenaltyName>()), select(of_times));
    let learning = (
        select(all::<LossName>()),
        select(all::<SamplerName>()),
        select(all::<OptimiserName>()),
        select(all::<InitialName>()),
    );
    let shares = (select(vec![0.0, 0.3]), select(vec![0.5, 0.3, 0.0, 1.0]));
    (select(combinations()), learning, penalties, shares).prop_map(
        |((name, config), (loss, sampler, optimiser, initial), penalties, (dropout, static_ratio))| {
            let config = Config {
                loss,
                margin: 5.0,
                sampler,
                optimiser,
                initial,
                dropout,
                static_ratio,
                entity_penalty: penalties.0,
                entity_weight: 0.01,
                relation_penalty: penalties.1,
                relation_weight: 0.01,
                time_penalty: penalties.2,
                time_weight: 0.01,
                ..small(config)
            };
            (name, config)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// A configuration that passes the check trains: the loss of the same questions falls. Others are refused with a reason.
    #[test]
    fn sound_combinations_learn((name, config) in settings()) {
        match config.check() {
            Ok(()) => prop_assert!(learns(&config), "{name}"),
            Err(error) => prop_assert!(names_a_setting(&error), "{name}: {error}"),
        }
    }
}
