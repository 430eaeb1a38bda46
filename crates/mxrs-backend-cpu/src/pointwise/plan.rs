//! Programs of calls: of one pointwise operator, and of a fused call.

use super::convert::copy;
use super::program::{Program, ProgramStep, Value};
use super::{Ask, step};
use crate::level::Level;
use crate::plan::{Planned, kernel};
use mxrs_op::{Fused, FusedValue, OpCall, PlannedKernel, TensorDesc};
use mxrs_types::{DType, Layout};

/// Plans one call.
///
/// # Errors
/// Why it cannot be planned.
pub fn plan(call: &OpCall<'_>, level: Level, n_threads: usize) -> Planned {
    let inputs: Vec<DType> = call.inputs.iter().map(|desc| desc.dtype).collect();
    let output = call.outputs.first().ok_or("a call without outputs")?.dtype;
    let found = step(&Ask { name: call.op.name, params: call.params, inputs: &inputs, output, level })?;
    let reads = found.reads.into_iter().map(Value::Input).collect();
    Ok(of_steps(call, vec![ProgramStep { run: found.run, reads, dtype: output }], vec![0], n_threads))
}

/// Plans a fused call.
///
/// # Errors
/// Why one of its calls cannot be planned.
pub fn plan_fused(call: &OpCall<'_>, level: Level, n_threads: usize) -> Planned {
    let fused = call.params.get::<Fused>();
    let inputs: Vec<DType> = call.inputs.iter().map(|desc| desc.dtype).collect();
    let dtypes = fused.dtypes(&inputs).map_err(|error| error.to_string())?;
    let value = |value: &FusedValue| match *value {
        FusedValue::Input(i) => Ok((Value::Input(i as usize), inputs[i as usize])),
        FusedValue::Call(c, 0) => Ok((Value::Step(c as usize), dtypes[c as usize][0])),
        FusedValue::Call(c, output) => Err(format!("output {output} of {}", fused.calls[c as usize].op.name)),
    };
    let mut steps = Vec::with_capacity(fused.calls.len());
    for (part, dtypes) in fused.calls.iter().zip(&dtypes) {
        let [output] = dtypes[..] else { return Err(format!("the outputs of {}", part.op.name)) };
        let (values, types): (Vec<Value>, Vec<DType>) =
            part.inputs.iter().map(value).collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
        let found = step(&Ask { name: part.op.name, params: &part.params, inputs: &types, output, level })?;
        let reads = found.reads.iter().map(|i| values[*i]).collect();
        steps.push(ProgramStep { run: found.run, reads, dtype: output });
    }
    let mut outputs = Vec::with_capacity(fused.outputs.len());
    for output in &fused.outputs {
        outputs.push(match value(output)? {
            (Value::Step(step), _) => step,
            (input, dtype) => {
                steps.push(ProgramStep { run: copy(), reads: vec![input], dtype });
                steps.len() - 1
            }
        });
    }
    Ok(of_steps(call, steps, outputs, n_threads))
}

fn of_steps(call: &OpCall<'_>, steps: Vec<ProgramStep>, outputs: Vec<usize>, n_threads: usize) -> PlannedKernel {
    let layout = common_layout(call);
    let n_elements = call.outputs.first().map_or(0, |desc| desc.shape.n_elements());
    let program = Program::new(call.inputs, steps, outputs, call.outputs.to_vec(), n_elements, n_threads);
    PlannedKernel {
        input_layouts: vec![layout.clone(); call.inputs.len()],
        output_layouts: vec![layout; call.outputs.len()],
        scratch_bytes: program.scratch_bytes(),
        can_run_inplace: true,
        kernel: kernel(call, move |args| program.run(args)),
    }
}

/// The layout all tensors get: that of the first input that is not row-major, where element `i` then is the same in all of
/// them. Not with padding, which has to stay zero, and not beside another type or shape, whose tensors nobody else knows in
/// this layout.
fn common_layout(call: &OpCall<'_>) -> Layout {
    let Some(leader) = call.inputs.iter().find(|desc| !desc.layout.is_row_major()) else { return Layout::RowMajor };
    let is_like = |desc: &TensorDesc| desc.shape == leader.shape && desc.dtype == leader.dtype;
    let n_bytes = leader.shape.n_elements() * leader.dtype.size_of();
    let fits = matches!(leader.layout, Layout::Blocked { .. })
        && leader.size_bytes() == n_bytes
        && call.inputs.iter().chain(call.outputs).all(is_like);
    if fits { leader.layout.clone() } else { Layout::RowMajor }
}
