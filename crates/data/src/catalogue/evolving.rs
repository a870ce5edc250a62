//! Variants that change in steps: triple operations, snapshots, and the continual-learning family.

use super::downloads;
use super::variant::{Family, SnapshotCounts, Variant};

const BASE: Variant = Variant { family: Family::Evolving, ..Variant::UNKNOWN };

const DKGE: Variant = Variant {
    family: Family::Evolving,
    source: "github.com/lienwc/DKGE @ ea98b91dfceb, dataset/",
    licence: "no licence file",
    ..Variant::UNKNOWN
};

const fn counts(row: [usize; 5]) -> SnapshotCounts {
    SnapshotCounts::new(row[0], row[1], row[2], row[3], row[4])
}

/// Graphs whose training set shrinks as well as grows.
pub(super) const EVOLVING: &[Variant] = &[
    Variant {
        name: "WikidataEvolve",
        aliases: &["WikidataEvolve (filtered)"],
        entities: Some(59419),
        relations: Some(150),
        snapshots: &[
            counts([35804, 87, 304_647, 16925, 16925]),
            counts([42899, 106, 436_021, 24254, 24237]),
            counts([50549, 134, 543_606, 30194, 30162]),
            counts([59391, 150, 667_224, 37038, 36977]),
        ],
        time: "4 updates",
        source: "github.com/rlafraie/WikidataEvolve @ 61c856668828, datasets/WikidataEvolve/filtered_version",
        licence: "no licence file; the author's OpenKE fork says CC BY-SA 4.0; Wikidata is CC0",
        quirks: &[
            "validation and test are samples of 6000; the full sets stand beside them",
            "about 100 negatives of triple classification per step are true in the graph",
            "operations have order and interval but no time stamps",
        ],
        fingerprint: Some("7ed2c5fd5b0ba6a2"),
        stored: true,
        ..BASE
    },
    Variant {
        name: "WikidataEvolve-openke",
        aliases: &["WikidataEvolve (OpenKE fork)", "WikidataEvolve (joint 15/100)"],
        entities: Some(59416),
        relations: Some(227),
        snapshots: &[
            counts([35837, 121, 305_631, 16979, 16980]),
            counts([42883, 156, 433_507, 24079, 24059]),
            counts([50576, 201, 538_106, 29899, 29899]),
            counts([59383, 227, 668_327, 37124, 37097]),
        ],
        time: "4 updates",
        source: "github.com/rlafraie/OpenKE, benchmarks/Wikidata/WikidataEvolve",
        licence: "CC BY-SA 4.0 stated for the folder",
        quirks: &["another compilation: it does not have the counts that the thesis prints"],
        ..BASE
    },
    Variant {
        name: "WikidataEvolve-raw",
        aliases: &["WikidataEvolve (raw)"],
        snapshots: &[
            counts([361_696, 216, 1_949_569, 108_309, 108_310]),
            counts([406_183, 302, 3_721_570, 206_708, 206_739]),
            counts([420_638, 371, 5_460_935, 303_316, 303_410]),
            counts([432_353, 407, 6_703_109, 372_450, 372_253]),
        ],
        time: "4 updates",
        source: "counts of the thesis (tables 5 and 12); the files are over the size limit",
        quirks: &["without the frequency filter"],
        ..BASE
    },
    Variant {
        name: "Wikidata9M",
        aliases: &["Wikidata9M operation stream"],
        time: "operations with time stamps to the second",
        source: "github.com/rlafraie/WikidataEvolve; over the size limit",
        quirks: &["a stream of triple operations before any division into intervals and splits"],
        ..BASE
    },
    Variant {
        name: "YAGO-3SP",
        files: downloads::YAGO_3SP,
        aliases: &["YAGO3SP"],
        entities: Some(27136),
        relations: Some(37),
        snapshots: &[
            counts([26897, 36, 123_974, 3000, 3000]),
            counts([27033, 37, 124_724, 3000, 3000]),
            counts([27097, 37, 125_574, 3000, 3000]),
        ],
        time: "3 snapshots",
        licence: "no licence file; facts from YAGO (CC BY)",
        quirks: &[
            "ids are renumbered in every snapshot: align by name",
            "53 and 194 test triples stand in train at snapshots 2 and 3",
            "validation and test are the same 3000 triples throughout: unlearning is not tested",
        ],
        fingerprint: Some("06486c3164b23ddc"),
        stored: true,
        ..DKGE
    },
    Variant {
        name: "DBpedia-3SP",
        aliases: &[],
        time: "3 snapshots",
        quirks: &["its test files are absent from the source"],
        ..DKGE
    },
    Variant {
        name: "IMDB-30SP",
        aliases: &[],
        relations: Some(14),
        test: Some(3000),
        time: "30 snapshots",
        quirks: &["163259 entities at snapshot 1"],
        ..DKGE
    },
    Variant {
        name: "IMDB-13-3SP",
        aliases: &[],
        time: "3 snapshots",
        quirks: &["about 8 million training triples: made to test scale"],
        ..DKGE
    },
];

const LKGE: Variant = Variant {
    family: Family::Evolving,
    time: "5 snapshots",
    source: "LKGE family of continual-learning benchmarks",
    quirks: &[
        "each snapshot lists only its new facts; nothing is ever deleted",
        "the released LKGE code loads the test file as validation",
    ],
    ..Variant::UNKNOWN
};

/// Continual-learning benchmarks. Entities are those seen so far; relations are half of the source's count, which
/// includes inverses; training triples are those new in the snapshot.
pub(super) const CONTINUAL: &[Variant] = &[
    Variant {
        name: "ENTITY",
        aliases: &["LKGE ENTITY"],
        snapshots: &[
            counts([2909, 233, 27832, 9278, 9278]),
            counts([5817, 236, 43265, 14423, 14423]),
            counts([8725, 236, 44269, 14758, 14758]),
            counts([11633, 237, 42302, 14102, 14102]),
            counts([14541, 237, 28394, 9466, 9466]),
        ],
        ..LKGE
    },
    Variant {
        name: "RELATION",
        aliases: &["LKGE RELATION"],
        snapshots: &[
            counts([11561, 49, 59291, 19764, 19764]),
            counts([13344, 96, 56119, 18708, 18708]),
            counts([13755, 143, 39680, 13228, 13228]),
            counts([14387, 190, 18018, 6007, 6007]),
            counts([14541, 237, 12956, 4319, 4319]),
        ],
        ..LKGE
    },
    Variant {
        name: "FACT",
        aliases: &["LKGE FACT"],
        snapshots: &[
            counts([10513, 237, 37214, 12405, 12405]),
            counts([12779, 237, 37213, 12405, 12405]),
            counts([13586, 237, 37213, 12405, 12405]),
            counts([13894, 237, 37213, 12405, 12405]),
            counts([14541, 237, 37213, 12405, 12405]),
        ],
        ..LKGE
    },
    Variant {
        name: "HYBRID",
        aliases: &["LKGE HYBRID"],
        snapshots: &[
            counts([8631, 86, 34535, 11513, 11513]),
            counts([10043, 102, 12523, 4175, 4175]),
            counts([12780, 151, 52809, 17604, 17604]),
            counts([14395, 209, 62003, 20668, 20668]),
            counts([14541, 237, 24194, 8066, 8066]),
        ],
        ..LKGE
    },
    Variant {
        name: "FB_CKGE",
        aliases: &["FB-CKGE"],
        snapshots: &[
            counts([7505, 237, 111_642, 37214, 37214]),
            counts([11258, 237, 18607, 6202, 6203]),
            counts([13134, 237, 18607, 6202, 6203]),
            counts([14072, 237, 18607, 6202, 6203]),
            counts([14541, 237, 18606, 6202, 6202]),
        ],
        ..LKGE
    },
    Variant {
        name: "WN_CKGE",
        aliases: &["WN-CKGE"],
        snapshots: &[
            counts([24567, 11, 33480, 11160, 11161]),
            counts([28660, 11, 5580, 1860, 1860]),
            counts([32754, 11, 5580, 1860, 1860]),
            counts([36848, 11, 5580, 1860, 1860]),
            counts([40943, 11, 5581, 1860, 1861]),
        ],
        ..LKGE
    },
    Variant { name: "GraphEqual", ..LKGE },
    Variant { name: "GraphHigher", ..LKGE },
    Variant { name: "GraphLower", ..LKGE },
];
