//! The reference backend: runs the slow, obviously correct kernel that every built operator has.

use crate::{
    Answer, Backend, Kernel, KernelArgs, Offer, OpCall, OpParams, PlannedKernel, RandomCall, TensorDesc, speed,
};
use mxrs_types::{Error, Layout, Result, WriteReq};
use std::sync::Arc;

/// One input of a reference kernel: row-major bytes, aligned for its dtype.
#[derive(Clone, Copy, Debug)]
pub struct RefInput<'a> {
    /// Shape and dtype.
    pub desc: &'a TensorDesc,
    /// The elements.
    pub bytes: &'a [u8],
}

/// One output of a reference kernel: row-major bytes, aligned for its dtype.
#[derive(Debug)]
pub struct RefOutput<'a> {
    /// Shape and dtype.
    pub desc: &'a TensorDesc,
    /// The memory of the elements. The kernel must write every byte.
    pub bytes: &'a mut [u8],
}

/// The mode of a run, and its random numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunMode {
    /// Whether the operator runs as in training.
    pub is_train: bool,
    /// Random numbers of the call, if the operator draws any.
    pub random: Option<RandomCall>,
}

/// A reference kernel. Its arguments are the parameters, the inputs (including auxiliary states), the outputs
/// (including hidden ones and rewritten inputs) and the mode. The reference kernel always overwrites its outputs. The
/// backend handles write requests, and first copies inputs that share memory with an output.
pub type ReferenceFn = fn(&OpParams, &[RefInput<'_>], &mut [RefOutput<'_>], RunMode) -> Result<()>;

/// The backend that runs reference kernels.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReferenceBackend;

struct ReferenceKernel {
    function: ReferenceFn,
    params: OpParams,
    inputs: Vec<TensorDesc>,
    outputs: Vec<TensorDesc>,
    is_train: bool,
    name: String,
}

impl Kernel for ReferenceKernel {
    fn name(&self) -> &str {
        &self.name
    }

    /// True except for bools, which cannot be added. The kernel computes into memory of its own and adds the result to the
    /// output. This memory is not in the memory plan; a separate step for the addition would need memory from the plan.
    fn adds(&self, output: usize) -> bool {
        self.outputs.get(output).is_some_and(|desc| desc.dtype != mxrs_types::DType::Bool)
    }

    unsafe fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        if args.reqs.iter().all(|r| *r == WriteReq::Null) && !args.reqs.is_empty() {
            return Ok(());
        }
        // An input that overlaps an output is copied first, so that the reference function never gets overlapping memory.
        let copies: Vec<Option<AlignedBytes>> = args
            .inputs
            .iter()
            .map(|input| {
                args.outputs.iter().any(|o| o.overlaps(input)).then(|| {
                    // SAFETY: no output slice of this call exists yet, and the contract of `RawTensor` excludes writes by
                    // other code, so the memory is not written while it is copied.
                    AlignedBytes::copy_of(unsafe { input.bytes() })
                })
            })
            .collect();
        let inputs: Vec<RefInput<'_>> = args
            .inputs
            .iter()
            .zip(&copies)
            .zip(&self.inputs)
            .map(|((raw, copy), desc)| RefInput {
                desc,
                bytes: match copy {
                    Some(copy) => copy.bytes(),
                    // SAFETY: the input overlaps no output (otherwise it was copied above), so this call does not write it,
                    // and the contract of `RawTensor` excludes writes by other code.
                    None => unsafe { raw.bytes() },
                },
            })
            .collect();
        // Outputs with the requests Null and Add are computed into separate memory.
        let mut side: Vec<AlignedBytes> = self
            .outputs
            .iter()
            .zip(args.reqs)
            .map(|(desc, req)| match req {
                WriteReq::Null | WriteReq::Add => AlignedBytes::zeroed(desc.size_bytes()),
                _ => AlignedBytes::zeroed(0),
            })
            .collect();
        let mut outputs: Vec<RefOutput<'_>> = args
            .outputs
            .iter()
            .zip(&mut side)
            .zip(args.reqs)
            .zip(&self.outputs)
            .map(|(((raw, side), req), desc)| RefOutput {
                desc,
                bytes: match req {
                    WriteReq::Null | WriteReq::Add => side.bytes_mut(),
                    // SAFETY: this is an output of the running call. Outputs do not overlap each other, and inputs that
                    // overlap an output were copied above, so no other slice of this memory exists.
                    _ => unsafe { raw.bytes_mut() },
                },
            })
            .collect();
        let mode = RunMode { is_train: self.is_train, random: args.random };
        (self.function)(&self.params, &inputs, &mut outputs, mode)?;
        drop(outputs);
        for (((raw, side), req), desc) in args.outputs.iter().zip(&side).zip(args.reqs).zip(&self.outputs) {
            if *req == WriteReq::Add {
                // SAFETY: the output slices were dropped, an output with the request Add never had a slice, and inputs
                // that overlap this output were copied, so this is the only slice of the memory.
                accumulate(desc, unsafe { raw.bytes_mut() }, side.bytes())?;
            }
        }
        Ok(())
    }
}

/// Adds `from` to `to` elementwise. Both are bytes of tensors as `desc` describes, aligned for its dtype.
///
/// # Errors
/// Returns an error if the dtype is bool, which has no sum.
pub fn accumulate(desc: &TensorDesc, to: &mut [u8], from: &[u8]) -> Result<()> {
    use mxrs_types::DType;
    macro_rules! add {
        ($t:ty, $f:expr) => {
            for (a, b) in bytemuck::cast_slice_mut::<u8, $t>(to).iter_mut().zip(bytemuck::cast_slice::<u8, $t>(from)) {
                *a = $f(*a, *b);
            }
        };
    }
    match desc.dtype {
        DType::F32 => add!(f32, |a: f32, b: f32| a + b),
        DType::F64 => add!(f64, |a: f64, b: f64| a + b),
        DType::F16 => add!(half::f16, |a: half::f16, b: half::f16| half::f16::from_f32(a.to_f32() + b.to_f32())),
        DType::BF16 => add!(half::bf16, |a: half::bf16, b: half::bf16| half::bf16::from_f32(a.to_f32() + b.to_f32())),
        DType::I32 | DType::U32 => add!(u32, |a: u32, b: u32| a.wrapping_add(b)),
        DType::I64 | DType::U64 => add!(u64, |a: u64, b: u64| a.wrapping_add(b)),
        DType::I8 | DType::U8 => add!(u8, |a: u8, b: u8| a.wrapping_add(b)),
        DType::I16 | DType::U16 => add!(u16, |a: u16, b: u16| a.wrapping_add(b)),
        DType::Bool => return Err(Error::not_built("add to a bool output", "bool arrays have no sum")),
    }
    Ok(())
}

/// Bytes aligned for every dtype.
pub(crate) struct AlignedBytes {
    words: Vec<u64>,
    len_bytes: usize,
}

impl AlignedBytes {
    pub(crate) fn zeroed(len_bytes: usize) -> Self {
        Self { words: vec![0; len_bytes.div_ceil(8)], len_bytes }
    }
    fn copy_of(bytes: &[u8]) -> Self {
        let mut copy = Self::zeroed(bytes.len());
        copy.bytes_mut().copy_from_slice(bytes);
        copy
    }
    pub(crate) fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.len_bytes]
    }
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words)[..self.len_bytes]
    }
}

impl Backend for ReferenceBackend {
    fn name(&self) -> &'static str {
        "reference"
    }

    fn offer<'a>(&'a self, call: &'a OpCall<'a>) -> Answer<'a> {
        let function = call.op.reference.ok_or("the operator is listed, but has no kernel in this version")?;
        Ok(Offer::new(speed::of_reference(call), move || Ok(planned(call, function))).as_reference())
    }

    fn reorder(&self, _from: &TensorDesc, _to: &TensorDesc) -> Result<Option<Arc<dyn Kernel>>> {
        Ok(None)
    }
}

fn planned(call: &OpCall<'_>, function: ReferenceFn) -> PlannedKernel {
    let row_major = |descs: &[TensorDesc]| descs.iter().map(|d| d.with_layout(Layout::RowMajor)).collect();
    PlannedKernel {
        input_layouts: vec![Layout::RowMajor; call.inputs.len()],
        output_layouts: vec![Layout::RowMajor; call.outputs.len()],
        scratch_bytes: 0,
        can_run_inplace: true,
        kernel: Arc::new(ReferenceKernel {
            function,
            params: call.params.clone(),
            inputs: row_major(call.inputs),
            outputs: row_major(call.outputs),
            is_train: call.is_train,
            name: format!("reference:{}", call.op.name),
        }),
    }
}
