//! Memory for timing kernels of a device whose memory the host cannot access.
//!
//! On such a device, a kernel only enqueues its work. So the host measures the time from an empty stream, over several runs
//! of the kernel, until the stream is empty again. One task of the engine, which has a stream of the device, does all of
//! this.

use super::{COLD_LINES, Line, Needs, Place, Timer};
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_op::{Kernel, KernelArgs, RawTensor};
use mxrs_sync::Team;
use mxrs_types::{DType, Device, DeviceStream, Error, Result, WriteReq};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

/// The number of runs between two synchronizations, because one run may be as short as a synchronization.
const RUNS: usize = 3;

type Tensor = RawTensor<'static>;

/// Memory of a device for timing. It grows to the needs of the largest call so far.
pub struct DeviceBench {
    context: ArrayContext,
    device: Device,
    data: Option<NdArray>,
    constants: Option<NdArray>,
    scratch: Option<NdArray>,
    results: Option<NdArray>,
    /// Line at which the constants of the next run begin.
    at: usize,
}

/// The tensors of several runs of a kernel.
struct Runs {
    /// The inputs of each run.
    inputs: Vec<Vec<Tensor>>,
    outputs: Vec<Tensor>,
    scratch: Tensor,
}

impl DeviceBench {
    /// No memory yet, on a device of the context.
    pub fn new(context: &ArrayContext, device: Device) -> Self {
        let context = context.clone();
        Self { context, device, data: None, constants: None, scratch: None, results: None, at: 0 }
    }

    /// The four arrays of a call: data, constants, scratch memory, results.
    fn arrays(&mut self, needs: &Needs) -> Result<[NdArray; 4]> {
        let (context, device) = (&self.context, self.device);
        let grown = |array: &mut Option<NdArray>, n_lines: usize| {
            let n_bytes = n_lines.max(1) * size_of::<Line>();
            match array {
                Some(array) if array.size_bytes() >= n_bytes => Ok(array.clone()),
                _ => {
                    *array = None;
                    let new = NdArray::zeros_on(context, [n_bytes], DType::U8, device)?;
                    Ok::<_, Error>(array.insert(new).clone())
                }
            }
        };
        Ok([
            grown(&mut self.data, needs.data)?,
            grown(&mut self.constants, needs.constants + COLD_LINES)?,
            grown(&mut self.scratch, needs.scratch_bytes.div_ceil(size_of::<Line>()))?,
            grown(&mut self.results, needs.results)?,
        ])
    }
}

impl Timer for DeviceBench {
    fn run(&mut self, needs: &Needs, kernel: &Arc<dyn Kernel>, _: &Team) -> Result<Duration> {
        let arrays = self.arrays(needs)?;
        let [data, constants, scratch, results] = &arrays;
        let tensor = |array: &NdArray, place: &Place, from: usize| {
            let start = array.as_ptr().wrapping_add((from + place.first) * size_of::<Line>());
            // SAFETY: `arrays` has made each array with the lines that `needs` counts, and the constants with `COLD_LINES`
            // more, which `self.at` does not exceed. So the tensor lies within its array, which the task below keeps.
            unsafe { Tensor::new(start, place.n_bytes) }
        };
        let mut inputs = Vec::with_capacity(RUNS);
        for _ in 0..RUNS {
            self.at = if self.at + needs.constants > COLD_LINES { 0 } else { self.at + needs.constants };
            let at = self.at;
            let input =
                |place: &Place| if place.is_constant { tensor(constants, place, at) } else { tensor(data, place, 0) };
            inputs.push(needs.inputs.iter().map(input).collect());
        }
        let outputs = needs.outputs.iter().map(|place| tensor(results, place, 0)).collect();
        let whole = Place { first: 0, n_bytes: needs.scratch_bytes, is_constant: false };
        let runs = Runs { inputs, outputs, scratch: tensor(scratch, &whole, 0) };
        let (sender, receiver) = sync_channel(1);
        let (engine, kernel, held) = (self.context.engine(), Arc::clone(kernel), arrays.clone());
        engine.task("tuning").device(self.device).writes(arrays.iter().map(|array| array.var())).push(move |task| {
            let took = match task.stream() {
                Some(stream) => runs.time(&*kernel, &**stream),
                None => {
                    Err(Error::not_built(format!("timing on {}", task.device()), "the engine has no streams of it"))
                }
            };
            // Sending cannot fail, because the receiver is alive: it waits for the result below.
            drop(sender.send(took));
            drop(held);
            Ok(())
        })?;
        engine.wait_to_write(results.var())?;
        receiver.recv().map_err(|_| Error::invalid("timing a kernel", "a skipped task", "a task that ran"))?
    }
}

impl Runs {
    /// The time of one run on a stream of the device.
    fn time(&self, kernel: &dyn Kernel, stream: &dyn DeviceStream) -> Result<Duration> {
        let (team, reqs) = (Team::serial(), vec![WriteReq::Write; self.outputs.len()]);
        stream.synchronize()?;
        let start = Instant::now();
        let enqueued = self.inputs.iter().try_for_each(|inputs| {
            let args = KernelArgs {
                inputs,
                outputs: &self.outputs,
                reqs: &reqs,
                scratch: self.scratch,
                team: &team,
                random: None,
                stream: Some(stream),
            };
            // SAFETY: `Needs` has the sizes of the tensors that the kernel was planned for. Inputs, outputs and scratch
            // memory lie in different arrays of the stream's device, and each begins at a line of 64 bytes. The task holds
            // the variables of the arrays, and the stream is empty before the task ends.
            unsafe { kernel.run(&args) }
        });
        // The stream is synchronized after an error too. Otherwise later work on the stream would return this error.
        let done = stream.synchronize();
        enqueued.and(done)?;
        Ok(start.elapsed() / RUNS as u32)
    }
}
