//! `_sg_bn_relu_quantize`: BatchNorm with the moving statistics, ReLU and quantization to 8 bits in one pass. The data are
//! f32 or 8-bit, in any layout that `order` supports. `quantize_images` handles images of few channels.

use super::super::loops::{Loop, Shared, in_ranges, widest};
use super::super::quantized::{image, layouts, like, range, write_ranges, written_ranges};
use super::coefficients::Coefficients;
use super::order::Order;
use super::quantize_images;
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

/// Checks that the backend takes the call.
pub fn check(call: &OpCall<'_>) -> std::result::Result<(), String> {
    super::check_axis(&call.params.get::<BnReluQuantizeParams>().norm, &call.inputs[0])
}

/// 1.5 · 2²³. When it is added to a number of at most 2²², the lowest bits hold the nearest integer, with halves
/// rounded to even.
const ROUNDING: f32 = 12_582_912.0;

/// The limits of the result: its smallest and its largest integer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ends {
    pub least: f32,
    pub most: f32,
}

impl Ends {
    /// The limits of this integer type, with or without ReLU.
    pub fn new(dtype: DType, with_relu: bool) -> Self {
        let (least, most) = if dtype == DType::I8 { (-128.0, 127.0) } else { (0.0, 255.0) };
        Self { least: if with_relu { 0.0 } else { least }, most }
    }

    /// Returns the integer nearest to `y` within the limits, as its lowest byte, which is right for i8 and u8. NaN becomes
    /// 0, which needs an extra test only if the smallest integer is not 0.
    #[inline(always)]
    pub fn integer<const IS_SIGNED: bool>(self, y: f32) -> u8 {
        let y = if IS_SIGNED && y.is_nan() { 0.0 } else { y };
        let y = if y > self.least { y } else { self.least };
        let y = if y < self.most { y } else { self.most };
        (y + ROUNDING).to_bits() as u8
    }
}

/// The element types of data.
trait Element: Copy + Send + Sync {
    /// Whether the mean is subtracted before the scale is applied.
    const HAS_MEAN: bool;

    fn real(self) -> f32;
}

impl Element for f32 {
    const HAS_MEAN: bool = true;

    #[inline(always)]
    fn real(self) -> f32 {
        self
    }
}

impl Element for i8 {
    const HAS_MEAN: bool = false;

    #[inline(always)]
    fn real(self) -> f32 {
        f32::from(self)
    }
}

impl Element for u8 {
    const HAS_MEAN: bool = false;

    #[inline(always)]
    fn real(self) -> f32 {
        f32::from(self)
    }
}

/// Computes an element of the output: BatchNorm with the `[mean, scale, shift]` of its channel, rounded to an integer
/// within the limits `ends`.
#[inline(always)]
fn element<T: Element, const IS_SIGNED: bool>(x: T, [mean, scale, shift]: [f32; 3], ends: Ends) -> u8 {
    let x = if T::HAS_MEAN { x.real() - mean } else { x.real() };
    ends.integer::<IS_SIGNED>(x * scale + shift)
}

struct BnReluQuantize {
    order: Order,
    data: DType,
    /// If data is quantized: the position of the input with the minimum of data. The maximum is the next input.
    data_range: Option<usize>,
    dtype: DType,
    ends: Ends,
    range: mxrs_ops::Range,
    coefficients: Coefficients,
    /// Whether the data are row-major and the output has channels last.
    interleaves: bool,
    written: Vec<Written>,
}

/// The tensors and coefficients for all units of the [`Order`].
struct Units<'a, T, const IS_SIGNED: bool> {
    order: Order,
    from: Shared<T>,
    to: Shared<u8>,
    /// Mean, scale and shift of each channel.
    parts: [&'a [f32]; 3],
    ends: Ends,
}

/// A range of units, which one thread computes.
struct Part<'a, T, const IS_SIGNED: bool> {
    all: &'a Units<'a, T, IS_SIGNED>,
    range: Range<usize>,
}

impl<T: Element, const IS_SIGNED: bool> Units<'_, T, IS_SIGNED> {
    /// Computes `WIDTH` elements, from element `at` on; `of` returns the coefficients of each.
    ///
    /// # Safety
    /// The `WIDTH` elements must exist in both tensors, and no other thread may use these elements of the output.
    #[inline(always)]
    unsafe fn chunk(&self, at: usize, of: impl Fn(usize) -> [f32; 3]) {
        // SAFETY: the caller promises that these are elements of the data; `read_unaligned` accepts any alignment.
        // Nothing writes the data, because the kernel is planned out of place.
        let xs = unsafe { self.from.at(at).cast::<[T; WIDTH]>().read_unaligned() };
        let mut ys = [0; WIDTH];
        for (i, (y, x)) in ys.iter_mut().zip(xs).enumerate() {
            *y = element::<T, IS_SIGNED>(x, of(i), self.ends);
        }
        // SAFETY: the caller promises that these are elements of the output that only this thread uses;
        // `write_unaligned` accepts any alignment.
        unsafe { self.to.at(at).cast::<[u8; WIDTH]>().write_unaligned(ys) };
    }

    /// Computes one element.
    ///
    /// # Safety
    /// The conditions of [`Self::chunk`] must hold for one element.
    #[inline(always)]
    unsafe fn one(&self, at: usize, of: [f32; 3]) {
        // SAFETY: the caller promises that this is an element of both tensors, and that only this thread uses it in the
        // output.
        unsafe { self.to.at(at).write(element::<T, IS_SIGNED>(self.from.at(at).read(), of, self.ends)) };
    }
}

impl<T: Element, const IS_SIGNED: bool> Loop for Part<'_, T, IS_SIGNED> {
    #[inline(always)]
    fn run(self) {
        let Units { order, parts, .. } = self.all;
        let Order { n_steps, lanes, .. } = *order;
        for unit in self.range {
            let (first, c) = (unit * n_steps * lanes, order.first_channel(unit));
            let [m, a, b] = parts.map(|part| &part[c..c + lanes]);
            if let ([m], [a], [b]) = (m, a, b) {
                let whole = n_steps - n_steps % WIDTH;
                for at in (0..whole).step_by(WIDTH) {
                    // SAFETY: `at + WIDTH <= n_steps`, so the chunk lies in this unit; units are disjoint, and each
                    // belongs to one thread.
                    unsafe { self.all.chunk(first + at, |_| [*m, *a, *b]) };
                }
                for at in whole..n_steps {
                    // SAFETY: `at < n_steps`, so the element lies in this unit, which belongs to one thread.
                    unsafe { self.all.one(first + at, [*m, *a, *b]) };
                }
                continue;
            }
            let whole = lanes - lanes % WIDTH;
            for at in (first..).step_by(lanes).take(n_steps) {
                for c in (0..whole).step_by(WIDTH) {
                    let [m, a, b] = [m, a, b].map(|part| &part[c..c + WIDTH]);
                    // SAFETY: `c + WIDTH <= lanes`, so the chunk lies within the `lanes` elements at `at`. They are a
                    // part of this unit, which belongs to one thread.
                    unsafe { self.all.chunk(at + c, |i| [m[i], a[i], b[i]]) };
                }
                for c in whole..lanes {
                    // SAFETY: `c < lanes`, so the element is one of the `lanes` elements at `at`. They are a part of
                    // this unit, which belongs to one thread.
                    unsafe { self.all.one(at + c, [m[c], a[c], b[c]]) };
                }
            }
        }
    }
}

impl BnReluQuantize {
    fn all<T: Element, const IS_SIGNED: bool>(&self, args: &KernelArgs<'_>, parts: [&[f32]; 3]) {
        let Order { n_units, n_steps, lanes, .. } = self.order;
        let (from, to) = (Shared(args.inputs[0].as_ptr().cast::<T>()), Shared(args.outputs[0].as_ptr().cast()));
        let units = Units::<T, IS_SIGNED> { order: self.order, from, to, parts, ends: self.ends };
        in_ranges(args.team, n_units, n_steps * lanes, &|range| widest(Part { all: &units, range }));
    }

    fn of<T: Element>(&self, args: &KernelArgs<'_>, parts: [&[f32]; 3]) {
        match self.ends.least < 0.0 {
            true => self.all::<T, true>(args, parts),
            false => self.all::<T, false>(args, parts),
        }
    }
}

impl Kernel for BnReluQuantize {
    fn name(&self) -> &str {
        "bn_relu_quantize"
    }

    unsafe fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        accumulate::run(args, &self.written, |args| {
            let quantum = self.data_range.map(|at| range(args, at).quantum(self.data));
            // SAFETY: `prepare` placed the coefficients' inputs by `per_channel` and planned their scratch memory; the
            // statistics are f32, and no other slice of the scratch memory exists.
            let parts = unsafe { self.coefficients.fill(args, quantum, self.range.per_unit(self.dtype)) };
            match self.data {
                DType::I8 => self.of::<i8>(args, parts),
                DType::U8 => self.of::<u8>(args, parts),
                // SAFETY: `prepare` sets `interleaves` only if the data are f32 and row-major and
                // `quantize_images::fits` accepts their sizes. The output has a byte per element of the data, and does
                // not overlap them, because the kernel is planned out of place.
                _ if self.interleaves => unsafe { quantize_images::run(args, &self.order, parts, self.ends) },
                _ => self.of::<f32>(args, parts),
            }
            write_ranges(args, std::iter::once(self.range.reported(self.dtype)));
            Ok(())
        })
    }
}

/// Prepares the call.
pub fn prepare(library: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    let p = call.params.get::<BnReluQuantizeParams>();
    let (data, out) = (&call.inputs[0], &call.outputs[0]);
    let known = match Order::of(data) {
        // The data's layout is used only if oneDNN has it for 8-bit elements too.
        Some(order) if like(library, out, &data.layout)?.1 == data.layout => Some((data.layout.clone(), order)),
        _ => None,
    };
    let (layout, order) = known.unwrap_or_else(|| (Layout::RowMajor, Order::row_major(&data.shape)));
    let interleaves = data.dtype == DType::F32 && layout.is_row_major() && quantize_images::fits(&data.shape);
    let out_layout = if interleaves { image(library, out)?.1 } else { layout.clone() };
    let mut scratch = ScratchPlan::default();
    let coefficients = Coefficients::new(&p.norm, data.shape[1], order.channels, &mut scratch).at(p.per_channel());
    let mut written = written_ranges(call.outputs);
    let n_bytes = order.n_units * order.n_steps * order.lanes;
    written.push(Written { output: 0, dtype: out.dtype, n_bytes });
    let kernel = BnReluQuantize {
        order,
        data: data.dtype,
        data_range: p.data_range(),
        dtype: out.dtype,
        ends: Ends::new(out.dtype, p.around.with_relu),
        range: p.range()?,
        coefficients,
        interleaves,
        written,
    };
    Ok(Prepared {
        input_layouts: layouts(layout, call.inputs.len()),
        output_layouts: layouts(out_layout, call.outputs.len()),
        scratch_bytes: scratch.n_bytes(),
        can_run_inplace: false,
        kernel: Arc::new(kernel),
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
            let ends = Ends { least: 0.0, most };
            assert_eq!(element::<f32, false>(x, [0.0, 1.0, 0.0], ends), expected, "{x} at most {most}");
            // Without ReLU, positive numbers and NaN give the same result.
            let signed = element::<f32, true>(x, [0.0, 1.0, 0.0], Ends { least: -128.0, ..ends });
            assert!(x < 0.0 || signed == expected, "{x}: {signed}");
        }
        for (x, expected) in
            [(-0.5, 0), (-1.5, -2), (-2.501, -3), (-1e9, -128), (f32::NEG_INFINITY, -128), (f32::NAN, 0)]
        {
            let got = element::<f32, true>(x, [0.0, 1.0, 0.0], Ends::new(DType::I8, false)).cast_signed();
            assert_eq!(got, expected, "{x}");
        }
    }
}
