//! Sorts along an axis; the flattened data if `axis` is absent, which gives `[n]`. Equal elements keep their order. A second
//! output, which callers do not see, has the place that each element had on the axis, as i32.
//!
//! Gradient: each element gets the `ograd` of its new place.
//!
//! MXNet: `sort`, also `_npi_sort`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64.

use crate::dtypes::NUMBERS;
use crate::families::moved::{self, Move};
use crate::families::sorted::{Axis, ranks};
use crate::inference::{learn, learn_dtype, product, resolve_axis, unify, unify_dtypes};
use crate::numeric;
use mxrs_op::{Fill, OpDef, OpParams, OutputCount, Precision, RefInput, RefOutput, RunMode, Sample, op_params};
use mxrs_types::{DType, PartialShape, Result, Shape};

op_params! {
    /// Parameters of `sort`.
    pub struct SortParams for "sort" {
        /// Axis along which to sort; the flattened data if absent.
        axis: Option<i32> = Some(-1),
        /// Whether the smallest element comes first.
        is_ascend: bool = true,
    }
}

/// Infers the shape of a result that has data's elements along the axis.
pub fn infer_shape(axis: Option<i32>, data: &mut PartialShape, out: &mut PartialShape) -> Result<()> {
    match axis {
        Some(axis) => {
            if let Some(ndim) = data.ndim() {
                resolve_axis(i64::from(axis), ndim, "data")?;
            }
            unify(data, out, "output")
        }
        None => {
            let n = data.dims().and_then(product);
            learn(out, &PartialShape::new([n]), "output")
        }
    }
}

struct Sort;

impl Move for Sort {
    type Params = SortParams;
    const NAME: &'static str = "sort";
    const ALIASES: &'static [&'static str] = &["_npi_sort"];
    const SUMMARY: &'static str = "sorts along an axis";
    const BACKWARD: &'static str = "_backward_sort";
    const IGNORED_IN_BACKWARD: &'static [usize] = &[];
    const DTYPES: &'static [DType] = NUMBERS;
    const IS_FLOAT32: bool = true;

    fn infer_shape(params: &SortParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        infer_shape(params.axis, &mut inputs[0], &mut outputs[0])
    }

    fn sources(params: &SortParams, inputs: &[RefInput<'_>], out: &Shape) -> Result<Vec<Option<usize>>> {
        let axis = Axis::of(&inputs[0].desc.shape, params.axis)?;
        let mut sources = vec![None; out.n_elements()];
        for (line, places) in ranks(&inputs[0], axis, params.is_ascend).into_iter().enumerate() {
            for (rank, place) in places.into_iter().enumerate() {
                sources[axis.position(line, rank, axis.size)] = Some(axis.position(line, place, axis.size));
            }
        }
        Ok(sources)
    }

    fn samples() -> Vec<Sample> {
        vec![
            Sample::plain("rows", &[&[3, 5]]),
            Sample::new("columns", [("axis", "0"), ("is_ascend", "False")], &[&[4, 3]]),
            Sample::new("flat", [("axis", "None")], &[&[2, 3]]),
            Sample::plain("ties", &[&[6]]).fill(0, Fill::Values(vec![2.0, 1.0, 2.0, 1.0, 3.0, 1.0])),
            Sample::plain("empty", &[&[0, 3]]),
        ]
    }
}

/// Defines the operator `sort`.
pub fn define() -> OpDef {
    OpDef {
        n_outputs: OutputCount::Fixed(2),
        output_names: &["output0", "output1"],
        infer_shape: |params, inputs, outputs| {
            let axis = params.get::<SortParams>().axis;
            outputs.iter_mut().try_for_each(|output| infer_shape(axis, &mut inputs[0], output))
        },
        infer_dtype: |_, inputs, outputs| {
            unify_dtypes([&mut inputs[0], &mut outputs[0]], "output")?;
            learn_dtype(&mut outputs[1], DType::I32, "places")
        },
        reference: Some(run),
        precision_float16: Some(Precision::follows),
        ..moved::define::<Sort>()
    }
}

fn run(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], mode: RunMode) -> Result<()> {
    let Some(values) = moved::define::<Sort>().reference else { return Ok(()) };
    values(params, inputs, &mut outputs[..1], mode)?;
    let params: &SortParams = params.get();
    let axis = Axis::of(&inputs[0].desc.shape, params.axis)?;
    let mut all = vec![0; outputs[1].desc.shape.n_elements()];
    for (line, places) in ranks(&inputs[0], axis, params.is_ascend).into_iter().enumerate() {
        for (rank, place) in places.into_iter().enumerate() {
            all[axis.position(line, rank, axis.size)] = place as i64;
        }
    }
    numeric::write_integers(&mut outputs[1], &all);
    Ok(())
}
