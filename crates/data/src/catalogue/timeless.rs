//! Variants with validity intervals, and graphs without time.

use super::downloads;
use super::variant::{Family, Variant};

const INTERVAL: Variant =
    Variant { family: Family::Intervals, licence: "MIT stated for the repository", ..Variant::UNKNOWN };

/// `HyTE`'s sets as stored with `ATiSE`.
pub(super) const INTERVALS: &[Variant] = &[
    Variant {
        name: "wikidata12k",
        files: downloads::WIKIDATA12K,
        aliases: &["Wikidata12k", "HyTE Wikidata12k"],
        time: "years 19 to 2020",
        source: "github.com/soledad921/ATISE @ 711e2136e10b, wikidata/",
        quirks: &[
            "1204 of 4062 test rows have a triple that is in train with another interval",
            "triple2id lists 40881 facts before the split, the splits hold 40621",
        ],
        ..INTERVAL
    }
    .sized([12554, 24], [32497, 4062, 4062])
    .hashed("3d6db87dfae19d39", ["b0ec1c55195cb9cf", "3f0594744dfa4af4", "7c4a34e1ca8ecb08"]),
    Variant {
        name: "yago11k",
        files: downloads::YAGO11K,
        aliases: &["YAGO11k", "HyTE YAGO11k"],
        time: "years -431 to 2844",
        source: "github.com/soledad921/ATISE @ 711e2136e10b, yago/",
        quirks: &["impossible years occur: starts up to 2844", "70 intervals end before they start"],
        ..INTERVAL
    }
    .sized([10623, 10], [16408, 2050, 2051])
    .hashed("ef22b8a40effaa12", ["c9a69979ab411ce8", "6170e3c2d310b1cc", "eccf7509a4a10c42"]),
];

const OPENKE: Variant = Variant {
    family: Family::Static,
    time: "none",
    source: "github.com/thunlp/OpenKE @ 64c4ec8157ab, benchmarks/",
    licence: "no licence file at that commit",
    ..Variant::UNKNOWN
};

/// The classic graphs without time.
pub(super) const STATIC: &[Variant] = &[
    Variant {
        name: "WN18",
        files: downloads::WN18,
        quirks: &["0.94 of the test facts have their reversed pair in train"],
        ..OPENKE
    }
    .sized([40943, 18], [141_442, 5000, 5000])
    .hashed("a5f99a5ca3c5ac2f", ["2fef39840e16fa9b", "ef82e41fef139c60", "ba44fba0aeba9f9e"]),
    Variant {
        name: "WN18RR",
        files: downloads::WN18RR,
        quirks: &["209 test entities never occur in train"],
        ..OPENKE
    }
    .sized([40943, 11], [86835, 3034, 3134])
    .hashed("cb81cf4d87629bf2", ["20df0974c9eb3282", "c517718cc62f1e6b", "373f20011fc18bbe"]),
    Variant {
        name: "FB15K237",
        files: downloads::FB15K237,
        aliases: &["FB15k-237"],
        quirks: &["29 test entities never occur in train"],
        ..OPENKE
    }
    .sized([14541, 237], [272_115, 17535, 20466])
    .hashed("bca3c18cd981b95b", ["22ab7d74d008664b", "aafd9ab5dc5cc045", "462fa992d76aa15a"]),
    Variant {
        name: "FB15K",
        aliases: &["FB15k"],
        train: Some(483_142),
        quirks: &["the training file is over the size limit of every copy at hand"],
        ..OPENKE
    },
];
