//! Operators that move elements at constant strides, and their gradients: copies of ranges, permutations, repetitions,
//! concatenations and splits. Their definitions describe the moves ([`Moves::Parts`]).
//!
//! Each part is a loop nest. Its loops are ordered by their strides in the output and merged where possible ([`nest`]). If
//! the input and the output are contiguous along different loops, small blocks are transposed in the L1 cache ([`turn`]).
//! Otherwise runs of the output are written from first to last ([`runs`]). Elements that are added up are a reduction over
//! the loops that repeat them ([`sums`]).

mod nest;
mod runs;
mod sums;
mod turn;

use super::for_element;
use crate::level::Level;
use crate::number::Element;
use crate::plan::{Build, Planned, out_of_place};
use crate::tensors::{Mode, Sink};
use mxrs_op::{MovedParts, Moves, OpCall, elements};
use mxrs_types::{Result, Shape};
use nest::Nest;

/// The description of a call, if its operator has one for these parameters.
fn described(call: &OpCall<'_>) -> Option<std::result::Result<MovedParts, String>> {
    let Moves::Parts(describe) = call.op.moves else { return None };
    let inputs: Vec<&Shape> = call.inputs.iter().map(|desc| &desc.shape).collect();
    let outputs: Vec<&Shape> = call.outputs.iter().map(|desc| &desc.shape).collect();
    let moved = match describe(call.params, &inputs, &outputs) {
        Ok(Some(moved)) => moved,
        Ok(None) => return None,
        Err(error) => return Some(Err(error.to_string())),
    };
    let dtype = call.outputs[0].dtype;
    let mut dtypes = moved.parts.iter().filter_map(|part| call.inputs.get(part.input?)).chain(call.outputs);
    if dtypes.any(|desc| desc.dtype != dtype) {
        return Some(Err(format!("{} with several dtypes", call.op.name)));
    }
    Some(Ok(moved))
}

/// Plans operators whose elements are only moved.
pub fn plan(call: &OpCall<'_>, level: Level) -> Option<Planned> {
    let moved = match described(call)? {
        Ok(moved) => moved,
        Err(reason) => return Some(Err(reason)),
    };
    if moved.sums && moved.repeats {
        return None;
    }
    let dtype = call.outputs[0].dtype;
    Some(nests(call, &moved).and_then(|nests| for_element!(call, dtype, T => moves::<T>(call, &moved, nests, level))))
}

/// Plans operators whose elements are moved and added up.
pub fn plan_sums(call: &OpCall<'_>, level: Level) -> Option<Planned> {
    let moved = described(call)?.ok().filter(|moved| moved.sums && moved.repeats)?;
    Some(sums::plan(call, &moved, level))
}

/// The parts of a description as loop nests, checked against the sizes of the tensors.
fn nests(call: &OpCall<'_>, moved: &MovedParts) -> std::result::Result<Vec<Nest>, String> {
    let mut nests = Vec::with_capacity(moved.parts.len());
    for part in &moved.parts {
        let Some(nest) = Nest::new(part) else { continue };
        let input = part.input.map_or(1, |input| call.inputs.get(input).map_or(0, |desc| desc.shape.n_elements()));
        let output = call.outputs.get(part.output).map_or(0, |desc| desc.shape.n_elements());
        if !nest.is_within([input, output]) {
            return Err(format!("the description of {} leaves its tensors", call.op.name));
        }
        nests.push(nest);
    }
    Ok(nests)
}

fn moves<T: Element>(call: &OpCall<'_>, moved: &MovedParts, nests: Vec<Nest>, level: Level) -> Build {
    let dtype = call.outputs[0].dtype;
    let mut constant = [T::ZERO];
    elements::write_f64(&[moved.constant], dtype, bytemuck::cast_slice_mut(&mut constant));
    let (turned, runs): (Vec<Nest>, Vec<Nest>) = nests.into_iter().partition(|nest| nest.turned_axis().is_some());
    let sizes: Vec<usize> = call.outputs.iter().map(|desc| desc.shape.n_elements()).collect();
    // Outputs that the parts do not cover are cleared first.
    let cleared: Vec<Nest> = match moved.sums {
        true => {
            sizes.iter().enumerate().filter_map(|(i, n)| Nest::cleared(i, *n, turned.iter().chain(&runs))).collect()
        }
        false => Vec::new(),
    };
    out_of_place(call, 0, move |args| {
        let outputs: Vec<Sink<'_, T>> = (0..sizes.len()).map(|i| Sink::of(args, i, dtype)).collect::<Result<_>>()?;
        if outputs.iter().any(|output| output.mode() != Mode::Add) {
            let kept: Vec<Nest> =
                cleared.iter().filter(|nest| outputs[nest.output].mode() != Mode::Add).cloned().collect();
            runs::run(args, &kept, &outputs, T::ZERO, level);
        }
        runs::run(args, &runs, &outputs, constant[0], level);
        turned.iter().for_each(|nest| turn::run(args, nest, &outputs[nest.output]));
        Ok(())
    })
}
