//! Means of interpolated points of rotated regions. Data `[n, c, h, w]` and rois `[r, 6]`, each (image, center x, center y, width,
//! height, angle in degrees), give `[r, c, ph, pw]` with `pooled_size` (ph, pw). A bin is the mean of `sampling_ratio` x
//! `sampling_ratio` points, interpolated bilinearly. Ma et al. 2018, arXiv:1703.01086.
//!
//! Gradient: of data. Rois have no gradient. MXNet has none.
//!
//! MXNet: `_contrib_RROIAlign`. Dtypes: f32 f64 f16 bf16.

use super::roi_pooling::{image_of, infer_shape, pooled};
use crate::families::bilinear::{around, weighted};
use crate::families::formula::{self, Emit, Formula, Number, Tensors};
use mxrs_op::param::ShapeAttr;
use mxrs_op::{Accuracy, Fill, OpDef, Sample, op_params};
use mxrs_types::{Error, PartialShape, Result};

op_params! {
    /// Parameters of `_contrib_RROIAlign`.
    pub struct RroiAlignParams for "_contrib_RROIAlign" {
        /// Height and width of the output.
        pooled_size: ShapeAttr,
        /// Size of data relative to the image in which rois are measured.
        spatial_scale: f32,
        /// Number of points on each side of a bin; chosen by the size of the region if it is not positive.
        sampling_ratio: i32 = -1,
    }
}

/// The most points on each side of a bin.
const MAX_POINTS: f64 = 4096.0;
/// The most points of a bin: a small image with a large number of points would take hours.
const MOST_POINTS: f64 = 65_536.0;

struct RroiAlign;

impl Formula for RroiAlign {
    type Params = RroiAlignParams;
    const NAME: &'static str = "_contrib_RROIAlign";
    const SUMMARY: &'static str = "means of interpolated points of rotated regions";
    const BACKWARD: &'static str = "_backward_RROIAlign";
    const INPUTS: &'static [&'static str] = &["data", "rois"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "data", "rois"];
    const IGNORED_IN_BACKWARD: &'static [usize] = &[1];
    const ACCURACY: Accuracy = Accuracy::Product;

    fn infer_shape(params: &Self::Params, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        infer_shape(pooled(Self::NAME, &params.pooled_size)?, 6, |c| c, inputs, outputs)
    }

    fn part<T: Number>(params: &Self::Params, tensors: &Tensors<'_, T>, part: usize, emit: Emit<'_, T>) -> Result<()> {
        let (data, out) = (&tensors.inputs[0], &tensors.outputs[0]);
        let (plane, bin) = (part / (out[2] * out[3]), part % (out[2] * out[3]));
        let roi = &tensors.values(1)[plane / out[1] * 6..][..6];
        let Some(image) = image_of(roi[0], data[0])? else { return Ok(()) };
        let [center_x, center_y, width, height] = [1, 2, 3, 4].map(|i| roi[i] * f64::from(params.spatial_scale));
        let (sin, cos) = roi[5].to_radians().sin_cos();
        let sizes = [height.max(1.0), width.max(1.0)];
        let steps = [sizes[0] / out[2] as f64, sizes[1] / out[3] as f64];
        let n_points =
            steps.map(|step| if params.sampling_ratio > 0 { f64::from(params.sampling_ratio) } else { step.ceil() });
        if data[2..].contains(&0) {
            return Ok(());
        }
        if n_points.iter().any(|n| *n > MAX_POINTS) || n_points[0] * n_points[1] > MOST_POINTS {
            return Err(Error::invalid(
                "points of a bin",
                n_points[0],
                format!("at most {MAX_POINTS} on each side and {MOST_POINTS} in all"),
            ));
        }
        let first = (image * data[1] + plane % out[1]) * data[2] * data[3];
        let start = [(bin / out[3], 0), (bin % out[3], 1)].map(|(i, axis)| i as f64 * steps[axis] - sizes[axis] / 2.0);
        let mut sum = T::of(0.0);
        for iy in 0..n_points[0] as usize {
            for ix in 0..n_points[1] as usize {
                let down = start[0] + (iy as f64 + 0.5) * steps[0] / n_points[0];
                let right = start[1] + (ix as f64 + 0.5) * steps[1] / n_points[1];
                let x = right * cos + down * sin + center_x;
                let y = down * cos - right * sin + center_y;
                if !(-1.0..=data[2] as f64).contains(&y) || !(-1.0..=data[3] as f64).contains(&x) {
                    continue;
                }
                let inside = |at: f64, size: usize| T::of(at.clamp(0.0, size as f64 - 1.0));
                let pixels = around(inside(y, data[2]), inside(x, data[3]), data[2], data[3]);
                sum = sum + weighted(pixels.map(|(at, weight)| (tensors.at(0, first + at), weight)));
            }
        }
        emit(0, part, sum / T::of((n_points[0] * n_points[1]).max(1.0)));
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        let of = |name, attrs: [(&str, &str); 3], data: &[usize], rois: &[f64]| {
            Sample::new(name, attrs, &[data, &[rois.len() / 6, 6]]).fill(1, Fill::Values(rois.to_vec()))
        };
        let two = [("pooled_size", "(2, 2)"), ("spatial_scale", "1"), ("sampling_ratio", "2")];
        let by_size = [("pooled_size", "(2, 3)"), ("spatial_scale", "0.5"), ("sampling_ratio", "-1")];
        vec![
            of("two", two, &[2, 3, 6, 5], &[0.0, 2.0, 3.0, 3.0, 4.0, 0.0, 1.0, 2.0, 2.0, 2.0, 3.0, 30.0]),
            of("by_size", by_size, &[1, 2, 5, 4], &[0.0, 4.0, 5.0, 6.0, 7.0, -45.0]),
            of("no_image", two, &[1, 1, 4, 4], &[-1.0, 2.0, 2.0, 2.0, 2.0, 0.0]),
            of("empty", two, &[1, 1, 4, 4], &[]),
        ]
    }
}

/// Defines the operator `_contrib_RROIAlign`.
pub fn define() -> OpDef {
    formula::define::<RroiAlign>()
}
