//! A primitive with its argument list, as a [`Kernel`].

use crate::accumulate;
use crate::library::Library;
use crate::objects::{MemDesc, MemoryObject, PrimDesc, Primitive};
use mxrs_onednn_sys::result::{self, created};
use mxrs_onednn_sys::sys;
use mxrs_op::{Kernel, KernelArgs, RawTensor};
use mxrs_types::{DType, Result, WriteReq};
use std::ffi::c_int;
use std::sync::{Arc, Mutex, PoisonError};

/// Which tensor of a call an argument is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// The n-th input.
    Input(usize),
    /// The n-th output.
    Output(usize),
    /// Temporary memory.
    Scratch,
}

/// One argument of a primitive.
pub struct Argument {
    /// oneDNN's number of it.
    pub arg: c_int,
    /// Where its memory comes from.
    pub slot: Slot,
    /// Its arrangement.
    pub md: Arc<MemDesc>,
}

/// Memory objects of one execution; kept between runs, used by one run at a time.
struct ArgumentSet(Vec<MemoryObject>);

/// A prepared primitive.
pub struct PrimitiveKernel {
    library: Arc<Library>,
    primitive: Primitive,
    arguments: Vec<Argument>,
    sets: Mutex<Vec<ArgumentSet>>,
    /// Element type of the output.
    dtype: DType,
    name: String,
}

impl PrimitiveKernel {
    /// Compiles the primitive. The scratch argument is added here; its size comes back too.
    ///
    /// # Errors
    /// What oneDNN reports.
    pub fn new(library: &Arc<Library>, pd: &PrimDesc, mut arguments: Vec<Argument>) -> Result<(Arc<Self>, usize)> {
        let scratch = pd.md(sys::dnnl_query_scratchpad_md, 0)?;
        let scratch_bytes = scratch.as_ref().map_or(0, MemDesc::size_bytes);
        if let Some(md) = scratch {
            arguments.push(Argument { arg: sys::DNNL_ARG_SCRATCHPAD, slot: Slot::Scratch, md: Arc::new(md) });
        }
        Ok((Self::without_scratch(library, pd, arguments)?, scratch_bytes))
    }

    /// As [`Self::new`], for a descriptor made without our attributes: oneDNN keeps its scratch memory itself.
    ///
    /// # Errors
    /// What oneDNN reports.
    pub fn without_scratch(library: &Arc<Library>, pd: &PrimDesc, arguments: Vec<Argument>) -> Result<Arc<Self>> {
        let output = arguments.iter().find(|a| a.slot == Slot::Output(0));
        let dtype = output.map_or(Ok(DType::F32), |a| a.md.dtype())?;
        Ok(Arc::new(Self {
            library: library.clone(),
            primitive: pd.primitive()?,
            dtype,
            arguments,
            sets: Mutex::default(),
            name: format!("onednn:{}", pd.implementation()),
        }))
    }

    fn new_set(&self) -> Result<ArgumentSet> {
        let engine = self.library.engine();
        let memory = |a: &Argument| {
            // SAFETY: descriptor and engine are alive; the object gets its buffer before each execution.
            created(|out| unsafe { result::memory_create(out, a.md.0, engine, sys::DNNL_MEMORY_NONE) })
                .map(MemoryObject)
        };
        self.arguments.iter().map(memory).collect::<Result<_>>().map(ArgumentSet)
    }

    fn execute(&self, set: &ArgumentSet, args: &KernelArgs<'_>) -> Result<()> {
        let mut list: smallvec::SmallVec<[sys::dnnl_exec_arg_t; 16]> = smallvec::SmallVec::new();
        for (argument, memory) in self.arguments.iter().zip(&set.0) {
            let tensor: RawTensor<'_> = match argument.slot {
                Slot::Input(i) => args.inputs[i],
                Slot::Output(i) => args.outputs[i],
                Slot::Scratch => args.scratch,
            };
            debug_assert!(
                tensor.len_bytes() >= argument.md.size_bytes(),
                "{}: {:?} is too small",
                self.name,
                argument.slot
            );
            // SAFETY: the executor's memory is as large as the layout we asked for and outlives this run.
            unsafe { result::memory_set_data_handle(memory.0, tensor.as_ptr().cast())? };
            list.push(sys::dnnl_exec_arg_t { arg: argument.arg, memory: memory.0 });
        }
        self.library.with_stream(|stream| {
            // SAFETY: primitive, stream and every memory object are alive, the list has the count given, and waiting
            // ends all use of the buffers before they go back to the executor.
            unsafe {
                result::primitive_execute(self.primitive.0, stream, list.len() as c_int, list.as_ptr())?;
                result::stream_wait(stream)
            }
        })
    }
}

impl Kernel for PrimitiveKernel {
    fn name(&self) -> &str {
        &self.name
    }

    fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        if args.reqs.first() == Some(&WriteReq::Null) {
            return Ok(());
        }
        let kept = self.sets.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let set = match kept {
            Some(set) => set,
            None => self.new_set()?,
        };
        let done = accumulate::run(args, self.dtype, |args| self.execute(&set, args));
        self.sets.lock().unwrap_or_else(PoisonError::into_inner).push(set);
        done
    }
}
