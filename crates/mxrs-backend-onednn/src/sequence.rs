//! Several steps of one kernel, one after the other, on the memory of one call.

use crate::accumulate::{self, Written};
use crate::primitive::PrimitiveKernel;
use mxrs_op::{Kernel, KernelArgs};
use mxrs_types::Result;

/// Code of ours as a step.
type Code = dyn Fn(&KernelArgs<'_>) -> Result<()> + Send + Sync;

/// One step.
pub enum Step {
    /// A primitive.
    Primitive(PrimitiveKernel),
    /// A primitive whose outputs no other step touches: it does not run when nobody wants them.
    Part(PrimitiveKernel),
    /// A primitive that writes a part of an output which is in the kernel's list.
    Shared(PrimitiveKernel),
    /// Code of ours, over few elements. It meets the requests of the outputs it writes that are not in the kernel's list.
    Code(Box<Code>),
}

/// A kernel of several steps.
pub struct Sequence {
    steps: Vec<Step>,
    written: Vec<Written>,
    name: String,
}

impl Sequence {
    /// Steps in order. `written` lists outputs that code overwrites, whatever the request; those of primitives are added.
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

    fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        accumulate::run(args, &self.written, |args| {
            self.steps.iter().try_for_each(|step| match step {
                Step::Primitive(primitive) | Step::Shared(primitive) => primitive.execute(args),
                Step::Part(primitive) if !primitive.is_wanted(args) => Ok(()),
                Step::Part(primitive) => primitive.run(args),
                Step::Code(code) => code(args),
            })
        })
    }
}
