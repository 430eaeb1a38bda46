//! Speed of inference and of training: networks with the same random weights in mxrs and in other libraries, each in a
//! separate process.
//!
//! A case ([`Case`]) is a network at a batch size. Its files are made once: [`files`], [`exported`] for networks that PyTorch
//! exports, [`eight_bits`] for quantized networks, and [`converted`] for libraries with formats of their own. Every peer ([`peers`]) that can be started loads them; then the peers take turns ([`contest`]): in every round
//! each runs for about a second while the others are stopped ([`process`]). If a peer fails, its cell shows a [`Failure`]
//! and the measurement continues with the others. Orders and answers are lines of JSON (`serve.rs`). For mxrs, the program
//! `compare_score` starts itself again ([`ours`]). The results ([`found`]) are printed and written to files ([`outputs`]),
//! from which they can be read again ([`saved`]).

pub mod agreement;
pub mod check;
pub mod concurrent;
pub mod contest;
pub mod converted;
pub mod eight_bits;
pub mod exported;
pub mod files;
pub mod found;
pub mod limits;
pub mod load;
pub mod ours;
pub mod outputs;
pub mod peers;
pub mod plot;
pub mod process;
pub mod saved;
pub mod serve;
pub mod shared;
pub mod tables;
pub mod training;

#[cfg(test)]
#[path = "../../tests/support/scripts.rs"]
mod scripts;

use crate::memory::Mode;
use clap::ValueEnum;
use std::borrow::Cow;
use std::fmt;

/// Names of all networks, from a text file. `cargo xtask` reads the same file, because it cannot depend on a crate of the
/// product.
pub fn networks() -> impl Iterator<Item = &'static str> {
    include_str!("networks.txt").lines()
}

/// Element type that networks compute with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Dtype {
    /// 32 bits.
    Float32,
    /// 16 bits: the upper half of a float32.
    Bfloat16,
    /// 8-bit integers, quantized after training: inference only.
    Int8,
}

impl Dtype {
    /// Name of the type on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Float32 => "float32",
            Self::Bfloat16 => "bfloat16",
            Self::Int8 => "int8",
        }
    }
}

/// One network with all settings of its run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Name of the network.
    pub network: String,
    /// Batch size.
    pub batch: usize,
    /// Element type.
    pub dtype: Dtype,
    /// Threads each peer may use.
    pub threads: usize,
    /// Inference or training.
    pub mode: Mode,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { network, batch, dtype, threads, mode } = self;
        write!(f, "{network}, {}, batch {batch}, {}, threads {threads}", mode.word(), dtype.word())
    }
}

/// Why a peer has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// A word or two for the peer's cell.
    pub word: Cow<'static, str>,
    /// The reason.
    pub why: String,
}

impl Failure {
    /// A failure with this word and reason.
    pub fn new(word: impl Into<Cow<'static, str>>, why: impl Into<String>) -> Self {
        Self { word: word.into(), why: why.into() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.word, self.why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_networks_is_that_of_the_models() {
        let mut built = Vec::new();
        for family in mxrs::models::families() {
            for name in std::iter::once(&family.name).chain(family.aliases) {
                match family.layers {
                    [] => built.push((*name).to_owned()),
                    layers => built.extend(layers.iter().map(|n| format!("{name}-{n}"))),
                }
            }
        }
        assert_eq!(networks().collect::<Vec<_>>(), built, "the list is benches/src/score/networks.txt");
    }

    #[test]
    fn words_are_those_of_the_command_line() {
        for dtype in Dtype::value_variants() {
            assert_eq!(Dtype::from_str(dtype.word(), false).as_ref(), Ok(dtype));
        }
    }
}
