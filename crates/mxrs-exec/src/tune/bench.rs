//! Memory for timing kernels: tensors have their real sizes, and weights are not in any cache.

mod device;

pub use device::DeviceBench;

use mxrs_op::{Kernel, KernelArgs, OpCall, PlannedKernel, RawTensor, TensorDesc};
use mxrs_sync::Team;
use mxrs_types::{Result, WriteReq};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Lines over which the weights of successive runs are spread: 64 MiB, more than a cache holds. In a network, other layers
/// run between two runs of a layer and evict its weights from the caches.
const COLD_LINES: usize = (64 << 20) / size_of::<Line>();

/// A cache line. Every tensor begins at the beginning of a line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// The place of a tensor in the memory for data, constants or results: first cache line, and size in bytes.
#[derive(Clone, Copy)]
struct Place {
    first: usize,
    n_bytes: usize,
    is_constant: bool,
}

/// The tensors and the memory that a run needs.
#[derive(Default)]
pub struct Needs {
    inputs: Vec<Place>,
    outputs: Vec<Place>,
    /// Number of lines of all inputs that are not constants.
    data: usize,
    /// Number of lines of all constant inputs.
    constants: usize,
    /// Number of lines of all outputs.
    results: usize,
    scratch_bytes: usize,
}

impl Needs {
    fn of(call: &OpCall<'_>, planned: &PlannedKernel) -> Self {
        let mut needs = Self { scratch_bytes: planned.scratch_bytes, ..Self::default() };
        for (i, (desc, layout)) in call.inputs.iter().zip(&planned.input_layouts).enumerate() {
            let is_constant = call.is_constant.get(i).copied().unwrap_or(false);
            needs.input(desc.with_layout(layout.clone()).size_bytes(), is_constant);
        }
        for (desc, layout) in call.outputs.iter().zip(&planned.output_layouts) {
            needs.output(desc.with_layout(layout.clone()).size_bytes());
        }
        needs
    }

    fn input(&mut self, n_bytes: usize, is_constant: bool) {
        let part = if is_constant { &mut self.constants } else { &mut self.data };
        self.inputs.push(Place { first: *part, n_bytes, is_constant });
        *part += n_bytes.div_ceil(size_of::<Line>());
    }

    fn output(&mut self, n_bytes: usize) {
        self.outputs.push(Place { first: self.results, n_bytes, is_constant: false });
        self.results += n_bytes.div_ceil(size_of::<Line>());
    }
}

/// Memory in which kernels are timed.
pub trait Timer {
    /// Times one run of a kernel with tensors of these sizes.
    ///
    /// # Errors
    /// Returns the error of the kernel, or an error if memory for its tensors is short.
    fn run(&mut self, needs: &Needs, kernel: &Arc<dyn Kernel>, team: &Team) -> Result<Duration>;
}

impl dyn Timer + '_ {
    /// Times one run of a kernel prepared for a call.
    ///
    /// # Errors
    /// Returns the errors of [`Timer::run`].
    pub fn time(&mut self, call: &OpCall<'_>, planned: &PlannedKernel, team: &Team) -> Result<Duration> {
        self.run(&Needs::of(call, planned), &planned.kernel, team)
    }

    /// Times a copy to another layout.
    ///
    /// # Errors
    /// Returns the errors of [`Timer::run`].
    pub fn time_copy(
        &mut self,
        from: &TensorDesc,
        to: &TensorDesc,
        kernel: &Arc<dyn Kernel>,
        team: &Team,
    ) -> Result<Duration> {
        let mut needs = Needs::default();
        needs.input(from.size_bytes(), false);
        needs.output(to.size_bytes());
        self.run(&needs, kernel, team)
    }
}

/// Host memory for timing. It grows to the needs of the largest call so far.
#[derive(Default)]
pub struct Bench {
    data: Vec<Line>,
    constants: Vec<Line>,
    scratch: Vec<Line>,
    results: Vec<Line>,
    /// Line at which the constants of the next run begin.
    at: usize,
}

impl Timer for Bench {
    fn run(&mut self, needs: &Needs, kernel: &Arc<dyn Kernel>, team: &Team) -> Result<Duration> {
        grow(&mut self.data, needs.data);
        grow(&mut self.constants, needs.constants + COLD_LINES);
        grow(&mut self.scratch, needs.scratch_bytes.div_ceil(size_of::<Line>()));
        grow(&mut self.results, needs.results);
        self.at = if self.at + needs.constants > COLD_LINES { 0 } else { self.at + needs.constants };
        let data = bytes(&self.data);
        let constants = bytes(&self.constants[self.at..]);
        let tensor = |place: &Place| {
            let part = if place.is_constant { constants } else { data };
            RawTensor::from_slice(&part[place.first * size_of::<Line>()..][..place.n_bytes])
        };
        let inputs: Vec<RawTensor<'_>> = needs.inputs.iter().map(tensor).collect();
        let mut rest = bytes_mut(&mut self.results);
        let mut outputs = Vec::with_capacity(needs.outputs.len());
        for place in &needs.outputs {
            let (of_this, others) = rest.split_at_mut(place.n_bytes.next_multiple_of(size_of::<Line>()));
            outputs.push(RawTensor::from_mut_slice(&mut of_this[..place.n_bytes]));
            rest = others;
        }
        let args = KernelArgs {
            inputs: &inputs,
            outputs: &outputs,
            reqs: &vec![WriteReq::Write; outputs.len()],
            scratch: RawTensor::from_mut_slice(&mut bytes_mut(&mut self.scratch)[..needs.scratch_bytes]),
            team,
            random: None,
            stream: None,
        };
        let start = Instant::now();
        // SAFETY: `needs` has the sizes of the tensors that the kernel was planned for. Inputs and outputs lie in different
        // buffers, and each begins at a line of 64 bytes.
        unsafe { kernel.run(&args) }?;
        Ok(start.elapsed())
    }
}

fn grow(lines: &mut Vec<Line>, len: usize) {
    if lines.len() < len {
        // A pattern that is a small number in every type. It is not zero, because the operating system maps all untouched
        // pages of zeros to the same memory.
        let number = 0.125f32.to_ne_bytes();
        let mut line = Line([0; 64]);
        line.0.chunks_exact_mut(4).for_each(|bytes| bytes.copy_from_slice(&number));
        lines.resize(len, line);
    }
}

fn bytes(lines: &[Line]) -> &[u8] {
    // SAFETY: the pointer and the length are those of `lines`, and a `Line` is 64 initialized bytes without padding.
    unsafe { std::slice::from_raw_parts(lines.as_ptr().cast::<u8>(), size_of_val(lines)) }
}

fn bytes_mut(lines: &mut [Line]) -> &mut [u8] {
    // SAFETY: the pointer and the length are those of `lines`, which is borrowed mutably. A `Line` is 64 initialized bytes
    // without padding, and any bytes make a valid `Line`.
    unsafe { std::slice::from_raw_parts_mut(lines.as_mut_ptr().cast::<u8>(), size_of_val(lines)) }
}
