//! Gradients of max, average and sum pooling. Each channel of each image is a plane, which one thread computes.
//!
//! The gradient of a window is added to its elements in a buffer of one plane, because a plane's windows may overlap and the
//! output may request a sum with its old values.

use super::for_float;
use crate::level::Level;
use crate::number::Float;
use crate::plan::{Build, Planned, out_of_place};
use crate::split::in_ranges;
use crate::tensors::{Sink, Source};
use mxrs_op::OpCall;
use mxrs_ops::nn::pooling::{Cut, PoolType, PoolingParams, cut};
use mxrs_ops::window::in_three;

/// Plans the gradient of a pooling. Poolings by p-norm and layouts with the channels last have no kernel here.
pub fn plan(call: &OpCall<'_>, _: Level) -> Option<Planned> {
    let is_even = match call.op.name {
        "_backward_Pooling" => false,
        "_backward_Pooling_average" => true,
        _ => return None,
    };
    let params = call.params.get::<PoolingParams>();
    if params.is_channels_last() {
        return Some(Err("the channels are the last axis".into()));
    }
    if params.pool_type == PoolType::Lp {
        return Some(Err("pooling by p-norm".into()));
    }
    let windows = match Windows::new(call, params) {
        Ok(windows) => windows,
        Err(error) => return Some(Err(error.to_string())),
    };
    let dtype = call.outputs[0].dtype;
    Some(match is_even {
        true => for_float!(call, dtype, T => evenly::<T>(call, windows)),
        false => for_float!(call, dtype, T => to_largest::<T>(call, windows)),
    })
}

/// The windows of a plane.
struct Windows {
    n_planes: usize,
    /// Depth, height and width of a plane of data.
    space: [usize; 3],
    /// For each axis, the part of each window that lies in the plane.
    cuts: [Vec<Cut>; 3],
    counts_padding: bool,
    divides: bool,
}

impl Windows {
    fn new(call: &OpCall<'_>, params: &PoolingParams) -> mxrs_types::Result<Self> {
        let (data, ograd) = (&call.outputs[0].shape, &call.inputs[0].shape);
        let window = params.window(&data[2..])?;
        let n_spatial = data.ndim() - 2;
        let [space, n_windows] = [&data[2..], &ograd[2..]].map(|sizes| in_three(sizes, 1));
        let whole = |size: usize| vec![Cut { begin: 0, end: size, padded_len: 1 }];
        let cuts = std::array::from_fn(|axis| match (axis + n_spatial).checked_sub(3) {
            Some(own) => (0..n_windows[axis]).map(|o| cut(&window, own, o, space[axis])).collect(),
            None => whole(space[axis]),
        });
        let divides = params.pool_type == PoolType::Avg;
        Ok(Self { n_planes: data[0] * data[1], space, cuts, counts_padding: params.counts_padding(), divides })
    }

    /// The number of elements of a plane of data.
    fn n_cells(&self) -> usize {
        self.space.iter().product()
    }

    /// The number of windows of a plane.
    fn n_windows(&self) -> usize {
        self.cuts.iter().map(Vec::len).product()
    }

    /// Calls `visit` for each window in row-major order, with its parts on the three axes.
    #[inline(always)]
    fn for_each(&self, mut visit: impl FnMut(usize, [&Cut; 3])) {
        let mut index = 0;
        for depth in &self.cuts[0] {
            for height in &self.cuts[1] {
                for width in &self.cuts[2] {
                    visit(index, [depth, height, width]);
                    index += 1;
                }
            }
        }
    }

    /// The position of the first element of row `h` in depth `d`.
    #[inline(always)]
    fn row(&self, d: usize, h: usize) -> usize {
        (d * self.space[1] + h) * self.space[2]
    }
}

/// Adds the gradient of each window to its first largest element.
fn to_largest<T: Float>(call: &OpCall<'_>, windows: Windows) -> Build {
    by_plane::<T, 3>(call, windows, |windows, [ograd, data, output], plane| {
        windows.for_each(|index, [depth, height, width]| {
            let largest = output[index];
            for d in depth.begin..depth.end {
                for h in height.begin..height.end {
                    let row = windows.row(d, h);
                    let cells = &data[row + width.begin..row + width.end];
                    if let Some(at) = cells.iter().position(|x| *x == largest) {
                        let to = &mut plane[row + width.begin + at];
                        *to = to.plus(ograd[index]);
                        return;
                    }
                }
            }
        });
    })
}

/// Divides the gradient of each window among its elements.
fn evenly<T: Float>(call: &OpCall<'_>, windows: Windows) -> Build {
    by_plane::<T, 1>(call, windows, |windows, [ograd], plane| {
        windows.for_each(|index, [depth, height, width]| {
            let of = |cut: &Cut| if windows.counts_padding { cut.padded_len } else { cut.end - cut.begin };
            let count = if windows.divides { of(depth) * of(height) * of(width) } else { 1 };
            let share = ograd[index].over(T::from_f64(count.max(1) as f64));
            for d in depth.begin..depth.end {
                for h in height.begin..height.end {
                    let row = windows.row(d, h);
                    plane[row + width.begin..row + width.end].iter_mut().for_each(|to| *to = to.plus(share));
                }
            }
        });
    })
}

/// Runs `add` on every plane. Its arguments are the windows, the plane's parts of the first `N` inputs, and zeros to which
/// it adds the gradient.
fn by_plane<T: Float, const N: usize>(
    call: &OpCall<'_>,
    windows: Windows,
    add: impl Fn(&Windows, [&[T]; N], &mut [T]) + Send + Sync + 'static,
) -> Build {
    let dtype = call.outputs[0].dtype;
    let (n_cells, n_windows) = (windows.n_cells(), windows.n_windows());
    out_of_place(call, 0, move |args| {
        let inputs: [Source<'_, T>; N] = std::array::from_fn(|index| Source::of(args, index));
        let out = Sink::<T>::of(args, 0, dtype)?;
        if !out.is_wanted() || n_cells == 0 {
            return Ok(());
        }
        // A rough estimate, which only decides how many threads share the work: a window counts as eight elements.
        in_ranges(args.team, windows.n_planes, n_cells + 8 * n_windows, &|planes| {
            let mut gradient = vec![T::ZERO; n_cells];
            for plane in planes {
                let parts = std::array::from_fn(|index| {
                    // Input 1 is the data; the others have an element for each window.
                    let n = if index == 1 { n_cells } else { n_windows };
                    // SAFETY: `out_of_place` plans the kernel so that it never runs in place, so nothing writes the inputs.
                    unsafe { inputs[index].slice(plane * n..(plane + 1) * n) }
                });
                gradient.fill(T::ZERO);
                add(&windows, parts, &mut gradient);
                let first = plane * n_cells;
                // SAFETY: each plane is a different range of the output, `in_ranges` gives it to one thread, and the inputs
                // share no memory with the output.
                unsafe {
                    out.write(first..first + n_cells, |piece, to| {
                        to.copy_from_slice(&gradient[piece.start - first..piece.end - first]);
                    });
                }
            }
        });
        Ok(())
    })
}
