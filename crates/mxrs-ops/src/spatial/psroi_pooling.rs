//! Means of the bins of regions, where each bin reads its own channel (position-sensitive pooling). Data `[n, output_dim ·
//! group_size², h, w]` and rois `[r, 5]`, each (image, x1, y1, x2, y2), give `[r, output_dim, pooled_size, pooled_size]`. Corners are
//! rounded and then multiplied by `spatial_scale`; the right and lower ones are one pixel further. An empty bin gives 0. Dai et al.
//! 2016, arXiv:1605.06409.
//!
//! Gradient: each element of a bin gets `ograd` divided by their number. Rois have no gradient.
//!
//! MXNet: `_contrib_PSROIPooling`. Dtypes: f32 f64 f16 bf16.

use super::roi_pooling::image_of;
use crate::families::formula::{self, Emit, Formula, Number, Tensors};
use crate::inference::{bad_attribute, learn, learn_dim, require_ndim};
use mxrs_op::{Fill, OpDef, Precision, Sample, op_params};
use mxrs_types::{PartialShape, Result};

op_params! {
    /// Parameters of `_contrib_PSROIPooling`.
    pub struct PsroiPoolingParams for "_contrib_PSROIPooling" {
        /// Size of data relative to the image in which rois are measured.
        spatial_scale: f32,
        /// Number of channels of the output.
        output_dim: i32,
        /// Height and width of the output.
        pooled_size: i32,
        /// Number of groups of channels along each side; `pooled_size` if 0.
        group_size: i32 = 0,
    }
}

struct PsroiPooling;

impl PsroiPoolingParams {
    /// The number of channels of the output, its height, and the number of groups.
    fn sizes(&self) -> Result<[usize; 3]> {
        let group = if self.group_size == 0 { self.pooled_size } else { self.group_size };
        let named = [("output_dim", self.output_dim), ("pooled_size", self.pooled_size), ("group_size", group)];
        let mut sizes = [0; 3];
        for ((name, size), to) in named.into_iter().zip(&mut sizes) {
            *to = usize::try_from(size)
                .ok()
                .filter(|size| (1..=1 << 16).contains(size))
                .ok_or_else(|| bad_attribute("_contrib_PSROIPooling", name, "1 to 65536", size))?;
        }
        Ok(sizes)
    }
}

impl Formula for PsroiPooling {
    type Params = PsroiPoolingParams;
    const NAME: &'static str = "_contrib_PSROIPooling";
    const SUMMARY: &'static str = "means of the bins of regions, each of its own channel";
    const BACKWARD: &'static str = "_backward_PSROIPooling";
    const INPUTS: &'static [&'static str] = &["data", "rois"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "data", "rois"];
    const IGNORED_IN_BACKWARD: &'static [usize] = &[1];

    fn infer_shape(
        params: &PsroiPoolingParams,
        inputs: &mut [PartialShape],
        outputs: &mut [PartialShape],
    ) -> Result<()> {
        let ([data, rois], [out]) = (inputs, outputs) else { return Ok(()) };
        let [channels, size, group] = params.sizes()?;
        require_ndim(data, 4, "data")?;
        require_ndim(rois, 2, "rois")?;
        learn_dim(rois, 1, Some(5), "rois")?;
        learn_dim(data, 1, channels.checked_mul(group * group), "data")?;
        learn(out, &PartialShape::new([rois.dim(0), Some(channels), Some(size), Some(size)]), "output")?;
        learn_dim(rois, 0, out.dim(0), "rois")
    }

    fn part<T: Number>(
        params: &PsroiPoolingParams,
        tensors: &Tensors<'_, T>,
        part: usize,
        emit: Emit<'_, T>,
    ) -> Result<()> {
        let data = &tensors.inputs[0];
        let [channels, size, group] = params.sizes()?;
        let (column, row, channel) = (part % size, part / size % size, part / (size * size) % channels);
        let roi = &tensors.values(1)[part / (size * size * channels) * 5..][..5];
        let Some(image) = image_of(roi[0], data[0])? else { return Ok(()) };
        // Bins are computed in float32 as in MXNet, because rounding decides to which pixels their bounds are moved.
        let range = |first: f64, last: f64, bin: usize, n: usize| {
            let first = (first as f32).round() * params.spatial_scale;
            let last = ((last as f32).round() + 1.0) * params.spatial_scale;
            let step = (last - first).max(0.1) / size as f32;
            let bound = |at: f32| (at + first).clamp(i32::MIN as f32, i32::MAX as f32);
            let inside = |at: f32| (at.clamp(0.0, n as f32) as usize).min(n);
            inside(bound(bin as f32 * step).floor())..inside(bound((bin + 1) as f32 * step).ceil())
        };
        let rows = range(roi[2], roi[4], row, data[2]);
        let columns = range(roi[1], roi[3], column, data[3]);
        let of_group = |bin: usize| (bin * group / size).min(group - 1);
        let plane = (channel * group + of_group(row)) * group + of_group(column);
        let first = (image * data[1] + plane) * data[2] * data[3];
        let cells = rows.flat_map(|row| columns.clone().map(move |column| first + row * data[3] + column));
        let (mut sum, mut n) = (T::of(0.0), 0.0);
        for at in cells {
            sum = sum + tensors.at(0, at);
            n += 1.0;
        }
        emit(0, part, if n > 0.0 { sum / T::of(n) } else { T::of(0.0) });
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        let of = |name, attrs: [(&str, &str); 4], data: &[usize], rois: &[f64]| {
            Sample::new(name, attrs, &[data, &[rois.len() / 5, 5]]).fill(1, Fill::Values(rois.to_vec()))
        };
        let two = [("spatial_scale", "1"), ("output_dim", "2"), ("pooled_size", "2"), ("group_size", "0")];
        let groups = [("spatial_scale", "0.5"), ("output_dim", "2"), ("pooled_size", "3"), ("group_size", "2")];
        vec![
            of("two", two, &[2, 8, 6, 5], &[0.0, 0.0, 0.0, 3.0, 4.0, 1.0, 1.0, 2.0, 2.0, 3.0]),
            of("groups", groups, &[1, 8, 5, 4], &[0.0, 1.0, 0.0, 7.0, 9.0]),
            of("outside", two, &[1, 8, 4, 4], &[0.0, -3.0, 2.0, 9.0, 2.0]),
            of("no_image", two, &[1, 8, 4, 4], &[-1.0, 0.0, 0.0, 3.0, 3.0]),
            of("empty", two, &[1, 8, 4, 4], &[]),
        ]
    }
}

/// Defines the operator `_contrib_PSROIPooling`.
pub fn define() -> OpDef {
    OpDef { precision: Precision::widest, ..formula::define::<PsroiPooling>() }
}
