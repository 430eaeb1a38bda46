//! Leaves out slices of an axis, or elements of the flattened array: the one at `int_ind`, those of the slice `start:stop:step`, or
//! those whose positions the input `obj` holds.
//!
//! Negative positions count from the end, as the manual says; MXNet ignores those in `obj`. As in MXNet, positions in `obj` that are
//! outside the axis and NaN are ignored, fractions are truncated, bools are the positions 0 and 1, and `int_ind` outside the axis is an error.
//!
//! Gradient: each slice that is kept gets its `ograd`, the others 0; MXNet has none.
//!
//! MXNet: `_npi_delete`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool; positions of any of these.

use super::{expect_at_most, expect_size, size};
use crate::families::indexing::around_axis;
use crate::families::indices::slice_places;
use crate::families::moved::{self, Move};
use crate::inference::{bad_attribute, learn, product, resolve_axis, unify_dtypes};
use crate::{dtypes::MOVABLE, numeric};
use mxrs_op::{
    Attrs, ByValues, Fill, InputNames, MovedRows, OpDef, OpParams, Precision, RefInput, ResolvedCall, Sample, op_params,
};
use mxrs_types::{DType, PartialShape, Result, Shape};
use std::collections::BTreeSet;

const NAME: &str = "_npi_delete";
const INPUTS: &[&str] = &["arr", "obj"];

op_params! {
    /// Parameters of `_npi_delete`.
    pub struct DeleteParams for "_npi_delete" {
        /// First position of the slice.
        start: Option<i32> = None,
        /// Where the slice ends; this position is not part of it.
        stop: Option<i32> = None,
        /// Distance of the positions of the slice.
        step: Option<i32> = None,
        /// A single position.
        int_ind: Option<i32> = None,
        /// Axis to leave out slices of; the flattened array if absent.
        axis: Option<i32> = None,
    }
}

op_params! {
    /// Parameters of `_delete_sized`.
    pub struct SizedParams for "_delete_sized" {
        /// First position of the slice.
        start: Option<i32> = None,
        /// Where the slice ends; this position is not part of it.
        stop: Option<i32> = None,
        /// Distance of the positions of the slice.
        step: Option<i32> = None,
        /// A single position.
        int_ind: Option<i32> = None,
        /// Axis to leave out slices of; the flattened array if absent.
        axis: Option<i32> = None,
        /// Number of slices that are kept.
        size: i64,
    }
}

/// What to leave out, if no input says it.
#[derive(Clone, Copy)]
struct Given {
    slice: [Option<i32>; 3],
    int_ind: Option<i32>,
    axis: Option<i32>,
}

impl DeleteParams {
    fn given(&self) -> Given {
        Given { slice: [self.start, self.stop, self.step], int_ind: self.int_ind, axis: self.axis }
    }
}

impl SizedParams {
    fn given(&self) -> Given {
        Given { slice: [self.start, self.stop, self.step], int_ind: self.int_ind, axis: self.axis }
    }
}

impl Given {
    /// Whether a call has the input `obj`. As in MXNet, a slice needs a step.
    fn has_input(self) -> bool {
        self.int_ind.is_none() && self.slice[2].is_none()
    }

    fn names(self) -> Vec<&'static str> {
        INPUTS[..1 + usize::from(self.has_input())].to_vec()
    }

    /// Number of slices before, of and after the axis.
    fn around(self, arr: &Shape) -> Result<(usize, usize, usize)> {
        match self.axis {
            None => Ok((1, arr.n_elements(), 1)),
            Some(axis) => Ok(around_axis(arr, resolve_axis(i64::from(axis), arr.ndim(), "arr")?)),
        }
    }

    /// The positions that are left out, on an axis of `size` elements.
    fn removed(self, size: usize, obj: Option<&RefInput<'_>>) -> Result<Removed> {
        let n = size as i64;
        let from_start = |position: i64| if position < 0 { position.saturating_add(n) } else { position };
        let place = |position: i64| usize::try_from(from_start(position)).ok().filter(|place| *place < size);
        if let Some(obj) = obj {
            let positions = numeric::read(obj).into_iter().filter(|position| !position.is_nan());
            return Ok(Removed::Places(positions.filter_map(|position| place(position as i64)).collect()));
        }
        if let Some(position) = self.int_ind {
            let expected = || format!("a position from -{n} to {}", n - 1);
            let place = place(position.into()).ok_or_else(|| bad_attribute(NAME, "int_ind", expected(), position))?;
            return Ok(Removed::Places(BTreeSet::from([place])));
        }
        let (start, step, count) = slice_places(NAME, self.slice, size)?;
        Ok(Removed::Steps { first: start.min(start + step * (count as i64 - 1)), step: step.abs(), count })
    }

    fn infer_shape(self, size: Option<usize>, inputs: &[PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let Some(arr) = inputs[0].dims() else { return Ok(()) };
        let dims = match self.axis {
            None => vec![size],
            Some(axis) => {
                let mut dims = arr.to_vec();
                dims[resolve_axis(i64::from(axis), arr.len(), "arr")?] = size;
                dims
            }
        };
        learn(&mut outputs[0], &PartialShape::new(dims), "output")
    }
}

/// Positions that are left out.
enum Removed {
    Places(BTreeSet<usize>),
    /// Evenly spaced positions, of which `first` is the lowest.
    Steps {
        first: i64,
        step: i64,
        count: usize,
    },
}

impl Removed {
    fn len(&self) -> usize {
        match self {
            Self::Places(places) => places.len(),
            Self::Steps { count, .. } => *count,
        }
    }

    fn contains(&self, place: usize) -> bool {
        match self {
            Self::Places(places) => places.contains(&place),
            Self::Steps { first, step, count } => {
                let distance = place as i64 - first;
                distance >= 0 && distance % step == 0 && distance / step < *count as i64
            }
        }
    }
}

fn infer_dtype(inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
    let (arr, obj) = inputs.split_at_mut(1);
    obj.iter_mut().for_each(|obj| *obj = obj.or(Some(DType::I64)));
    unify_dtypes(arr.iter_mut().chain(outputs), "output")
}

/// Takes the place of `_npi_delete` when the size of the result is known.
struct Sized;

impl Move for Sized {
    type Params = SizedParams;
    const NAME: &'static str = "_delete_sized";
    const SUMMARY: &'static str = "an array without some slices, whose number is known";
    const BACKWARD: &'static str = "_backward_delete_sized";
    const INPUTS: &'static [&'static str] = INPUTS;
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "arr", "obj"];
    const BY_CONTENT: bool = true;

    fn n_inputs(params: &SizedParams) -> usize {
        params.given().names().len()
    }

    fn infer_shape(params: &SizedParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let (given, size) = (params.given(), size(Self::NAME, params.size)?);
        let most = match (given.axis, inputs[0].dims()) {
            (_, None) => None,
            (None, Some(arr)) => product(arr),
            (Some(axis), Some(arr)) => arr[resolve_axis(i64::from(axis), arr.len(), "arr")?],
        };
        expect_at_most(Self::NAME, size, most)?;
        given.infer_shape(Some(size), inputs, outputs)
    }

    fn infer_dtype(_: &SizedParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
        infer_dtype(inputs, outputs)
    }

    fn rows(params: &SizedParams, inputs: &[RefInput<'_>], out: &Shape) -> Result<MovedRows> {
        let given = params.given();
        let (outer, n_rows, len) = given.around(&inputs[0].desc.shape)?;
        let removed = given.removed(n_rows, inputs.get(1))?;
        expect_size(Self::NAME, size(Self::NAME, params.size)?, n_rows - removed.len())?;
        // The axis of an empty tensor may have more positions than fit into memory.
        let places = if out.n_elements() == 0 { 0..0 } else { 0..n_rows };
        let rows = places.filter(|place| !removed.contains(*place)).map(Some).collect();
        Ok(MovedRows { outer, n_rows, len, rows, constant: 0.0 })
    }

    fn samples() -> Vec<Sample> {
        let positions = |sample: Sample, values: &[f64]| sample.fill(1, Fill::Values(values.to_vec()));
        vec![
            positions(Sample::new("rows", [("axis", "0"), ("size", "2")], &[&[4, 3], &[2]]), &[1.0, -1.0]),
            positions(Sample::new("flat", [("size", "4")], &[&[2, 3], &[3]]), &[0.0, 5.0, 5.0]),
            Sample::new("one", [("int_ind", "-2"), ("axis", "1"), ("size", "3")], &[&[2, 4]]),
            Sample::new("slice", [("start", "3"), ("step", "-2"), ("axis", "-1"), ("size", "2")], &[&[2, 4]]),
            positions(Sample::new("empty", [("axis", "0"), ("size", "0")], &[&[0, 3], &[1]]), &[0.0]),
        ]
    }
}

/// Defines the operator `_npi_delete`.
pub fn define() -> OpDef {
    OpDef {
        summary: "an array without some slices",
        inputs: InputNames::ByParams { all: INPUTS, chosen: |params| params.get::<DeleteParams>().given().names() },
        infer_shape: |params, inputs, outputs| params.get::<DeleteParams>().given().infer_shape(None, inputs, outputs),
        infer_dtype: |_, inputs, outputs| infer_dtype(inputs, outputs),
        dtypes: MOVABLE,
        by_values: Some(ByValues { input: 1, resolve }),
        precision: Precision::follows,
        companions: || vec![moved::define::<Sized>()],
        ..OpDef::new(NAME).params::<DeleteParams>()
    }
}

fn resolve(params: &OpParams, inputs: &[RefInput<'_>]) -> Result<ResolvedCall> {
    let given = params.get::<DeleteParams>().given();
    let (_, n, _) = given.around(&inputs[0].desc.shape)?;
    let n_kept = n - given.removed(n, inputs.get(1))?.len();
    let [start, stop, step] = given.slice;
    let values = [("start", start), ("stop", stop), ("step", step), ("int_ind", given.int_ind), ("axis", given.axis)];
    let text = |(name, value): (&'static str, Option<i32>)| {
        (name.to_owned(), value.map_or("None".to_owned(), |value| value.to_string()))
    };
    let mut attrs: Attrs = values.into_iter().map(text).collect();
    attrs.set("size", n_kept.to_string());
    Ok(ResolvedCall { op: Sized::NAME, attrs })
}
