//! The gradient of a bias: the sum over all axes except the channels, in any layout with channels in planes or blocks.
//! The order of additions depends only on the layout, not on the threads.

use super::loops::{Shared, in_ranges};
use super::wrong_arity;
use crate::accumulate::{self, Written};
use crate::cache::Prepared;
use crate::library::Library;
use half::{bf16, f16};
use mxrs_op::{Kernel, KernelArgs, OpCall, TensorDesc};
use mxrs_types::{DType, Float, Layout, Result, bfloat16};
use std::sync::Arc;

/// Largest number of channels that are summed together.
const LANES: usize = 16;
/// A partial sum in `f32` has at most this many additions; partial sums are added in `f64`.
const RUN: usize = 512;

/// Strides and counts of the nested loops over a tensor: `o` counts images, `g` groups of neighboring channels, `s` pixels,
/// and `lane` the channels of a group. An element has the index `outer · o + group · g + step · s + lane`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Walk {
    channels: usize,
    /// Number of channels of a group. The last group may have fewer.
    lanes: usize,
    n_outer: usize,
    outer: usize,
    group: usize,
    n_steps: usize,
    step: usize,
}

impl Walk {
    /// The description for a row-major tensor.
    fn row_major(sizes: &[usize], axis: usize) -> Self {
        let (channels, inner) = (sizes[axis], sizes[axis + 1..].iter().product());
        let n_outer = sizes[..axis].iter().product();
        if inner == 1 {
            return Self::channels_last(channels, n_outer);
        }
        Self { channels, lanes: 1, n_outer, outer: channels * inner, group: inner, n_steps: inner, step: 1 }
    }

    fn channels_last(channels: usize, n_steps: usize) -> Self {
        Self { channels, lanes: LANES, n_outer: 1, outer: 0, group: LANES, n_steps, step: channels }
    }

    /// How the loop walks over a tensor with this shape and layout; `None` if it does not support the layout.
    fn of(desc: &TensorDesc, axis: usize) -> Option<Self> {
        let sizes: &[usize] = &desc.shape;
        let Layout::Blocked { strides, blocks, .. } = &desc.layout else {
            return desc.layout.is_row_major().then(|| Self::row_major(sizes, axis));
        };
        if axis != 1 || sizes.len() < 3 {
            return None;
        }
        // The stride of the innermost spatial axis. All spatial axes together must be like one axis with this stride.
        let step = *strides.last()?;
        let is_joined = |i: usize| sizes[i] == 1 || strides[i] == step * sizes[i + 1..].iter().product::<usize>();
        if !(2..sizes.len()).all(is_joined) {
            return None;
        }
        let n_steps = sizes[2..].iter().product();
        let (channels, n_outer, outer) = (sizes[1], sizes[0], strides[0]);
        match blocks.as_slice() {
            [] if strides[1] == 1 => Some(Self { channels, lanes: LANES, n_outer, outer, group: LANES, n_steps, step }),
            &[(1, size)] if size as usize <= LANES && step == size as usize => {
                Some(Self { channels, lanes: size as usize, n_outer, outer, group: strides[1], n_steps, step })
            }
            _ => None,
        }
    }

    fn n_groups(&self) -> usize {
        self.channels.div_ceil(self.lanes)
    }

    /// The sums of the channels of group `g`.
    fn sum<T: Copy>(&self, x: &[T], g: usize, widen: impl Fn(T) -> f32) -> [f64; LANES] {
        let mut sums = [0.0f64; LANES];
        let n_lanes = self.lanes.min(self.channels - g * self.lanes);
        for o in 0..self.n_outer {
            let first = o * self.outer + g * self.group;
            if self.lanes == 1 {
                // If the elements of a channel are one contiguous row, each lane sums a part of that row.
                for run in x[first..first + self.n_steps].chunks(RUN * LANES) {
                    let mut partial = [0.0f32; LANES];
                    let whole = run.chunks_exact(LANES);
                    let rest = whole.remainder();
                    whole.for_each(|xs| partial.iter_mut().zip(xs).for_each(|(p, x)| *p += widen(*x)));
                    partial.iter_mut().zip(rest).for_each(|(p, x)| *p += widen(*x));
                    sums[0] += partial.iter().map(|p| f64::from(*p)).sum::<f64>();
                }
                continue;
            }
            for run in (0..self.n_steps).step_by(RUN) {
                let mut partial = [0.0f32; LANES];
                for s in run..(run + RUN).min(self.n_steps) {
                    let xs = &x[first + s * self.step..][..n_lanes];
                    partial.iter_mut().zip(xs).for_each(|(p, x)| *p += widen(*x));
                }
                sums.iter_mut().zip(partial).for_each(|(sum, p)| *sum += f64::from(p));
            }
        }
        sums
    }

    fn run<T: bytemuck::Pod + Send + Sync, O: Copy + Send + Sync>(
        &self,
        args: &KernelArgs<'_>,
        widen: impl Fn(T) -> f32 + Sync,
        narrow: impl Fn(f64) -> O + Sync,
    ) {
        // SAFETY: this is an input of the running call. The kernel is planned out of place, so the only output does not
        // overlap it, and no other code writes it.
        let x: &[T] = bytemuck::cast_slice(unsafe { args.inputs[0].bytes() });
        let out = Shared(args.outputs[0].as_ptr().cast::<O>());
        in_ranges(args.team, self.n_groups(), self.n_outer * self.n_steps * self.lanes, &|groups| {
            for g in groups {
                let first = g * self.lanes;
                for (lane, sum) in self.sum(x, g, &widen).iter().enumerate().take(self.lanes.min(self.channels - first))
                {
                    // SAFETY: `take` keeps `first + lane < channels`, the number of values of the output, and
                    // `in_ranges` gives each group to one thread.
                    unsafe { out.at(first + lane).write(narrow(*sum)) };
                }
            }
        });
    }
}

struct ChannelSum {
    walk: Walk,
    /// Dtype of the elements that are added.
    dtype: DType,
    /// Dtype of the sums: the dtype of the elements, or float32.
    sums: DType,
}

impl Kernel for ChannelSum {
    fn name(&self) -> &str {
        "channel_sum"
    }

    unsafe fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        let n_bytes = self.walk.channels * self.sums.size_of();
        accumulate::run(args, &[Written { output: 0, dtype: self.sums, n_bytes }], |args| {
            match (self.dtype, self.sums) {
                (DType::F32, _) => self.walk.run(args, |x: f32| x, |s| s as f32),
                (DType::F16, DType::F32) => self.walk.run(args, f16::to_f32, |s| s as f32),
                (DType::F16, _) => self.walk.run(args, f16::to_f32, <f16 as Float>::from_f64),
                (_, DType::F32) => self.walk.run(args, bfloat16::widen, |s| s as f32),
                _ => self.walk.run(args, bfloat16::widen, <bf16 as Float>::from_f64),
            }
            Ok(())
        })
    }
}

/// Prepares `_backward_Convolution_bias(ograd, bias)`.
pub fn prepare_second_axis(_: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    prepare(call, 1)
}

/// Prepares `_backward_FullyConnected_bias(ograd, bias)`.
pub fn prepare_last_axis(_: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    prepare(call, call.inputs[0].shape.ndim().saturating_sub(1))
}

fn prepare(call: &OpCall<'_>, axis: usize) -> Result<Prepared> {
    let [ograd, bias] = call.inputs else { return Err(wrong_arity(call)) };
    let (layout, walk) = match Walk::of(ograd, axis) {
        Some(walk) => (ograd.layout.clone(), walk),
        None => (Layout::RowMajor, Walk::row_major(&ograd.shape, axis)),
    };
    Ok(Prepared {
        input_layouts: vec![layout, bias.layout.clone()],
        output_layouts: vec![Layout::RowMajor],
        scratch_bytes: 0,
        can_run_inplace: false,
        kernel: Arc::new(ChannelSum { walk, dtype: ograd.dtype, sums: call.outputs[0].dtype }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small integers, whose sums are exact in any order.
    fn element(n: usize, c: usize, s: usize) -> f32 {
        ((n * 31 + c * 7 + s) % 13) as f32
    }

    fn check(walk: Walk, x: &[f32], n_images: usize, n_cells: usize) {
        for g in 0..walk.n_groups() {
            let sums = walk.sum(x, g, |x| x);
            for (lane, sum) in sums.iter().enumerate().take(walk.lanes.min(walk.channels - g * walk.lanes)) {
                let c = g * walk.lanes + lane;
                let cells = (0..n_images).flat_map(|n| (0..n_cells).map(move |s| element(n, c, s)));
                assert_eq!(*sum, cells.map(f64::from).sum::<f64>(), "channel {c} of {walk:?}");
            }
        }
    }

    #[test]
    fn long_sums_are_complete_in_every_order_of_axes() {
        let (images, channels, height, width) = (3, 21, 37, 41);
        let cells = height * width;
        assert!(cells > RUN * 2, "the sums are carried over several times");
        let all = || (0..images).flat_map(|n| (0..channels).map(move |c| (n, c)));
        let place = |n_elements: usize, at: &dyn Fn(usize, usize, usize) -> usize| {
            let mut x = vec![0.0; n_elements];
            all().for_each(|(n, c)| (0..cells).for_each(|s| x[at(n, c, s)] = element(n, c, s)));
            x
        };
        let desc = |layout| TensorDesc { layout, ..TensorDesc::dense([images, channels, height, width], DType::F32) };
        let blocked = |channels: usize, strides: [usize; 4], blocks: &[(u8, u16)]| Layout::Blocked {
            padded: [images, channels, height, width].into_iter().collect(),
            strides: strides.into_iter().collect(),
            blocks: blocks.iter().copied().collect(),
        };
        let n_dense = images * channels * cells;

        let walk = Walk::of(&desc(Layout::RowMajor), 1).expect("row-major");
        check(walk, &place(n_dense, &|n, c, s| (n * channels + c) * cells + s), images, cells);

        let last = blocked(channels, [channels * cells, 1, channels * width, channels], &[]);
        let walk = Walk::of(&desc(last), 1).expect("channels last");
        check(walk, &place(n_dense, &|n, c, s| (n * cells + s) * channels + c), images, cells);

        let in_blocks = blocked(32, [32 * cells, 16 * cells, 16 * width, 16], &[(1, 16)]);
        let walk = Walk::of(&desc(in_blocks), 1).expect("blocks of 16 channels");
        let at = |n: usize, c: usize, s: usize| ((n * 2 + c / 16) * cells + s) * 16 + c % 16;
        check(walk, &place(images * 32 * cells, &at), images, cells);

        let two_blocks = blocked(32, [32 * cells, 16 * cells, 16 * width, 16], &[(1, 8), (0, 2)]);
        assert_eq!(Walk::of(&desc(two_blocks), 1), None);
    }
}
