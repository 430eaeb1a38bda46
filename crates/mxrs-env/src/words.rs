//! Enums whose variants are the words that a variable accepts.

use crate::{Kind, Setting};
use mxrs_types::{EngineType, GpuSync, PoolKind};

/// Declares an enum that is read from exactly the given words.
macro_rules! words {
    (
        $(#[doc = $about:literal])+
        pub enum $name:ident {
            $($(#[doc = $doc:literal])+ $variant:ident = $word:literal,)+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Deserialize)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[doc = $doc])+ #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// Every value of the enum, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word for this value.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl $crate::Setting for $name {
            const KIND: $crate::Kind = $crate::Kind::Words(&[$($word),+]);
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.word())
            }
        }
    };
}
pub(crate) use words;

/// Implements `Setting` for enums of words that `mxrs-types` declares.
macro_rules! known_words {
    ($($name:ident)+) => { $(
        impl Setting for $name {
            const KIND: Kind = Kind::Words(Self::WORDS);
        }
    )+ };
}
known_words!(EngineType GpuSync PoolKind);
