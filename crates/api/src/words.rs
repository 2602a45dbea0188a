//! Members that are one of a few words.

/// Declares an enum whose variants are words in JSON.
macro_rules! words {
    (
        $(#[$about:meta])*
        $name:ident { $($(#[$what:meta])* $variant:ident = $word:literal,)+ }
    ) => {
        $(#[$about])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, Hash,
            serde::Serialize, serde::Deserialize, schemars::JsonSchema,
        )]
        pub enum $name {
            $($(#[$what])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// The word.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

pub(crate) use words;
