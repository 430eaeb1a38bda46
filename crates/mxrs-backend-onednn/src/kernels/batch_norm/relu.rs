//! `_sg_bn_relu`: BatchNorm with the moving statistics and a relu that lets NaN through, in one pass over the elements of
//! any layout that keeps channels together, in blocks or apart. oneDNN's fused relu makes 0 of NaN.

use super::super::loops::{Loop, Shared, in_ranges, map, wide};
use crate::accumulate::{self, Written};
use crate::cache::Prepared;
use crate::library::Library;
use crate::scratch::{FloatPart, ScratchPlan};
use crate::short;
use half::{bf16, f16};
use mxrs_op::{Kernel, KernelArgs, OpCall, TensorDesc};
use mxrs_ops::nn::batch_norm::BatchNormParams;
use mxrs_types::{DType, Layout, Result};
use std::ops::Range;
use std::sync::Arc;

/// The elements in the order of memory: `n_units` units of `n_steps` steps of `lanes` neighbouring channels each; the units
/// go round the groups of channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Order {
    n_units: usize,
    n_steps: usize,
    lanes: usize,
    /// Channels, those that only fill the last group included.
    channels: usize,
}

impl Order {
    fn row_major(sizes: &[usize]) -> Self {
        Self { n_units: sizes[0] * sizes[1], n_steps: sizes[2..].iter().product(), lanes: 1, channels: sizes[1] }
    }

    /// Of a tensor in its own layout, channels second; `None` when that is none of ours.
    fn of(desc: &TensorDesc) -> Option<Self> {
        let sizes: &[usize] = &desc.shape;
        let Layout::Blocked { padded, strides, blocks } = &desc.layout else {
            return desc.layout.is_row_major().then(|| Self::row_major(sizes));
        };
        let n_cells: usize = sizes[2..].iter().product();
        let channels = padded[1];
        let (order, block) = match blocks.as_slice() {
            [] if strides[1] == 1 => {
                (Self { n_units: sizes[0] * n_cells, n_steps: 1, lanes: channels, channels }, channels)
            }
            &[(1, block)] => {
                let lanes = block as usize;
                (Self { n_units: sizes[0] * channels / lanes, n_steps: n_cells, lanes, channels }, lanes)
            }
            _ => return None,
        };
        // Nothing but the channels may be padded, and the cells of an image must follow one another.
        let mut stride = block;
        for axis in (2..sizes.len()).rev() {
            if sizes[axis] != 1 && strides[axis] != stride {
                return None;
            }
            stride *= sizes[axis];
        }
        let is_dense = sizes[0] == 1 || strides[0] == n_cells * channels;
        let is_grouped = blocks.is_empty() || channels == block || strides[1] == stride;
        (is_dense && is_grouped && padded[0] == sizes[0] && padded[2..] == sizes[2..]).then_some(order)
    }

    /// The channel of a unit's first lane.
    fn first_channel(&self, unit: usize) -> usize {
        unit * self.lanes % self.channels
    }
}

/// What happens to an element: `max((x - mean) · scale + shift, 0)`.
#[inline(always)]
fn element(x: f32, mean: f32, scale: f32, shift: f32) -> f32 {
    let y = (x - mean) * scale + shift;
    if y < 0.0 { 0.0 } else { y }
}

/// Neighbouring channels computed at a time: through an array of fixed length the compiler sees that nothing overlaps.
const WIDTH: usize = 16;

/// [`element`] of neighbouring channels, with their means, scales and shifts.
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
    /// Channels that there are.
    channels: usize,
    eps: f64,
    fix_gamma: bool,
    /// Where mean, scale and shift of every channel lie; zeros where there is none.
    parts: [FloatPart; 3],
}

impl BnRelu {
    /// Fills the parts from gamma, beta and the moving statistics.
    fn coefficients<'a>(&self, args: &KernelArgs<'a>) -> [&'a [f32]; 3] {
        // SAFETY: the scratch memory is as large as planned, and these are the only slices of the parts.
        let [mean, scale, shift] = self.parts.map(|part| unsafe { part.of(args) });
        // SAFETY: an input of `channels` f32 of the running call; its only output is data of another size or place.
        let input = |i: usize, c: usize| unsafe { args.inputs[i].as_ptr().cast::<f32>().wrapping_add(c).read() };
        for c in 0..mean.len() {
            let exists = c < self.channels;
            let gamma = || if self.fix_gamma { 1.0 } else { f64::from(input(1, c)) };
            mean[c] = if exists { input(3, c) } else { 0.0 };
            scale[c] = if exists { (gamma() / (f64::from(input(4, c)) + self.eps).sqrt()) as f32 } else { 0.0 };
            shift[c] = if exists { input(2, c) } else { 0.0 };
        }
        [mean, scale, shift]
    }

    fn run<T: Copy + Send + Sync>(
        &self,
        args: &KernelArgs<'_>,
        widen: impl Fn(T) -> f32 + Sync,
        narrow: impl Fn(f32) -> T + Sync,
    ) {
        let [mean, scale, shift] = self.coefficients(args);
        let Order { n_units, n_steps, lanes, .. } = self.order;
        let (from, to) = (Shared(args.inputs[0].as_ptr().cast::<T>()), Shared(args.outputs[0].as_ptr().cast::<T>()));
        let units = Units { order: self.order, from, to, mean, scale, shift, widen, narrow };
        in_ranges(args.team, n_units, n_steps * lanes, &|range| wide(Part { all: &units, range }));
    }
}

/// What there is to compute, unit by unit.
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

/// A range of the units.
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
                // SAFETY: below the element count of both tensors; units are disjoint, and the output is the memory of the
                // input or does not overlap it.
                unsafe { map(from.at(first), to.at(first), n_steps, |_, x| narrow(element(widen(x), *m, *a, *b))) };
                continue;
            }
            let whole = lanes - lanes % WIDTH;
            for at in (first..).step_by(lanes).take(n_steps) {
                for c in (0..whole).step_by(WIDTH) {
                    // SAFETY: below the element count of both tensors, `WIDTH` elements that no other chunk holds; the
                    // output is the memory of the input or does not overlap it. Tensors are not aligned to arrays.
                    unsafe {
                        let xs = from.at(at + c).cast::<[T; WIDTH]>().read_unaligned();
                        let ys = elements(xs, [m, a, b].map(|part| &part[c..c + WIDTH]), widen, narrow);
                        to.at(at + c).cast::<[T; WIDTH]>().write_unaligned(ys);
                    }
                }
                let [m, a, b] = [m, a, b].map(|part| &part[whole..]);
                // SAFETY: as above. The three slices have the other items of the `lanes`.
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

    fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        let Order { n_units, n_steps, lanes, .. } = self.order;
        let n_bytes = n_units * n_steps * lanes * self.dtype.size_of();
        accumulate::run(args, &[Written { output: 0, dtype: self.dtype, n_bytes }], |args| {
            match self.dtype {
                DType::F32 => self.run::<f32>(args, |x| x, |x| x),
                DType::F16 => self.run::<f16>(args, f16::to_f32, f16::from_f32),
                _ => self.run::<bf16>(args, short::widen, short::narrow),
            }
            Ok(())
        })
    }
}

/// Builds the kernel.
pub fn prepare(_: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    let p = call.params.get::<BatchNormParams>();
    let data = &call.inputs[0];
    let (layout, order) = match Order::of(data) {
        Some(order) => (data.layout.clone(), order),
        None => (Layout::RowMajor, Order::row_major(&data.shape)),
    };
    let mut scratch = ScratchPlan::default();
    let parts = [(); 3].map(|()| FloatPart::new(&mut scratch, order.channels));
    let mut input_layouts = vec![Layout::RowMajor; call.inputs.len()];
    input_layouts[0] = layout.clone();
    Ok(Prepared {
        input_layouts,
        output_layouts: vec![layout],
        scratch_bytes: scratch.n_bytes(),
        can_run_inplace: true,
        kernel: Arc::new(BnRelu {
            order,
            dtype: data.dtype,
            channels: data.shape[1],
            eps: p.eps,
            fix_gamma: p.fix_gamma,
            parts,
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tensor of 2 images of 20 channels and 3 x 4 cells.
    fn desc(padded: [usize; 4], strides: [usize; 4], blocks: &[(u8, u16)]) -> TensorDesc {
        let (padded, strides) = (padded.into_iter().collect(), strides.into_iter().collect());
        let layout = Layout::Blocked { padded, strides, blocks: blocks.iter().copied().collect() };
        TensorDesc::dense([2, 20, 3, 4], DType::F32).with_layout(layout)
    }

    #[test]
    fn the_order_finds_the_channel_of_every_element() {
        let whole = [2, 20, 3, 4];
        let cases = [
            (TensorDesc::dense([2, 20, 3, 4], DType::F32), [240, 12, 4, 1], 1),
            (desc(whole, [240, 1, 80, 20], &[]), [240, 1, 80, 20], 1),
            (desc([2, 32, 3, 4], [384, 192, 64, 16], &[(1, 16)]), [384, 192, 64, 16], 16),
            (desc([2, 24, 3, 4], [288, 96, 32, 8], &[(1, 8)]), [288, 96, 32, 8], 8),
        ];
        for (desc, strides, block) in cases {
            let order = Order::of(&desc).expect("a layout like those of convolutions");
            assert_eq!(order.n_units * order.n_steps * order.lanes * 4, desc.size_bytes(), "{desc}");
            for (n, c, y, x) in (0..480).map(|i| (i / 240, i / 12 % 20, i / 4 % 3, i % 4)) {
                let at = n * strides[0] + c / block * strides[1] + y * strides[2] + x * strides[3] + c % block;
                let unit = at / (order.n_steps * order.lanes);
                assert_eq!(order.first_channel(unit) + at % order.lanes, c, "{desc}: element {at}");
            }
        }
    }

    #[test]
    fn gaps_and_other_orders_are_refused() {
        let whole = [2, 20, 3, 4];
        for (desc, what) in [
            (desc(whole, [480, 1, 80, 20], &[]), "a gap between images"),
            (desc(whole, [240, 1, 20, 60], &[]), "columns before rows"),
            (desc(whole, [20, 1, 160, 40], &[]), "images inside cells"),
            (desc([2, 32, 3, 4], [16, 768, 128, 32], &[(1, 16)]), "images inside groups"),
            (desc([16, 32, 3, 4], [384, 192, 64, 16], &[(1, 16)]), "padded images"),
        ] {
            assert_eq!(Order::of(&desc), None, "{what}");
        }
    }
}
