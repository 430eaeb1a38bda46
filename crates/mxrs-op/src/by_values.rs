//! Operators whose output shapes depend on the values of their inputs: [`ByValues`].

use crate::{Attrs, OpParams, RefInput};
use mxrs_types::Result;

/// How to call an operator whose output shapes depend on the values of an input. The operator has no kernel. The caller
/// reads the input, and then calls another operator on the same inputs, which has the sizes as parameters.
#[derive(Clone, Copy, Debug)]
pub struct ByValues {
    /// The input whose values are read. A call that has no such input reads nothing.
    pub input: usize,
    /// Returns the call that takes the place of this one.
    pub resolve: ResolveCall,
}

/// Returns the call that takes the place of a call with these parameters and inputs. Shapes and types of the inputs have
/// been checked by inference. The bytes of every input except [`ByValues::input`] are empty.
pub type ResolveCall = fn(&OpParams, &[RefInput<'_>]) -> Result<ResolvedCall>;

/// A call that takes the place of another one: it has the same inputs and outputs.
#[derive(Clone, Debug)]
pub struct ResolvedCall {
    /// Name of the operator, a companion of the one that was called.
    pub op: &'static str,
    /// Its attributes.
    pub attrs: Attrs,
}
