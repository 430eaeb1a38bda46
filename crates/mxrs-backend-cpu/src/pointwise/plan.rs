//! Plans calls of single pointwise operators, and fused calls, as programs.

use super::convert::copy;
use super::program::{Program, ProgramStep, Value};
use super::{StepCall, step};
use crate::level::Level;
use crate::plan::{Build, Planned, adds, kernel};
use mxrs_op::{Fused, FusedValue, OpCall, PlannedKernel, TensorDesc};
use mxrs_types::{DType, Layout};

/// Plans one call.
///
/// # Errors
/// Returns the reason why the call cannot be planned.
pub fn plan(call: &OpCall<'_>, level: Level, n_threads: usize) -> Planned {
    let inputs: Vec<DType> = call.inputs.iter().map(|desc| desc.dtype).collect();
    let output = call.outputs.first().ok_or("the call has no outputs")?.dtype;
    let found = step(&StepCall { name: call.op.name, params: call.params, inputs: &inputs, output, level })?;
    let reads = found.reads.into_iter().map(Value::Input).collect();
    Ok(of_steps(call, vec![ProgramStep { run: found.run, reads, dtype: output }], vec![0], n_threads))
}

/// Plans a fused call.
///
/// # Errors
/// Returns the reason why one of the fused calls cannot be planned.
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
        let found = step(&StepCall { name: part.op.name, params: &part.params, inputs: &types, output, level })?;
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

fn of_steps(call: &OpCall<'_>, steps: Vec<ProgramStep>, outputs: Vec<usize>, n_threads: usize) -> Build {
    let tensors = Tensors { inputs: call.inputs.to_vec(), outputs: call.outputs.to_vec() };
    let op = call.op.name;
    Box::new(move || {
        let (layout, n_elements) = common_layout(&tensors, &steps, &outputs);
        let adds = adds(&tensors.outputs);
        let Tensors { inputs, outputs: descs } = tensors;
        let (n_inputs, n_outputs) = (inputs.len(), descs.len());
        let program = Program::new(&inputs, steps, outputs, descs, n_elements, n_threads);
        PlannedKernel {
            input_layouts: vec![layout.clone(); n_inputs],
            output_layouts: vec![layout; n_outputs],
            scratch_bytes: program.scratch_bytes(),
            can_run_inplace: true,
            kernel: kernel(op, adds, move |args| program.run(args)),
        }
    })
}

/// The descriptions of all tensors of a call.
struct Tensors {
    inputs: Vec<TensorDesc>,
    outputs: Vec<TensorDesc>,
}

/// Returns the common layout of all tensors, and the number of elements that a tensor has in it, including padding. The
/// layout is that of the first input that is not row-major: if all tensors have it, element `i` is at the same place in all
/// of them. The tensors are row-major instead if padding would not stay zero. They are also row-major if they differ in
/// dtype or shape, because other kernels might not support the layout for these tensors.
fn common_layout(call: &Tensors, steps: &[ProgramStep], outputs: &[usize]) -> (Layout, usize) {
    let n_elements = call.outputs.first().map_or(0, |desc| desc.shape.n_elements());
    let Some(leader) = call.inputs.iter().find(|desc| !desc.layout.is_row_major()) else {
        return (Layout::RowMajor, n_elements);
    };
    let is_like = |desc: &TensorDesc| desc.shape == leader.shape && desc.dtype == leader.dtype;
    let n_stored = leader.size_bytes() / leader.dtype.size_of();
    let is_without_gaps = match &leader.layout {
        Layout::Blocked { padded, .. } => padded.iter().product::<usize>() == n_stored,
        _ => false,
    };
    let fits = is_without_gaps
        && call.inputs.iter().chain(&call.outputs).all(is_like)
        && (n_stored == n_elements || keeps_zero(call, steps, outputs));
    if fits { (leader.layout.clone(), n_stored) } else { (Layout::RowMajor, n_elements) }
}

/// Whether the steps compute zeros from zeros; decided by running them.
fn keeps_zero(call: &Tensors, steps: &[ProgramStep], outputs: &[usize]) -> bool {
    /// Number of elements to run the steps on: more than a vector register has.
    const N: usize = 32;
    let zeros = [0u64; N];
    let zeros: &[u8] = bytemuck::cast_slice(&zeros);
    let mut results: Vec<[u64; N]> = Vec::with_capacity(steps.len());
    for step in steps {
        let reads: Vec<&[u8]> = step
            .reads
            .iter()
            .map(|value| match *value {
                Value::Input(i) => &zeros[..N * call.inputs[i].dtype.size_of()],
                Value::Step(from) => &bytemuck::cast_slice(&results[from])[..N * steps[from].dtype.size_of()],
            })
            .collect();
        let mut result = [0u64; N];
        (step.run)(&reads, &mut bytemuck::cast_slice_mut(&mut result)[..N * step.dtype.size_of()]);
        results.push(result);
    }
    outputs.iter().all(|output| {
        let bytes: &[u8] = &bytemuck::cast_slice(&results[*output])[..N * steps[*output].dtype.size_of()];
        match steps[*output].dtype {
            // -0 counts as zero.
            DType::F32 => bytemuck::cast_slice::<u8, f32>(bytes).iter().all(|x| *x == 0.0),
            _ => bytes.iter().all(|byte| *byte == 0),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_op::{Attrs, KernelArgs, RawTensor};
    use mxrs_sync::Team;
    use mxrs_testkit::AlignedBuffer;
    use mxrs_types::WriteReq;

    /// Plans a call with these attributes on images of 20 channels in blocks of 16, and returns whether the plan stays in
    /// blocks. If it does, runs the call: every element, including padding, must equal `expected` of the inputs.
    fn blocks(name: &str, attrs: &[(&str, &str)], n_inputs: usize, expected: fn(f32, f32) -> f32) -> bool {
        let ops = mxrs_ops::catalog();
        let op = ops.get(name).unwrap();
        let params = op.parse(&attrs.iter().copied().collect::<Attrs>()).unwrap();
        let blocked = Layout::Blocked {
            padded: [2, 32, 3, 5].into_iter().collect(),
            strides: [480, 240, 80, 16].into_iter().collect(),
            blocks: [(1, 16)].into_iter().collect(),
        };
        let image = TensorDesc::dense([2, 20, 3, 5], DType::F32).with_layout(blocked);
        let (inputs, outputs) = (vec![image.clone(); n_inputs], [image.with_layout(Layout::RowMajor)]);
        let is_constant = vec![false; n_inputs];
        let call = OpCall {
            op,
            params: &params,
            inputs: &inputs,
            outputs: &outputs,
            is_constant: &is_constant,
            is_train: false,
        };
        let planned = plan(&call, Level::best(), 1).unwrap()();
        assert_eq!(planned.input_layouts[0], planned.output_layouts[0]);
        if planned.output_layouts[0].is_row_major() {
            return false;
        }
        let n = 2 * 32 * 15;
        let is_padding = |i: usize| i / 240 % 2 * 16 + i % 16 >= 20;
        let values = |scale: f32| -> Vec<f64> {
            (0..n).map(|i| if is_padding(i) { 0.0 } else { f64::from((i % 23) as f32 * scale - 5.0) }).collect()
        };
        let data = [values(0.5), values(0.75)];
        let buffers = data.each_ref().map(|values| AlignedBuffer::from_f64(values, DType::F32));
        let mut out = AlignedBuffer::poisoned(4 * n);
        let mut scratch = AlignedBuffer::poisoned(planned.scratch_bytes);
        let args = KernelArgs {
            inputs: &buffers[..n_inputs].iter().map(|b| RawTensor::from_slice(b.bytes())).collect::<Vec<_>>(),
            outputs: &[RawTensor::from_mut_slice(out.bytes_mut())],
            reqs: &[WriteReq::Write],
            scratch: RawTensor::from_mut_slice(scratch.bytes_mut()),
            team: &Team::serial(),
            random: None,
            stream: None,
        };
        mxrs_testkit::run_kernel(&*planned.kernel, &args).unwrap();
        for (i, got) in out.to_f64(DType::F32).into_iter().enumerate() {
            let want = f64::from(expected(data[0][i] as f32, data[1][i] as f32));
            assert!((got - want).abs() <= 1e-6, "{name}: [{i}] {got}, expected {want}");
        }
        true
    }

    #[test]
    fn padding_is_kept_by_functions_that_keep_zero_only() {
        let act = |act| blocks("Activation", &[("act_type", act)], 1, |x, _| x.max(0.0));
        assert!(act("relu") && !act("sigmoid") && !act("softrelu"));
        assert!(blocks("elemwise_add", &[], 2, |x, y| x + y) && blocks("elemwise_mul", &[], 2, |x, y| x * y));
        assert!(blocks("negative", &[], 1, |x, _| -x) && blocks("square", &[], 1, |x, _| x * x));
        assert!(blocks("clip", &[("a_min", "-1"), ("a_max", "2")], 1, |x, _| x.clamp(-1.0, 2.0)));
        let never = |_: f32, _: f32| f32::NAN;
        assert!(!blocks("clip", &[("a_min", "1"), ("a_max", "2")], 1, never));
        assert!(!blocks("exp", &[], 1, never) && !blocks("elemwise_div", &[], 2, never));
        assert!(!blocks("_plus_scalar", &[("scalar", "1")], 1, never));
        assert!(blocks("_mul_scalar", &[("scalar", "3")], 1, |x, _| 3.0 * x));
    }
}
