//! A primitive with its list of arguments, as a [`Kernel`].

use crate::accumulate::{self, Written};
use crate::cache::Prepared;
use crate::library::Library;
use crate::objects::{MemDesc, MemoryObject, PrimDesc, Primitive};
use crate::scratch::ScratchPlan;
use mxrs_onednn_sys::result::{self, created};
use mxrs_onednn_sys::sys;
use mxrs_op::{Kernel, KernelArgs, RawTensor};
use mxrs_types::{Layout, Result, WriteReq};
use std::ffi::c_int;
use std::sync::{Arc, Mutex, PoisonError};

/// The memory of a call that is passed as an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// The n-th input.
    Input(usize),
    /// The n-th output.
    Output(usize),
    /// The scratch memory, from this byte on.
    Scratch(usize),
}

/// One argument of a primitive.
pub struct Argument {
    /// oneDNN's number of the argument.
    pub arg: c_int,
    /// The memory of the argument.
    pub slot: Slot,
    /// The arrangement of the argument.
    pub md: Arc<MemDesc>,
}

/// A function that describes a primitive for an output in another arrangement.
pub type Redescribe = dyn Fn(&Library, &MemDesc) -> Result<PrimDesc> + Send + Sync;

/// One memory object for each argument. Sets are kept between runs; only one run at a time uses a set.
struct ArgumentSet(Vec<MemoryObject>);

/// A prepared primitive with its arguments.
pub struct PrimitiveKernel {
    library: Arc<Library>,
    primitive: Primitive,
    arguments: Vec<Argument>,
    sets: Mutex<Vec<ArgumentSet>>,
    written: Vec<Written>,
    name: String,
    redescribe: Option<Arc<Redescribe>>,
}

impl PrimitiveKernel {
    /// Prepares a call that runs only this primitive, with inputs and outputs in these layouts. The output of the call
    /// may not be the memory of an input.
    ///
    /// # Errors
    /// The error that oneDNN reports.
    pub fn prepare(
        library: &Arc<Library>,
        pd: &PrimDesc,
        arguments: Vec<Argument>,
        input_layouts: Vec<Layout>,
        output_layouts: Vec<Layout>,
    ) -> Result<Prepared> {
        let mut scratch = ScratchPlan::default();
        let kernel = Arc::new(Self::in_scratch(library, pd, arguments, &mut scratch)?);
        Ok(Prepared { input_layouts, output_layouts, scratch_bytes: scratch.n_bytes(), can_run_inplace: false, kernel })
    }

    /// Compiles the primitive, adds the argument for scratch memory, and reserves this memory as a part of `scratch`.
    ///
    /// # Errors
    /// The error that oneDNN reports.
    pub fn in_scratch(
        library: &Arc<Library>,
        pd: &PrimDesc,
        mut arguments: Vec<Argument>,
        scratch: &mut ScratchPlan,
    ) -> Result<Self> {
        if let Some(md) = pd.md(sys::dnnl_query_scratchpad_md, 0)? {
            let slot = Slot::Scratch(scratch.add(md.size_bytes()));
            arguments.push(Argument { arg: sys::DNNL_ARG_SCRATCHPAD, slot, md: Arc::new(md) });
        }
        Self::without_scratch(library, pd, arguments)
    }

    /// Compiles a primitive whose descriptor was made without the attributes of [`Library`]; oneDNN allocates its scratch
    /// memory.
    ///
    /// # Errors
    /// The error that oneDNN reports.
    pub fn without_scratch(library: &Arc<Library>, pd: &PrimDesc, arguments: Vec<Argument>) -> Result<Self> {
        let outputs = arguments.iter().filter_map(|a| match a.slot {
            Slot::Output(i) => Some(Written::of(i, &a.md)),
            _ => None,
        });
        Ok(Self {
            library: library.clone(),
            primitive: pd.primitive()?,
            written: outputs.collect::<Result<_>>()?,
            arguments,
            sets: Mutex::default(),
            name: format!("onednn:{}", pd.implementation()),
            redescribe: None,
        })
    }

    /// The same primitive, with a function that describes it for another arrangement of its only output.
    pub fn redescribed_by(self, redescribe: Arc<Redescribe>) -> Self {
        Self { redescribe: Some(redescribe), ..self }
    }

    /// The same primitive for an output whose images are `image_bytes` apart. `None` if the library has no such primitive,
    /// or if it needs more scratch memory.
    ///
    /// # Errors
    /// The error that oneDNN reports.
    fn with_image_stride(&self, image_bytes: usize) -> Result<Option<Self>> {
        let Some(redescribe) = &self.redescribe else { return Ok(None) };
        let Some(output) = self.arguments.iter().find(|a| a.slot == Slot::Output(0)) else { return Ok(None) };
        let Some(md) = output.md.with_image_stride(image_bytes)? else { return Ok(None) };
        let pd = redescribe(&self.library, &md)?;
        let md = Arc::new(md);
        let scratch = |a: &&Argument| matches!(a.slot, Slot::Scratch(_));
        let planned = self.arguments.iter().find(scratch);
        let needed = pd.md(sys::dnnl_query_scratchpad_md, 0)?;
        let (has, needs) = (planned.map_or(0, |a| a.md.size_bytes()), needed.as_ref().map_or(0, MemDesc::size_bytes));
        if needs > has || !pd.required_md(sys::dnnl_query_dst_md, 0)?.is_equal(&md) {
            return Ok(None);
        }
        let others = self.arguments.iter().filter(|a| !scratch(a));
        let mut arguments: Vec<Argument> = others
            .map(|a| Argument { md: if a.slot == Slot::Output(0) { md.clone() } else { a.md.clone() }, ..*a })
            .collect();
        if let (Some(needed), Some(planned)) = (needed, planned) {
            arguments.push(Argument { md: Arc::new(needed), ..*planned });
        }
        Self::without_scratch(&self.library, &pd, arguments).map(Some)
    }

    /// The outputs that the primitive writes.
    pub fn written(&self) -> &[Written] {
        &self.written
    }

    /// Whether the call requests any of the outputs that the primitive writes.
    pub fn is_wanted(&self, args: &KernelArgs<'_>) -> bool {
        self.written.iter().any(|w| args.reqs.get(w.output) != Some(&WriteReq::Null))
    }

    fn new_set(&self) -> Result<ArgumentSet> {
        let engine = self.library.engine();
        let memory = |a: &Argument| {
            // SAFETY: `self` owns descriptor and engine, so they are alive, and the out pointer is valid. The object
            // gets its buffer before each execution.
            created(|out| unsafe { result::memory_create(out, a.md.0, engine, sys::DNNL_MEMORY_NONE) })
                .map(MemoryObject)
        };
        self.arguments.iter().map(memory).collect::<Result<_>>().map(ArgumentSet)
    }

    /// Runs the primitive, which overwrites its outputs regardless of their requests.
    ///
    /// # Errors
    /// The error that oneDNN reports.
    pub fn execute(&self, args: &KernelArgs<'_>) -> Result<()> {
        let kept = self.sets.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let set = match kept {
            Some(set) => set,
            None => self.new_set()?,
        };
        let done = self.execute_with(&set, args);
        self.sets.lock().unwrap_or_else(PoisonError::into_inner).push(set);
        done
    }

    fn execute_with(&self, set: &ArgumentSet, args: &KernelArgs<'_>) -> Result<()> {
        let mut list: smallvec::SmallVec<[sys::dnnl_exec_arg_t; 16]> = smallvec::SmallVec::new();
        for (argument, memory) in self.arguments.iter().zip(&set.0) {
            let (tensor, start): (RawTensor<'_>, usize) = match argument.slot {
                Slot::Input(i) => (args.inputs[i], 0),
                Slot::Output(i) => (args.outputs[i], 0),
                Slot::Scratch(start) => (args.scratch, start),
            };
            debug_assert!(
                tensor.len_bytes() >= start + argument.md.size_bytes(),
                "{}: {:?} is too small",
                self.name,
                argument.slot
            );
            // SAFETY: the executor passes tensors in the planned layouts and scratch memory of the planned size, so the
            // buffer is as large as the descriptor says (debug builds assert it). It outlives this run. The memory
            // object belongs to `set`, which one run at a time uses.
            unsafe { result::memory_set_data_handle(memory.0, tensor.as_ptr().wrapping_add(start).cast())? };
            list.push(sys::dnnl_exec_arg_t { arg: argument.arg, memory: memory.0 });
        }
        self.library.with_stream(|stream| {
            // SAFETY: the primitive, the stream and every memory object are alive, and the list has `list.len()` items.
            // `stream_wait` returns after the last use of the buffers, so none is used after this run.
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

    unsafe fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        accumulate::run(args, &self.written, |args| self.execute(args))
    }

    fn strided(self: Arc<Self>, image_bytes: usize) -> Option<Arc<dyn Kernel>> {
        match self.with_image_stride(image_bytes) {
            Ok(strided) => strided.map(|kernel| Arc::new(kernel) as _),
            Err(error) => {
                tracing::debug!(name = self.name, %error, "no primitive with this distance between images");
                None
            }
        }
    }
}
