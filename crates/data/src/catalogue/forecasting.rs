//! Variants for forecasting: splits that follow each other in time.
//!
//! "(a)", "(b)" and "(c)" are the versions that the study of fair evaluation tells apart; results on one are not
//! comparable with results on another. Counts and hashes of stored variants were taken from the files.

use quadcast_core::{Calendar, TimeUnit};

use super::downloads;
use super::variant::{Family, Variant};

const BASE: Variant = Variant { family: Family::Forecasting, ..Variant::UNKNOWN };

const EVALUATION_STUDY: &str = "github.com/nec-research/TKG-Forecasting-Evaluation @ 4dcfa2154bc6, data/";
const XERTE: &str = "github.com/TemporalKGTeam/xERTE @ d7a55d1c692c, tKGR/data/";
const NO_LICENCE_ICEWS: &str = "no licence file; event coding by ICEWS (Harvard Dataverse)";
const NO_LICENCE_YAGO: &str = "no licence file; facts from YAGO (CC BY)";

const fn hours_from(year: i16) -> Calendar {
    Calendar::from_january_first(TimeUnit::Hour, year)
}

/// What time stamp 0 stands for is not documented.
const MINUTES: Calendar = Calendar { unit: TimeUnit::Minute, year_zero: None, day_zero: None };

/// Version (a) first, then (b), then what could not be had.
pub(super) const FORECASTING: &[Variant] = &[
    Variant {
        name: "ICEWS14",
        files: downloads::ICEWS14,
        aliases: &["ICEWS14 (a)", "ICEWS14a"],
        time: "365 days, written in hours",
        calendar: Some(hours_from(2014)),
        source: EVALUATION_STUDY,
        licence: NO_LICENCE_ICEWS,
        quirks: &[
            "papers print 6869 entities; the files use 7128 ids, all of them",
            "the original release counts days from 1 instead of hours from 0: equal counts, other fingerprints",
            "CRLF line ends; fifth column always -1; names write blanks as underscores",
        ],
        ..BASE
    }
    .sized([7128, 230], [74845, 8514, 7371])
    .hashed("601b1694c48fc004", ["c8834db7dbd91084", "18ce50d068a84d33", "b71841bac68f4ac8"]),
    Variant {
        name: "ICEWS18",
        files: downloads::ICEWS18,
        aliases: &["ICEWS18 (a)", "ICEWS18a"],
        time: "304 days, written in hours",
        calendar: Some(hours_from(2018)),
        source: "github.com/nec-research/TKG-Forecasting-Evaluation @ 4dcfa2154bc6; train rebuilt from AONE-NLP/DiffuTKG",
        licence: NO_LICENCE_ICEWS,
        quirks: &["fields are padded with blanks; fifth column always 0"],
        ..BASE
    }
    .sized([23033, 256], [373_018, 45995, 49545])
    .hashed("4be2b8b1cf8b4deb", ["05317910f3dc11a5", "1cde82d2db210858", "cd2b221ec276bf7b"]),
    Variant {
        name: "ICEWS05-15",
        aliases: &["ICEWS05-15 (a)", "ICEWS05_15"],
        time: "4017 days",
        calendar: Some(Calendar::from_january_first(TimeUnit::Day, 2005)),
        source: "github.com/nec-research/TKG-Forecasting-Evaluation @ 4dcfa2154bc6; train rebuilt from AONE-NLP/DiffuTKG",
        licence: NO_LICENCE_ICEWS,
        quirks: &["papers print 10094 entities; the files use 10488 ids, all of them", "some copies count in hours"],
        ..BASE
    }
    .sized([10488, 251], [368_868, 46302, 46159])
    .hashed("5e1b909c24e8c097", ["96af8131731e4ffe", "cf489e5600ec6acd", "e6202b4c59f7b7a9"]),
    Variant {
        name: "WIKI",
        aliases: &["WIKI (a)"],
        time: "232 years from 1786",
        calendar: Some(Calendar::years_from(1786)),
        source: "github.com/nec-research/TKG-Forecasting-Evaluation @ 4dcfa2154bc6; train regenerated from wikidata12k",
        licence: "no licence file; facts from Wikidata (CC0)",
        quirks: &[
            "duplicate rows: 5381 / 1045 / 1226 in train / valid / test; the published evaluator collapses them",
            "119 entity ids are never used and are candidates all the same",
            "valid and test each lack their first row, lost by the source",
        ],
        ..BASE
    }
    .sized([12554, 24], [539_286, 67538, 63110])
    .hashed("b609b03ffdb1159b", ["f1b872071f2c125a", "9df5fd71a12bf6dc", "e20ecb4736cc1d76"]),
    Variant {
        name: "YAGO",
        aliases: &["YAGO (a)", "YAGOa"],
        time: "189 years from 1830",
        calendar: Some(Calendar::years_from(1830)),
        source: EVALUATION_STUDY,
        licence: NO_LICENCE_YAGO,
        quirks: &[
            "time stamp 0 holds all earlier years; the last one holds a single fact (source year 2600)",
            "38 entity ids are never used and are candidates all the same",
        ],
        ..BASE
    }
    .sized([10623, 10], [161_540, 19523, 20026])
    .hashed("05bb4b3076280579", ["78b5bcdb3311231b", "f15622ac3117926d", "cfa3c53630f802d5"]),
    Variant {
        name: "ICEWS14-b",
        aliases: &["ICEWS14 (b)", "ICEWS14b"],
        time: "365 days, written in hours",
        calendar: Some(hours_from(2014)),
        source: XERTE,
        licence: NO_LICENCE_ICEWS,
        quirks: &["the same 90730 facts as ICEWS14, divided elsewhere: used by xERTE, TLogic and TimeTraveler"],
        ..BASE
    }
    .sized([7128, 230], [63685, 13823, 13222])
    .hashed("4c8f9d4d3dfbab00", ["b0b0ddc69c6317f7", "ed9d48d8bfafb806", "42146265c18fe1ce"]),
    Variant {
        name: "ICEWS05-15-b",
        aliases: &["ICEWS05-15 (b)"],
        time: "4017 days, written in hours",
        calendar: Some(hours_from(2005)),
        source: "github.com/TemporalKGTeam/xERTE @ d7a55d1c692c; train rebuilt from the completion set",
        licence: NO_LICENCE_ICEWS,
        quirks: &["the same 461329 facts as ICEWS05-15, divided elsewhere"],
        ..BASE
    }
    .sized([10488, 251], [322_958, 69224, 69147])
    .hashed("724894f028a28809", ["8e74d5b7719dd5ac", "485351e4bbca6840", "4df78dab29fcfa95"]),
    Variant {
        name: "YAGO1830-b",
        aliases: &["YAGO (b)", "YAGO1830", "YAGOb"],
        time: "194 years from 1830, with gaps at the end",
        calendar: Some(Calendar::years_from(1830)),
        source: XERTE,
        licence: NO_LICENCE_YAGO,
        quirks: &[
            "time stamp 167 lies in train and valid, 176 in valid and test",
            "gaps of up to 557 years at the end; the last steps hold one fact each",
        ],
        ..BASE
    }
    .sized([10038, 10], [51205, 10973, 10973])
    .hashed("08577e8a3ee91f5d", ["6acf442a8610e1d7", "e2905674af195bd5", "f94eaaa5cd9f09ab"]),
    Variant {
        name: "GDELT-small",
        files: downloads::GDELT_SMALL,
        aliases: &[],
        time: "317 steps of 15 minutes",
        calendar: Some(MINUTES),
        source: "github.com/khanhnhan1512/RAG_LLM_DA @ f62e95302a8e, datasets/GDELT",
        licence: "no licence file; event coding by the GDELT project",
        quirks: &[
            "not the GDELT of the papers but a much smaller cut: do not compare numbers",
            "the stat file counts one entity and one relation more than the id files hold",
            "3180 of 5849 entity ids and 204 of 237 relation ids are used; some gaps of 30 and 45 minutes",
        ],
        ..BASE
    }
    .sized([5849, 237], [79319, 9957, 9715])
    .hashed("09cc539499a23ad4", ["f960df330556a586", "bd1d1ab5121836f0", "81d2f0bb5d5d64b0"]),
    Variant {
        name: "GDELT",
        aliases: &["GDELT (a)"],
        time: "2976 steps of 15 minutes",
        calendar: Some(MINUTES),
        source: "RE-Net's copy; too large for every snapshot at hand",
        licence: "event coding by the GDELT project",
        quirks: &["train 41400721 bytes, valid 5761141, test 7363889 (from the pointers of RE-Net's copy)"],
        ..BASE
    }
    .sized([7691, 240], [1_734_399, 238_765, 305_241]),
    Variant {
        name: "ICEWS14-c",
        aliases: &["ICEWS14 (c)", "ICEWS14c"],
        train: Some(323_895),
        time: "days",
        source: "Know-Evolve and RE-Net",
        licence: "event coding by ICEWS (Harvard Dataverse)",
        quirks: &["no validation file: the test file doubles as validation, which is a leak"],
        ..BASE
    },
    Variant {
        name: "ICEWS05-15-c",
        aliases: &["ICEWS05-15 (c)"],
        train: Some(369_104),
        time: "days",
        source: "known by its training count only",
        licence: "event coding by ICEWS (Harvard Dataverse)",
        ..BASE
    },
];

const TGB: Variant = Variant {
    family: Family::Forecasting,
    source: "Temporal Graph Benchmark 2.0",
    quirks: &[
        "one list of edges, divided by time; published protocol: single-step, both directions, average-rank ties",
    ],
    ..Variant::UNKNOWN
};

/// The larger graphs of TGB 2.0. The source counts edges in total, not per split.
pub(super) const TEMPORAL_GRAPH_BENCHMARK: &[Variant] = &[
    Variant {
        name: "tkgl-smallpedia",
        aliases: &["smallpedia"],
        entities: Some(47433),
        time: "550376 edges, 125 steps",
        ..TGB
    },
    Variant {
        name: "tkgl-polecat",
        aliases: &["polecat"],
        entities: Some(150_931),
        time: "1779610 edges, 1826 steps",
        ..TGB
    },
    Variant {
        name: "tkgl-icews",
        aliases: &["TGB icews"],
        entities: Some(87856),
        time: "15513446 edges, 10224 steps",
        ..TGB
    },
    Variant {
        name: "tkgl-wikidata",
        aliases: &["TGB wikidata"],
        entities: Some(1_226_440),
        time: "9856203 edges, 2025 steps",
        ..TGB
    },
];
