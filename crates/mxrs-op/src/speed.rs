//! The estimated time of a call on this processor: the common scale for [offers](crate::Offer) of backends.
//!
//! An estimate is a roofline: the time of the arithmetic at the peak of the processor or of moving the tensors through
//! memory, whichever is longer, divided by the fraction of that speed that a kernel reaches, plus a fixed time to start.
//! The constants are round figures for a kind of processor and are never measured, so that a network gets the same kernels
//! in every process. Estimates order kernels; they do not predict times.

use crate::{OpCall, TensorDesc};
use mxrs_processor::{Isa, Set};

/// The peak speed of a processor with a team of threads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed {
    /// Multiply-adds of float32 per second at the peak, by all threads together.
    pub multiply_adds_per_second: f64,
    /// Bytes per second from and to memory, by all threads together.
    pub bytes_per_second: f64,
}

/// Fraction of the peak, and of the bandwidth, that a well-tuned library reaches.
const LIBRARY: f64 = 0.8;
/// Number of threads that together use the full bandwidth of the memory.
const MEMORY_THREADS: usize = 2;
/// Bytes per second that one thread moves.
const BYTES_PER_THREAD: f64 = 20e9;
/// Seconds to start a kernel on a team of threads.
const LAUNCH_SECONDS: f64 = 2e-6;

/// Seconds to start a reference kernel, which allocates memory for its outputs and for its numbers in float64.
const REFERENCE_LAUNCH_SECONDS: f64 = 50e-6;
/// Seconds per multiply-add in the plain loops of a reference kernel, on one thread.
const REFERENCE_MULTIPLY_ADD_SECONDS: f64 = 10e-9;
/// Seconds per byte of a tensor in a reference kernel, which converts elements to float64 one at a time.
const REFERENCE_BYTE_SECONDS: f64 = 4e-9;

impl Speed {
    /// The speed of this processor with a team of `n_threads` threads, from the widest vector instructions that it has.
    pub fn here(n_threads: usize) -> Self {
        let n_threads = n_threads.max(1);
        Self {
            multiply_adds_per_second: per_thread() * n_threads as f64,
            bytes_per_second: BYTES_PER_THREAD * n_threads.min(MEMORY_THREADS) as f64,
        }
    }

    /// Seconds of the call in a well-tuned library: at 0.8 of the roofline's speed, plus 2 microseconds to start.
    pub fn library(&self, call: &OpCall<'_>) -> f64 {
        self.times_library(call, 1.0)
    }

    /// Seconds of the call in a kernel that takes `factor` times as long as a well-tuned library, not counting the start.
    pub fn times_library(&self, call: &OpCall<'_>, factor: f64) -> f64 {
        LAUNCH_SECONDS + factor * self.roofline(call) / LIBRARY
    }

    /// The least seconds that any kernel needs: those of the arithmetic or of the memory, whichever are more.
    pub fn roofline(&self, call: &OpCall<'_>) -> f64 {
        let arithmetic = multiply_adds(call) / self.multiply_adds_per_second;
        arithmetic.max(bytes(call) / self.bytes_per_second)
    }
}

/// Seconds of the call on its reference kernel.
pub(crate) fn of_reference(call: &OpCall<'_>) -> f64 {
    REFERENCE_LAUNCH_SECONDS
        + multiply_adds(call) * REFERENCE_MULTIPLY_ADD_SECONDS
        + bytes(call) * REFERENCE_BYTE_SECONDS
}

/// Multiply-adds per second of one thread: two vector units of 16, 8 or 4 numbers at 2 to 3 GHz.
fn per_thread() -> f64 {
    match Isa::best().set() {
        Set::Portable => 8e9,
        #[cfg(target_arch = "x86_64")]
        Set::Avx2 => 50e9,
        #[cfg(target_arch = "x86_64")]
        Set::Avx512 => 80e9,
    }
}

fn multiply_adds(call: &OpCall<'_>) -> f64 {
    (call.op.multiply_adds)(call) as f64
}

/// Bytes of all tensors that the call reads or writes.
fn bytes(call: &OpCall<'_>) -> f64 {
    let is_read = |i: usize| call.op.unread_inputs(call.is_train).all(|unread| unread != i);
    let inputs = call.inputs.iter().enumerate().filter(|(i, _)| is_read(*i)).map(|(_, desc)| desc);
    inputs.chain(call.outputs).map(TensorDesc::size_bytes).map(|n| n as f64).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Attrs, Backend, OpDef, ReferenceBackend};
    use mxrs_types::DType;

    fn with_call<R>(op: &OpDef, elements: usize, look: impl FnOnce(&OpCall<'_>) -> R) -> R {
        let params = op.parse(&Attrs::new()).unwrap();
        let tensors = [TensorDesc::dense([elements], DType::F32)];
        let (inputs, outputs) = (&tensors[..], &tensors[..]);
        look(&OpCall { op, params: &params, inputs, outputs, is_constant: &[false], is_train: false })
    }

    #[test]
    fn memory_or_arithmetic_limits_a_call() {
        let speed = Speed { multiply_adds_per_second: 1e9, bytes_per_second: 1e9 };
        let read = OpDef::new("read");
        // A million float32 numbers are read and written: 8 MB at 1 GB per second.
        assert_eq!(with_call(&read, 1_000_000, |call| speed.roofline(call)), 8e-3);
        let work = OpDef { multiply_adds: |_| 20_000_000, ..OpDef::new("work") };
        assert_eq!(with_call(&work, 1_000_000, |call| speed.roofline(call)), 20e-3);
        assert_eq!(with_call(&work, 1_000_000, |call| speed.library(call)), 20e-3 / 0.8 + 2e-6);
    }

    #[test]
    fn more_threads_are_not_slower_and_memory_is_shared() {
        let [one, two, many] = [1, 2, 64].map(Speed::here);
        assert_eq!(many.multiply_adds_per_second, 32.0 * two.multiply_adds_per_second);
        assert_eq!((two.bytes_per_second, many.bytes_per_second), (2.0 * one.bytes_per_second, two.bytes_per_second));
        assert_eq!(Speed::here(0), one);
    }

    #[test]
    fn a_reference_kernel_offers_more_seconds_than_loops_on_one_thread() {
        let op = OpDef { reference: Some(|_, _, _, _| Ok(())), ..OpDef::new("copy") };
        for elements in [0, 1, 1000, 10_000_000] {
            with_call(&op, elements, |call| {
                let offer = ReferenceBackend.offer(call).unwrap();
                assert!(offer.is_reference() && offer.seconds() > 10.0 * Speed::here(1).times_library(call, 2.0));
            });
        }
    }
}
