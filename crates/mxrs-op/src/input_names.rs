//! How an operator names its inputs and counts its outputs.

use crate::OpParams;

/// Names of an operator's inputs, auxiliary states last.
#[derive(Clone, Copy)]
pub enum InputNames {
    /// Every call has these inputs.
    Fixed(&'static [&'static str]),
    /// The parameters determine which inputs a call has (`bias` unless `no_bias`).
    ByParams {
        /// All possible inputs, as the C API lists them.
        all: &'static [&'static str],
        /// The inputs that a call with these parameters has.
        chosen: fn(&OpParams) -> Vec<&'static str>,
    },
    /// `n` inputs called `<prefix>0`, `<prefix>1`, …; `n` is the parameter `key`.
    Variable {
        /// Name prefix of each input (`arg`).
        prefix: &'static str,
        /// The single name under which the C API lists all of these inputs (`data`, `args`).
        listed: &'static str,
        /// Parameter that holds `n` (`num_args`).
        key: &'static str,
        /// Reads `n`, the number of these inputs, from the parameters.
        count: fn(&OpParams) -> usize,
    },
    /// `n` inputs as in [`Self::Variable`], followed by one input for each of them and each suffix (`arg0_min`, `arg0_max`,
    /// `arg1_min`, …).
    Grouped {
        /// Name prefix of the first `n` inputs (`arg`).
        prefix: &'static str,
        /// Suffixes that make the names of the further inputs (`_min`, `_max`).
        suffixes: &'static [&'static str],
        /// The single name under which the C API lists all of these inputs (`data`, `args`).
        listed: &'static str,
        /// Parameter that holds `n` (`num_args`).
        key: &'static str,
        /// Reads `n`, the number of these inputs, from the parameters.
        count: fn(&OpParams) -> usize,
    },
    /// `n` groups of inputs with numbered names (`weight_0`, `grad_0`, `weight_1`, `grad_1`), followed by inputs that all
    /// groups share (`lrs`). `n` is a parameter that every call gives.
    Numbered {
        /// Names within a group (`weight`, `grad`).
        group: &'static [&'static str],
        /// Names of the shared inputs.
        shared: &'static [&'static str],
        /// The single name under which the C API lists all of these inputs (`data`, `args`).
        listed: &'static str,
        /// Reads `n`, the number of these inputs, from the parameters.
        count: fn(&OpParams) -> usize,
    },
}

/// How the number of outputs of a call is determined.
#[derive(Clone, Copy)]
pub enum OutputCount {
    /// Every call has this number of outputs.
    Fixed(usize),
    /// The number depends on the parameters.
    ByParams(fn(&OpParams) -> usize),
}

impl OutputCount {
    /// The number of outputs of a call with these parameters.
    pub fn get(self, params: &OpParams) -> usize {
        match self {
            Self::Fixed(n) => n,
            Self::ByParams(f) => f(params),
        }
    }
}
