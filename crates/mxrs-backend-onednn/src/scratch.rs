//! How a kernel of several steps divides its scratch memory.

use mxrs_op::KernelArgs;

/// Parts of the scratch memory, one after another, each aligned to 64 bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct ScratchPlan {
    n_bytes: usize,
}

impl ScratchPlan {
    /// Reserves `n_bytes` bytes and returns the offset of the first.
    pub fn add(&mut self, n_bytes: usize) -> usize {
        let start = self.n_bytes.next_multiple_of(64);
        self.n_bytes = start + n_bytes;
        start
    }

    /// Number of bytes of all parts together.
    pub fn n_bytes(&self) -> usize {
        self.n_bytes
    }
}

/// A part of the scratch memory, with `n` values of type `f32`.
#[derive(Clone, Copy, Debug)]
pub struct FloatPart {
    /// First byte of the part.
    pub start: usize,
    n: usize,
}

impl FloatPart {
    /// Reserves a part for `n` values.
    pub fn new(plan: &mut ScratchPlan, n: usize) -> Self {
        Self { start: plan.add(n * size_of::<f32>()), n }
    }

    /// The `n` values of this part.
    ///
    /// # Safety
    /// The scratch memory of `args` must be as large as the plan that this part belongs to. No other slice of this part
    /// may exist, and no primitive may be using it.
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn of<'a>(&self, args: &KernelArgs<'a>) -> &'a mut [f32] {
        debug_assert!(args.scratch.len_bytes() >= self.start + self.n * size_of::<f32>(), "scratch is too small");
        let first = args.scratch.as_ptr().wrapping_add(self.start).cast::<f32>();
        // SAFETY: the caller promises that the scratch memory is as large as the plan, so the part is inside it (debug
        // builds assert it). The plan aligns the part to 64 bytes. The caller ensures that no other code uses it. Any
        // bits are a valid f32.
        unsafe { std::slice::from_raw_parts_mut(first, self.n) }
    }
}
