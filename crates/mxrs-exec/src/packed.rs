//! Constants in the layouts kernels want, and constants computed from others, made again when what they depend on
//! changed.

use crate::program::{Origin, Program, ValueId};
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_storage::{Block, Tag};
use mxrs_sync::Mutex;
use mxrs_types::{Device, Result};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

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

/// For each prepare step, the bound arrays its output depends on, directly or through steps before it.
pub fn sources(program: &Program) -> Vec<Vec<usize>> {
    let mut of_value: FxHashMap<ValueId, BTreeSet<usize>> = FxHashMap::default();
    let mut found = Vec::with_capacity(program.prepare.len());
    for step in &program.prepare {
        let mut sources = BTreeSet::new();
        for value in &step.inputs {
            if let Origin::Bound(index) = program.values[*value].origin {
                sources.insert(index);
            }
            sources.extend(of_value.get(value).into_iter().flatten().copied());
        }
        found.push(sources.iter().copied().collect());
        step.outputs.iter().for_each(|value| drop(of_value.insert(*value, sources.clone())));
    }
    found
}

/// Memory of the packed constants of a program. Runs that share it never overlap.
pub struct Packed {
    blocks: Vec<(ValueId, Block)>,
    /// Temporary memory of the prepare steps, which run one after another.
    scratch: Option<Block>,
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
        let scratch = match program.prepare.iter().map(|step| step.scratch_bytes).max() {
            None | Some(0) => None,
            Some(n) => Some(context.storage().allocate(Device::cpu(0), n, Tag::new("executor:scratch"))?),
        };
        let done = program.prepare.iter().map(|_| Mutex::new(Vec::new())).collect();
        Ok(Self { blocks, scratch, done, bytes })
    }

    /// Where a value is.
    pub fn place(&self, value: ValueId) -> *mut u8 {
        let block = self.blocks.iter().find(|(of, _)| *of == value);
        block.map_or(std::ptr::null_mut(), |(_, block)| block.as_ptr())
    }

    /// Where prepare steps have their temporary memory.
    pub fn scratch(&self) -> *mut u8 {
        self.scratch.as_ref().map_or(std::ptr::null_mut(), Block::as_ptr)
    }

    /// Runs `pack` for prepare step `index` unless it was last run for this content of its sources.
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
        pack()?;
        *self.done[index].lock() = content;
        Ok(())
    }
}
