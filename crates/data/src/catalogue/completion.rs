//! Variants for completion: splits drawn at random, so that they interleave in time. The files carry names and dates.
//! Hashes are over the ids that the reader gives to names: those of the dataset's own map, else first appearance.

use super::downloads;
use super::variant::{Family, Variant};

const BASE: Variant = Variant { family: Family::Completion, ..Variant::UNKNOWN };

const MMKB: &str = "github.com/nle-ml/mmkb @ dc1c89cac110, TemporalKGs/; train rebuilt from JiapengWu/TeMP";
const NAIVE_RULES: &str = "github.com/NacyNiko/naive_rule @ b7fe84c9a59a, src_data/";

/// What the completion papers use.
pub(super) const COMPLETION: &[Variant] = &[
    Variant {
        name: "ICEWS14-completion",
        aliases: &["completion/icews14", "ICEWS14 (interpolation)", "icews_2014"],
        time: "365 days of 2014",
        source: MMKB,
        licence: "BSD-3-Clause stated for the repository",
        quirks: &[
            "the same 90730 facts as the forecasting set ICEWS14, divided at random",
            "6869 entities occur in train: the count that papers print for the forecasting set",
        ],
        ..BASE
    }
    .sized([7128, 230], [72826, 8941, 8963])
    .hashed("b1af6aa34821a968", ["a1c1c0d73b46f850", "f6556a90d24b3686", "9298d3cc2c214d05"]),
    Variant {
        name: "ICEWS05-15-completion",
        aliases: &["completion/icews05-15", "ICEWS05-15 (interpolation)", "icews_2005-2015"],
        time: "4017 days from 2005 to 2015",
        source: MMKB,
        licence: "BSD-3-Clause stated for the repository",
        quirks: &[
            "the same 461329 facts as the forecasting set ICEWS05-15, divided at random",
            "10094 entities occur in train: the count that papers print for the forecasting set",
        ],
        ..BASE
    }
    .sized([10488, 251], [368_962, 46275, 46092])
    .hashed("ab02a9aa6232b467", ["58c5f48e16b4c40b", "64eb2a17e38fbabb", "60c5578c9c2b4cc1"]),
    Variant {
        name: "ICEWS11-14",
        aliases: &["completion/icews11-14"],
        time: "1461 days from 2011 to 2014",
        source: "github.com/TemporalKGTeam/A_Unified_Framework_of_Temporal_Knowledge_Graph_Models @ 9d6034c219ce, data/",
        licence: "MIT stated in the README",
        quirks: &["each split is that of ICEWS05-15-completion restricted to four years"],
        ..BASE
    }
    .sized([6738, 235], [118_766, 14859, 14756])
    .hashed("3dc8a17305b6e6e4", ["526854b440277f1a", "e6aa801b7296d912", "c1606ab3bd37c423"]),
    Variant {
        name: "ICEWS14RR",
        files: downloads::ICEWS14RR,
        aliases: &["completion/ICEWS14RR"],
        time: "365 days of 2014",
        source: NAIVE_RULES,
        quirks: &["mirrored facts kept together to reduce leakage", "names with quotes are written in CSV quoting"],
        ..BASE
    }
    .sized([7128, 230], [72581, 9073, 9076])
    .hashed("cb0bfc2802981391", ["76981c2259f61b1b", "56d222d8584a2374", "6239adea795ff416"]),
    Variant {
        name: "ICEWS05-15RR",
        aliases: &["completion/ICEWS05-15RR", "ICEWS15RR"],
        time: "4017 days from 2005 to 2015",
        source: NAIVE_RULES,
        quirks: &[
            "train is a reconstruction: all facts of ICEWS05-15 that are in neither valid nor test",
            "names with quotes are written in CSV quoting",
        ],
        ..BASE
    }
    .sized([10488, 251], [369_060, 46134, 46135])
    .hashed("bf4405179c497dbf", ["a4b0e658180ff4da", "f3e4d79abdaa2412", "be472588c7ebf268"]),
    Variant {
        name: "GDELT-m10",
        time: "31 days of October 2015",
        source: "A_Unified_Framework_of_Temporal_Knowledge_Graph_Models; the train file is out of reach",
        quirks: &[
            "papers print 50 entities and 30 time stamps; the files have 500 and 31",
            "duplicates: 27134 distinct of 27926 test rows, 26830 of 27608 valid rows",
            "1444 test rows are exact quadruples of the validation file",
        ],
        ..BASE
    }
    .sized([500, 20], [221_132, 27608, 27926]),
    Variant {
        name: "GDELT-DE-SimplE",
        aliases: &["GDELT (500 entities)"],
        entities: Some(500),
        time: "days",
        source: "DE-SimplE; out of reach",
        ..BASE
    },
];
