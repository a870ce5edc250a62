//! A few test queries of a run with the reasons for their best answers, so that a report can show them without the
//! model.

use std::collections::BTreeSet;

use quadcast_core::{Dataset, Forecaster, HistoryIndex, Protocol, Setting, ValidationUse};
use quadcast_eval::{Judged, RankedQuery};
use quadcast_models::Entry;
use quadcast_report::{RunRecord, Sample, TrueAnswer};

use crate::commands::forecast::answers::{Asker, answer};
use crate::failure::Failure;
use crate::output::Output;
use crate::record_folder::RecordFolder;

/// How many queries are explained.
const SAMPLES: usize = 3;

/// Keeps the samples of a run that was judged. The results stand without them: a model that cannot explain an answer is
/// said to, and the run is complete all the same.
pub fn keep(
    folder: &RecordFolder,
    entry: &Entry,
    model: &mut dyn Forecaster,
    dataset: &Dataset,
    record: &RunRecord,
    judged: &Judged,
    output: &Output,
) -> Result<(), Failure> {
    match samples(entry, model, dataset, &record.protocol, judged) {
        Ok(samples) if samples.is_empty() => {}
        Ok(samples) => Sample::write_all(folder.path(), &samples)?,
        Err(failure) => output.remark(&format!("no explanations are kept: {}", failure.error)),
    }
    Ok(())
}

/// Explains a few test queries of a model that was judged. It sees what it saw when it was judged: the facts before
/// the step asked about, or before the test period. None for a model that gives no reasons, and none online: the model
/// has gone on learning since.
fn samples(
    entry: &Entry,
    model: &mut dyn Forecaster,
    dataset: &Dataset,
    protocol: &Protocol,
    judged: &Judged,
) -> Result<Vec<Sample>, Failure> {
    let first = dataset.splits.test.first_step();
    let (Some(first), true) = (first, entry.capabilities.explains && protocol.setting != Setting::Online)
    else {
        return Ok(Vec::new());
    };
    let splits = &dataset.splits;
    let completion = protocol.setting == Setting::Completion;
    let mut parts = vec![&splits.train];
    if protocol.validation == ValidationUse::Observed {
        parts.push(&splits.valid);
    }
    if !completion {
        parts.push(&splits.test);
    }
    let index = HistoryIndex::new(&dataset.axis, dataset.entities(), dataset.relations(), &parts)
        .with_names(&dataset.vocabulary);
    let mut samples = Vec::new();
    for ranked in choose(&judged.ranked) {
        let step = ranked.query.step;
        let history = match protocol.setting {
            Setting::Completion => index.whole(),
            Setting::MultiStep => index.before(first),
            Setting::SingleStep | Setting::Online => index.before(step),
        };
        model.begin(step, &history).map_err(Failure::internal)?;
        let asker = Asker { name: entry.name, model, dataset };
        let forecast = answer(asker, &history, &ranked.query, 1, true)?;
        let rank = ranked.ranks.time;
        let entity = dataset.vocabulary.entities.name(ranked.gold.0).into_owned();
        let truth = TrueAnswer { entity, rank: u64::from(rank.greater) + 1, tied: rank.tied.into() };
        samples.push(Sample { forecast, truth });
    }
    Ok(samples)
}

/// Queries that show best how the model reasons: answered correctly, early in the test period, with the fewest ties,
/// about different relations. The same ranks give the same choice.
fn choose(ranked: &[RankedQuery]) -> Vec<&RankedQuery> {
    let mut order: Vec<&RankedQuery> = ranked.iter().filter(|ranked| ranked.ranks.reached).collect();
    // The answer that a model shows is its best of all candidates, so what counts is the rank without a filter.
    order.sort_by_key(|ranked| {
        let raw = ranked.ranks.raw;
        (raw.greater, ranked.query.step, raw.tied, ranked.query, ranked.gold)
    });
    let mut relations = BTreeSet::new();
    let mut chosen: Vec<&RankedQuery> =
        order.into_iter().filter(|ranked| relations.insert(ranked.query.relation)).take(SAMPLES).collect();
    chosen.sort_by_key(|ranked| ranked.query.step);
    chosen
}
