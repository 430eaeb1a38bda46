//! Prepares one of the measured calls, with its kernel and its tensors, and times its runs.

use super::Case;
use super::memory::{Line, Lines};
use anyhow::{Context, Result, ensure};
use mxrs_op::{Backend, KernelArgs, OpCall, OpSet, PlannedKernel, RandomCall, RawTensor, TensorDesc};
use mxrs_sync::Team;
use mxrs_types::{DType, Layout, PartialShape, WriteReq};
use std::sync::Arc;
use std::time::Instant;

/// The memory for the tensors of all calls. The calls reuse it one after the other, so the system has to provide its pages
/// only once.
#[derive(Default)]
pub struct Arena {
    lines: Lines,
}

/// The gap in bytes between the tensors of a call. Without it, elements with the same index in tensors whose size is a power
/// of two would compete for the same cache lines.
const GAP: usize = 4096 + 256;

/// A call with its kernel and its tensors.
pub struct Bound {
    planned: PlannedKernel,
    kernel: String,
    /// First line and bytes of each input.
    inputs: Vec<(usize, usize)>,
    /// First line and bytes of each output and of each rewritten input.
    outputs: Vec<(usize, usize)>,
    reqs: Vec<WriteReq>,
    scratch: (usize, usize),
    bytes: usize,
}

impl Bound {
    /// Prepares the call: chooses the kernel with the fewest estimated seconds, and fills the inputs.
    ///
    /// # Errors
    /// Fails if the catalog does not have the operator, if the call is invalid, or if no backend has a kernel for row-major
    /// tensors.
    pub fn new(ops: &OpSet, backends: &[Arc<dyn Backend>], case: &Case, arena: &mut Arena) -> Result<Self> {
        let op = ops.get(&case.op).with_context(|| format!("the catalog has no {}", case.op))?;
        let params = op.parse(&case.attrs.iter().cloned().collect())?;
        let n_outputs = op.n_outputs.get(&params);
        let mut shapes: Vec<PartialShape> =
            case.shapes.iter().map(|shape| PartialShape::new(shape.iter().map(|size| Some(*size)))).collect();
        let mut dtypes: Vec<Option<DType>> = vec![None; shapes.len()];
        let (mut out_shapes, mut out_dtypes) = (vec![PartialShape::unknown(); n_outputs], vec![None; n_outputs]);
        dtypes[0] = Some(case.dtype);
        op.infer_shapes(&params, &mut shapes, &mut out_shapes)?;
        op.infer_dtypes(&params, &mut dtypes, &mut out_dtypes)?;
        dtypes.iter_mut().for_each(|dtype| *dtype = dtype.or(Some(case.dtype)));
        op.infer_dtypes(&params, &mut dtypes, &mut out_dtypes)?;
        let describe = |shapes: &[PartialShape], dtypes: &[Option<DType>]| -> Result<Vec<TensorDesc>> {
            let known = |(shape, dtype): (&PartialShape, &Option<DType>)| {
                let shape = shape.known().context("a shape is unknown")?;
                Ok(TensorDesc::dense(shape, dtype.context("a dtype is unknown")?))
            };
            shapes.iter().zip(dtypes).map(known).collect()
        };
        let (inputs, mut outputs) = (describe(&shapes, &dtypes)?, describe(&out_shapes, &out_dtypes)?);
        let rewrites = (op.rewrites)(&params, case.is_train);
        outputs.extend(rewrites.iter().map(|input| inputs[*input].clone()));
        let is_constant = vec![false; inputs.len()];
        let call = OpCall {
            op,
            params: &params,
            inputs: &inputs,
            outputs: &outputs,
            is_constant: &is_constant,
            is_train: case.is_train,
        };
        let planned = fastest(backends, &call)?;
        let unread: Vec<usize> = op.unread_inputs(case.is_train).collect();
        let read = inputs.iter().enumerate().filter(|(i, _)| !unread.contains(i)).map(|(_, desc)| desc);
        let bytes = read.chain(&outputs).map(TensorDesc::size_bytes).sum();
        let mut bound = Self {
            kernel: planned.kernel.name().to_owned(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            reqs: vec![WriteReq::Write; n_outputs],
            scratch: (0, planned.scratch_bytes),
            planned,
            bytes,
        };
        let mut n_lines = 0;
        let mut place = |bytes: usize| {
            let first = n_lines;
            n_lines += (bytes + GAP).div_ceil(size_of::<Line>());
            (first, bytes)
        };
        bound.inputs = inputs.iter().map(|desc| place(desc.size_bytes())).collect();
        // Updates write their outputs over their inputs, as they do when an optimizer calls them. The outputs of other
        // operators get their own memory.
        let pairs = op.inplace_pairs(&params);
        for (output, desc) in outputs[..n_outputs].iter().enumerate() {
            let input = pairs.iter().find(|(_, to)| *to == output && case.is_update && bound.planned.can_run_inplace);
            match input {
                Some((input, _)) => {
                    bound.outputs.push(bound.inputs[*input]);
                    bound.reqs[output] = WriteReq::Inplace;
                }
                None => bound.outputs.push(place(desc.size_bytes())),
            }
        }
        for input in rewrites {
            bound.outputs.push(bound.inputs[*input]);
            bound.reqs.push(WriteReq::Inplace);
        }
        bound.scratch.0 = place(bound.scratch.1).0;
        arena.lines.grow(n_lines)?;
        for (input, (desc, (first, bytes))) in inputs.iter().zip(&bound.inputs).enumerate() {
            let n = bytes.div_ceil(size_of::<Line>());
            fill(&mut arena.lines[*first..first + n], desc.dtype, case.labels == Some(input));
        }
        Ok(bound)
    }

    /// The name of the kernel.
    pub fn kernel(&self) -> &str {
        &self.kernel
    }

    /// Bytes that a run reads and writes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Runs the kernel and returns the seconds that it took.
    ///
    /// # Errors
    /// Fails if the kernel fails.
    pub fn run(&self, team: &Team, arena: &mut Arena) -> Result<f64> {
        let start = arena.lines.as_mut_ptr().cast::<u8>();
        let len = arena.lines.len() * size_of::<Line>();
        let tensor = |(first, bytes): &(usize, usize)| {
            let at = first * size_of::<Line>();
            ensure!(at + bytes <= len, "a tensor of {bytes} bytes is outside the arena");
            // SAFETY: the check above keeps the tensor inside the arena, which is borrowed mutably while the kernel runs.
            // `new` gave every tensor its own lines, except outputs in the memory of an input that they replace.
            Ok(unsafe { RawTensor::new(start.add(at), *bytes) })
        };
        let inputs = self.inputs.iter().map(tensor).collect::<Result<Vec<_>>>()?;
        let outputs = self.outputs.iter().map(tensor).collect::<Result<Vec<_>>>()?;
        let args = KernelArgs {
            inputs: &inputs,
            outputs: &outputs,
            reqs: &self.reqs,
            scratch: tensor(&self.scratch)?,
            team,
            random: Some(RandomCall { seed: 1, number: 2 }),
            stream: None,
        };
        let started = Instant::now();
        // SAFETY: the tensors have the sizes that the kernel was planned for and are aligned to lines. They overlap only
        // where an output replaces an input.
        unsafe { self.planned.kernel.run(&args) }?;
        Ok(started.elapsed().as_secs_f64())
    }
}

/// Builds the kernel of the backend with the fewest estimated seconds whose tensors are all row-major.
fn fastest(backends: &[Arc<dyn Backend>], call: &OpCall<'_>) -> Result<PlannedKernel> {
    let mut offers: Vec<_> = backends.iter().filter_map(|backend| backend.offer(call).ok()).collect();
    offers.sort_by(|a, b| a.seconds().total_cmp(&b.seconds()));
    for offer in offers {
        let planned = offer.build()?;
        let layouts = planned.input_layouts.iter().chain(&planned.output_layouts);
        if layouts.into_iter().all(|layout| *layout == Layout::RowMajor) {
            return Ok(planned);
        }
    }
    anyhow::bail!("no backend has a kernel of {} for row-major tensors", call.op.name)
}

/// Fills a tensor with positive numbers around 1, or with labels from 0 to 9.
fn fill(lines: &mut [Line], dtype: DType, labels: bool) {
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let number = (state >> 16) as f32 / 65536.0;
        if labels { (10.0 * number).floor() } else { 0.5 + number }
    };
    for Line(bytes) in lines {
        match dtype {
            DType::BF16 => bytes.chunks_exact_mut(2).for_each(|to| to.copy_from_slice(&next().to_le_bytes()[2..])),
            // A number of float16 from 1 to 2: exponent 0 and ten random bits.
            DType::F16 => bytes.chunks_exact_mut(2).for_each(|to| {
                let bits = 0x3C00 | ((next() * 512.0) as u16 & 0x3FF);
                to.copy_from_slice(&bits.to_le_bytes());
            }),
            _ => bytes.chunks_exact_mut(4).for_each(|to| to.copy_from_slice(&next().to_le_bytes())),
        }
    }
}
