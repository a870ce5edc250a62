//! Enums whose values have one word each, the same everywhere.

/// Declares enums with a word for each value: on the command line, in records and in tables.
#[macro_export]
macro_rules! words {
    ($($(#[$about:meta])* $visibility:vis enum $name:ident {
        $($(#[$note:meta])* $value:ident = $word:literal,)+
    })+) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[derive(serde::Serialize, serde::Deserialize)]
        $visibility enum $name {
            $($(#[$note])* #[serde(rename = $word)] $value,)+
        }

        impl $name {
            /// All values in their order.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$value),+];

            /// The word used on the command line, in records and in tables.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$value => $word,)+
                }
            }
        }
    )+};
}
