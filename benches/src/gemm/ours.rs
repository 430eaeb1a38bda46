//! Products of matrices by mxrs. The kernel is the one that a graph would get, from the backend with the best offer. oneDNN is
//! excluded, because it takes part in the comparison as a library of its own, and so are the reference kernels.
//!
//! A batch of products is a call of `batch_dot`. A single product with a transposed right matrix is computed as the output of
//! a fully-connected layer, `data · weightᵀ`, and one without as the gradient of the layer's data, `gradient · weight`. The
//! gradient also takes the data as an input, of which kernels use only the shape. It is that of the result, so the memory of
//! the result is passed for it.
//!
//! In bfloat16, a single product is the output of a layer at inference, whose weights are packed once, before the rounds.
//! Batches of products have no fast kernel in bfloat16.

use super::library::{Library, Prepared};
use super::operands::{Aligned, Operands};
use super::shapes::{Number, Shape};
use crate::score::limits::Limit;
use anyhow::{Context, Result, ensure};
use mxrs::Runtime;
use mxrs::env::MapSource;
use mxrs::types::{Layout, WriteReq};
use mxrs_op::{Attrs, Backend, KernelArgs, OpCall, RawTensor, TensorDesc};
use std::num::NonZeroUsize;
use std::sync::Arc;

/// mxrs in this process.
pub struct Ours {
    runtime: Runtime,
}

impl Ours {
    /// mxrs with this number of threads, and with these instructions at most.
    ///
    /// # Errors
    /// Fails if the threads cannot be started, or if this process already uses other instructions.
    pub fn new(threads: NonZeroUsize, limit: Option<Limit>) -> Result<Self> {
        let threads = threads.to_string();
        // oneDNN takes part as a library of its own, so the copy that is built into mxrs must not compute the products.
        let vars = [("OMP_NUM_THREADS", threads.as_str()), ("MXNET_ONEDNN_ENABLED", "0")];
        let vars = vars.into_iter().chain(limit.map(Limit::of_mxrs));
        Ok(Self { runtime: Runtime::builder().env(&MapSource::new(vars)).build()? })
    }

    /// Copies a right matrix into the layout that a kernel reads.
    fn packed(&self, backend: &dyn Backend, from: &TensorDesc, layout: &Layout, right: &Aligned) -> Result<Aligned> {
        let to = from.with_layout(layout.clone());
        let copy = backend.reorder(from, &to)?.context("the backend does not pack the right matrix")?;
        let n_bytes = to.size_bytes();
        let mut packed = Aligned::zeros(n_bytes.div_ceil(size_of::<f32>()), Number::Float32);
        let args = KernelArgs {
            inputs: &[RawTensor::from_slice(right.bytes())],
            outputs: &[RawTensor::from_mut_slice(&mut packed.bytes_mut()[..n_bytes])],
            reqs: &[WriteReq::Write],
            scratch: RawTensor::from_slice(&[]),
            team: self.runtime.team(),
            random: None,
            stream: None,
        };
        // SAFETY: the tensors have the sizes of the planned copy, and no other code uses the packed matrix.
        unsafe { copy.run(&args) }?;
        Ok(packed)
    }
}

/// The call that computes a product.
struct Call {
    name: &'static str,
    attrs: Attrs,
    inputs: Vec<TensorDesc>,
    output: TensorDesc,
    is_constant: Vec<bool>,
}

impl Call {
    fn of(shape: &Shape) -> Self {
        let Shape { batch, rows, columns, steps, is_transposed, number, .. } = *shape;
        let dense = |sizes: &[usize]| TensorDesc::dense(sizes, number.dtype());
        if batch > 1 {
            let right = if is_transposed { [batch, columns, steps] } else { [batch, steps, columns] };
            return Self {
                name: "batch_dot",
                attrs: Attrs::from([("transpose_b", if is_transposed { "True" } else { "False" })]),
                inputs: vec![dense(&[batch, rows, steps]), dense(&right)],
                output: dense(&[batch, rows, columns]),
                is_constant: vec![false; 2],
            };
        }
        let (data, output) = (dense(&[rows, steps]), dense(&[rows, columns]));
        let layer = |hidden: usize| Attrs::from([("num_hidden", hidden.to_string()), ("no_bias", "True".to_owned())]);
        let is_packed = number == Number::Bfloat16;
        if is_transposed || is_packed {
            let (inputs, is_constant) = (vec![data, dense(&[columns, steps])], vec![false, is_packed]);
            return Self { name: "FullyConnected", attrs: layer(columns), inputs, output, is_constant };
        }
        let inputs = vec![data, dense(&[steps, columns]), output.clone()];
        let (name, is_constant) = ("_backward_FullyConnected_data", vec![false; 3]);
        Self { name, attrs: layer(steps), inputs, output, is_constant }
    }
}

impl Library for Ours {
    fn name(&self) -> String {
        format!("mxrs {}", env!("CARGO_PKG_VERSION"))
    }

    fn prepare(&self, shape: &Shape, operands: &Operands) -> Result<Prepared> {
        let Call { name, attrs, inputs, output, is_constant } = Call::of(shape);
        let ops = mxrs_ops::catalog();
        let op = ops.get(name)?;
        let params = op.parse(&attrs)?;
        let outputs = [output];
        let call = OpCall {
            op,
            params: &params,
            inputs: &inputs,
            outputs: &outputs,
            is_constant: &is_constant,
            is_train: false,
        };
        let backends = self.runtime.backends().list();
        let offers = backends.iter().filter_map(|backend| Some((backend, backend.offer(&call).ok()?)));
        let fast = offers.filter(|(_, offer)| !offer.is_reference());
        let best = fast.min_by(|(_, a), (_, b)| a.seconds().total_cmp(&b.seconds()));
        let (backend, offer) =
            best.with_context(|| format!("no backend has a fast kernel for {name} in {}", shape.number.word()))?;
        let planned = offer.build()?;
        let mut others = planned.input_layouts.iter().enumerate().filter(|(i, _)| *i != 1).map(|(_, layout)| layout);
        let are_dense = others.all(Layout::is_row_major) && planned.output_layouts.iter().all(Layout::is_row_major);
        ensure!(are_dense, "the kernel of {name} takes matrices in a layout of its own");
        // The weights of a layer are stored by columns.
        let by_columns = (is_constant[1] && !shape.is_transposed).then(|| operands.right.transposed(shape.steps));
        let layout = &planned.input_layouts[1];
        let packed = if layout.is_row_major() {
            by_columns
        } else {
            let right = by_columns.as_ref().unwrap_or(&operands.right);
            Some(self.packed(backend.as_ref(), &inputs[1], layout, right)?)
        };
        let (n_inputs, n_scratch) = (inputs.len(), planned.scratch_bytes);
        let mut scratch = Aligned::zeros(n_scratch.div_ceil(size_of::<f32>()), Number::Float32);
        let (kernel, team) = (planned.kernel, Arc::clone(self.runtime.team()));
        let call = format!("{name} ({})", kernel.name());
        let run = move |operands: &mut Operands| {
            let Operands { left, right, result } = operands;
            let right = packed.as_ref().unwrap_or(right);
            let result = RawTensor::from_mut_slice(result.bytes_mut());
            let inputs = [RawTensor::from_slice(left.bytes()), RawTensor::from_slice(right.bytes()), result];
            let args = KernelArgs {
                inputs: &inputs[..n_inputs],
                outputs: &[result],
                reqs: &[WriteReq::Write],
                scratch: RawTensor::from_mut_slice(&mut scratch.bytes_mut()[..n_scratch]),
                team: &team,
                random: None,
                stream: None,
            };
            // SAFETY: the tensors have the sizes and the layouts of the planned call, and the operands are lent for this call.
            // Of an input in the memory of the result, the kernel uses only the shape.
            unsafe { kernel.run(&args) }.context("mxrs")
        };
        Ok(Prepared { call, run: Box::new(run) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gemm::shapes::all;

    #[test]
    fn products_are_right_on_one_thread_and_on_two() {
        for threads in [1, 2] {
            let ours = Ours::new(NonZeroUsize::new(threads).unwrap(), None).unwrap();
            for shape in all().unwrap().iter().filter(|shape| shape.operations() < 5e7) {
                let mut operands = Operands::new(shape);
                let mut prepared = ours.prepare(shape, &operands).unwrap();
                (prepared.run)(&mut operands).unwrap();
                operands.check(shape).unwrap_or_else(|error| panic!("{shape} on {threads}: {error}"));
                let op = if shape.batch > 1 { "batch_dot" } else { "FullyConnected" };
                assert!(prepared.call.contains(op) && prepared.call.contains("nnpack"), "{}", prepared.call);
            }
        }
    }

    /// Not every processor multiplies bfloat16 faster than float32, and batches have no fast kernel on any.
    #[test]
    fn products_in_bfloat16_are_right_where_they_have_a_kernel() {
        let ours = Ours::new(NonZeroUsize::MIN, None).unwrap();
        let small = all().unwrap().into_iter().filter(|shape| shape.operations() < 5e7);
        for shape in small.map(|shape| Shape { number: Number::Bfloat16, ..shape }) {
            let mut operands = Operands::new(&shape);
            match ours.prepare(&shape, &operands) {
                Ok(mut prepared) => {
                    (prepared.run)(&mut operands).unwrap();
                    operands.check(&shape).unwrap_or_else(|error| panic!("{shape}: {error}"));
                    assert!(prepared.call.contains("product_bf16"), "{}", prepared.call);
                }
                Err(error) => assert!(error.to_string().contains("no backend has a fast kernel"), "{error:#}"),
            }
        }
    }
}
