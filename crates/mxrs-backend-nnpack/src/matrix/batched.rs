//! Products of matrices in batches: operators that describe themselves as [`Products`], such as `dot`, `batch_dot` and the
//! products of attention. If there are at least as many products as threads, each thread computes whole products; otherwise
//! threads share each product.

use super::product::{MatrixProduct, Strides};
use super::{MatrixProblem, Order};
use crate::convolve::{Convolve, Operands};
use crate::epilogue::Bounds;
use crate::gradients::Gradient;
use crate::kernel::meet_request;
use crate::layouts::NAME;
use mxrs_op::{Kernel, KernelArgs, Matrices, OpCall, PlannedKernel, Products};
use mxrs_processor::Isa;
use mxrs_sync::Team;
use mxrs_types::{DType, Layout, Result};
use std::sync::Arc;

/// Time of a product relative to a vendor library.
const COST: f64 = 1.1;

/// Returns the kernel of a call that consists of products, or the reason why there is none. Returns `None` for other calls.
pub fn products<'a>(
    call: &'a OpCall<'a>,
    isa: Isa,
    threads: usize,
) -> Option<std::result::Result<Gradient<'a>, String>> {
    let products = (call.op.products?)(call)?;
    Some(fit(call, &products).map(|fitted| {
        let build = move || Ok(planned(call, products, fitted, isa, threads));
        Gradient { cost: COST, build: Box::new(build) }
    }))
}

/// The product of one pair of matrices, its strides, and whether the matrices are swapped, so that its left operand is the
/// right matrix.
type Fitted = (MatrixProblem, Strides, bool);

fn fit(call: &OpCall<'_>, products: &Products) -> std::result::Result<Fitted, String> {
    let mut tensors = call.inputs.iter().chain(call.outputs);
    if let Some(other) = tensors.clone().find(|t| t.dtype != DType::F32) {
        return Err(format!("no kernel for {}", other.dtype));
    }
    if tensors.any(|t| t.shape.n_elements() == 0) || products.terms == 0 {
        return Err("no kernel for products without elements".into());
    }
    let Products { rows, columns, terms, .. } = *products;
    let gaps = || format!("no kernel for matrices of {} whose elements lie apart in both directions", call.op.name);
    let (left, left_stride) = order([rows, terms], &products.left).ok_or_else(gaps)?;
    let (right, right_stride) = order([columns, terms], &products.right.clone().transposed()).ok_or_else(gaps)?;
    let problem = MatrixProblem { rows, columns, steps: terms, left, right };
    let result = |matrices: &Matrices, [rows, columns]: [usize; 2]| match order([rows, columns], matrices) {
        Some((Order::StepsInside, stride)) => Some(stride),
        _ => None,
    };
    let strides = |result| Strides { left: left_stride, right: right_stride, result };
    if let Some(stride) = result(&products.result, [rows, columns]) {
        return Ok((problem, strides(stride), false));
    }
    // A result that is stored by columns is, row by row, the product of the swapped operands.
    let stride = result(&products.result.clone().transposed(), [columns, rows]).ok_or_else(gaps)?;
    let swapped = MatrixProblem { rows: columns, columns: rows, steps: terms, left: right, right: left };
    Ok((swapped, Strides { left: right_stride, right: left_stride, result: stride }, true))
}

/// The order of an operand with these rows and steps, where columns of the matrix are steps, and its stride.
fn order([rows, steps]: [usize; 2], matrices: &Matrices) -> Option<(Order, usize)> {
    if matrices.column == 1 || steps == 1 {
        // If there is one row, its stride is never used. If there is one step, it counts as inside its row.
        return (matrices.row > 0 || rows == 1).then_some((Order::StepsInside, matrices.row.max(1)));
    }
    (matrices.row == 1 || rows == 1).then_some((Order::StepsOutside, matrices.column))
}

fn planned(
    call: &OpCall<'_>,
    products: Products,
    (problem, strides, is_swapped): Fitted,
    isa: Isa,
    threads: usize,
) -> PlannedKernel {
    let n_products = products.n_products();
    let shares_products = n_products >= threads;
    let product = MatrixProduct::with_strides(problem, strides, isa, if shares_products { 1 } else { threads });
    let n_threads = if shares_products { threads.min(n_products) } else { 1 };
    let each = product.scratch_bytes().next_multiple_of(64);
    let name = format!("{NAME}:products:{}:{threads}", isa.name());
    PlannedKernel {
        input_layouts: vec![Layout::RowMajor; call.inputs.len()],
        output_layouts: vec![Layout::RowMajor],
        scratch_bytes: each * n_threads,
        can_run_inplace: false,
        kernel: Arc::new(Batched { name, product, products, is_swapped, n_threads, each }),
    }
}

/// A planned call.
struct Batched {
    name: String,
    product: MatrixProduct,
    products: Products,
    /// Whether the left operand of `product` is the right matrix.
    is_swapped: bool,
    /// Threads among which the products are divided.
    n_threads: usize,
    /// Bytes of scratch memory of each of these threads.
    each: usize,
}

impl Kernel for Batched {
    fn name(&self) -> &str {
        &self.name
    }

    unsafe fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        meet_request(args, DType::F32, |out| {
            let (out, n) = (Memory(out.as_ptr().cast()), self.products.n_products());
            if self.n_threads == 1 {
                // SAFETY: the tensors of the running call are valid and have the planned layouts; the scratch memory has
                // `each` bytes for one thread.
                unsafe { self.range(args, &out, 0, 0..n, Some(args.team)) };
                return Ok(());
            }
            args.team.run(self.n_threads, &|thread| {
                let range = n * thread / self.n_threads..n * (thread + 1) / self.n_threads;
                // SAFETY: the tensors are those of the running call. Each thread has its own products, results and scratch
                // memory.
                unsafe { self.range(args, &out, thread, range, None) };
            });
            Ok(())
        })
    }
}

/// The memory of the output.
struct Memory(*mut f32);

// SAFETY: threads write different results, as `Batched::range` demands of its callers.
unsafe impl Sync for Memory {}

impl Batched {
    /// Computes some of the products, on this thread alone if there is no team.
    ///
    /// # Safety
    /// The tensors must be those of a running call that was planned so, `thread` must be below the number of threads, and no
    /// other thread may compute these products or use this thread's scratch memory.
    unsafe fn range(
        &self,
        args: &KernelArgs<'_>,
        out: &Memory,
        thread: usize,
        range: std::ops::Range<usize>,
        team: Option<&Team>,
    ) {
        let input = |matrices: &Matrices| args.inputs[matrices.tensor].as_ptr().cast_const().cast::<f32>();
        let (left, right) = (input(&self.products.left), input(&self.products.right));
        for index in range {
            let [left_at, right_at, at] = self.products.starts(index);
            // SAFETY: the description of the call places all matrices within their tensors. The scratch memory has `each`
            // bytes for each thread. The caller promises that no other thread uses these results or this scratch memory.
            unsafe {
                let (left, right) = (left.add(left_at), right.add(right_at));
                let (src, weights) = if self.is_swapped { (right, left) } else { (left, right) };
                let result = out.0.add(at);
                let operands = Operands {
                    src,
                    weights,
                    bias: std::ptr::null(),
                    sum: std::ptr::null(),
                    dst: result,
                    dst_image_stride: None,
                    scratch: args.scratch.as_ptr().add(thread * self.each).cast(),
                    bounds: Bounds::NONE,
                };
                match team {
                    Some(team) => self.product.run_on(&operands, team),
                    None => self.product.run_alone(&operands),
                }
                if self.products.factor != 1.0 {
                    self.scale(result);
                }
            }
        }
    }

    /// Multiplies a result by the factor.
    ///
    /// # Safety
    /// The result must be one of the call, and no other thread may use it.
    unsafe fn scale(&self, result: *mut f32) {
        let Products { rows, columns, .. } = self.products;
        let (factor, Matrices { row, column, .. }) = (self.products.factor as f32, &self.products.result);
        for (i, j) in (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))) {
            // SAFETY: the element is one of the result.
            unsafe { *result.add(i * row + j * column) *= factor };
        }
    }
}
