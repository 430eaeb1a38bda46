//! Means of interpolated points of regions. Data `[n, c, h, w]` and rois `[r, 5]`, each (image, x1, y1, x2, y2), give `[r, c,
//! ph, pw]` with `pooled_size` (ph, pw); with `position_sensitive`, each bin reads its own c / (ph · pw) channels. A bin is
//! the mean of `sample_ratio` x `sample_ratio` points, interpolated bilinearly. He et al., arXiv:1703.06870.
//!
//! Gradient: of data. Rois have no gradient.
//!
//! MXNet: `_contrib_ROIAlign`. Dtypes: f32 f64 f16 bf16.

use super::roi_pooling::{image_of, infer_shape, pooled};
use crate::families::bilinear::{around, weighted};
use crate::families::formula::{self, Emit, Formula, Number, Tensors};
use mxrs_op::param::ShapeAttr;
use mxrs_op::{Fill, OpDef, Sample, op_params};
use mxrs_types::{Error, PartialShape, Result};

op_params! {
    /// Parameters of `_contrib_ROIAlign`.
    pub struct RoiAlignParams for "_contrib_ROIAlign" {
        /// Height and width of the output.
        pooled_size: ShapeAttr,
        /// Size of data relative to the image in which rois are measured.
        spatial_scale: f32,
        /// Number of points on each side of a bin; chosen by the size of the region if it is not positive.
        sample_ratio: i32 = -1,
        /// Whether each bin reads its own channels.
        position_sensitive: bool = false,
        /// Whether the corners of regions are moved by half a pixel.
        aligned: bool = false,
    }
}

/// The most points on each side of a bin.
const MAX_POINTS: f64 = 4096.0;
/// The most points of a bin: a small image with a large number of points would take hours.
const MOST_POINTS: f64 = 65_536.0;

struct RoiAlign;

impl Formula for RoiAlign {
    type Params = RoiAlignParams;
    const NAME: &'static str = "_contrib_ROIAlign";
    const SUMMARY: &'static str = "means of interpolated points of regions";
    const BACKWARD: &'static str = "_backward_ROIAlign";
    const INPUTS: &'static [&'static str] = &["data", "rois"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "data", "rois"];
    const IGNORED_IN_BACKWARD: &'static [usize] = &[1];
    const IS_WIDEST: bool = true;

    fn infer_shape(params: &Self::Params, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let size = pooled(Self::NAME, &params.pooled_size)?;
        let bins = if params.position_sensitive { size[0].saturating_mul(size[1]) } else { 1 };
        infer_shape(size, 5, |c| c / bins, inputs, outputs)
    }

    fn part<T: Number>(params: &Self::Params, tensors: &Tensors<'_, T>, part: usize, emit: Emit<'_, T>) -> Result<()> {
        let (data, out) = (&tensors.inputs[0], &tensors.outputs[0]);
        let (plane, bin) = (part / (out[2] * out[3]), part % (out[2] * out[3]));
        let roi = &tensors.values(1)[plane / out[1] * 5..][..5];
        let Some(image) = image_of(roi[0], data[0])? else { return Ok(()) };
        let scale = f64::from(params.spatial_scale);
        let offset = if params.aligned { 0.5 } else { 0.0 };
        let [x1, y1, x2, y2] = [1, 2, 3, 4].map(|i| roi[i] * scale - offset);
        let extent = |size: f64| if params.aligned { size } else { size.max(1.0) };
        let sizes = [extent(y2 - y1), extent(x2 - x1)];
        let steps = [sizes[0] / out[2] as f64, sizes[1] / out[3] as f64];
        let n_points =
            steps.map(|step| if params.sample_ratio > 0 { f64::from(params.sample_ratio) } else { step.ceil() });
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
        let channel = match params.position_sensitive {
            true => plane % out[1] * out[2] * out[3] + bin,
            false => plane % out[1],
        };
        let first = (image * data[1] + channel) * data[2] * data[3];
        let (start_y, start_x) = (y1 + (bin / out[3]) as f64 * steps[0], x1 + (bin % out[3]) as f64 * steps[1]);
        let mut sum = T::of(0.0);
        for iy in 0..n_points[0] as usize {
            for ix in 0..n_points[1] as usize {
                let y = start_y + (iy as f64 + 0.5) * steps[0] / n_points[0];
                let x = start_x + (ix as f64 + 0.5) * steps[1] / n_points[1];
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
        let rois = |values: &[f64]| Fill::Values(values.to_vec());
        let of = |name, attrs: [(&str, &str); 3], data: &[usize], regions: &[f64]| {
            Sample::new(name, attrs, &[data, &[regions.len() / 5, 5]]).fill(1, rois(regions))
        };
        let size = ("pooled_size", "(2, 2)");
        let regions = [0.0, 0.5, 0.25, 3.5, 4.0, 1.0, 1.0, 2.0, 2.0, 3.0];
        vec![
            of("two", [size, ("spatial_scale", "1"), ("sample_ratio", "2")], &[2, 3, 6, 5], &regions),
            of(
                "by_size",
                [size, ("spatial_scale", "0.5"), ("sample_ratio", "-1")],
                &[1, 2, 5, 4],
                &[0.0, 1.0, 0.0, 7.0, 9.0],
            ),
            of(
                "aligned",
                [size, ("spatial_scale", "1"), ("aligned", "True")],
                &[1, 1, 4, 4],
                &[0.0, -1.0, 0.0, 3.0, 6.0],
            ),
            of(
                "positions",
                [size, ("spatial_scale", "1"), ("position_sensitive", "True")],
                &[1, 8, 4, 4],
                &regions[..5],
            ),
            of("empty", [size, ("spatial_scale", "1"), ("sample_ratio", "1")], &[1, 1, 4, 4], &[]),
        ]
    }
}

/// Defines the operator `_contrib_ROIAlign`.
pub fn define() -> OpDef {
    formula::define::<RoiAlign>()
}
