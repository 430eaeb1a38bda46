//! Constants in the layouts kernels want, and constants computed from others, made again when what they depend on
//! changed.

use crate::prepare::Preparation;
use crate::program::{Program, ValueId};
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_storage::{Block, Tag};
use mxrs_sync::Mutex;
use mxrs_types::{Device, Result};
use rustc_hash::FxHashMap;

/// Which content of an array a constant was made from.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Content {
    var: u64,
    version: u64,
    address: usize,
}

impl Content {
    fn of(array: &NdArray) -> Self {
        Self { var: array.var().id(), version: array.var().version(), address: array.as_ptr().addr() }
    }
}

/// Memory of the packed constants of a program. Runs that share it never overlap.
pub struct Packed {
    preparation: Preparation,
    blocks: FxHashMap<ValueId, Block>,
    /// What the prepare steps, which run one after another, pass on and work with.
    shared: Option<Block>,
    /// For each prepare step, what it was last run for: the content of each of its sources.
    done: Vec<Mutex<Vec<Content>>>,
    /// All blocks together.
    pub bytes: usize,
}

impl Packed {
    /// Memory, with nothing packed yet.
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(program: &Program, context: &ArrayContext) -> Result<Self> {
        let preparation = Preparation::new(program)?;
        let allocate = |n: usize, tag: &'static str| context.storage().allocate(Device::cpu(0), n, Tag::new(tag));
        let block =
            |value: &ValueId| Ok((*value, allocate(program.values[*value].desc.size_bytes(), "executor:packed")?));
        let blocks = preparation.kept.iter().map(block).collect::<Result<_>>()?;
        let shared = match preparation.shared_bytes {
            0 => None,
            n => Some(allocate(n, "executor:prepare")?),
        };
        let done = program.prepare.iter().map(|_| Mutex::new(Vec::new())).collect();
        Ok(Self { bytes: preparation.bytes(program), preparation, blocks, shared, done })
    }

    /// Where a value is.
    pub fn place(&self, value: ValueId) -> *mut u8 {
        match self.blocks.get(&value) {
            Some(block) => block.as_ptr(),
            None => self.in_shared(self.preparation.offset(value)),
        }
    }

    /// Where a prepare step has its temporary memory.
    pub fn scratch(&self, step: usize) -> *mut u8 {
        self.in_shared(self.preparation.scratch_offset(step))
    }

    fn in_shared(&self, offset: Option<usize>) -> *mut u8 {
        let place = self.shared.as_ref().zip(offset).map(|(block, offset)| block.as_ptr().wrapping_add(offset));
        place.unwrap_or(std::ptr::null_mut())
    }

    /// For each prepare step, the bound arrays whose change makes it run again.
    pub fn sources(&self) -> &[Vec<usize>] {
        &self.preparation.sources
    }

    /// Runs `pack` for prepare step `index` unless it was last run for this content of its sources. Steps are asked for in
    /// order.
    ///
    /// # Errors
    /// What `pack` reports.
    pub fn update<'a>(
        &self,
        index: usize,
        sources: impl Iterator<Item = &'a NdArray>,
        pack: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let mut content: Vec<Content> = sources.map(Content::of).collect();
        if content.is_empty() {
            // What depends on no array is made once.
            content.push(Content { var: 0, version: 0, address: 0 });
        }
        if *self.done[index].lock() == content {
            return Ok(());
        }
        let packed = pack();
        if packed.is_ok() {
            *self.done[index].lock() = content;
        } else {
            // What was passed on to this step is gone when it is tried again.
            self.done.iter().for_each(|done| done.lock().clear());
        }
        packed
    }
}
