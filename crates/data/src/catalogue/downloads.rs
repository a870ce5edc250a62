//! Where published files lie, with the size and SHA-256 of their content.
//!
//! Only variants whose files were compared, byte by byte through their git hashes, with a repository at a stated commit
//! and whose folder there is known. Sizes and checksums were computed from those bytes; the addresses follow from
//! repository, commit and folder. Variants put together from several sources have no entry.

use super::variant::Download;

/// The files of a folder of a repository at a commit, by two addresses that lead to the same bytes.
macro_rules! repository {
    ($repository:literal, $commit:literal, $folder:literal, [$(($path:literal, $bytes:literal, $sha256:literal)),+ $(,)?]) => {
        &[$(Download {
            path: $path,
            urls: &[
                concat!("https://raw.githubusercontent.com/", $repository, "/", $commit, "/", $folder, "/", $path),
                concat!("https://github.com/", $repository, "/raw/", $commit, "/", $folder, "/", $path),
            ],
            bytes: $bytes,
            sha256: $sha256,
        }),+]
    };
}

pub(super) const ICEWS14: &[Download] = repository!(
    "nec-research/TKG-Forecasting-Evaluation",
    "4dcfa2154bc6",
    "data/ICEWS14",
    [
        ("entity2id.txt", 198_027, "0251b09f1c2e56cdc5506f9d7f83e7a88d5d54c3df25609ae8ce4edb7fb3e573"),
        ("relation2id.txt", 7626, "32fcce0906d05205824f03e980981436a71a85feba72a817f5291e4afda9d04e"),
        ("stat.txt", 10, "590d6632d8efd57bdd13dcab133dc0fcd848103f651766fe47ba4316a1db2547"),
        ("test.txt", 135_289, "a72ddd5cc3c86105d48b76620a1c08223fcdc43ef57d1eb9e10b27fd05b471ab"),
        ("train.txt", 1_360_548, "09d9ec8df4b779e9793229d240a79c762c5c6f7846b31ee5f2522413a6595d57"),
        ("valid.txt", 155_425, "bb9462c02b6fb56f15822692ab9f80d782d6c2cc89e5ed7a83bae2c6022cab66"),
    ]
);

pub(super) const ICEWS18: &[Download] = repository!(
    "nec-research/TKG-Forecasting-Evaluation",
    "4dcfa2154bc6",
    "data/ICEWS18",
    [
        ("entity2id.txt", 674_196, "ba2e7a66411cfc53517f08151124a3d36249cd70dfdcf3bab03b64f1300614a3"),
        ("relation2id.txt", 8772, "8d513a2bb23c4c00f16caa3f7a8b9ea7fbdfbee14508c046621e76e1ff50585b"),
        ("stat.txt", 11, "0f198e1b76c90bf39428bdd9eb41fe3c84ef287f93f9934d478cf068b0794690"),
        ("test.txt", 1_162_970, "a00d46f993557cf78a8823b0c3a7b3b135f40ffa74150ee8f795794e2b536e33"),
        ("train.txt", 8_673_522, "019cfba096e15abae04e8d8d6f4dbeda2add15f53826681702f25298a9fbc7bf"),
        ("valid.txt", 1_077_693, "aa9966e928768ad3a9fd28c7fe2c078458ec1caa523fc0ddf9d0a38ece349c50"),
    ]
);

pub(super) const GDELT_SMALL: &[Download] = repository!(
    "khanhnhan1512/RAG_LLM_DA",
    "f62e95302a8e",
    "datasets/GDELT",
    [
        ("entity2id_.txt", 105_049, "f40c2ef80dda4e840e753f1b118d3f6f3a200525d24573b039127d8d36d44a04"),
        ("relation2id_.txt", 7815, "87577a70d86b981b3d5b5eb5613d93019278b3493cdc0a4f9a0ed63ef13473df"),
        ("stat.txt", 10, "0257485e17247b68ff6bcf9f26bcdc9859bd2964ea9e9d30eac1e1d64d76a719"),
        ("test_.txt", 146_719, "9b0bb897ba4b71514c91808da1d0895a9dac2bc8d94ae13b0082ea3512f68aa8"),
        ("train_.txt", 1_174_718, "87389cf6d7430e933a63cd2d8d16f651581ddfda8d636b73704d1805cae7a787"),
        ("valid_.txt", 149_444, "20dcb7bf5184ee44e1c71e16802398ede0e16abe3ec01f3168606a35079ddf6d"),
    ]
);

pub(super) const ICEWS14RR: &[Download] = repository!(
    "NacyNiko/naive_rule",
    "b7fe84c9a59a",
    "src_data/ICEWS14RR",
    [
        ("ICEWS14_eid.json", 241_581, "699daff5fc69af85d40d086c65fc58a6ef30780cfbb553955b8ebbed821ed73a"),
        ("ICEWS14_rid.json", 9008, "c7b572e2dc375b48e2e9be9cc092453712047937f7ff6c2e73c0a552712cc7cd"),
        ("ICEWS14_tid.json", 7557, "318eedfb77d6522545ac9629c766a34330b02de12739c626a0aaaabd568b4e31"),
        ("test", 623_390, "eada4adf038647a618d24781c62f6a7a5a7b3b8d903bff950dfaf837588fe979"),
        ("train", 5_007_649, "9c78f9ffa857fc4388192b49a2abeb36f2a61d799c70da125deac650e29294ac"),
        ("valid", 625_691, "cf0b74cac0675e0f81d2de256c1f06f92ef2e6c235497a41691b71aaf42a57da"),
    ]
);

pub(super) const WIKIDATA12K: &[Download] = repository!(
    "soledad921/ATISE",
    "711e2136e10b",
    "wikidata",
    [
        ("entity2id.txt", 166_023, "307628d198b9369b650d46bb88980b38ed0957a9e8148227c94907f9b2804f01"),
        ("relation2id.txt", 178, "50e6d3c632dde882c8a84aece1eda1f640f4a79a184033eb0941c10dad90e517"),
        ("test.txt", 144_550, "f9d6b1bbeba58e94298a5655485b7ca3d1d449ba310b8755b32abafc5ec1da6f"),
        ("train.txt", 1_144_608, "90b42097c9741fada0f81fc5f1be1cb3c0eb0f8bfcf3f5de833dd252b98d069b"),
        ("triple2id.txt", 952_050, "c02c145533c2bc22f10cf35bcc5c0460ed9764d12bea8130dab4c9ecec039bc2"),
        ("valid.txt", 144_293, "ade5b9c50b985fcf4948b7edde69c65ff8b7c993ea545cd40dc62fc70b5e2e52"),
    ]
);

pub(super) const YAGO11K: &[Download] = repository!(
    "soledad921/ATISE",
    "711e2136e10b",
    "yago",
    [
        ("entity2id.txt", 494_943, "3a5482d19f80b3936ca735ea105db799f5c500b170c57f7a59f0ea2650231789"),
        ("relation2id.txt", 140, "83e460205fa11720980c814aa99d70b4ec42ff9571f7ce9915390e262fc8dc34"),
        ("test.txt", 68750, "cc94fd96f8fbacb97cb3e75e3aa8cf2c753acd0ee4e2ae56632f7495278f1b7f"),
        ("train.txt", 551_749, "e709ff0e8eced3ec9332dba5c5da95c0db403f8eddda52f3b100486b63c4e580"),
        ("triple2id.txt", 689_235, "890568971bc717061dc15e5f7a4cf97b1d7e6457e2386d7fc5337fd03f511b9d"),
        ("valid.txt", 68736, "f3a3946235b078070e6bac0cd2bf6f51bd9cedc394c406873a21141a447730c7"),
    ]
);

pub(super) const YAGO_3SP: &[Download] = repository!(
    "lienwc/DKGE",
    "ea98b91dfceb",
    "dataset/YAGO-3SP",
    [
        (
            "snapshot1/entity2id.txt",
            606_657,
            "7b4dcd41b713b1694aa4e7a31eb45ed631f1dd8ed650ab67310c8b2dd4941bd6"
        ),
        (
            "snapshot1/relation2id.txt",
            507,
            "4933e93efb2a0e8db5af11805e2e2d4dc929933fa47f9d28f3eb79fd4ed9a951"
        ),
        ("snapshot1/test2id.txt", 42510, "bf38c041d45a591ef5e93371ab68d30fe81f42c2bd148c80511db245e946c27f"),
        (
            "snapshot1/train2id.txt",
            1_756_690,
            "990d7f16a6c1c0cbe96068981124d4ab70ec8f848326f6c10b4ae38298e534d8"
        ),
        ("snapshot1/valid2id.txt", 42466, "04b7b22b46870db7fad632cfe1ca08d09bffa05e54a876de5fcdf8f92eb36281"),
        (
            "snapshot2/entity2id.txt",
            609_845,
            "7719948cb178455230b20874084fa3d088058ed53ca51013a92afff5d827755c"
        ),
        (
            "snapshot2/relation2id.txt",
            522,
            "65ddee6eee2cacdc6cc86956b5dc36e27f0d7837259a61f6c8c54583a4f7bc2c"
        ),
        ("snapshot2/test2id.txt", 37865, "e1708fc0a411ff9cd573f00acfc69a3d7b7467f2e9c8b6c4e0b94297828f6ce2"),
        (
            "snapshot2/train2id.txt",
            1_578_183,
            "6b3694f91537a66dc74f91e4b0328272ddbaa93e60b1ef06b42c6b40a6f6b5be"
        ),
        ("snapshot2/valid2id.txt", 37831, "8ec7f66642278c3190aee5325792b2e597fee0633ad40536fd3fd8639621c58c"),
        (
            "snapshot3/entity2id.txt",
            611_681,
            "0d9f0b3aa820a16caef3ed00cfeb5b49c486074558acf15c43e3c009a779844c"
        ),
        (
            "snapshot3/relation2id.txt",
            522,
            "d4ebde7648923d68f1ce4e4eadf79ad8984862384bb7652dbde3ec783595068d"
        ),
        ("snapshot3/test2id.txt", 37831, "084f7d038d636dacab8102dfbfce2d410d7935aa3e49c5aa6826987b163eeadc"),
        (
            "snapshot3/train2id.txt",
            1_588_770,
            "38175221e73092c067dd7b1a16afd628d925093f819c16f2e75667f58355e2e4"
        ),
        ("snapshot3/valid2id.txt", 37800, "446a29b37cdae46e43e00a50917d40eb0dddef59d5c0d2a73fb6c022124fb61c"),
    ]
);

pub(super) const WN18: &[Download] = repository!(
    "thunlp/OpenKE",
    "64c4ec8157ab",
    "benchmarks/WN18",
    [
        ("entity2id.txt", 603_041, "a0e127ef59529a4662dbf5f12b1278efbcab9d4636eb80e5828a75311ebbb427"),
        ("relation2id.txt", 363, "b0f326f55f4c4ca403e97e97c495e93627bea3fb8f08b9592afd31ef5bcf9752"),
        ("test2id.txt", 68910, "ab06e417090ba904b98796d72fa72c3a5d00241639a849859b2b458074e16ba6"),
        ("train2id.txt", 1_955_191, "1bcaff005ba0a5cdd9f9f9982812ac9a0750a84989b4335a50e4c93e13d158c0"),
        ("type_constrain.txt", 1_035_718, "b548423bbb5ec2008773806a8de1cc3f25b9171bda11e9b538d4e6e055fc527b"),
        ("valid2id.txt", 69123, "86cf1437161c5982b9a9ef26d5f8400161a700aa4b3350a6c347d508369a9cc6"),
    ]
);

pub(super) const WN18RR: &[Download] = repository!(
    "thunlp/OpenKE",
    "64c4ec8157ab",
    "benchmarks/WN18RR",
    [
        ("entity2id.txt", 643_985, "f527c42d07034357ab44f358c645a5da539f62010931c9a06129c88b3b5f8b87"),
        ("relation2id.txt", 229, "72d6dc150ac943c07d1b4fd00fb1cf4baa9d5d3fea3064da5ab2a44497299988"),
        ("test2id.txt", 40950, "3a0017f54a2c375922e44433e4ffe65a88b633efaf7aa6cf570c02648c60c38d"),
        ("train2id.txt", 1_124_910, "5bc06b8ff99cc6792a4fb455371de3b2ea7d5564d4da8e8ea34cdc81d70fd013"),
        ("type_constrain.txt", 618_450, "deff64425c284bd8fd00ce6d4c177e17efbefd35f95a9719dee45573e7f23baf"),
        ("valid2id.txt", 39634, "5cf2dc67befb085ff06677440845bac6f12b20238d2bd49eb5b158c30d718725"),
    ]
);

pub(super) const FB15K237: &[Download] = repository!(
    "thunlp/OpenKE",
    "64c4ec8157ab",
    "benchmarks/FB15K237",
    [
        ("entity2id.txt", 233_099, "e4546cfdcd0b9bd0151cc0f6ef2edee29eb2bb55a3d47e668194999c036fba0d"),
        ("relation2id.txt", 15764, "fefd26d6cd5ff9d360efe5360c11bf112d019f42b3acf165a5c04aa2b66a42d9"),
        ("test2id.txt", 259_074, "6027e649c1716ac9c1ef2f24672a416aa277aff3e14850ef915ac5a21df70417"),
        ("train2id.txt", 3_416_118, "5f44223a02b39b8e398e77a787feb4f06e9ffccf1ae87047bbf38fcc8cc08bd2"),
        ("type_constrain.txt", 828_462, "84aa5f35c0dd51e7f5928778e14462c5a0f31db5d9cbf4e722a4da7e2c438249"),
        ("valid2id.txt", 222_093, "7d21e778de4369d5348f5cff23a08dc847ab5fce4b5f07c80113297d2dc60a86"),
    ]
);
