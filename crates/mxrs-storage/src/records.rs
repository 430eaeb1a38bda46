//! Records of memory for a profiler: blocks that owners get and give up, memory that pools get and return.
//!
//! Records are made on the thread that allocates or frees, while no lock is held. Blocks of size 0 are not recorded.

use crate::{Block, Tag};
use mxrs_trace::{BlockInfo, Kinds, Label, current_scope};
use mxrs_types::Device;
use std::ptr::NonNull;

/// Whether memory is recorded.
#[inline(always)]
pub(crate) fn are_on() -> bool {
    mxrs_trace::is_on(Kinds::MEMORY)
}

/// Records that an owner got this block.
#[cold]
pub(crate) fn allocated(block: &Block) {
    mxrs_trace::allocated(info(block));
}

/// Records that this block is about to be freed, into the cache or to the device.
#[cold]
pub(crate) fn freed(block: &Block) {
    mxrs_trace::freed(info(block));
}

/// Records that a pool got memory from its device, if memory is recorded.
pub(crate) fn grown(device: Device, ptr: NonNull<u8>, bytes: usize) {
    if are_on() {
        mxrs_trace::grown(device, ptr.addr().get(), bytes);
    }
}

/// Records that a pool returned memory to its device, if memory is recorded.
pub(crate) fn returned(device: Device, ptr: NonNull<u8>, bytes: usize) {
    if are_on() {
        mxrs_trace::returned(device, ptr.addr().get(), bytes);
    }
}

fn info(block: &Block) -> BlockInfo {
    let tag = block.tag();
    // A tag without a scope of its own has the scope of the thread, if there is one.
    let of_thread = if tag.scope == Tag::default().scope { current_scope() } else { Label::NONE };
    BlockInfo {
        device: block.device(),
        address: block.as_ptr().addr(),
        requested_bytes: block.len(),
        block_bytes: block.block_bytes(),
        tag: Label::of(&tag.name),
        scope: if of_thread == Label::NONE { Label::of(&tag.scope) } else { of_thread },
    }
}
