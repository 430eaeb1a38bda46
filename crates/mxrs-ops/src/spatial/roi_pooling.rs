//! The largest elements of regions. Data `[n, c, h, w]` and rois `[r, 5]`, each (image, x1, y1, x2, y2), give `[r, c, ph,
//! pw]` with `pooled_size` (ph, pw). Corners are multiplied by `spatial_scale` and rounded; a region is cut into ph x pw bins
//! that may overlap. An empty bin gives 0. Girshick 2015, arXiv:1504.08083.
//!
//! Gradient: `ograd` of each bin goes to its first largest element. Rois have no gradient.
//!
//! MXNet: `ROIPooling`, also `_npx_roi_pooling`. Dtypes: f32 f64 f16 bf16.

use crate::families::formula::{self, Emit, Formula, Number, Tensors};
use crate::inference::{bad_attribute, learn, learn_dim, require_ndim};
use mxrs_op::param::ShapeAttr;
use mxrs_op::{Fill, OpDef, OpParams, Precision, Sample, op_params};
use mxrs_types::{Error, PartialShape, Result};

op_params! {
    /// Parameters of `ROIPooling`.
    pub struct RoiPoolingParams for "ROIPooling" {
        /// Height and width of the output.
        pooled_size: ShapeAttr,
        /// Size of data relative to the image in which rois are measured.
        spatial_scale: f32,
    }
}

/// Height and width of pooled regions.
///
/// # Errors
/// Fails unless they are two positive numbers.
pub fn pooled(op: &str, size: &ShapeAttr) -> Result<[usize; 2]> {
    match size.0.as_slice() {
        [height, width] if *height > 0 && *width > 0 => Ok([*height as usize, *width as usize]),
        _ => Err(bad_attribute(op, "pooled_size", "two positive sizes", size.to_text())),
    }
}

/// Infers the shapes of an operator that pools regions of `n_columns` numbers each. `channels` gives the number of channels of
/// the output for that of data.
pub fn infer_shape(
    [height, width]: [usize; 2],
    n_columns: usize,
    channels: impl Fn(usize) -> usize,
    inputs: &mut [PartialShape],
    outputs: &mut [PartialShape],
) -> Result<()> {
    let [data, rois] = inputs else { return Ok(()) };
    require_ndim(data, 4, "data")?;
    require_ndim(rois, 2, "rois")?;
    learn_dim(rois, 1, Some(n_columns), "rois")?;
    for out in outputs {
        learn(out, &PartialShape::new([rois.dim(0), data.dim(1).map(&channels), Some(height), Some(width)]), "output")?;
        learn_dim(rois, 0, out.dim(0), "rois")?;
    }
    Ok(())
}

/// The image that a region is in; `None` if the region names no image, by a negative number.
///
/// # Errors
/// Fails if there is no image with this number.
pub fn image_of(number: f64, n_images: usize) -> Result<Option<usize>> {
    match number {
        number if number < 0.0 => Ok(None),
        number if number < n_images as f64 => Ok(Some(number as usize)),
        _ => Err(Error::invalid("the image of a region", number, format!("a number below {n_images}"))),
    }
}

struct RoiPooling;

impl Formula for RoiPooling {
    type Params = RoiPoolingParams;
    const NAME: &'static str = "ROIPooling";
    const ALIASES: &'static [&'static str] = &["_npx_roi_pooling"];
    const SUMMARY: &'static str = "largest elements of the bins of regions";
    const BACKWARD: &'static str = "_backward_ROIPooling";
    const PRECISION_FLOAT16: Option<fn(&OpParams) -> Precision> = Some(Precision::follows);
    const INPUTS: &'static [&'static str] = &["data", "rois"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "data", "rois"];
    const OUTPUTS: &'static [&'static str] = &["output", "maxidx"];
    const N_HIDDEN: usize = 1;

    fn infer_shape(params: &Self::Params, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        infer_shape(pooled(Self::NAME, &params.pooled_size)?, 5, |c| c, inputs, outputs)
    }

    fn part<T: Number>(params: &Self::Params, tensors: &Tensors<'_, T>, part: usize, emit: Emit<'_, T>) -> Result<()> {
        let (data, out) = (&tensors.inputs[0], &tensors.outputs[0]);
        let (plane, bin) = (part / (out[2] * out[3]), part % (out[2] * out[3]));
        let roi = &tensors.values(1)[plane / out[1] * 5..][..5];
        let Some(image) = image_of(roi[0], data[0])? else { return Ok(()) };
        // Bins are computed in float32 as in MXNet, because rounding decides to which pixels their bounds are moved.
        let range = |first: f64, last: f64, bin: usize, n_bins: usize, size: usize| {
            let [first, last] = [first, last].map(|at| (at as f32 * params.spatial_scale).round());
            let step = (last - first + 1.0).max(1.0) / n_bins as f32;
            let bound = |at: f32| ((at + first).clamp(0.0, size as f32) as usize).min(size);
            bound((bin as f32 * step).floor())..bound(((bin + 1) as f32 * step).ceil())
        };
        let rows = range(roi[2], roi[4], bin / out[3], out[2], data[2]);
        let columns = range(roi[1], roi[3], bin % out[3], out[3], data[3]);
        let first = (image * data[1] + plane % out[1]) * data[2] * data[3];
        let cells = rows.flat_map(|row| columns.clone().map(move |column| first + row * data[3] + column));
        let largest = cells.map(|at| tensors.at(0, at)).reduce(Number::larger);
        emit(0, part, largest.unwrap_or(T::of(0.0)));
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        let rois = |values: &[f64]| Fill::Values(values.to_vec());
        let two = [("pooled_size", "(2, 2)"), ("spatial_scale", "1")];
        let half = [("pooled_size", "(3, 2)"), ("spatial_scale", "0.5")];
        let regions = [0.0, 0.0, 0.0, 3.0, 4.0, 1.0, 1.0, 2.0, 2.0, 3.0];
        vec![
            Sample::new("two", two, &[&[2, 3, 6, 5], &[2, 5]]).fill(1, rois(&regions)),
            Sample::new("half", half, &[&[1, 2, 5, 4], &[1, 5]]).fill(1, rois(&[0.0, 1.0, 0.0, 7.0, 9.0])),
            Sample::new("no_image", two, &[&[1, 1, 4, 4], &[1, 5]]).fill(1, rois(&[-1.0, 0.0, 0.0, 3.0, 3.0])),
            Sample::new("empty", two, &[&[1, 1, 4, 4], &[0, 5]]),
        ]
    }
}

/// Defines the operator `ROIPooling`.
pub fn define() -> OpDef {
    formula::define::<RoiPooling>()
}
