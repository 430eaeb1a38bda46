//! Products of matrices by mxrs, computed by the kernels of fully-connected layers whose weights are not constant. The
//! kernel is the one that a graph would get, from the backend with the best offer. oneDNN is excluded, because it takes part
//! in the comparison as a library of its own.
//!
//! A product with a transposed right matrix is computed as the output of a layer, `data · weightᵀ`. A product without is
//! computed as the gradient of the layer's data, `gradient · weight`. The gradient also takes the data as an input, of which
//! kernels use only the shape. It is that of the result, so the memory of the result is passed for it. mxrs has no operator
//! for batches of products yet, so this program calls one product for each pair of matrices. If there are at least as many
//! pairs as threads, each thread computes some of the pairs.

use super::library::{Library, Prepared};
use super::operands::{Aligned, Operands};
use super::shapes::Shape;
use anyhow::{Context, Result};
use mxrs::Runtime;
use mxrs::env::MapSource;
use mxrs::types::{DType, WriteReq};
use mxrs_op::{Attrs, KernelArgs, OpCall, PlannedKernel, RawTensor, TensorDesc};
use mxrs_sync::Team;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// mxrs in this process.
pub struct Ours {
    /// A runtime with all threads, for products that the threads compute together.
    shared: Runtime,
    /// A runtime with one thread, for products of which each thread computes one at a time.
    serial: Runtime,
}

impl Ours {
    /// mxrs with this number of threads.
    ///
    /// # Errors
    /// Fails if the threads cannot be started.
    pub fn new(threads: NonZeroUsize) -> Result<Self> {
        let runtime = |threads: usize| {
            // oneDNN takes part as a library of its own, so the copy that is built into mxrs must not compute the products.
            let vars = [("OMP_NUM_THREADS", threads.to_string()), ("MXNET_ONEDNN_ENABLED", "0".to_owned())];
            let vars = vars.map(|(name, value)| (name.to_owned(), value));
            Runtime::builder().env(&MapSource::new(vars)).build()
        };
        Ok(Self { shared: runtime(threads.get())?, serial: runtime(1)? })
    }
}

/// Plans the product of one pair of matrices. Returns it with the operator's name.
fn planned(shape: &Shape, runtime: &Runtime) -> Result<(PlannedKernel, &'static str)> {
    let Shape { rows, columns, steps, .. } = *shape;
    let (name, hidden, weight) = match shape.is_transposed {
        true => ("FullyConnected", columns, [columns, steps]),
        false => ("_backward_FullyConnected_data", steps, [steps, columns]),
    };
    let ops = mxrs_ops::catalog();
    let op = ops.get(name)?;
    let params = op.parse(&Attrs::from([("num_hidden", hidden.to_string().as_str()), ("no_bias", "True")]))?;
    let dense = |sizes: [usize; 2]| TensorDesc::dense(sizes, DType::F32);
    let inputs = [dense([rows, steps]), dense(weight), dense([rows, columns])];
    let n_inputs = if shape.is_transposed { 2 } else { 3 };
    let call = OpCall {
        op,
        params: &params,
        inputs: &inputs[..n_inputs],
        outputs: &[dense([rows, columns])],
        is_constant: &[false; 3][..n_inputs],
        is_train: false,
    };
    let backends = runtime.backends().list();
    let offers = backends.iter().filter_map(|backend| backend.offer(&call).ok());
    let best = offers.min_by(|a, b| a.seconds().total_cmp(&b.seconds()));
    Ok((best.with_context(|| format!("no backend has a kernel for {name}"))?.build()?, name))
}

impl Library for Ours {
    fn name(&self) -> String {
        format!("mxrs {}", env!("CARGO_PKG_VERSION"))
    }

    fn prepare(&self, shape: &Shape, operands: &Operands) -> Result<Prepared> {
        let _ = operands;
        let share = shape.batch > 1 && shape.batch >= self.shared.team().size();
        let runtime = if share { &self.serial } else { &self.shared };
        let inner = Arc::clone(runtime.team());
        let (planned, op) = planned(shape, runtime)?;
        let call = format!("{op} ({})", planned.kernel.name());
        // The outer team shares the pairs, and each pair runs with one thread. A team that runs inside another one gets only
        // one thread in any case.
        let outer = share.then(|| Arc::clone(self.shared.team()));
        let threads = outer.as_ref().map_or(1, |team| team.size());
        let each = planned.scratch_bytes.div_ceil(size_of::<f32>()).next_multiple_of(16);
        let mut scratch = Aligned::zeros(each * threads);
        let batch = shape.batch;
        let sizes = shape.elements().map(|n| n / batch * size_of::<f32>());
        let run = move |operands: &mut Operands| {
            let memory = [
                operands.left.values().as_ptr().cast_mut(),
                operands.right.values().as_ptr().cast_mut(),
                operands.result.values_mut().as_mut_ptr(),
                scratch.values_mut().as_mut_ptr(),
            ];
            let memory = Memory(memory.map(|at| at.cast::<u8>()));
            let failure = std::sync::Mutex::new(None);
            let part = |thread: usize| {
                for pair in (thread..batch).step_by(threads) {
                    // SAFETY: each pair has its own part of the operands, and each thread its own part of the scratch
                    // memory. The sizes are those of the planned call.
                    let done = unsafe { run_pair(&planned, &memory, sizes, (pair, thread), each, &inner) };
                    if let Err(error) = done {
                        *failure.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(error);
                    }
                }
            };
            match &outer {
                Some(team) => team.run(threads, &part),
                None => part(0),
            }
            let failure = failure.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
            failure.map_or(Ok(()), |error| Err(error).context("mxrs"))
        };
        Ok(Prepared { call, run: Box::new(run) })
    }
}

/// Where the left matrices, the right ones, the results and the scratch memory begin.
struct Memory([*mut u8; 4]);

// SAFETY: only addresses move between threads. `run_pair` accesses the memory behind them; its caller makes sure that no two
// threads write the same part.
unsafe impl Sync for Memory {}

/// Computes the product of one pair of matrices.
///
/// # Safety
/// The memory must have room for this pair, whose parts have `sizes` bytes each, and for `each` values of scratch memory of
/// this thread. No other thread may use the pair's result or the scratch memory of the thread.
unsafe fn run_pair(
    planned: &PlannedKernel,
    memory: &Memory,
    sizes: [usize; 3],
    (pair, thread): (usize, usize),
    each: usize,
    team: &Team,
) -> mxrs::types::Result<()> {
    // SAFETY: the caller promises the memory.
    let part = |i: usize| unsafe { RawTensor::new(memory.0[i].add(pair * sizes[i]), sizes[i]) };
    // SAFETY: the caller promises the scratch memory of each thread.
    let scratch = unsafe { memory.0[3].add(thread * each * size_of::<f32>()) };
    // SAFETY: as above; `each` values suffice for the planned bytes.
    let scratch = unsafe { RawTensor::new(scratch, planned.scratch_bytes) };
    let args = KernelArgs {
        inputs: &[part(0), part(1), part(2)][..planned.input_layouts.len()],
        outputs: &[part(2)],
        reqs: &[WriteReq::Write],
        scratch,
        team,
        random: None,
        stream: None,
    };
    // SAFETY: the tensors have the sizes and the row-major layouts of the planned call, and the caller promises that no
    // other code uses the result meanwhile.
    unsafe { planned.kernel.run(&args) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gemm::shapes::all;

    #[test]
    fn products_are_right_on_one_thread_and_on_two() {
        for shape in all().unwrap().iter().filter(|shape| shape.operations() < 5e7) {
            for threads in [1, 2] {
                let ours = Ours::new(NonZeroUsize::new(threads).unwrap()).unwrap();
                let mut operands = Operands::new(shape);
                let mut prepared = ours.prepare(shape, &operands).unwrap();
                (prepared.run)(&mut operands).unwrap();
                operands.check(shape).unwrap_or_else(|error| panic!("{shape} on {threads}: {error}"));
                assert!(
                    prepared.call.contains("FullyConnected") && prepared.call.contains("nnpack"),
                    "{}",
                    prepared.call
                );
            }
        }
    }
}
