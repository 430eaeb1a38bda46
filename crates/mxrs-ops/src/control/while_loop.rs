//! A loop with a condition: `out[i], states = func(states, others)` as long as `cond(states, others)` is not 0, and at most
//! `max_iterations` times. The outputs are the `out[i]`, stacked to `max_iterations` rows, and the last states. Rows behind the
//! last step are 0; MXNet leaves them undefined.
//!
//! `cond_input_locs` and `func_input_locs` say which input of the call each variable of the two subgraphs is, and
//! `func_var_locs` which variables of `func` are states. The output of `cond` has one element.
//!
//! Gradient: that of the copies of `func`, one per step; steps that are not taken contribute nothing.
//!
//! MXNet: `_while_loop`. Dtypes: those of the operators in the subgraphs.

use super::{at_least, check_outputs, checked, control_flow, has_twins, n_inputs, places};
use crate::inference::bad_attribute;
use mxrs_op::param::Longs;
use mxrs_op::{ControlFlow, ControlFlowOp, ControlKind, InputNames, OpDef, OpParams, OutputCount, op_params};
use mxrs_types::Result;

const OP: &str = "_while_loop";

op_params! {
    /// Parameters of `_while_loop`.
    pub struct WhileLoopParams for "_while_loop" {
        /// Number of inputs plus 2, for the subgraphs.
        num_args: i32,
        /// Number of outputs.
        num_outputs: i32,
        /// Number of outputs that are stacked; the others are states.
        num_out_data: i32,
        /// The most steps.
        max_iterations: i32,
        /// The input that each variable of `cond` is.
        cond_input_locs: Longs,
        /// The input that each variable of `func` is.
        func_input_locs: Longs,
        /// Variables of `func` that are states.
        func_var_locs: Longs,
    }
}

/// Defines the operator `_while_loop`.
pub fn define() -> OpDef {
    OpDef {
        summary: "runs a subgraph as long as another one is not 0",
        parse_with: |attrs| checked::<WhileLoopParams>(attrs, describe),
        inputs: InputNames::Variable {
            prefix: "data",
            listed: "data",
            key: "num_args",
            count: |params| n_inputs(params.get::<WhileLoopParams>().num_args, 2),
        },
        n_outputs: OutputCount::ByParams(n_outputs),
        n_visible: OutputCount::ByParams(n_outputs),
        ..control_flow::<WhileLoopParams>(OP, ControlFlowOp { subgraphs: &["cond", "func"], describe })
    }
}

fn n_outputs(params: &OpParams) -> usize {
    usize::try_from(params.get::<WhileLoopParams>().num_outputs).unwrap_or(0)
}

fn describe(params: &OpParams) -> Result<ControlFlow> {
    let params = params.get::<WhileLoopParams>();
    let n = n_inputs(params.num_args, 2);
    let cond = places(OP, "cond_input_locs", &params.cond_input_locs, (n, "inputs"))?;
    let func = places(OP, "func_input_locs", &params.func_input_locs, (n, "inputs"))?;
    let states = places(OP, "func_var_locs", &params.func_var_locs, (func.len(), "variables of func"))?;
    let of_call: Vec<usize> = states.iter().map(|variable| func[*variable]).collect();
    if has_twins(&of_call) {
        return Err(bad_attribute(OP, "func_var_locs", "a different input for each state", "one input twice"));
    }
    let n_out_data = check_outputs(OP, params.num_outputs, params.num_out_data, states.len())?;
    let max_iterations = at_least(OP, "max_iterations", params.max_iterations, 1)?;
    let kind = ControlKind::While { states, n_out_data, max_iterations };
    Ok(ControlFlow { inputs: vec![cond, func], kind })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_op::Attrs;

    fn parse(changed: &[(&str, &str)]) -> Result<OpParams> {
        let mut attrs = Attrs::from([
            ("num_args", "5"),
            ("num_outputs", "3"),
            ("num_out_data", "1"),
            ("max_iterations", "4"),
            ("cond_input_locs", "[0]"),
            ("func_input_locs", "[0, 1, 2]"),
            ("func_var_locs", "[1, 0]"),
        ]);
        for (key, value) in changed {
            attrs.set(*key, *value);
        }
        define().parse(&attrs)
    }

    #[test]
    fn a_call_is_described() {
        let flow = describe(&parse(&[]).unwrap()).unwrap();
        assert_eq!(flow.inputs, [vec![0], vec![0, 1, 2]]);
        assert_eq!(flow.kind, ControlKind::While { states: vec![1, 0], n_out_data: 1, max_iterations: 4 });
    }

    #[test]
    fn contradictions_are_refused() {
        let wrong: [&[(&str, &str)]; 9] = [
            &[("num_args", "-2147483648")],
            &[("max_iterations", "0")],
            &[("max_iterations", "-1")],
            &[("cond_input_locs", "[3]")],
            &[("func_input_locs", "[0, 1, -1]")],
            &[("func_var_locs", "[1, 3]")],
            &[("func_var_locs", "[1, 1]")],
            &[("func_input_locs", "[0, 0, 2]")],
            &[("num_out_data", "2")],
        ];
        for changed in wrong {
            let error = parse(changed).unwrap_err().to_string();
            assert!(error.contains("_while_loop"), "{changed:?}: {error}");
        }
    }
}
