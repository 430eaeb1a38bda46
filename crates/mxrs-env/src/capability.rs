//! Capabilities: the parts of mxrs or of the machine that variables need in order to have an effect. The state of a
//! variable says whether its capability is there.
//!
//! A [`Row`] describes one variable and names the [`Capability`] that the variable needs. This crate does not know
//! which capabilities exist: the crate `mxrs` supplies them as [`Capabilities`]. The [`State`] of a variable follows
//! from its capability and from these capabilities.

use crate::Row;
use std::collections::BTreeMap;
use std::fmt;

macro_rules! capabilities {
    ($($(#[doc = $doc:literal])+ $name:ident = $phrase:literal, $future:ident;)+) => {
        /// A part of mxrs or of the machine that a variable configures.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Capability {
            $($(#[doc = $doc])+ $name,)+
        }

        impl Capability {
            /// Every capability.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// A phrase to write after "it needs", such as `a GPU device`.
            pub const fn phrase(self) -> &'static str {
                match self { $(Self::$name => $phrase),+ }
            }

            /// Whether a later version of mxrs is planned to have the capability.
            const fn is_planned(self) -> bool {
                match self { $(Self::$name => capabilities!(@ $future)),+ }
            }
        }
    };
    (@ planned) => { true };
    (@ never) => { false };
}

capabilities! {
    /// A part that every build has, so the variable always has an effect.
    Core = "nothing", planned;
    /// Code that reads the field of the variable. A variable names this capability if no such code exists yet.
    Reader = "a reader", planned;
    /// A GPU device.
    Gpu = "a GPU device", planned;
    /// A system on which threads can be pinned to processors.
    Pinning = "a system that pins threads, which is Linux", planned;
    /// A system on which a process can fork.
    Fork = "a system that forks processes, which is Unix", planned;
    /// The oneDNN backend, compiled in.
    OneDnnFeature = "the feature onednn", planned;
    /// The oneDNN backend, compiled in, loaded and switched on.
    OneDnn = "oneDNN", planned;
    /// The oneDNN backend, whose library is loaded at run time.
    OneDnnDynamic = "the feature onednn-dynamic", planned;
    /// Kernels for CUDA.
    Cuda = "the CUDA backend", planned;
    /// Kernels of cuDNN.
    Cudnn = "the cuDNN backend", planned;
    /// Key-value stores, compiled in.
    KvStore = "the feature kvstore", planned;
    /// Key-value stores of several processes, compiled in.
    Distributed = "the feature kvstore, for stores of several processes", planned;
    /// Servers that keep and update values, compiled in.
    Servers = "the feature grpc", planned;
    /// The profiler, compiled in.
    Profiler = "the feature profiler", planned;
    /// A front end in another language, which loads a shared library.
    FrontEnd = "a front end in another language", planned;
    /// Sparse arrays.
    Sparse = "sparse arrays", planned;
    /// Recurrent networks.
    Rnn = "recurrent operators", planned;
    /// Downloads of models and data.
    Downloads = "downloads", planned;
    /// Pointwise loops that are measured when a process starts.
    LoopTuning = "pointwise loops that are measured", planned;
    /// Fusion of attention and of batched products in oneDNN.
    Attention = "fused attention and batched products", planned;
    /// The TensorRT backend.
    TensorRt = "the TensorRT backend", never;
    /// Operators that are compiled while the process runs.
    CompiledOperators = "operators of the TVM compiler", never;
    /// Files on S3.
    S3 = "files on S3", never;
    /// MXNet's oldest form of recomputation.
    OldMirror = "the recomputation of MXNet 0.x", never;
}

/// Whether setting a variable has an effect, in one build on one machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum State {
    /// The variable works.
    InEffect,
    /// The variable would work, but this build or machine lacks something. The text is to be written after "needs":
    /// `a GPU device, which this build has none of`.
    Needs(String),
    /// The variable is checked and listed, but this version of mxrs does not have what it configures. The text gives the
    /// reason.
    NotYet(String),
}

impl State {
    /// The name of the state: `in effect`, `needs` or `not yet`.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::InEffect => "in effect",
            Self::Needs(_) => "needs",
            Self::NotYet(_) => "not yet",
        }
    }

    /// The reason why the variable is not in effect; `None` if it is.
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::InEffect => None,
            Self::Needs(why) | Self::NotYet(why) => Some(why),
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InEffect => f.write_str("in effect"),
            Self::Needs(what) => write!(f, "needs {what}"),
            Self::NotYet(why) => write!(f, "not yet: {why}"),
        }
    }
}

/// The capabilities for which this version has code, and for each whether this build and machine have it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    written: BTreeMap<Capability, Result<(), String>>,
}

impl Capabilities {
    /// Makes the set from the capabilities for which this version has code. The value of each is `Ok` if this build and
    /// machine have the capability. Otherwise it is `Err` with a text to write after the phrase of the capability, such as
    /// `, which this build has none of`. [`Capability::Core`] need not be listed, because every build has it.
    pub fn new(written: impl IntoIterator<Item = (Capability, Result<(), String>)>) -> Self {
        Self { written: written.into_iter().collect() }
    }

    /// Whether code for the capability exists, in this build or another.
    pub fn is_written(&self, capability: Capability) -> bool {
        capability == Capability::Core || self.written.contains_key(&capability)
    }

    /// The state of variables that need `capability`.
    pub fn state(&self, capability: Capability) -> State {
        match self.written.get(&capability) {
            _ if capability == Capability::Core => State::InEffect,
            Some(Ok(())) => State::InEffect,
            Some(Err(why)) => State::Needs(format!("{}{why}", capability.phrase())),
            None => unwritten(capability),
        }
    }

    /// The state of variables that need `capability`, independent of build and machine.
    pub fn state_of_version(&self, capability: Capability) -> State {
        match capability {
            Capability::Core => State::InEffect,
            _ if self.is_written(capability) => State::Needs(capability.phrase().to_owned()),
            _ => unwritten(capability),
        }
    }

    /// The state of one variable.
    pub fn state_of(&self, row: &Row) -> State {
        self.state(row.needs)
    }
}

fn unwritten(capability: Capability) -> State {
    let phrase = capability.phrase();
    match capability.is_planned() {
        _ if capability == Capability::Reader => State::NotYet("nothing in this version reads it".into()),
        true => State::NotYet(format!("it needs {phrase}")),
        false => State::Needs(format!("{phrase}, which mxrs does not contain")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_follows_from_what_is_there() {
        let gone = ", which this build has none of".to_owned();
        let here = Capabilities::new([(Capability::Gpu, Err(gone)), (Capability::Fork, Ok(()))]);
        let text = |capability| here.state(capability).to_string();
        assert_eq!(text(Capability::Core), "in effect");
        assert_eq!(text(Capability::Fork), "in effect");
        assert_eq!(text(Capability::Gpu), "needs a GPU device, which this build has none of");
        assert_eq!(text(Capability::Servers), "not yet: it needs the feature grpc");
        assert_eq!(text(Capability::TensorRt), "needs the TensorRT backend, which mxrs does not contain");
        let of_version = |capability| here.state_of_version(capability).to_string();
        assert_eq!(of_version(Capability::Fork), "needs a system that forks processes, which is Unix");
        assert_eq!(of_version(Capability::Gpu), "needs a GPU device");
        assert_eq!(of_version(Capability::Core), "in effect");
        assert_eq!(of_version(Capability::Sparse), "not yet: it needs sparse arrays");
    }
}
