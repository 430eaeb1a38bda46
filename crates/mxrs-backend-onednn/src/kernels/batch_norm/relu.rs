//! `_sg_bn_relu`: BatchNorm with the moving statistics and a ReLU that keeps NaN, in one pass over the elements of any
//! layout with channels in groups or planes. oneDNN's fused ReLU maps NaN to 0.

use super::super::loops::{Loop, Shared, in_ranges, map, wide};
use super::coefficients::Coefficients;
use super::order::Order;
use crate::accumulate::{self, Written};
use crate::cache::Prepared;
use crate::library::Library;
use crate::scratch::ScratchPlan;
use half::{bf16, f16};
use mxrs_op::{Kernel, KernelArgs, OpCall};
use mxrs_ops::nn::batch_norm::BatchNormParams;
use mxrs_types::{DType, Layout, Result, bfloat16};
use std::ops::Range;
use std::sync::Arc;

/// Computes `max((x - mean) · scale + shift, 0)`.
#[inline(always)]
fn element(x: f32, mean: f32, scale: f32, shift: f32) -> f32 {
    let y = (x - mean) * scale + shift;
    if y < 0.0 { 0.0 } else { y }
}

/// Number of neighboring channels that are computed together. With an array of fixed length, the compiler sees that input
/// and output do not overlap.
pub const WIDTH: usize = 16;

/// Computes [`element`] for neighboring channels, each with its own mean, scale and shift.
#[inline(always)]
fn elements<T: Copy>(
    xs: [T; WIDTH],
    [mean, scale, shift]: [&[f32]; 3],
    widen: impl Fn(T) -> f32,
    narrow: impl Fn(f32) -> T,
) -> [T; WIDTH] {
    let mut ys = xs;
    let parts = mean.iter().zip(scale).zip(shift);
    ys.iter_mut().zip(parts).for_each(|(y, ((m, a), b))| *y = narrow(element(widen(*y), *m, *a, *b)));
    ys
}

struct BnRelu {
    order: Order,
    dtype: DType,
    coefficients: Coefficients,
}

impl BnRelu {
    fn run<T: Copy + Send + Sync>(
        &self,
        args: &KernelArgs<'_>,
        widen: impl Fn(T) -> f32 + Sync,
        narrow: impl Fn(f32) -> T + Sync,
    ) {
        // SAFETY: the call has the inputs of BatchNorm with f32 statistics (`check`), the scratch memory is as planned
        // by `prepare`, and no other slice of it exists.
        let [mean, scale, shift] = unsafe { self.coefficients.fill(args, None, 1.0) };
        let Order { n_units, n_steps, lanes, .. } = self.order;
        let (from, to) = (Shared(args.inputs[0].as_ptr().cast::<T>()), Shared(args.outputs[0].as_ptr().cast::<T>()));
        let units = Units { order: self.order, from, to, mean, scale, shift, widen, narrow };
        in_ranges(args.team, n_units, n_steps * lanes, &|range| wide(Part { all: &units, range }));
    }
}

/// The tensors, coefficients and conversions for all units of the [`Order`].
struct Units<'a, T, W, N> {
    order: Order,
    from: Shared<T>,
    to: Shared<T>,
    mean: &'a [f32],
    scale: &'a [f32],
    shift: &'a [f32],
    widen: W,
    narrow: N,
}

/// The units of one range, which one thread computes.
struct Part<'a, T, W, N> {
    all: &'a Units<'a, T, W, N>,
    range: Range<usize>,
}

impl<T: Copy, W: Fn(T) -> f32, N: Fn(f32) -> T> Loop for Part<'_, T, W, N> {
    #[inline(always)]
    fn run(self) {
        let Units { order, from, to, mean, scale, shift, widen, narrow } = self.all;
        let Order { n_steps, lanes, .. } = *order;
        for unit in self.range {
            let (first, c) = (unit * n_steps * lanes, order.first_channel(unit));
            let [m, a, b] = [mean, scale, shift].map(|part| &part[c..c + lanes]);
            if let ([m], [a], [b]) = (m, a, b) {
                // SAFETY: unit `unit` has `n_steps` elements of both tensors and belongs to one thread. The output is
                // the memory of the input, or does not overlap it.
                unsafe { map(from.at(first), to.at(first), n_steps, |_, x| narrow(element(widen(x), *m, *a, *b))) };
                continue;
            }
            let whole = lanes - lanes % WIDTH;
            for at in (first..).step_by(lanes).take(n_steps) {
                for c in (0..whole).step_by(WIDTH) {
                    // SAFETY: `c + WIDTH <= lanes`, so the chunk lies within the `lanes` elements at `at`. They are a
                    // part of this unit, which belongs to one thread. The output is the memory of the input, or does
                    // not overlap it. `read_unaligned` and `write_unaligned` accept any alignment.
                    unsafe {
                        let xs = from.at(at + c).cast::<[T; WIDTH]>().read_unaligned();
                        let ys = elements(xs, [m, a, b].map(|part| &part[c..c + WIDTH]), widen, narrow);
                        to.at(at + c).cast::<[T; WIDTH]>().write_unaligned(ys);
                    }
                }
                let [m, a, b] = [m, a, b].map(|part| &part[whole..]);
                // SAFETY: these are the last `lanes - whole` of the `lanes` elements at `at`, and the three slices have
                // the same length. The unit belongs to one thread, and the output is the memory of the input or does
                // not overlap it.
                unsafe {
                    let (from, to) = (from.at(at + whole), to.at(at + whole));
                    map(from, to, lanes - whole, |i, x| narrow(element(widen(x), m[i], a[i], b[i])));
                }
            }
        }
    }
}

impl Kernel for BnRelu {
    fn name(&self) -> &str {
        "bn_relu"
    }

    unsafe fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        let Order { n_units, n_steps, lanes, .. } = self.order;
        let n_bytes = n_units * n_steps * lanes * self.dtype.size_of();
        accumulate::run(args, &[Written { output: 0, dtype: self.dtype, n_bytes }], |args| {
            match self.dtype {
                DType::F32 => self.run::<f32>(args, |x| x, |x| x),
                DType::F16 => self.run::<f16>(args, f16::to_f32, f16::from_f32),
                _ => self.run::<bf16>(args, bfloat16::widen, bfloat16::narrow),
            }
            Ok(())
        })
    }
}

/// Prepares the call.
pub fn prepare(_: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    let p = call.params.get::<BatchNormParams>();
    let data = &call.inputs[0];
    let (layout, order) = match Order::of(data) {
        Some(order) => (data.layout.clone(), order),
        None => (Layout::RowMajor, Order::row_major(&data.shape)),
    };
    let mut scratch = ScratchPlan::default();
    let coefficients = Coefficients::new(p, data.shape[1], order.channels, &mut scratch);
    let mut input_layouts = vec![Layout::RowMajor; call.inputs.len()];
    input_layouts[0] = layout.clone();
    Ok(Prepared {
        input_layouts,
        output_layouts: vec![layout],
        scratch_bytes: scratch.n_bytes(),
        can_run_inplace: true,
        kernel: Arc::new(BnRelu { order, dtype: data.dtype, coefficients }),
    })
}
