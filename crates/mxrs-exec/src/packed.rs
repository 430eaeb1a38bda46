//! Constants in the layouts kernels want, made again when a constant changed.

use crate::program::{Origin, Program, ValueId};
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_storage::{Block, Tag};
use mxrs_sync::Mutex;
use mxrs_types::{Device, Result};

/// Which content a constant was packed from.
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
    blocks: Vec<(ValueId, Block)>,
    /// For each prepare step, what it was last run for.
    done: Vec<Mutex<Option<Content>>>,
    /// All blocks together.
    pub bytes: usize,
}

impl Packed {
    /// Memory, with nothing packed yet.
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(program: &Program, context: &ArrayContext) -> Result<Self> {
        let mut blocks = Vec::new();
        let mut bytes = 0;
        for (value, v) in program.values.iter().enumerate() {
            if v.origin == Origin::Packed {
                let size_bytes = v.desc.size_bytes();
                let tag = Tag::new("executor:packed");
                blocks.push((value, context.storage().allocate(Device::cpu(0), size_bytes, tag)?));
                bytes += size_bytes;
            }
        }
        let done = program.prepare.iter().map(|_| Mutex::new(None)).collect();
        Ok(Self { blocks, done, bytes })
    }

    /// Where a value is.
    pub fn place(&self, value: ValueId) -> *mut u8 {
        let block = self.blocks.iter().find(|(of, _)| *of == value);
        block.map_or(std::ptr::null_mut(), |(_, block)| block.as_ptr())
    }

    /// Runs `pack` for prepare step `index` unless it was last run for this content of `source`.
    ///
    /// # Errors
    /// What `pack` reports.
    pub fn update(&self, index: usize, source: &NdArray, pack: impl FnOnce() -> Result<()>) -> Result<()> {
        let content = Some(Content::of(source));
        if *self.done[index].lock() == content {
            return Ok(());
        }
        pack()?;
        *self.done[index].lock() = content;
        Ok(())
    }
}
