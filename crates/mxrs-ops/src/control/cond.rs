//! A branch: the outputs of the subgraph `then_branch` if the output of the subgraph `cond` is not 0, otherwise those of
//! `else_branch`. The output of `cond` has one element.
//!
//! `cond_input_locs`, `then_input_locs` and `else_input_locs` say which input of the call each variable of the subgraphs is.
//! Both branches are computed, and one is selected.
//!
//! Gradient: that of the branch that is taken.
//!
//! MXNet: `_cond`. Dtypes: those of the operators in the subgraphs.

use super::{at_least, checked, control_flow, n_inputs, places};
use mxrs_op::param::Longs;
use mxrs_op::{ControlFlow, ControlFlowOp, ControlKind, InputNames, OpDef, OpParams, OutputCount, op_params};
use mxrs_types::Result;

const OP: &str = "_cond";

op_params! {
    /// Parameters of `_cond`.
    pub struct CondParams for "_cond" {
        /// Number of inputs plus 3, for the subgraphs.
        num_args: i32,
        /// Number of outputs.
        num_outputs: i32,
        /// The input that each variable of `cond` is.
        cond_input_locs: Longs,
        /// The input that each variable of `then_branch` is.
        then_input_locs: Longs,
        /// The input that each variable of `else_branch` is.
        else_input_locs: Longs,
    }
}

/// Defines the operator `_cond`.
pub fn define() -> OpDef {
    OpDef {
        summary: "runs one of two subgraphs",
        parse_with: |attrs| checked::<CondParams>(attrs, describe),
        inputs: InputNames::Variable {
            prefix: "data",
            listed: "data",
            key: "num_args",
            count: |params| n_inputs(params.get::<CondParams>().num_args, 3),
        },
        n_outputs: OutputCount::ByParams(n_outputs),
        n_visible: OutputCount::ByParams(n_outputs),
        ..control_flow::<CondParams>(OP, ControlFlowOp { subgraphs: &["cond", "then_branch", "else_branch"], describe })
    }
}

fn n_outputs(params: &OpParams) -> usize {
    usize::try_from(params.get::<CondParams>().num_outputs).unwrap_or(0)
}

fn describe(params: &OpParams) -> Result<ControlFlow> {
    let params = params.get::<CondParams>();
    let n = n_inputs(params.num_args, 3);
    at_least(OP, "num_outputs", params.num_outputs, 1)?;
    let cond = places(OP, "cond_input_locs", &params.cond_input_locs, (n, "inputs"))?;
    let then = places(OP, "then_input_locs", &params.then_input_locs, (n, "inputs"))?;
    let otherwise = places(OP, "else_input_locs", &params.else_input_locs, (n, "inputs"))?;
    Ok(ControlFlow { inputs: vec![cond, then, otherwise], kind: ControlKind::Branch })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_op::Attrs;

    #[test]
    fn contradictions_are_refused() {
        let parse = |key: &str, value: &str| {
            let mut attrs = Attrs::from([
                ("num_args", "7"),
                ("num_outputs", "1"),
                ("cond_input_locs", "[0]"),
                ("then_input_locs", "[1, 2]"),
                ("else_input_locs", "[1, 3]"),
            ]);
            attrs.set(key, value);
            define().parse(&attrs)
        };
        let flow = describe(&parse("num_outputs", "2").unwrap()).unwrap();
        assert_eq!(flow.inputs, [vec![0], vec![1, 2], vec![1, 3]]);
        for (key, value) in
            [("num_args", "2"), ("num_outputs", "-1"), ("else_input_locs", "[4]"), ("cond_input_locs", "x")]
        {
            let error = parse(key, value).unwrap_err().to_string();
            assert!(error.contains("_cond"), "{key}: {error}");
        }
    }
}
