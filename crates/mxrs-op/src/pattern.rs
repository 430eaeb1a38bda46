//! Patterns: chains of calls that fewer calls can replace at inference.
//!
//! A pattern begins with a seed and goes through its stages in order, leaving out any of them: each call reads the first
//! output of the one before it, and maybe others; nobody else reads any. The pass that looks for them knows no operator, only these declarations; an
//! operator's crate declares them, and says what a chain becomes.
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

/// A chain of calls, and what it becomes.
#[derive(Clone)]
pub struct Pattern {
    /// What it is called in logs and reports: the operator it begins with.
    pub name: &'static str,
    /// The first call.
    pub seed: Stage,
    /// What may follow, in this order; any of them may be missing.
    pub then: Vec<Stage>,
    /// What a chain of at least two calls becomes: calls in order of execution, of which the last gives what the last of
    /// the chain gave: its first output, and others where somebody reads them. `None` where this chain stays as it is.
    pub replace: fn(&[Member<'_>]) -> Option<Vec<NewCall>>,
}

/// One place of a [`Pattern`].
#[derive(Clone)]
pub struct Stage {
    /// What the place is called, for [`Pattern::replace`].
    pub name: &'static str,
    /// Operators that can stand there.
    pub ops: &'static [&'static str],
    /// Inputs by which such a call may read the call before it.
    pub enters_by: &'static [usize],
    /// Whether this call can follow that chain; the chain is empty for a seed.
    pub accepts: fn(&[Member<'_>], &Member<'_>) -> bool,
}

impl Stage {
    /// Any call of these operators that reads the chain by its first input.
    pub fn of(name: &'static str, ops: &'static [&'static str]) -> Self {
        Self { name, ops, enters_by: &[0], accepts: |_, _| true }
    }
}

/// A call of a chain.
#[derive(Clone, Copy, Debug)]
pub struct Member<'a> {
    /// Name of the stage it stands at.
    pub stage: &'static str,
    /// The operator.
    pub op: &'a OpDef,
    /// Its parameters.
    pub params: &'a OpParams,
    /// The same as text, annotations included.
    pub attrs: &'a Attrs,
    /// What is known of its inputs.
    pub inputs: &'a [TensorDesc],
    /// What is known of its outputs.
    pub outputs: &'a [TensorDesc],
    /// Which inputs keep their value from run to run.
    pub is_constant: &'a [bool],
    /// Input by which it reads the call before it; 0 for a seed.
    pub entered_by: usize,
    /// Inputs that are outputs of the call before it, and which: `(input, output)`.
    pub reads: &'a [(usize, usize)],
}

/// Where an input of a [`NewCall`] comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// From where a call of the chain takes it.
    Input {
        /// Which call of the chain.
        member: usize,
        /// Which of its inputs; not one that another call of the chain makes.
        position: usize,
    },
    /// First output of a new call before this one.
    Made(usize),
}

/// A call that a chain becomes, or one that prepares an input of it.
#[derive(Clone, Debug)]
pub struct NewCall {
    /// Name of the operator.
    pub op: &'static str,
    /// What is appended to the seed's name; the last call has the name of the chain's last call instead.
    pub suffix: &'static str,
    /// Parameters and annotations.
    pub attrs: Attrs,
    /// Inputs.
    pub inputs: Vec<Operand>,
}

/// A replacement that somebody may still refuse.
pub struct Proposal<'a> {
    /// The pattern.
    pub pattern: &'a Pattern,
    /// The chain.
    pub members: &'a [Member<'a>],
    /// What takes its place; calls that only prepare its constants are left out.
    pub call: OpCall<'a>,
}
