//! A loop over the rows of tensors: `out[i], states = fn(data[i], states, others)` for each index `i` of the first axis. The
//! outputs are the `out[i]`, stacked along a new first axis, and the last states.
//!
//! Inputs are the data, then the first states, then the other inputs of the subgraph `fn`. `in_data_locs`, `in_state_locs`
//! and `remain_locs` say which variable of the subgraph each of them is. As in MXNet, a row of a tensor with one axis has the
//! shape (1,).
//!
//! Gradient: that of the copies of the subgraph, one per step.
//!
//! MXNet: `_foreach`. Dtypes: those of the operators in the subgraph.

use super::{check_outputs, checked, control_flow, n_inputs, places};
use crate::inference::bad_attribute;
use mxrs_op::param::Longs;
use mxrs_op::{ControlFlow, ControlFlowOp, ControlKind, InputNames, OpDef, OpParams, OutputCount, op_params};
use mxrs_types::Result;

const OP: &str = "_foreach";

op_params! {
    /// Parameters of `_foreach`.
    pub struct ForeachParams for "_foreach" {
        /// Number of inputs plus 1, for the subgraph.
        num_args: i32,
        /// Number of outputs.
        num_outputs: i32,
        /// Number of outputs that are stacked; the others are states.
        num_out_data: i32,
        /// Variables of the subgraph that are states.
        in_state_locs: Longs,
        /// Variables of the subgraph that are rows of data.
        in_data_locs: Longs,
        /// Variables of the subgraph that are the same in every step.
        remain_locs: Longs,
    }
}

/// Defines the operator `_foreach`.
pub fn define() -> OpDef {
    OpDef {
        summary: "runs a subgraph for each index of the first axis",
        parse_with: |attrs| checked::<ForeachParams>(attrs, describe),
        inputs: InputNames::Variable {
            prefix: "data",
            listed: "data",
            key: "num_args",
            count: |params| n_inputs(params.get::<ForeachParams>().num_args, 1),
        },
        n_outputs: OutputCount::ByParams(n_outputs),
        n_visible: OutputCount::ByParams(n_outputs),
        ..control_flow::<ForeachParams>(OP, ControlFlowOp { subgraphs: &["fn"], describe })
    }
}

fn n_outputs(params: &OpParams) -> usize {
    usize::try_from(params.get::<ForeachParams>().num_outputs).unwrap_or(0)
}

fn describe(params: &OpParams) -> Result<ControlFlow> {
    let params = params.get::<ForeachParams>();
    let n = n_inputs(params.num_args, 1);
    let read = |name, locs| places(OP, name, locs, (n, "inputs"));
    let data = read("in_data_locs", &params.in_data_locs)?;
    let states = read("in_state_locs", &params.in_state_locs)?;
    let others = read("remain_locs", &params.remain_locs)?;
    if data.is_empty() {
        return Err(bad_attribute(OP, "in_data_locs", "at least one position", "none"));
    }
    let n_locs = data.len() + states.len() + others.len();
    let wrong = || {
        let expected = format!("each of the {n} inputs once in in_data_locs, in_state_locs and remain_locs");
        bad_attribute(OP, "num_args", expected, format!("{n_locs} positions"))
    };
    if n_locs != n {
        return Err(wrong());
    }
    // The inputs of the call are in the order of the three lists.
    let mut inputs = vec![usize::MAX; n];
    data.iter().chain(&states).chain(&others).enumerate().for_each(|(input, variable)| inputs[*variable] = input);
    if inputs.contains(&usize::MAX) {
        return Err(wrong());
    }
    let n_out_data = check_outputs(OP, params.num_outputs, params.num_out_data, states.len())?;
    Ok(ControlFlow { inputs: vec![inputs], kind: ControlKind::ForEach { data, states, n_out_data } })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_op::Attrs;

    fn parse(changed: &[(&str, &str)]) -> Result<OpParams> {
        let mut attrs = Attrs::from([
            ("num_args", "5"),
            ("num_outputs", "2"),
            ("num_out_data", "1"),
            ("in_data_locs", "[2]"),
            ("in_state_locs", "[0]"),
            ("remain_locs", "[3, 1]"),
        ]);
        for (key, value) in changed {
            attrs.set(*key, *value);
        }
        define().parse(&attrs)
    }

    #[test]
    fn the_lists_say_which_variable_each_input_is() {
        let params = parse(&[]).unwrap();
        let flow = describe(&params).unwrap();
        assert_eq!(flow.inputs, [[1, 3, 0, 2]]);
        assert_eq!(flow.kind, ControlKind::ForEach { data: vec![2], states: vec![0], n_out_data: 1 });
        assert_eq!((define().n_inputs(&params), define().variable_count(4)), (4, 5));
    }

    #[test]
    fn contradictions_are_refused() {
        let wrong: [&[(&str, &str)]; 12] = [
            &[("num_args", "-1")],
            &[("num_args", "0")],
            &[("num_args", "6")],
            &[("in_data_locs", "[]")],
            &[("in_data_locs", "[4]")],
            &[("in_data_locs", "[-1]")],
            &[("in_data_locs", "[0]")],
            &[("remain_locs", "[1]")],
            &[("remain_locs", "[3, 1, 1]")],
            &[("num_outputs", "0")],
            &[("num_out_data", "2")],
            &[("num_out_data", "-1")],
        ];
        for changed in wrong {
            let error = parse(changed).unwrap_err().to_string();
            assert!(error.contains("_foreach"), "{changed:?}: {error}");
        }
        assert!(parse(&[("num_outputs", "2000000000"), ("num_out_data", "1999999999")]).is_err());
    }
}
