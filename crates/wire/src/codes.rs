//! Enums whose variants have codes on the wire, and no others are possible.

/// An enum of such variants, each with its code in one place.
macro_rules! codes {
    (
        $(#[$meta:meta])*
        $name:ident: $type:ty {
            $($(#[$doc:meta])* $variant:ident = $code:literal,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$doc])* $variant,)*
        }

        impl $name {
            /// By its code.
            #[must_use]
            pub fn from_code(code: $type) -> Option<Self> {
                match code {
                    $($code => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// Its code.
            #[must_use]
            pub fn code(self) -> $type {
                match self {
                    $(Self::$variant => $code,)*
                }
            }
        }
    };
}
pub(crate) use codes;
