//! Settings whose values are words. Each setting is an enum. The code that parses the word and the code that acts on
//! the value both use the enum that is declared here.
//!
//! Every enum lists its values ([`PoolKind::ALL`]) and the word of each ([`PoolKind::word`]), and can be printed and
//! parsed. With the feature `serde` it is deserialized from its word.

use crate::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// Declares an enum that is parsed from exactly the given words.
macro_rules! words {
    (
        $(#[doc = $about:literal])+
        pub enum $name:ident, $what:literal, default $default:ident {
            $($(#[doc = $doc:literal])+ $variant:ident = $word:literal,)+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Deserialize))]
        pub enum $name {
            $($(#[doc = $doc])+ #[cfg_attr(feature = "serde", serde(rename = $word))] $variant,)+
        }

        impl $name {
            /// Every value, in the order of declaration.
            pub const ALL: [Self; Self::WORDS.len()] = [$(Self::$variant),+];

            /// The word of each value, in the order of `ALL`.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// The word for this value; case matters.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl Default for $name {
            fn default() -> Self {
                Self::$default
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.word())
            }
        }

        impl FromStr for $name {
            type Err = Error;

            /// Parses one of the words; case matters.
            ///
            /// # Errors
            /// Returns [`ErrorKind::InvalidValue`](crate::ErrorKind::InvalidValue) for any other word.
            fn from_str(word: &str) -> Result<Self> {
                let found = Self::ALL.into_iter().find(|value| value.word() == word);
                found.ok_or_else(|| Error::invalid($what, word, format!("one of {}", Self::WORDS.join(", "))))
            }
        }
    };
}

words! {
    /// The strategy by which a memory pool rounds and keeps blocks (`MXNET_<DEV>_MEM_POOL_TYPE`).
    pub enum PoolKind, "pool kind", default Naive {
        /// Rounds sizes up to whole pages, and large sizes to multiples of a larger unit. A freed block serves later
        /// requests of the same rounded size.
        Naive = "Naive",
        /// Rounds sizes up to a power of two. Sizes above the cutoff (`MXNET_<DEV>_MEM_POOL_ROUND_LINEAR_CUTOFF`) are
        /// rounded up to a multiple of the cutoff instead.
        Round = "Round",
        /// Reuses nothing: each request goes to the device with its exact size.
        Unpooled = "Unpooled",
        /// Cuts each block out of the smallest free range that fits, and merges neighboring free ranges. If sizes keep
        /// changing, this pool holds the least memory of the four. MXNet does not have it.
        BestFit = "BestFit",
    }
}

words! {
    /// The scheduler of the engine. Results are the same with every scheduler; only the call that returns the error of a
    /// failed task differs.
    pub enum EngineKind, "engine kind", default ThreadedPerDevice {
        /// A pool of workers for each device and purpose.
        ThreadedPerDevice = "ThreadedEnginePerDevice",
        /// One pool of 16 workers, and one worker for copies between devices. Tasks run first in, first out.
        Threaded = "ThreadedEngine",
        /// Runs each task on the pushing thread before the push returns. The push returns the error of the task. For
        /// debugging.
        Naive = "NaiveEngine",
    }
}

words! {
    /// A value of `MXNET_ENGINE_TYPE`: an [`EngineKind`], with or without the suffix `Async`.
    pub enum EngineType, "engine type", default PerDevice {
        /// Selects [`EngineKind::Naive`].
        Naive = "NaiveEngine",
        /// Selects [`EngineKind::Threaded`].
        Threaded = "ThreadedEngine",
        /// Selects [`EngineKind::ThreadedPerDevice`].
        PerDevice = "ThreadedEnginePerDevice",
        /// Selects [`EngineKind::Naive`]; the suffix `Async` has no effect.
        NaiveAsync = "NaiveEngineAsync",
        /// Selects [`EngineKind::Threaded`], with GPU operators ordered by device events.
        ThreadedAsync = "ThreadedEngineAsync",
        /// Selects [`EngineKind::ThreadedPerDevice`], with GPU operators ordered by device events.
        PerDeviceAsync = "ThreadedEnginePerDeviceAsync",
    }
}

impl EngineType {
    /// The scheduler.
    ///
    /// ```
    /// use mxrs_types::{EngineKind, EngineType};
    ///
    /// let engine: EngineType = "ThreadedEngineAsync".parse()?;
    /// assert_eq!((engine.kind(), engine.is_async()), (EngineKind::Threaded, true));
    /// # Ok::<(), mxrs_types::Error>(())
    /// ```
    pub const fn kind(self) -> EngineKind {
        match self {
            Self::Naive | Self::NaiveAsync => EngineKind::Naive,
            Self::Threaded | Self::ThreadedAsync => EngineKind::Threaded,
            Self::PerDevice | Self::PerDeviceAsync => EngineKind::ThreadedPerDevice,
        }
    }

    /// Whether the word has the suffix `Async`: GPU operators are then ordered by device events.
    pub const fn is_async(self) -> bool {
        matches!(self, Self::NaiveAsync | Self::ThreadedAsync | Self::PerDeviceAsync)
    }
}

words! {
    /// When a task of a GPU counts as complete (`MXRS_GPU_SYNC`).
    pub enum GpuSync, "GPU synchronization", default Host {
        /// A task is complete when its work is done. The worker blocks until the stream is empty.
        Host = "host",
        /// A task is complete when its work is enqueued. Later tasks that use its variables wait for an event.
        Event = "event",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_exact() {
        for kind in PoolKind::ALL {
            assert_eq!(kind.word().parse(), Ok(kind));
        }
        for wrong in ["naive", "Pooled", "", "Round "] {
            let message = wrong.parse::<PoolKind>().unwrap_err().to_string();
            assert!(message.contains("one of Naive, Round, Unpooled, BestFit"), "{message}");
        }
    }

    #[test]
    fn an_engine_type_is_a_kind_and_a_suffix() {
        for kind in EngineKind::ALL {
            let plain: EngineType = kind.word().parse().unwrap();
            assert_eq!((plain.kind(), plain.is_async()), (kind, false));
            let suffixed: EngineType = format!("{kind}Async").parse().unwrap();
            assert_eq!((suffixed.kind(), suffixed.is_async()), (kind, true));
        }
        for wrong in ["", "naiveengine", "Async", "ThreadedEnginePooled", "NaiveEngineAsyncAsync"] {
            assert!(wrong.parse::<EngineType>().is_err(), "{wrong:?}");
        }
        assert_eq!(EngineType::default().kind(), EngineKind::default());
    }
}
