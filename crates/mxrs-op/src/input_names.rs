//! How an operator names its inputs and counts its outputs.

use crate::OpParams;

/// Names of an operator's inputs, auxiliary states last.
#[derive(Clone, Copy)]
pub enum InputNames {
    /// Always these.
    Fixed(&'static [&'static str]),
    /// These, as far as the parameters ask for them (`bias` unless `no_bias`).
    ByParams {
        /// All that can occur, as the C API lists them.
        all: &'static [&'static str],
        /// Those a call has.
        chosen: fn(&OpParams) -> Vec<&'static str>,
    },
    /// `n` inputs called `<prefix>0`, `<prefix>1`, …; `n` is the parameter `key`.
    Variable {
        /// Name prefix of the single inputs (`arg`).
        prefix: &'static str,
        /// Argument name the C API lists for all of them (`data`, `args`).
        listed: &'static str,
        /// Parameter that holds the count (`num_args`).
        key: &'static str,
        /// Reads the count.
        count: fn(&OpParams) -> usize,
    },
    /// As [`Self::Variable`], and behind those `n` inputs, for each of them in turn, one for every suffix
    /// (`arg0_min`, `arg0_max`, `arg1_min`, …).
    Grouped {
        /// Name prefix of the first `n` inputs (`arg`).
        prefix: &'static str,
        /// What is appended to the name of each for the others (`_min`, `_max`).
        suffixes: &'static [&'static str],
        /// Argument name the C API lists for all of them (`data`).
        listed: &'static str,
        /// Parameter that holds `n` (`num_args`).
        key: &'static str,
        /// Reads `n`.
        count: fn(&OpParams) -> usize,
    },
    /// `n` groups of inputs with numbered names (`weight_0`, `grad_0`, `weight_1`, `grad_1`), and behind them inputs that
    /// all groups share (`lrs`). The count is a parameter that calls always give.
    Numbered {
        /// Names within a group (`weight`, `grad`).
        group: &'static [&'static str],
        /// Names of the shared inputs.
        shared: &'static [&'static str],
        /// Argument name the C API lists for all of them (`data`).
        listed: &'static str,
        /// Reads `n`.
        count: fn(&OpParams) -> usize,
    },
}

/// Number of outputs.
#[derive(Clone, Copy)]
pub enum OutputCount {
    /// Always so many.
    Fixed(usize),
    /// Depends on the parameters.
    ByParams(fn(&OpParams) -> usize),
}

impl OutputCount {
    /// The count for these parameters.
    pub fn get(self, params: &OpParams) -> usize {
        match self {
            Self::Fixed(n) => n,
            Self::ByParams(f) => f(params),
        }
    }
}
