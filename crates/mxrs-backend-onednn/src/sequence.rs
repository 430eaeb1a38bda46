//! Several steps of one kernel, run one after another on the memory of one call.

use crate::accumulate::{self, Written};
use crate::primitive::PrimitiveKernel;
use mxrs_op::{Kernel, KernelArgs};
use mxrs_types::Result;

/// A step that runs code of this crate.
type Code = dyn Fn(&KernelArgs<'_>) -> Result<()> + Send + Sync;

/// One step of a kernel.
pub enum Step {
    /// A primitive that always runs.
    Primitive(PrimitiveKernel),
    /// A primitive whose outputs no other step uses. It does not run if the requests of all its outputs are null.
    Part(PrimitiveKernel),
    /// A primitive that writes only a part of an output. The caller of [`Sequence::new`] lists the output in `written`,
    /// once for all primitives that write its parts.
    Shared(PrimitiveKernel),
    /// Code of this crate, for few elements. It obeys the requests of the outputs that it writes, unless they are in the
    /// kernel's list of written outputs.
    Code(Box<Code>),
}

/// A kernel of several steps.
pub struct Sequence {
    steps: Vec<Step>,
    written: Vec<Written>,
    name: String,
}

impl Sequence {
    /// Makes a kernel of these steps, in this order. `written` lists the outputs that code overwrites regardless of
    /// their requests; the outputs of primitives are added to the list.
    pub fn new(steps: Vec<Step>, mut written: Vec<Written>) -> Self {
        let mut names = Vec::new();
        for step in &steps {
            match step {
                Step::Primitive(primitive) => {
                    written.extend(primitive.written().iter().copied());
                    names.push(primitive.name());
                }
                Step::Part(primitive) | Step::Shared(primitive) => names.push(primitive.name()),
                Step::Code(_) => {}
            }
        }
        names.dedup();
        let name = names.join("+");
        Self { steps, written, name }
    }
}

impl Kernel for Sequence {
    fn name(&self) -> &str {
        &self.name
    }

    unsafe fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        accumulate::run(args, &self.written, |args| {
            self.steps.iter().try_for_each(|step| match step {
                Step::Primitive(primitive) | Step::Shared(primitive) => primitive.execute(args),
                Step::Part(primitive) if !primitive.is_wanted(args) => Ok(()),
                // SAFETY: the primitive was prepared for a part of this sequence's call, and the caller of `run` passes the
                // tensors of that call.
                Step::Part(primitive) => unsafe { primitive.run(args) },
                Step::Code(code) => code(args),
            })
        })
    }
}
