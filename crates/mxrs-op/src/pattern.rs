//! Patterns: chains of calls that fewer calls can replace at inference.
//!
//! A pattern begins with a seed call, followed by calls that match its stages in order. Stages that are not required may be
//! missing. Each call reads the first output of the call before it, and maybe other outputs of that call. Only the outputs
//! of the last call of a chain may be read by calls outside the chain. A stage may also match a call that reads the chain's
//! last value twice ([`Stage::through`]). The pass that searches for chains knows only these declarations and no operators.
//! The crate that declares operators also declares their patterns and the replacement of each chain.
//!
//! ```
//! use mxrs_op::{Attrs, Member, NewCall, Operand, Pattern, Stage};
//!
//! fn replace(chain: &[Member<'_>]) -> Option<Vec<NewCall>> {
//!     let inputs = vec![Operand::Input { member: 0, position: 0 }];
//!     Some(vec![NewCall { op: "scaled_relu", suffix: "", attrs: chain[0].attrs.clone(), inputs }])
//! }
//! let pattern = Pattern {
//!     name: "scale",
//!     seed: Stage::of("scale", &["scale"]),
//!     then: vec![Stage::of("act", &["relu"])],
//!     replace,
//! };
//! assert!(pattern.then[0].ops.contains(&"relu"));
//! ```

use crate::{Attrs, OpCall, OpDef, OpParams, TensorDesc};

/// A chain of calls and its replacement.
#[derive(Clone)]
pub struct Pattern {
    /// Name in logs and reports: the operator of the seed.
    pub name: &'static str,
    /// The first call.
    pub seed: Stage,
    /// The calls that may follow the seed, in this order. Any of them may be missing, unless it is required.
    pub then: Vec<Stage>,
    /// Returns the calls that replace a chain of at least two calls, in order of execution; `None` if this chain stays as it
    /// is. The last new call must have the same first output as the chain's last call, and the same further outputs if other
    /// calls read them.
    pub replace: fn(&[Member<'_>]) -> Option<Vec<NewCall>>,
}

/// One position of a [`Pattern`], which a call may match.
#[derive(Clone)]
pub struct Stage {
    /// Name of the stage, for [`Pattern::replace`].
    pub name: &'static str,
    /// Operators of calls that match.
    pub ops: &'static [&'static str],
    /// Positions of the inputs by which a matching call may read the call before it.
    pub enters_by: &'static [usize],
    /// If this list is not empty, a matching call reads the chain's last value twice: directly, and through one to three
    /// calls of these operators, which read it by their first input. So `x * sigmoid(x)` is a multiplication through a
    /// sigmoid. These calls become members of the chain too, before the matching call.
    pub through: &'static [&'static str],
    /// Whether every chain of the pattern must have a call of this stage.
    pub is_required: bool,
    /// Whether a call may follow a chain. The chain is empty for a seed.
    pub accepts: fn(&[Member<'_>], &Member<'_>) -> bool,
}

impl Stage {
    /// A stage that matches any call of these operators that reads the chain by its first input.
    pub fn of(name: &'static str, ops: &'static [&'static str]) -> Self {
        Self { name, ops, enters_by: &[0], through: &[], is_required: false, accepts: |_, _| true }
    }
}

/// A call of a chain.
#[derive(Clone, Copy, Debug)]
pub struct Member<'a> {
    /// Name of the stage that the call matches.
    pub stage: &'static str,
    /// The operator.
    pub op: &'a OpDef,
    /// Parameters of the call.
    pub params: &'a OpParams,
    /// Attributes of the call as text, including annotations.
    pub attrs: &'a Attrs,
    /// Descriptions of the inputs.
    pub inputs: &'a [TensorDesc],
    /// Descriptions of the outputs.
    pub outputs: &'a [TensorDesc],
    /// For each input, whether it keeps its value from run to run.
    pub is_constant: &'a [bool],
    /// Position of the input by which the call reads the call before it; 0 for a seed.
    pub entered_by: usize,
    /// Pairs `(input, output)` of this call's inputs that are outputs of the call before it.
    pub reads: &'a [(usize, usize)],
}

/// The source of an input of a [`NewCall`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// An input of a call of the chain.
    Input {
        /// Index of the call in the chain.
        member: usize,
        /// Position of the input. The value at this input must not be an output of another call of the chain.
        position: usize,
    },
    /// The first output of an earlier new call, given by its index.
    Made(usize),
}

/// A call that replaces a chain, or that prepares an input of the replacement.
#[derive(Clone, Debug)]
pub struct NewCall {
    /// Name of the operator.
    pub op: &'static str,
    /// Suffix that makes the node's name from that of the seed. The last call takes the name of the chain's last call
    /// instead.
    pub suffix: &'static str,
    /// Parameters and annotations.
    pub attrs: Attrs,
    /// Where the inputs of the call come from.
    pub inputs: Vec<Operand>,
}

/// A replacement that the caller of the pass accepts or refuses.
pub struct Proposal<'a> {
    /// The pattern that matched.
    pub pattern: &'a Pattern,
    /// The calls of the chain.
    pub members: &'a [Member<'a>],
    /// The call that replaces the chain, without calls that only prepare its constants.
    pub call: OpCall<'a>,
}
