//! Runs one prepared call on a backend with every request that an executor may use, and checks the results.

use super::{Prepared, check_images_apart};
use crate::{AlignedBuffer, Tolerance, compare};
use mxrs_op::{Accuracy, Backend, KernelArgs, OpDef, PlannedKernel, RawTensor, TensorDesc, accumulate};
use mxrs_sync::Team;
use mxrs_types::{DType, Layout, WriteReq};

/// A planned call of a backend, with its inputs in the planned layouts.
pub struct Runner<'a> {
    backend: &'a dyn Backend,
    op: &'a OpDef,
    prepared: &'a Prepared,
    planned: PlannedKernel,
    inputs: Vec<AlignedBuffer>,
    tolerance: Tolerance,
}

impl<'a> Runner<'a> {
    /// Plans the call and converts the inputs to the planned layouts.
    ///
    /// # Errors
    /// Returns a sentence for the report if planning or a reorder fails.
    pub fn new(
        backend: &'a dyn Backend,
        op: &'a OpDef,
        prepared: &'a Prepared,
        is_constant: &[bool],
        team: &Team,
    ) -> Result<Self, String> {
        let planned = backend.plan(&prepared.call(op, is_constant)).map_err(|e| format!("plan: {e}"))?;
        if planned.input_layouts.len() != prepared.inputs.len()
            || planned.output_layouts.len() != prepared.outputs.len()
        {
            return Err(format!(
                "plan has {} input and {} output layouts, the call {} inputs and {} outputs",
                planned.input_layouts.len(),
                planned.output_layouts.len(),
                prepared.inputs.len(),
                prepared.outputs.len()
            ));
        }
        let inputs = prepared
            .data
            .iter()
            .zip(&prepared.inputs)
            .zip(&planned.input_layouts)
            .map(|((data, desc), layout)| reorder(backend, data, desc, &desc.with_layout(layout.clone()), team))
            .collect::<Result<_, _>>()?;
        // A call with several float types has the tolerance of the least exact one.
        let tolerance = prepared
            .inputs
            .iter()
            .chain(&prepared.outputs)
            .filter(|d| d.dtype.is_float() && d.dtype != DType::F64)
            .fold(Tolerance::T0, |t, d| t.widest(Tolerance::of(op.accuracy, d.dtype)));
        let tolerance = if tolerance == Tolerance::T0 {
            prepared.outputs.first().map_or(tolerance, |d| Tolerance::of(op.accuracy, d.dtype))
        } else {
            tolerance
        };
        Ok(Self { backend, op, prepared, planned, inputs, tolerance })
    }

    /// The name of the kernel that runs.
    pub fn kernel_name(&self) -> &str {
        self.planned.kernel.name()
    }

    fn output_desc(&self, index: usize) -> TensorDesc {
        self.prepared.outputs[index].with_layout(self.planned.output_layouts[index].clone())
    }

    /// Checks the call with all requests: write (also on one thread), gaps between images, null, add, in place.
    ///
    /// # Errors
    /// Returns a sentence with the request and the difference.
    pub fn check_all(&self, team: &Team) -> Result<(), String> {
        let written = self.check_write(team)?;
        let serial =
            self.run(WriteReq::Write, self.poisoned(), &Team::serial()).map_err(|e| format!("1 thread: {e}"))?;
        for i in self.prepared.compared() {
            let (one, many) = (&serial[i], &written[i]);
            if !bits_agree(one.bytes(), many.bytes(), self.prepared.outputs[i].dtype) {
                return Err(format!("output {i} differs between 1 and {} threads", team.size()));
            }
        }
        self.check_apart(team, &written)?;
        self.check_null(team)?;
        self.check_add(team, &written)?;
        self.check_inplace(team)
    }

    /// Output buffers filled with NaN; the buffers of rewritten inputs have the original content of these inputs.
    fn poisoned(&self) -> Vec<AlignedBuffer> {
        let n_plain = self.n_plain();
        let content = |i: usize| match i.checked_sub(n_plain) {
            Some(k) => self.inputs[self.prepared.rewrites[k]].clone(),
            None => AlignedBuffer::poisoned(self.output_desc(i).size_bytes()),
        };
        (0..self.prepared.outputs.len()).map(content).collect()
    }

    /// The number of outputs that are not rewritten inputs.
    fn n_plain(&self) -> usize {
        self.prepared.outputs.len() - self.prepared.rewrites.len()
    }

    /// Runs the kernel with this request for the visible outputs; hidden outputs have the request `Write`.
    fn run(&self, req: WriteReq, mut outputs: Vec<AlignedBuffer>, team: &Team) -> Result<Vec<AlignedBuffer>, String> {
        let inputs: Vec<RawTensor<'_>> = self.inputs.iter().map(|b| RawTensor::from_slice(b.bytes())).collect();
        let of = |i: usize| match req {
            WriteReq::Null => req,
            _ if i < self.prepared.n_visible => req,
            _ if i < self.n_plain() => WriteReq::Write,
            _ => WriteReq::Inplace,
        };
        let reqs: Vec<WriteReq> = (0..outputs.len()).map(of).collect();
        let raw: Vec<RawTensor<'_>> = outputs.iter_mut().map(|b| RawTensor::from_mut_slice(b.bytes_mut())).collect();
        self.launch(&inputs, &raw, &reqs, team)?;
        for (i, output) in outputs.iter().enumerate() {
            if !output.guard_is_intact() {
                return Err(format!("wrote behind the end of output {i}"));
            }
        }
        Ok(outputs)
    }

    fn launch(
        &self,
        inputs: &[RawTensor<'_>],
        outputs: &[RawTensor<'_>],
        reqs: &[WriteReq],
        team: &Team,
    ) -> Result<(), String> {
        let mut scratch = AlignedBuffer::poisoned(self.planned.scratch_bytes);
        let mut inputs = inputs.to_vec();
        for (input, output) in self.prepared.rewrites.iter().zip(&outputs[self.n_plain()..]) {
            inputs[*input] = *output;
        }
        // Inputs that the operator ignores have no memory.
        for ignored in self.op.unread_inputs(self.prepared.is_train) {
            if let Some(input) = inputs.get_mut(ignored) {
                *input = RawTensor::from_slice(&[]);
            }
        }
        let args = KernelArgs {
            inputs: &inputs,
            outputs,
            reqs,
            scratch: RawTensor::from_mut_slice(scratch.bytes_mut()),
            team,
            random: Some(Prepared::RANDOM),
            stream: None,
        };
        crate::run_kernel(&*self.planned.kernel, &args).map_err(|e| format!("run: {e}"))?;
        if !scratch.guard_is_intact() {
            return Err(format!("wrote behind its {} bytes of scratch", self.planned.scratch_bytes));
        }
        Ok(())
    }

    fn check_write(&self, team: &Team) -> Result<Vec<AlignedBuffer>, String> {
        let outputs = self.run(WriteReq::Write, self.poisoned(), team)?;
        for i in self.prepared.compared() {
            self.compare_output(i, &outputs[i], None, team)?;
        }
        for (i, (input, desc)) in self.inputs.iter().zip(&self.prepared.inputs).enumerate() {
            let is_aux = i >= self.prepared.inputs.len() - self.op.n_aux;
            let layout = &self.planned.input_layouts[i];
            if *layout == desc.layout && !is_aux && input.bytes() != self.prepared.data[i].bytes() {
                return Err(format!("changed input {i} ({desc})"));
            }
        }
        Ok(outputs)
    }

    /// Compares an output with that of the reference kernel, plus `base` if it is given.
    fn compare_output(
        &self,
        index: usize,
        output: &AlignedBuffer,
        base: Option<&[f64]>,
        team: &Team,
    ) -> Result<(), String> {
        let desc = &self.prepared.outputs[index];
        let dense = reorder(self.backend, output, &self.output_desc(index), desc, team)?;
        let mut expected = self.prepared.expected[index].to_f64(desc.dtype);
        // In a call with quantized integers and floats, the tolerance of the floats is not used for the integers.
        let mut tolerance = match self.op.accuracy {
            Accuracy::Quantum => Tolerance::of(Accuracy::Quantum, desc.dtype),
            _ => self.tolerance,
        };
        if let Some(base) = base {
            expected.iter_mut().zip(base).for_each(|(e, b)| *e += b);
            // The addition of `base` rounds again. The tolerance is wider, because the two terms may nearly cancel.
            expected = AlignedBuffer::from_f64(&expected, desc.dtype).to_f64(desc.dtype);
            tolerance = tolerance.widest(if desc.dtype.is_float() {
                Tolerance::of(Accuracy::Reduction, desc.dtype)
            } else {
                Tolerance::T0
            });
        }
        compare(&dense.to_f64(desc.dtype), &expected, tolerance).map_err(|e| format!("output {index} ({desc}): {e}"))
    }

    /// Checks gaps between images, if the kernel supports them. Executors use gaps only for kernels with one output.
    fn check_apart(&self, team: &Team, written: &[AlignedBuffer]) -> Result<(), String> {
        let [written] = written else { return Ok(()) };
        check_images_apart(&self.planned, &self.inputs, (&self.output_desc(0), written), team).map(drop)
    }

    fn check_null(&self, team: &Team) -> Result<(), String> {
        let outputs = self.run(WriteReq::Null, self.poisoned(), team).map_err(|e| format!("request null: {e}"))?;
        match outputs[..self.n_plain()].iter().position(|o| o.bytes().iter().any(|b| *b != 0xFF)) {
            Some(i) => Err(format!("request null: output {i} was written")),
            None => Ok(()),
        }
    }

    /// Checks the request `Add`. A kernel that [supports](mxrs_op::Kernel::adds) it must give the same bits as writing and
    /// then adding.
    fn check_add(&self, team: &Team, written: &[AlignedBuffer]) -> Result<(), String> {
        let visible = &self.prepared.outputs[..self.prepared.n_visible];
        if visible.iter().any(|d| d.dtype == DType::Bool) {
            let offers = visible.iter().enumerate().any(|(i, d)| d.dtype == DType::Bool && self.planned.kernel.adds(i));
            return if offers { Err("offers to add bools, which have no sum".into()) } else { Ok(()) };
        }
        let mut outputs = self.poisoned();
        let mut bases = Vec::new();
        for (i, desc) in visible.iter().enumerate() {
            let base: Vec<f64> = (0..desc.shape.n_elements()).map(|k| (k % 7) as f64 * 0.25 - 0.5).collect();
            let dense = AlignedBuffer::from_f64(&base, desc.dtype);
            outputs[i] = reorder(self.backend, &dense, desc, &self.output_desc(i), team)?;
            bases.push((base, outputs[i].clone()));
        }
        let outputs = self.run(WriteReq::Add, outputs, team).map_err(|e| format!("request add: {e}"))?;
        // Sums of integers may overflow; then the expected value is not defined.
        let has_right_numbers = visible.iter().all(|d| d.dtype.is_float());
        for (i, (base, mut sum)) in bases.into_iter().enumerate() {
            if has_right_numbers {
                self.compare_output(i, &outputs[i], Some(&base), team).map_err(|e| format!("request add: {e}"))?;
            }
            if self.planned.kernel.adds(i) {
                let desc = self.output_desc(i);
                accumulate(&desc, sum.bytes_mut(), written[i].bytes()).map_err(|e| format!("request add: {e}"))?;
                if !bits_agree(sum.bytes(), outputs[i].bytes(), desc.dtype) {
                    return Err(format!("offers to add to output {i}, but not with the bits of writing and adding"));
                }
            }
        }
        Ok(())
    }

    fn check_inplace(&self, team: &Team) -> Result<(), String> {
        if !self.planned.can_run_inplace {
            return Ok(());
        }
        for &(input, output) in self.op.inplace_pairs(&self.prepared.params) {
            if input >= self.prepared.inputs.len() || output >= self.prepared.n_visible {
                continue;
            }
            let (from, to) = (&self.prepared.inputs[input], &self.prepared.outputs[output]);
            let same_layout = self.planned.input_layouts[input] == self.planned.output_layouts[output];
            if from.shape != to.shape || from.dtype != to.dtype || !same_layout {
                continue;
            }
            let mut outputs = self.poisoned();
            outputs[output] = self.inputs[input].clone();
            let raw: Vec<RawTensor<'_>> =
                outputs.iter_mut().map(|b| RawTensor::from_mut_slice(b.bytes_mut())).collect();
            let mut inputs: Vec<RawTensor<'_>> = self.inputs.iter().map(|b| RawTensor::from_slice(b.bytes())).collect();
            inputs[input] = raw[output];
            let mut reqs = vec![WriteReq::Write; raw.len()];
            reqs[output] = WriteReq::Inplace;
            reqs[self.n_plain()..].fill(WriteReq::Inplace);
            self.launch(&inputs, &raw, &reqs, team).map_err(|e| format!("in place of input {input}: {e}"))?;
            self.compare_output(output, &outputs[output], None, team)
                .map_err(|e| format!("in place of input {input}: {e}"))?;
        }
        Ok(())
    }
}

/// Whether the bits are equal, where all NaNs count as equal.
fn bits_agree(a: &[u8], b: &[u8], dtype: DType) -> bool {
    if a == b {
        return true;
    }
    let size = dtype.size_of();
    a.len() == b.len()
        && a.chunks(size).zip(b.chunks(size)).all(|(x, y)| {
            x == y || {
                let value = |bytes: &[u8]| AlignedBuffer::from_bytes(bytes).to_f64(dtype)[0];
                x.len() == size && dtype.is_float() && value(x).is_nan() && value(y).is_nan()
            }
        })
}

/// Copies a tensor to another layout, using the backend's reorder.
fn reorder(
    backend: &dyn Backend,
    data: &AlignedBuffer,
    from: &TensorDesc,
    to: &TensorDesc,
    team: &Team,
) -> Result<AlignedBuffer, String> {
    if from.layout == to.layout {
        return Ok(data.clone());
    }
    let kernel = backend
        .reorder(from, to)
        .map_err(|e| format!("reorder {from} to {to}: {e}"))?
        .ok_or_else(|| format!("plans a layout it cannot reorder: {from} to {to}"))?;
    let mut copy = match to.layout {
        // Only a row-major tensor begins with NaN. Blocked layouts have padding, in which the libraries that use them expect
        // zeros.
        Layout::RowMajor => AlignedBuffer::poisoned(to.size_bytes()),
        _ => AlignedBuffer::zeroed(to.size_bytes()),
    };
    let args = KernelArgs {
        inputs: &[RawTensor::from_slice(data.bytes())],
        outputs: &[RawTensor::from_mut_slice(copy.bytes_mut())],
        reqs: &[WriteReq::Write],
        scratch: RawTensor::from_slice(&[]),
        team,
        random: None,
        stream: None,
    };
    crate::run_kernel(&*kernel, &args).map_err(|e| format!("reorder {from} to {to}: {e}"))?;
    if copy.guard_is_intact() { Ok(copy) } else { Err(format!("reorder {from} to {to}: wrote behind the end")) }
}
