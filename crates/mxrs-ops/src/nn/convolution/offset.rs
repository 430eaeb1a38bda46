//! `_backward_Convolution_offset`: the gradient of an offset per channel that is added to data before a convolution.
//!
//! The result equals the gradient of data, summed over images and pixels, but is computed without the gradient of data.
//! Element `k` of the convolution window contributes `weight[o, c, k] · Σ ograd[n, o, y]`, where the sum is over the
//! windows `y` whose element `k` lies in data and not in the padding. On each axis, these windows are consecutive. So
//! each `k` has a range of windows, and the ends of the ranges of all `k` cut the axis into few [pieces](Reach). Each
//! element of ograd is added only once, to the sum of its piece, and the sum for `k` is the sum of the pieces in its
//! range.
//!
//! Shapes: ograd [N, O, …], as the output of the convolution; weight as in `Convolution`; data [N, C, …]; out `[C]`. Only
//! the shape of data is used.
//!
//! The gradient of `BatchNorm` calls this operator if the gradient of its data is not needed. The residual networks of
//! MXNet's examples are such a case: they begin with a `BatchNorm`, of which only β needs a gradient.

use super::{Convolution, ConvolutionParams};
use crate::dtypes::FLOATS;
use crate::families::backward::samples_of;
use crate::families::products::{infer_dtype, infer_forward};
use crate::families::window::{SpatialView, channel_axis, in_three};
use crate::inference::{learn, learn_dim};
use crate::numeric;
use mxrs_op::{Accuracy, InputNames, OpDef, OpParams, RefInput, RefOutput, RunMode};
use mxrs_types::{PartialShape, Result};
use std::ops::Range;

/// Name of the operator.
pub const NAME: &str = "_backward_Convolution_offset";

/// The windows of one axis whose element `k` lies in data, for each element `k` of a window (in the code, a cell). The
/// windows of an axis are divided into pieces, such that the windows for each `k` are a range of pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach {
    /// Where the pieces begin and end: increasing window numbers from 0 to the number of windows.
    pub cuts: Vec<usize>,
    /// For each element of a window, the range of pieces with the windows whose element lies in data.
    pub cells: Vec<Range<usize>>,
}

impl Reach {
    /// Computes the pieces of an axis of `size` positions, for `windows` windows of `cells` elements each.
    pub fn new([size, windows, cells]: [usize; 3], [stride, dilate, pad]: [usize; 3]) -> Self {
        let range = |k: usize| {
            let begin = pad.saturating_sub(k * dilate).div_ceil(stride);
            let end = (size + pad).saturating_sub(k * dilate).div_ceil(stride).min(windows);
            begin.min(end)..end
        };
        let ranges: Vec<Range<usize>> = (0..cells).map(range).collect();
        let mut cuts: Vec<usize> = ranges.iter().flat_map(|r| [r.start, r.end]).chain([0, windows]).collect();
        cuts.sort_unstable();
        cuts.dedup();
        let piece = |at: usize| cuts.partition_point(|cut| *cut < at);
        let cells = ranges.iter().map(|r| piece(r.start)..piece(r.end)).collect();
        Self { cuts, cells }
    }

    /// Number of pieces.
    pub fn n_pieces(&self) -> usize {
        self.cuts.len() - 1
    }

    /// The windows that belong to piece `i`.
    pub fn piece(&self, i: usize) -> Range<usize> {
        self.cuts[i]..self.cuts[i + 1]
    }
}

/// Defines the operator `_backward_Convolution_offset`.
pub fn define() -> OpDef {
    OpDef {
        summary: "gradient of a number per channel added to the data of Convolution",
        inputs: InputNames::Fixed(&["ograd", "weight", "data"]),
        ignored_inputs: &[2],
        infer_shape,
        infer_dtype,
        dtypes: FLOATS,
        is_product: true,
        accuracy: Accuracy::Product,
        reference: Some(sums),
        samples: || {
            samples_of(&super::define(), |s, outputs| {
                Some(vec![outputs.first()?.clone(), s.inputs.get(1)?.clone(), s.inputs.first()?.clone()])
            })
        },
        ..OpDef::new(NAME).params::<ConvolutionParams>()
    }
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let [ograd, weight, data] = inputs else { return Ok(()) };
    infer_forward::<Convolution>(params, data, weight, ograd)?;
    learn(&mut outputs[0], &PartialShape::of_rank(1), "output")?;
    let Some(ndim) = data.ndim() else { return Ok(()) };
    let axis = channel_axis(ndim, params.get::<ConvolutionParams>().is_channels_last());
    learn_dim(&mut outputs[0], 0, data.dim(axis), "output")?;
    learn_dim(data, axis, outputs[0].dim(0), "data")
}

fn sums(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let params = params.get::<ConvolutionParams>();
    let window = params.window()?;
    let is_last = params.is_channels_last();
    let [out, weight, data] = [0, 1, 2].map(|i| SpatialView::new(&inputs[i].desc.shape, is_last));
    let (stride, dilate, pad) = (in_three(&window.stride, 1), in_three(&window.dilate, 1), in_three(&window.pad, 0));
    let reach: [Reach; 3] = std::array::from_fn(|i| {
        Reach::new([data.space[i], out.space[i], weight.space[i]], [stride[i], dilate[i], pad[i]])
    });
    let (values, w) = (numeric::read(&inputs[0]), numeric::read(&inputs[1]));
    let (g, out) = (values.as_slice(), &out);
    let filters_per_group = (out.c / params.num_group as usize).max(1);
    let mut offsets = vec![0.0; data.c];
    for o in 0..out.c {
        let first_channel = o / filters_per_group * weight.c;
        let sum_of = |at: [usize; 3]| -> f64 {
            let [deep, down, across] = [0, 1, 2].map(|i| reach[i].piece(at[i]));
            let places = deep.flat_map(|d| down.clone().map(move |h| (d, h)));
            let places = places.flat_map(|(d, h)| across.clone().map(move |w| [d, h, w]));
            places.flat_map(|at| (0..out.n).map(move |n| g[out.at(n, o, at)])).sum()
        };
        let mut pieces = Vec::new();
        let n_pieces = [0, 1, 2].map(|i| reach[i].n_pieces());
        crate::families::indexing::for_each_index(&n_pieces, |at| pieces.push(sum_of([at[0], at[1], at[2]])));
        crate::families::indexing::for_each_index(&weight.space, |k| {
            let [deep, down, across] = [0, 1, 2].map(|i| reach[i].cells[k[i]].clone());
            let places = deep.flat_map(|d| down.clone().map(move |h| d * n_pieces[1] + h));
            let sum: f64 = places.map(|row| pieces[row * n_pieces[2]..][across.clone()].iter().sum::<f64>()).sum();
            for c in 0..weight.c {
                offsets[first_channel + c] += w[weight.at(o, c, [k[0], k[1], k[2]])] * sum;
            }
        });
    }
    numeric::write(&mut outputs[0], &offsets);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_the_windows_whose_cell_is_in_data() {
        for size in 0..9usize {
            for (cells, stride, dilate, pad) in [(1, 1, 1, 0), (3, 1, 1, 1), (7, 2, 1, 3), (3, 2, 3, 4), (2, 3, 5, 9)] {
                let Some(windows) =
                    (size + 2 * pad).checked_sub(dilate * (cells - 1) + 1).map(|room| room / stride + 1)
                else {
                    continue;
                };
                let reach = Reach::new([size, windows, cells], [stride, dilate, pad]);
                for k in 0..cells {
                    let of_pieces: Vec<usize> = reach.cells[k].clone().flat_map(|i| reach.piece(i)).collect();
                    let place = |y: &usize| (y * stride + k * dilate).checked_sub(pad).is_some_and(|at| at < size);
                    let counted: Vec<usize> = (0..windows).filter(place).collect();
                    assert_eq!(of_pieces, counted, "cell {k} of {cells}, {size} cells of data");
                }
            }
        }
    }
}
