//! What a control-flow operator does with its subgraphs.
//!
//! Such an operator has no kernel. Inference and expansion of graphs read its description and need not know its name.

use crate::OpParams;
use mxrs_types::Result;

/// The declaration of a control-flow operator.
#[derive(Clone, Copy)]
pub struct ControlFlowOp {
    /// What each subgraph is called in messages and in the C API (`cond`, `func`).
    pub subgraphs: &'static [&'static str],
    /// Describes a call.
    pub describe: DescribeControlFlow,
}

/// Describes a call with these parameters.
///
/// # Errors
/// Returns [`ErrorKind::Attribute`](mxrs_types::ErrorKind::Attribute) if the parameters contradict each other.
pub type DescribeControlFlow = fn(&OpParams) -> Result<ControlFlow>;

/// A call of a control-flow operator. All positions are in range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlFlow {
    /// For each subgraph, one number per variable of the subgraph: the input of the call that the variable stands for. The
    /// variables are in graph order.
    pub inputs: Vec<Vec<usize>>,
    /// How the call runs its subgraphs.
    pub kind: ControlKind,
}

/// How a call runs its subgraphs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ControlKind {
    /// Runs subgraph 0 once for each row of the data. A row is the slice at one index of the first axis. The outputs of the
    /// subgraph are those of the step, then the new states. The outputs of the call are the outputs of all steps, stacked
    /// along a new first axis, then the last states.
    ForEach {
        /// The variables of the subgraph that get rows. They stand for the first inputs of the call, in this order.
        data: Vec<usize>,
        /// The variables of the subgraph that get states, in the order of the outputs. They stand for the inputs of the call
        /// after the data.
        states: Vec<usize>,
        /// The number of outputs of a step that are not states.
        n_out_data: usize,
    },
    /// Runs subgraph 1 as long as the output of subgraph 0 is not 0. As for [`Self::ForEach`], the outputs of subgraph 1 are
    /// those of the step, then the new states. The outputs of all steps are stacked along a new first axis of size
    /// `max_iterations`.
    While {
        /// The variables of subgraph 1 that get states, in the order of the outputs.
        states: Vec<usize>,
        /// The number of outputs of a step that are not states.
        n_out_data: usize,
        /// The largest number of steps.
        max_iterations: usize,
    },
    /// Runs subgraph 1 if the output of subgraph 0 is not 0, otherwise subgraph 2.
    Branch,
}
