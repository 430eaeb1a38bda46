//! Resizes an image `[h, w, c]` to `w` columns and `h` rows with OpenCV's interpolations, as `_image_resize` does, which documents
//! `interp`.
//!
//! Gradient: of float images, by the transposed sums. MXNet has none.
//!
//! MXNet: `_cvimresize`, also `_npi_cvimresize`. Dtypes: u8 f32 f64.

use super::image_resize::{self, MOST, Resize, ResizeParams};
use crate::families::formula::{self, Emit, Formula, Number, Tensors};
use crate::families::matrices::LINALG;
use crate::inference::{OP, bad_attribute, learn, require_ndim};
use mxrs_op::param::ShapeAttr;
use mxrs_op::{Accuracy, OpDef, OpParams, RefInput, RefOutput, RunMode, Sample, op_params};
use mxrs_types::{DType, Error, PartialShape, Result, Shape};

op_params! {
    /// Parameters of `_cvimresize`.
    pub struct CvResizeParams for "_cvimresize" {
        /// Number of columns of the result.
        w: i32,
        /// Number of rows of the result.
        h: i32,
        /// Number of the interpolation.
        interp: i32 = 1,
    }
}

impl CvResizeParams {
    /// The same call of `_image_resize`.
    fn resize(&self) -> ResizeParams {
        ResizeParams {
            size: ShapeAttr::new([i64::from(self.w), i64::from(self.h)]),
            keep_ratio: false,
            interp: self.interp,
        }
    }

    /// The numbers of rows and columns of the result.
    fn sizes(&self) -> Result<[usize; 2]> {
        let read = |name: &str, value: i32| match usize::try_from(value) {
            Ok(size) if (1..=MOST).contains(&size) => Ok(size),
            _ => Err(bad_attribute("_cvimresize", name, format!("1 to {MOST} pixels"), value)),
        };
        Ok([read("h", self.h)?, read("w", self.w)?])
    }
}

struct CvResize;

impl Formula for CvResize {
    type Params = CvResizeParams;
    const NAME: &'static str = "_cvimresize";
    const ALIASES: &'static [&'static str] = &["_npi_cvimresize"];
    const SUMMARY: &'static str = "an image of another size";
    const BACKWARD: &'static str = "_backward_cvimresize";
    const INPUTS: &'static [&'static str] = &["src"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "src"];
    const IGNORED_IN_BACKWARD: &'static [usize] = &[1];
    const DTYPES: &'static [DType] = &[DType::U8, DType::F32, DType::F64];
    const BACKWARD_DTYPES: Option<&'static [DType]> = Some(LINALG);
    const ACCURACY: Accuracy = Accuracy::Product;

    fn infer_shape(params: &CvResizeParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let [height, width] = params.sizes()?;
        params.resize().way()?;
        require_ndim(&mut inputs[0], 3, "src")?;
        if [0, 1].iter().any(|axis| inputs[0].dim(*axis) == Some(0)) {
            return Err(Error::shape(OP, "src", "an image with pixels", &inputs[0]));
        }
        let result = PartialShape::new([Some(height), Some(width), inputs[0].dim(2)]);
        learn(&mut outputs[0], &result, "output")
    }

    fn n_parts(params: &CvResizeParams, inputs: &[Shape], outputs: &[Shape]) -> usize {
        Resize::n_parts(&params.resize(), inputs, outputs)
    }

    fn part<T: Number>(
        params: &CvResizeParams,
        tensors: &Tensors<'_, T>,
        part: usize,
        emit: Emit<'_, T>,
    ) -> Result<()> {
        Resize::part(&params.resize(), tensors, part, emit)
    }

    fn samples() -> Vec<Sample> {
        let of =
            |name, w, h, interp, shape: &[usize]| Sample::new(name, [("w", w), ("h", h), ("interp", interp)], &[shape]);
        vec![
            of("linear", "6", "3", "1", &[4, 5, 2]),
            of("nearest", "3", "5", "0", &[4, 5, 1]),
            of("cubic", "7", "3", "2", &[4, 5, 1]),
            of("area", "2", "3", "3", &[4, 5, 1]),
            of("empty", "3", "3", "1", &[2, 2, 0]),
        ]
    }
}

fn run(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], mode: RunMode) -> Result<()> {
    image_resize::run(&OpParams::new(params.get::<CvResizeParams>().resize()), inputs, outputs, mode)
}

/// Defines the operator `_cvimresize`.
pub fn define() -> OpDef {
    OpDef { reference: Some(run), ..formula::define::<CvResize>() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_op::Attrs;

    #[test]
    fn sizes_of_results_are_limited() {
        let op = define();
        let infer = |w: &str, h: &str, interp: &str| {
            let params = op.parse(&Attrs::from([("w", w), ("h", h), ("interp", interp)]))?;
            let mut outputs = [PartialShape::unknown()];
            op.infer_shapes(&params, &mut [PartialShape::from(Shape::from([2, 2, 3]))], &mut outputs)?;
            Ok::<_, Error>(outputs[0].to_string())
        };
        assert_eq!(infer("1048576", "1", "1").unwrap(), "(1, 1048576, 3)");
        for (w, h, interp, name) in
            [("1048577", "1", "1", "w"), ("1", "0", "1", "h"), ("-1", "1", "1", "w"), ("2", "2", "5", "interp")]
        {
            let error = infer(w, h, interp).unwrap_err().to_string();
            assert!(error.contains("_cvimresize") && error.contains(name), "{error}");
        }
    }
}
