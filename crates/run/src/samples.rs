//! A few test queries of a run with the reasons for their best answers, so that a report can show them without the model.

use std::collections::BTreeSet;

use quadcast_core::{Setting, Task};
use quadcast_eval::RankedQuery;

use crate::answers::AnswerOptions;
use crate::asker::Asker;
use crate::session::{TaskPart, TimedPart};
use crate::{RunError, Sample, Session, TrueAnswer};

/// How many queries are explained.
const SAMPLES: usize = 3;

/// Explains a few test queries of a model that was judged. It sees what it saw when it was judged: the facts before the step asked
/// about, or before the test period. None for a model that gives no reasons, and none in the online setting: the model has changed
/// since.
pub(crate) fn choose_and_explain(session: &mut Session) -> Result<Vec<Sample>, RunError> {
    let (entry, protocol) = (session.plan.entry, session.plan.protocol);
    let online = protocol.task == Task::Forecasting && protocol.setting == Setting::Online;
    let TaskPart::Timed(part) = &session.part else { return Ok(Vec::new()) };
    let TimedPart { evaluator, judged: Some(judged) } = part.as_ref() else { return Ok(Vec::new()) };
    // Without the queries that it was shown, a leaking model answers differently.
    if online || protocol.leak.is_some() || !(entry.capabilities)().explains {
        return Ok(Vec::new());
    }
    let (data, model) = (evaluator.dataset(), session.model.timed()?);
    let mut samples = Vec::new();
    for ranked in choose(&judged.ranked) {
        let history = evaluator.view(ranked.query.step);
        model.begin(ranked.query.step, &history)?;
        let asker = Asker { name: entry.name, model, data };
        let forecast = asker.answer(&history, &ranked.query, AnswerOptions { top: 1, explain: true })?;
        let rank = ranked.ranks.time;
        let entity = data.vocabulary.entities.name(ranked.gold.0).into_owned();
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
