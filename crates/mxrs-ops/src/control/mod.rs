//! Control flow: a loop over rows, a loop with a condition, and a branch. Each runs graphs that belong to its node
//! (`Node::subgraphs`), so it has no kernel and cannot be called on arrays: before a graph is bound, `mxrs-graph` replaces the
//! node by copies of these graphs. [`select`] and [`gate`] are the operators that the copies need.

pub mod cond;
pub mod foreach;
pub mod gate;
pub mod select;
pub mod while_loop;

use crate::dtypes::MOVABLE;
use crate::inference::bad_attribute;
use mxrs_op::param::Longs;
use mxrs_op::{Attrs, ControlFlow, ControlFlowOp, OpDef, OpParams, Parameters, Precision};
use mxrs_types::Result;

/// Defines the operators that only expanded graphs call.
pub fn companions() -> [OpDef; 2] {
    [select::define(), gate::define()]
}

/// The properties that all control-flow operators share. `P` are the parameters, which `describe` checks.
fn control_flow<P: Parameters>(name: &'static str, flow: ControlFlowOp) -> OpDef {
    OpDef {
        // Shape and type inference of a graph goes into the subgraphs itself, so there is nothing to infer here.
        infer_shape: |_, _, _| Ok(()),
        infer_dtype: |_, _, _| Ok(()),
        dtypes: MOVABLE,
        output_names: &[],
        // As in the lists of MXNet's mixed precision. The conversion works on the expanded graph, where each operator of the
        // subgraphs has its own rule.
        precision_float16: Some(Precision::follows),
        control_flow: Some(flow),
        ..OpDef::new(name).params::<P>()
    }
}

/// Reads parameters and checks that `describe` accepts them.
fn checked<P: Parameters>(attrs: &Attrs, describe: fn(&OpParams) -> Result<ControlFlow>) -> Result<OpParams> {
    let params = OpParams::new(P::parse(attrs)?);
    describe(&params)?;
    Ok(params)
}

/// The number of inputs of a call; MXNet counts subgraphs in `num_args`.
fn n_inputs(num_args: i32, n_subgraphs: usize) -> usize {
    usize::try_from(num_args).unwrap_or(0).saturating_sub(n_subgraphs)
}

/// Reads a number that must be at least `least`.
fn at_least(op: &str, name: &str, value: i32, least: usize) -> Result<usize> {
    let number = usize::try_from(value).ok().filter(|number| *number >= least);
    number.ok_or_else(|| bad_attribute(op, name, format!("at least {least}"), value))
}

/// Reads positions that must be below `end`; `of` names what they are positions of.
fn places(op: &str, name: &str, locs: &Longs, (end, of): (usize, &str)) -> Result<Vec<usize>> {
    let place = |loc: &i64| {
        let place = usize::try_from(*loc).ok().filter(|place| *place < end);
        place.ok_or_else(|| bad_attribute(op, name, format!("positions below {end}, the number of {of}"), loc))
    };
    locs.0.iter().map(place).collect()
}

/// Whether a list has an item twice.
fn has_twins(items: &[usize]) -> bool {
    let mut sorted = items.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).any(|pair| pair[0] == pair[1])
}

/// Checks that the outputs are `num_out_data` stacked outputs and `n_states` states, and returns the number of stacked
/// outputs.
fn check_outputs(op: &str, num_outputs: i32, num_out_data: i32, n_states: usize) -> Result<usize> {
    let n_outputs = at_least(op, "num_outputs", num_outputs, 1)?;
    let n_out_data = at_least(op, "num_out_data", num_out_data, 0)?;
    if n_out_data.checked_add(n_states) != Some(n_outputs) {
        let expected = format!("num_outputs minus the number of states, {n_outputs} - {n_states}");
        return Err(bad_attribute(op, "num_out_data", expected, num_out_data));
    }
    Ok(n_out_data)
}
