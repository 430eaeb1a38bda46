//! Inserts values into an array, along an axis or after flattening: `_npi_insert_scalar` before one position,
//! `_npi_insert_slice` before each position of a slice, `_npi_insert_tensor` before the positions in the input `obj`. The
//! values are an array, which is broadcast, or the number `val`. Positions refer to the array before the insertion; negative
//! ones count from the end.
//!
//! As in NumPy, several values may be inserted before one position. If the position is a single number and not a list, the
//! first axis of the values counts as the axis of the insertion.
//!
//! Gradient: `arr` and `values` get `ograd` of their elements. MXNet has none.
//!
//! MXNet fails if it inserts a number into an array that is not of doubles, or before a slice of one place; mxrs does not. Dtypes:
//! f32 f64 f16 bf16 u8 i8 i32 i64 bool; values of any type, places i64.

use crate::dtypes::MOVABLE;
use crate::families::formula::{self, Emit, Formula, Number, Tensors};
use crate::families::indexing::{flat, for_each_index};
use crate::families::indices::slice_places;
use crate::inference::{OP, bad_attribute, learn, product, resolve_axis, unify_dtypes};
use mxrs_op::{Accuracy, Fill, OpDef, Sample, op_params};
use mxrs_types::{DType, Error, PartialShape, Result, Shape};
use std::marker::PhantomData;

op_params! {
    /// Parameters of the operators.
    pub struct InsertParams for "_npi_insert_scalar" {
        /// The number to insert; the input `values` is inserted if absent.
        val: Option<f64> = None,
        /// First place of the slice.
        start: Option<i32> = None,
        /// Where the slice ends; this place is not part of it.
        stop: Option<i32> = None,
        /// Distance of the places of the slice.
        step: Option<i32> = None,
        /// The only place.
        int_ind: Option<i32> = None,
        /// Axis of the places; the array is flattened if absent.
        axis: Option<i32> = None,
    }
}

/// Functions that define the operators.
pub const DEFINITIONS: &[fn() -> OpDef] =
    &[formula::define::<Insert<One>>, formula::define::<Insert<Slice>>, formula::define::<Insert<Places>>];

/// The properties in which the operators that are defined here differ from each other.
trait Where: 'static {
    const NAME: &'static str;
    const BACKWARD: &'static str;
    const SUMMARY: &'static str;
    /// Whether the places are an input.
    const IS_INPUT: bool;
    /// Whether the positions are an input.
    const ATTRS: &'static [(&'static str, &'static str)];
}

struct One;
struct Slice;
struct Places;

impl Where for One {
    const NAME: &'static str = "_npi_insert_scalar";
    const BACKWARD: &'static str = "_backward_npi_insert_scalar";
    const SUMMARY: &'static str = "values inserted before a place";
    const IS_INPUT: bool = false;
    const ATTRS: &'static [(&'static str, &'static str)] = &[("int_ind", "1")];
}

impl Where for Slice {
    const NAME: &'static str = "_npi_insert_slice";
    const BACKWARD: &'static str = "_backward_npi_insert_slice";
    const SUMMARY: &'static str = "values inserted before the places of a slice";
    const IS_INPUT: bool = false;
    const ATTRS: &'static [(&'static str, &'static str)] = &[("start", "0"), ("stop", "2"), ("step", "1")];
}

impl Where for Places {
    const NAME: &'static str = "_npi_insert_tensor";
    const BACKWARD: &'static str = "_backward_npi_insert_tensor";
    const SUMMARY: &'static str = "values inserted before places";
    const IS_INPUT: bool = true;
    const ATTRS: &'static [(&'static str, &'static str)] = &[];
}

/// The positions of an insertion: their number, and, if the parameters give them, the first position and the distance from
/// one to the next.
struct Given {
    count: usize,
    /// Whether the position is a single number. The first axis of the values is then the axis of the insertion.
    is_number: bool,
    steps: Option<(i64, i64)>,
}

/// A checked insertion, with the shapes of array and values as it uses them.
struct Plan {
    /// Shape of the array, flattened if there is no axis.
    arr: Shape,
    /// Shape of the values, with as many axes as the array.
    values: Shape,
    axis: usize,
    given: Given,
    /// Number of new elements along the axis.
    n_new: usize,
}

impl InsertParams {
    /// The positions on an axis of this size. `obj` is the shape of the input that holds them, if there is one.
    fn given<W: Where>(&self, size: usize, obj: Option<&Shape>) -> Result<Given> {
        if let Some(obj) = obj {
            return Ok(Given { count: obj.n_elements(), is_number: obj.ndim() == 0, steps: None });
        }
        let n = size as i64;
        if let (Some(place), "_npi_insert_scalar") = (self.int_ind, W::NAME) {
            let expected = || format!("a place from -{n} to {n}");
            let place =
                check_place(i64::from(place), n).ok_or_else(|| bad_attribute(W::NAME, "int_ind", expected(), place))?;
            return Ok(Given { count: 1, is_number: true, steps: Some((place, 1)) });
        }
        if W::NAME == "_npi_insert_scalar" {
            return Err(bad_attribute(W::NAME, "int_ind", "a place", "None"));
        }
        let (start, step, count) = slice_places(W::NAME, [self.start, self.stop, self.step], size)?;
        Ok(Given { count, is_number: false, steps: Some((start, step)) })
    }

    /// Checks the shapes of the inputs and makes the plan.
    fn plan<W: Where>(&self, arr: &Shape, values: Option<&Shape>, obj: Option<&Shape>) -> Result<Plan> {
        let (arr, axis) = match self.axis {
            None => (Shape::from([arr.n_elements()]), 0),
            Some(axis) => (arr.clone(), resolve_axis(i64::from(axis), arr.ndim(), "arr")?),
        };
        if obj.is_some_and(|obj| obj.ndim() > 1) {
            return Err(Error::shape(OP, "obj", "at most one axis", obj.cloned().unwrap_or_default()));
        }
        let given = self.given::<W>(arr[axis], obj)?;
        let scalar = Shape::scalar();
        let values = values.unwrap_or(&scalar);
        let wrong =
            || Error::shape(OP, "values", format!("a shape that broadcasts into {arr} with new elements"), values);
        let extra = values.ndim().saturating_sub(arr.ndim());
        if values[..extra].iter().any(|size| *size != 1) {
            return Err(wrong());
        }
        let missing = arr.ndim() - (values.ndim() - extra);
        let mut padded: Vec<usize> = std::iter::repeat_n(1, missing).chain(values[extra..].iter().copied()).collect();
        if given.is_number {
            // With a single number, the first axis of the values is the axis of the insertion, so it is moved to position
            // `axis`.
            padded[..=axis].rotate_left(1);
        }
        let n_new = match given.count {
            1 => padded[axis],
            count => count,
        };
        let fits = |(i, size): (usize, &usize)| *size == 1 || *size == if i == axis { n_new } else { arr[i] };
        if !padded.iter().enumerate().all(fits) {
            return Err(wrong());
        }
        Ok(Plan { arr, values: padded.into_iter().collect(), axis, given, n_new })
    }
}

/// The position counted from the start, if it is from `-n` to `n`.
fn check_place(place: i64, n: i64) -> Option<i64> {
    let place = if place < 0 { place + n } else { place };
    (0..=n).contains(&place).then_some(place)
}

impl Plan {
    /// For each position along the axis of the output: the position in the array, or the number of a new element.
    fn sources(&self, obj: &[f64]) -> Result<Vec<std::result::Result<usize, usize>>> {
        let n = self.arr[self.axis] as i64;
        let mut places = Vec::with_capacity(self.given.count);
        for i in 0..self.given.count {
            let place = match self.given.steps {
                Some((start, step)) => start + i as i64 * step,
                None => obj.get(i).copied().unwrap_or(0.0) as i64,
            };
            let expected = || format!("a number from -{n} to {n}");
            places.push(check_place(place, n).ok_or_else(|| Error::invalid("a place", place, expected()))? as usize);
        }
        // New elements before each place, in the order in which they are given.
        let mut before = vec![Vec::new(); n as usize + 1];
        match places.as_slice() {
            [place] => before[*place] = (0..self.n_new).collect(),
            places => places.iter().enumerate().for_each(|(i, place)| before[*place].push(i)),
        }
        let mut sources = Vec::with_capacity(n as usize + self.n_new);
        for (at, new) in before.into_iter().enumerate() {
            sources.extend(new.into_iter().map(Err));
            sources.extend((at < n as usize).then_some(Ok(at)));
        }
        Ok(sources)
    }
}

struct Insert<W>(PhantomData<W>);

impl<W: Where> Insert<W> {
    /// The numbers of the inputs that hold the values and the positions; `None` if the parameters hold them.
    fn inputs_of(params: &InsertParams) -> (Option<usize>, Option<usize>) {
        let values = params.val.is_none().then_some(1);
        (values, W::IS_INPUT.then_some(1 + usize::from(values.is_some())))
    }
}

impl<W: Where> Formula for Insert<W> {
    type Params = InsertParams;
    const NAME: &'static str = W::NAME;
    const SUMMARY: &'static str = W::SUMMARY;
    const BACKWARD: &'static str = W::BACKWARD;
    const INPUTS: &'static [&'static str] = if W::IS_INPUT { &["arr", "values", "obj"] } else { &["arr", "values"] };
    const BACKWARD_INPUTS: &'static [&'static str] =
        if W::IS_INPUT { &["ograd", "arr", "values", "obj"] } else { &["ograd", "arr", "values"] };
    const IGNORED_IN_BACKWARD: &'static [usize] = if W::IS_INPUT { &[1] } else { &[1, 2] };
    const DTYPES: &'static [DType] = MOVABLE;
    const IS_WHOLE: bool = true;
    const ACCURACY: Accuracy = Accuracy::Elementwise;

    fn n_inputs(params: &InsertParams) -> usize {
        Self::input_names(params).len()
    }

    fn input_names(params: &InsertParams) -> Vec<&'static str> {
        let is_there = |name: &&str| *name != "values" || params.val.is_none();
        Self::INPUTS.iter().copied().filter(is_there).collect()
    }

    fn differentiated(params: &InsertParams) -> Vec<usize> {
        if params.val.is_none() { vec![0, 1] } else { vec![0] }
    }

    fn infer_shape(params: &InsertParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let known = inputs.iter().map(PartialShape::known).collect::<Option<Vec<Shape>>>();
        let Some(shapes) = known else { return Ok(()) };
        // A flattened array has the number of elements as the size of its axis, so this number must not overflow.
        if product(&shapes[0].iter().map(|size| Some(*size)).collect::<Vec<_>>()).is_none() {
            return Err(Error::shape(OP, "arr", "a number of elements in 64 bits", &shapes[0]));
        }
        let (values, obj) = Self::inputs_of(params);
        let plan = params.plan::<W>(&shapes[0], values.map(|i| &shapes[i]), obj.map(|i| &shapes[i]))?;
        let size = |(i, size): (usize, &usize)| if i == plan.axis { size.checked_add(plan.n_new) } else { Some(*size) };
        learn(&mut outputs[0], &PartialShape::new(plan.arr.iter().enumerate().map(size)), "output")
    }

    fn infer_dtype(params: &InsertParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
        unify_dtypes([&mut inputs[0], &mut outputs[0]], "output")?;
        let (values, obj) = Self::inputs_of(params);
        if let Some(values) = values {
            inputs[values] = inputs[values].or(inputs[0]);
        }
        match obj.map(|obj| &mut inputs[obj]) {
            Some(dtype @ None) => *dtype = Some(DType::I64),
            Some(Some(DType::I32 | DType::I64)) | None => {}
            Some(Some(other)) => return Err(Error::dtype(OP, "obj", "int32 or int64", other.name())),
        }
        Ok(())
    }

    /// There is one part for the whole output, so that the positions are computed only once.
    fn n_parts(_: &InsertParams, _: &[Shape], outputs: &[Shape]) -> usize {
        usize::from(outputs[0].n_elements() > 0)
    }

    fn part<T: Number>(params: &InsertParams, tensors: &Tensors<'_, T>, _: usize, emit: Emit<'_, T>) -> Result<()> {
        let (values, obj) = Self::inputs_of(params);
        let shape = |i: usize| &tensors.inputs[i];
        let plan = params.plan::<W>(shape(0), values.map(shape), obj.map(shape))?;
        let sources = plan.sources(obj.map_or(&[], |obj| tensors.values(obj)))?;
        // The shape of the values before their first axis was moved to `axis`.
        let mut original = plan.values.to_vec();
        if plan.given.is_number {
            original[..=plan.axis].rotate_right(1);
        }
        let original: Shape = original.into_iter().collect();
        let mut at = 0;
        for_each_index(&tensors.outputs[0], |index| {
            let mut index = index.to_vec();
            let value = match sources[index[plan.axis]] {
                Ok(place) => {
                    index[plan.axis] = place;
                    tensors.at(0, flat(&plan.arr, &index))
                }
                Err(new) => {
                    index[plan.axis] = new;
                    index.iter_mut().zip(plan.values.iter()).for_each(|(i, size)| *i = (*i).min(size - 1));
                    if plan.given.is_number {
                        index[..=plan.axis].rotate_right(1);
                    }
                    match (values, params.val) {
                        (Some(values), _) => tensors.at(values, flat(&original, &index)),
                        (None, val) => T::of(val.unwrap_or(0.0)),
                    }
                }
            };
            emit(0, at, value);
            at += 1;
        });
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        let of = |name, more: &[(&str, &str)], shapes: &[&[usize]], places: &[f64]| {
            let mut sample = Sample::plain(name, shapes);
            sample.attrs = W::ATTRS.iter().chain(more).copied().collect();
            if W::IS_INPUT {
                let at = sample.inputs.len();
                let obj = Sample::plain(name, &[&[places.len()]]).inputs;
                sample.inputs.extend(obj);
                sample = sample.dtype(at, DType::I64).fill(at, Fill::Values(places.to_vec()));
            }
            sample
        };
        vec![
            of("columns", &[("axis", "1")], &[&[2, 3], &[1]], &[0.0, 2.0]),
            of("rows", &[("axis", "0")], &[&[3, 2], &[2]], &[3.0, -3.0]),
            of("flat", &[], &[&[2, 3], &[1]], &[6.0, 1.0]),
            of("number", &[("axis", "-1"), ("val", "1.5")], &[&[2, 3]], &[1.0, 1.0, 0.0]),
            of("empty", &[("axis", "1")], &[&[0, 3], &[1]], &[1.0, 2.0]),
        ]
    }
}
