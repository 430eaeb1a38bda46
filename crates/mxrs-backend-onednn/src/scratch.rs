//! How a kernel that runs several steps divides its temporary memory.

use mxrs_op::KernelArgs;

/// Parts of the temporary memory, one behind the other, each aligned to 64 bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct ScratchPlan {
    n_bytes: usize,
}

impl ScratchPlan {
    /// Asks for `n_bytes` more; where they start.
    pub fn add(&mut self, n_bytes: usize) -> usize {
        let start = self.n_bytes.next_multiple_of(64);
        self.n_bytes = start + n_bytes;
        start
    }

    /// Bytes of all parts.
    pub fn n_bytes(&self) -> usize {
        self.n_bytes
    }
}

/// A part that holds `n` numbers of type `f32`.
#[derive(Clone, Copy, Debug)]
pub struct FloatPart {
    /// Where it starts, in bytes.
    pub start: usize,
    n: usize,
}

impl FloatPart {
    /// Asks for the part.
    pub fn new(plan: &mut ScratchPlan, n: usize) -> Self {
        Self { start: plan.add(n * size_of::<f32>()), n }
    }

    /// The numbers.
    ///
    /// # Safety
    /// The scratch memory of `args` is as large as the plan this part belongs to; no other slice of this part lives, and
    /// no primitive is using it.
    #[allow(clippy::mut_from_ref)]
    pub unsafe fn of<'a>(&self, args: &KernelArgs<'a>) -> &'a mut [f32] {
        debug_assert!(args.scratch.len_bytes() >= self.start + self.n * size_of::<f32>(), "scratch is too small");
        let first = args.scratch.as_ptr().wrapping_add(self.start).cast::<f32>();
        // SAFETY: inside the scratch memory and aligned by construction of the plan; exclusive by the caller's promise.
        // Any bits are an f32.
        unsafe { std::slice::from_raw_parts_mut(first, self.n) }
    }
}
