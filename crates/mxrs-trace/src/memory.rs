//! Records of memory, and the scope that is part of its tags.

use crate::Label;
use crate::event::{Event, Memory, MemoryStep};
use crate::thread::{note_growth, record, take_growth, tick};
use mxrs_types::Device;
use std::cell::Cell;
use std::marker::PhantomData;

/// A block that an owner got or gave up.
#[derive(Clone, Copy, Debug)]
pub struct BlockInfo {
    /// The device that the owner requested.
    pub device: Device,
    /// The first address.
    pub address: usize,
    /// The number of bytes that the owner requested.
    pub requested_bytes: usize,
    /// The number of bytes of the block.
    pub block_bytes: usize,
    /// The use of the memory.
    pub tag: Label,
    /// The profiler scope.
    pub scope: Label,
}

/// Records that an owner got a block. The block counts as new memory if the calling thread has called [`grown`] since its
/// last call of this function.
#[cold]
pub fn allocated(block: BlockInfo) {
    let step = if take_growth() { MemoryStep::New } else { MemoryStep::Reused };
    record_block(step, block);
}

/// Records that a block is about to be freed.
#[cold]
pub fn freed(block: BlockInfo) {
    record_block(MemoryStep::Freed, block);
}

fn record_block(step: MemoryStep, block: BlockInfo) {
    let BlockInfo { device, address, requested_bytes, block_bytes, tag, scope } = block;
    let (address, requested_bytes, block_bytes) = (address as u64, requested_bytes as u64, block_bytes as u64);
    record(Event::Memory(Memory { step, at_ns: tick(), device, address, requested_bytes, block_bytes, tag, scope }));
}

/// Records that a pool got memory from its device.
#[cold]
pub fn grown(device: Device, address: usize, bytes: usize) {
    note_growth();
    record_pool(MemoryStep::Grown, device, address, bytes);
}

/// Records that a pool returned memory to its device.
#[cold]
pub fn returned(device: Device, address: usize, bytes: usize) {
    record_pool(MemoryStep::Returned, device, address, bytes);
}

fn record_pool(step: MemoryStep, device: Device, address: usize, bytes: usize) {
    let (tag, scope) = (Label::NONE, Label::NONE);
    let (at_ns, address, block_bytes) = (tick(), address as u64, bytes as u64);
    record(Event::Memory(Memory { step, at_ns, device, address, requested_bytes: 0, block_bytes, tag, scope }));
}

std::thread_local! {
    static SCOPE: Cell<Label> = const { Cell::new(Label::NONE) };
}

/// The scope of the calling thread, such as `resnet:stage1:`; empty if there is none.
#[must_use]
pub fn current_scope() -> Label {
    SCOPE.try_with(Cell::get).unwrap_or(Label::NONE)
}

/// Adds `name` and a colon to the scope of the calling thread until the guard is dropped. Memory that is allocated in
/// between without a scope of its own gets this scope.
pub fn enter_scope(name: &str) -> ScopeGuard {
    let before = current_scope();
    set_scope(Label::of(&format!("{before}{name}:")));
    ScopeGuard { before, _on_this_thread: PhantomData }
}

/// Replaces the scope of the calling thread; returns the former one. For code that continues the work of another thread.
pub fn set_scope(scope: Label) -> Label {
    SCOPE.try_with(|current| current.replace(scope)).unwrap_or(Label::NONE)
}

/// Restores the former scope of the thread when dropped.
#[derive(Debug)]
#[must_use = "the scope ends when the guard is dropped"]
pub struct ScopeGuard {
    before: Label,
    /// Makes the guard `!Send`: the scope belongs to its thread.
    _on_this_thread: PhantomData<*const ()>,
}

impl Drop for ScopeGuard {
    fn drop(&mut self) {
        set_scope(self.before);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn scopes_nest_and_belong_to_their_thread() {
        assert_eq!(current_scope(), Label::NONE);
        let outer = enter_scope("net");
        {
            let _inner = enter_scope("stage1");
            assert_eq!(current_scope().text(), "net:stage1:");
            std::thread::scope(|scope| scope.spawn(|| assert_eq!(current_scope(), Label::NONE)).join().unwrap());
        }
        assert_eq!(current_scope().text(), "net:");
        drop(outer);
        assert_eq!(current_scope(), Label::NONE);
    }
}
