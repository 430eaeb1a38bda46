//! `_sg_bn_relu_quantize`: BatchNorm with the moving statistics, relu and quantisation in one pass from f32 to 8 bits, over
//! the elements of any layout that `order` knows.

use super::super::loops::{Loop, Shared, in_ranges, wide};
use super::super::quantised::{layouts, like, write_ranges, written_ranges};
use super::coefficients::Coefficients;
use super::order::Order;
use super::relu::WIDTH;
use crate::accumulate::{self, Written};
use crate::cache::Prepared;
use crate::library::Library;
use crate::scratch::ScratchPlan;
use mxrs_op::{Kernel, KernelArgs, OpCall};
use mxrs_ops::fused::bn_relu_quantize::BnReluQuantizeParams;
use mxrs_types::{DType, Layout, Result};
use std::ops::Range;
use std::sync::Arc;

/// Whether the call fits.
pub fn check(call: &OpCall<'_>) -> std::result::Result<(), String> {
    super::check_axis(&call.params.get::<BnReluQuantizeParams>().norm, &call.inputs[0])
}

/// 1.5 · 2²³: added to a number of at most 2²², it leaves the nearest integer, halves to even, in the lowest bits.
const ROUNDING: f32 = 12_582_912.0;

/// An element in quanta of out: the low byte is right for i8 and u8, as nothing is negative.
#[inline(always)]
fn element(x: f32, mean: f32, scale: f32, shift: f32, most: f32) -> u8 {
    let y = (x - mean) * scale + shift;
    // NaN is not above 0.
    let y = if y > 0.0 { y } else { 0.0 };
    let y = if y < most { y } else { most };
    (y + ROUNDING).to_bits() as u8
}

struct BnReluQuantize {
    order: Order,
    dtype: DType,
    range: mxrs_ops::Range,
    coefficients: Coefficients,
    written: Vec<Written>,
}

/// What there is to compute, unit by unit.
struct Units<'a> {
    order: Order,
    from: Shared<f32>,
    to: Shared<u8>,
    mean: &'a [f32],
    scale: &'a [f32],
    shift: &'a [f32],
    /// The largest integer.
    most: f32,
}

/// A range of the units.
struct Part<'a> {
    all: &'a Units<'a>,
    range: Range<usize>,
}

impl Units<'_> {
    /// `WIDTH` elements from `at` on, with the coefficients that `of` gives.
    ///
    /// # Safety
    /// They are elements of both tensors, and nobody else's.
    #[inline(always)]
    unsafe fn chunk(&self, at: usize, of: impl Fn(usize) -> [f32; 3]) {
        // SAFETY: the caller's promise. Tensors are not aligned to arrays, and out is no memory of data.
        let xs = unsafe { self.from.at(at).cast::<[f32; WIDTH]>().read_unaligned() };
        let mut ys = [0; WIDTH];
        for (i, (y, x)) in ys.iter_mut().zip(xs).enumerate() {
            let [m, a, b] = of(i);
            *y = element(x, m, a, b, self.most);
        }
        // SAFETY: as above.
        unsafe { self.to.at(at).cast::<[u8; WIDTH]>().write_unaligned(ys) };
    }

    /// One element.
    ///
    /// # Safety
    /// It is an element of both tensors, and nobody else's.
    #[inline(always)]
    unsafe fn one(&self, at: usize, [m, a, b]: [f32; 3]) {
        // SAFETY: the caller's promise.
        unsafe { self.to.at(at).write(element(self.from.at(at).read(), m, a, b, self.most)) };
    }
}

impl Loop for Part<'_> {
    #[inline(always)]
    fn run(self) {
        let Units { order, mean, scale, shift, .. } = self.all;
        let Order { n_steps, lanes, .. } = *order;
        for unit in self.range {
            let (first, c) = (unit * n_steps * lanes, order.first_channel(unit));
            let [m, a, b] = [mean, scale, shift].map(|part| &part[c..c + lanes]);
            if let ([m], [a], [b]) = (m, a, b) {
                let whole = n_steps - n_steps % WIDTH;
                for at in (0..whole).step_by(WIDTH) {
                    // SAFETY: below the element count of both tensors; units are disjoint.
                    unsafe { self.all.chunk(first + at, |_| [*m, *a, *b]) };
                }
                for at in whole..n_steps {
                    // SAFETY: as above.
                    unsafe { self.all.one(first + at, [*m, *a, *b]) };
                }
                continue;
            }
            let whole = lanes - lanes % WIDTH;
            for at in (first..).step_by(lanes).take(n_steps) {
                for c in (0..whole).step_by(WIDTH) {
                    let [m, a, b] = [m, a, b].map(|part| &part[c..c + WIDTH]);
                    // SAFETY: as above; chunks are disjoint.
                    unsafe { self.all.chunk(at + c, |i| [m[i], a[i], b[i]]) };
                }
                for c in whole..lanes {
                    // SAFETY: as above.
                    unsafe { self.all.one(at + c, [m[c], a[c], b[c]]) };
                }
            }
        }
    }
}

impl Kernel for BnReluQuantize {
    fn name(&self) -> &str {
        "bn_relu_quantize"
    }

    fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        let Order { n_units, n_steps, lanes, .. } = self.order;
        accumulate::run(args, &self.written, |args| {
            // SAFETY: the inputs are those of BatchNorm, the scratch memory is that of the plan.
            let [mean, scale, shift] = unsafe { self.coefficients.fill(args, self.range.per_unit(self.dtype)) };
            let (from, to) = (Shared(args.inputs[0].as_ptr().cast()), Shared(args.outputs[0].as_ptr().cast()));
            let most = if self.dtype == DType::I8 { 127.0 } else { 255.0 };
            let units = Units { order: self.order, from, to, mean, scale, shift, most };
            in_ranges(args.team, n_units, n_steps * lanes, &|range| wide(Part { all: &units, range }));
            write_ranges(args, std::iter::once(self.range.reported(self.dtype)));
            Ok(())
        })
    }
}

/// Builds the kernel.
pub fn prepare(library: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    let p = call.params.get::<BnReluQuantizeParams>();
    let (data, out) = (&call.inputs[0], &call.outputs[0]);
    let known = match Order::of(data) {
        // The arrangement must be one of 8 bits too.
        Some(order) if like(library, out, &data.layout)?.1 == data.layout => Some((data.layout.clone(), order)),
        _ => None,
    };
    let (layout, order) = known.unwrap_or_else(|| (Layout::RowMajor, Order::row_major(&data.shape)));
    let mut scratch = ScratchPlan::default();
    let coefficients = Coefficients::new(&p.norm, data.shape[1], order.channels, &mut scratch);
    let mut written = written_ranges(call.outputs);
    let n_bytes = order.n_units * order.n_steps * order.lanes;
    written.push(Written { output: 0, dtype: out.dtype, n_bytes });
    Ok(Prepared {
        input_layouts: layouts(layout.clone(), call.inputs.len()),
        output_layouts: layouts(layout, call.outputs.len()),
        scratch_bytes: scratch.n_bytes(),
        can_run_inplace: false,
        kernel: Arc::new(BnReluQuantize { order, dtype: out.dtype, range: p.range()?, coefficients, written }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_go_to_even_and_ends_saturate() {
        for (x, most, expected) in [
            (0.5, 255.0, 0),
            (1.5, 255.0, 2),
            (2.5, 255.0, 2),
            (2.501, 255.0, 3),
            (-7.0, 255.0, 0),
            (254.6, 255.0, 255),
            (1e9, 255.0, 255),
            (f32::INFINITY, 255.0, 255),
            (f32::NEG_INFINITY, 255.0, 0),
            (126.5, 127.0, 126),
            (300.0, 127.0, 127),
            (f32::NAN, 127.0, 0),
        ] {
            assert_eq!(element(x, 0.0, 1.0, 0.0, most), expected, "{x} at most {most}");
        }
    }
}
