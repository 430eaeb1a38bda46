//! Means over bins of nearly equal size: data `[n, c, h, w]` gives `[n, c, oh, ow]`. Bin `i` of an axis of size h spans
//! `⌊i h / oh⌋` to `⌈(i + 1) h / oh⌉`. `output_size` is (oh, ow), one number for both, or empty for 1.
//!
//! Gradient: the elements of a bin share its `ograd`.
//!
//! MXNet: `_contrib_AdaptiveAvgPooling2D`. Dtypes: f32 f64 f16 bf16.

use crate::families::formula::{self, Emit, Formula, Number, Tensors};
use crate::inference::{bad_attribute, learn, require_ndim};
use mxrs_op::param::ShapeAttr;
use mxrs_op::{OpDef, OpParams, Precision, Sample, op_params};
use mxrs_types::{PartialShape, Result};

op_params! {
    /// Parameters of `_contrib_AdaptiveAvgPooling2D`.
    pub struct AdaptiveAvgPoolingParams for "_contrib_AdaptiveAvgPooling2D" {
        /// Height and width of the output; one number for both, or empty for 1.
        output_size: ShapeAttr = ShapeAttr::default(),
    }
}

struct AdaptiveAvgPooling;

impl Formula for AdaptiveAvgPooling {
    type Params = AdaptiveAvgPoolingParams;
    const NAME: &'static str = "_contrib_AdaptiveAvgPooling2D";
    const SUMMARY: &'static str = "means over bins of nearly equal size";
    const BACKWARD: &'static str = "_backward_contrib_AdaptiveAvgPooling2D";
    const PRECISION_FLOAT16: Option<fn(&OpParams) -> Precision> = Some(Precision::follows);
    const IGNORED_IN_BACKWARD: &'static [usize] = &[1];

    fn infer_shape(params: &Self::Params, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let ([data], [out]) = (inputs, outputs) else { return Ok(()) };
        let size = match params.output_size.0.as_slice() {
            [] => [1, 1],
            [both] => [*both, *both],
            [height, width] => [*height, *width],
            _ => [0, 0],
        };
        if size.iter().any(|size| *size < 1) {
            let got = params.output_size.to_text();
            return Err(bad_attribute(Self::NAME, "output_size", "at most two positive sizes", got));
        }
        require_ndim(data, 4, "data")?;
        let [height, width] = size.map(|size| Some(size as usize));
        learn(out, &PartialShape::new([data.dim(0), data.dim(1), height, width]), "output")?;
        learn(data, &PartialShape::new([out.dim(0), out.dim(1), None, None]), "data")
    }

    fn part<T: Number>(_: &Self::Params, tensors: &Tensors<'_, T>, part: usize, emit: Emit<'_, T>) -> Result<()> {
        let (data, out) = (&tensors.inputs[0], &tensors.outputs[0]);
        let (plane, bin) = (part / (out[2] * out[3]), part % (out[2] * out[3]));
        let range = |i: usize, n: usize, size: usize| i * size / n..((i + 1) * size).div_ceil(n);
        let rows = range(bin / out[3], out[2], data[2]);
        let columns = range(bin % out[3], out[3], data[3]);
        let count = rows.len() * columns.len();
        let cells = rows.flat_map(|row| columns.clone().map(move |column| (plane * data[2] + row) * data[3] + column));
        let sum = cells.fold(T::of(0.0), |sum, at| sum + tensors.at(0, at));
        emit(0, part, sum / T::of(count as f64));
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        vec![
            Sample::new("bins", [("output_size", "(3, 2)")], &[&[2, 3, 7, 5]]),
            Sample::new("larger", [("output_size", "4")], &[&[1, 2, 3, 3]]),
            Sample::plain("whole", &[&[2, 1, 3, 4]]),
            Sample::plain("one", &[&[1, 1, 1, 1]]),
            Sample::plain("empty", &[&[0, 2, 3, 3]]),
        ]
    }
}

/// Defines the operator `_contrib_AdaptiveAvgPooling2D`.
pub fn define() -> OpDef {
    formula::define::<AdaptiveAvgPooling>()
}
