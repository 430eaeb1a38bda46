//! NumPy's `where`: x where the condition is not 0, else y, over the broadcast shape. `_npi_where` has two tensors.
//! `_npi_where_lscalar` has the number where the condition is not 0 and its tensor elsewhere, `_npi_where_rscalar` its tensor
//! where the condition is not 0 and the number elsewhere, and `_npi_where_scalar2` has two numbers. `_npi_broadcast_to`
//! stretches an array to a shape.
//!
//! Gradient: of the tensors, where they are chosen. MXNet's gradients of the two forms with one number go to the elements
//! that are not chosen.
//!
//! Dtypes of x and y: f32 f64 f16 bf16 u8 i8 i32 i64 bool; condition any of these. Two numbers give float32.

use crate::dtypes::MOVABLE;
use crate::families::broadcast::positions;
use crate::families::formula::{self, Emit, Formula, Number, Tensors};
use crate::families::stretch;
use crate::inference::{OP, bad_attribute, learn, learn_dtype, unify_dtypes};
use crate::numeric;
use mxrs_op::param::{NoParams, Parameters, ShapeAttr};
use mxrs_op::{
    Fill, InputNames, OpDef, OpParams, Precision, RefInput, RefOutput, RunMode, Sample, elements, op_params,
};
use mxrs_types::{DType, Error, PartialShape, Result};
use std::marker::PhantomData;

op_params! {
    /// Parameters of `_npi_where_lscalar` and `_npi_where_rscalar`.
    pub struct OneScalarParams for "_npi_where_lscalar" {
        /// The number in place of a tensor.
        scalar: f64 = 0.0,
    }
}

op_params! {
    /// Parameters of `_npi_where_scalar2`.
    pub struct TwoScalarsParams for "_npi_where_scalar2" {
        /// The number where the condition is not 0.
        x: f64 = 0.0,
        /// The number where the condition is 0.
        y: f64 = 0.0,
    }
}

op_params! {
    /// Parameters of `_npi_broadcast_to`.
    pub struct BroadcastToParams for "_npi_broadcast_to" {
        /// The shape.
        shape: ShapeAttr = ShapeAttr::default(),
    }
}

/// Functions that define the operators.
pub const DEFINITIONS: &[fn() -> OpDef] =
    &[choice::<Both>, choice::<Left>, choice::<Right>, choice::<Neither>, broadcast_to];

/// The properties in which the forms of `where` differ.
trait Choice: Sized + 'static {
    type Params: Parameters;
    const NAME: &'static str;
    const BACKWARD: &'static str;
    const INPUTS: &'static [&'static str];
    const BACKWARD_INPUTS: &'static [&'static str];
    const DIFFERENTIATED: &'static [usize];
    /// The numbers in place of x and y; `None` for tensors.
    fn numbers(params: &Self::Params) -> [Option<f64>; 2];
}

macro_rules! choices {
    ($($type:ident($params:ident) $name:literal [$($input:literal),*] $differentiated:expr, ($p:ident) = $numbers:expr;)*) => {
        $(struct $type;

        impl Choice for $type {
            type Params = $params;
            const NAME: &'static str = $name;
            const BACKWARD: &'static str = concat!("_backward", $name);
            const INPUTS: &'static [&'static str] = &["condition", $($input),*];
            const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "condition", $($input),*];
            const DIFFERENTIATED: &'static [usize] = &$differentiated;
            fn numbers($p: &$params) -> [Option<f64>; 2] {
                let _ = $p;
                $numbers
            }
        })*
    };
}

choices! {
    Both(NoParams) "_npi_where" ["x", "y"] [1, 2], (_p) = [None, None];
    Left(OneScalarParams) "_npi_where_lscalar" ["x"] [1], (p) = [Some(p.scalar), None];
    Right(OneScalarParams) "_npi_where_rscalar" ["y"] [1], (p) = [None, Some(p.scalar)];
    Neither(TwoScalarsParams) "_npi_where_scalar2" [] [], (p) = [Some(p.x), Some(p.y)];
}

struct Where<C>(PhantomData<C>);

/// The input that is chosen at an element, or the number.
fn chosen<C: Choice>(params: &C::Params, condition: f64) -> (usize, Option<f64>) {
    let [x, y] = C::numbers(params);
    match condition != 0.0 {
        true => (1, x),
        false => (if x.is_none() { 2 } else { 1 }, y),
    }
}

impl<C: Choice> Formula for Where<C> {
    type Params = C::Params;
    const NAME: &'static str = C::NAME;
    const SUMMARY: &'static str = "x where the condition is not 0, else y";
    const BACKWARD: &'static str = C::BACKWARD;
    const INPUTS: &'static [&'static str] = C::INPUTS;
    const BACKWARD_INPUTS: &'static [&'static str] = C::BACKWARD_INPUTS;
    const DIFFERENTIATED: &'static [usize] = C::DIFFERENTIATED;
    const DTYPES: &'static [DType] = MOVABLE;
    const IGNORED_IN_BACKWARD: &'static [usize] = match C::INPUTS.len() {
        3 => &[2, 3],
        2 => &[2],
        _ => &[],
    };

    fn infer_shape(_: &C::Params, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let mut all: Vec<usize> = Vec::new();
        for input in inputs.iter() {
            let Some(shape) = input.known() else { return Ok(()) };
            let wrong = || Error::shape(OP, "x", format!("a shape that broadcasts with {all:?}"), &shape);
            all = crate::families::broadcast::whole_shape(&all, &shape).ok_or_else(wrong)?;
        }
        learn(&mut outputs[0], &PartialShape::new(all.into_iter().map(Some)), "output")
    }

    fn infer_dtype(_: &C::Params, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
        let Some((condition, branches)) = inputs.split_first_mut() else { return Ok(()) };
        match branches.is_empty() {
            true => learn_dtype(&mut outputs[0], DType::F32, "output"),
            false => {
                if branches.iter().all(Option::is_none) && outputs[0].is_none() {
                    branches[0] = *condition;
                }
                unify_dtypes(branches.iter_mut().chain(outputs), "y")?;
                *condition = condition.or(branches[0]);
                Ok(())
            }
        }
    }

    fn part<T: Number>(params: &C::Params, tensors: &Tensors<'_, T>, part: usize, emit: Emit<'_, T>) -> Result<()> {
        let out = &tensors.outputs[0];
        let at = |input: usize| element(&tensors.inputs[input], out, part);
        let (input, number) = chosen::<C>(params, tensors.values(0)[at(0)]);
        emit(0, part, number.map_or_else(|| tensors.at(input, at(input)), T::of));
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        let of = |name, condition: &[usize], x: &[usize], y: &[usize]| {
            let shapes: Vec<&[usize]> = match C::INPUTS.len() {
                3 => vec![condition, x, y],
                2 => vec![condition, x],
                _ => vec![condition],
            };
            Sample::plain(name, &shapes).fill(0, Fill::Integers(0, 2))
        };
        vec![
            of("same", &[2, 3], &[2, 3], &[2, 3]),
            of("broadcast", &[3], &[2, 1], &[2, 3]),
            of("scalar", &[], &[2], &[1]),
            of("empty", &[0, 3], &[0, 3], &[1, 3]),
        ]
    }
}

/// The position of the element of a tensor that element `at` of a broadcast shape reads.
fn element(from: &[usize], to: &[usize], at: usize) -> usize {
    let (mut rest, mut position, mut stride) = (at, 0, 1);
    for (size, of_to) in from.iter().rev().zip(to.iter().rev()) {
        if *size != 1 {
            position += rest % of_to * stride;
        }
        rest /= of_to;
        stride *= size;
    }
    position
}

fn choice<C: Choice>() -> OpDef {
    OpDef { reference: Some(choose::<C>), ..formula::define::<Where<C>>() }
}

/// Moves elements as bytes, so that every dtype keeps its bits.
fn choose<C: Choice>(
    params: &OpParams,
    inputs: &[RefInput<'_>],
    outputs: &mut [RefOutput<'_>],
    _: RunMode,
) -> Result<()> {
    let out = &mut outputs[0];
    let size = out.desc.dtype.size_of();
    let places: Vec<Vec<usize>> = inputs.iter().map(|input| positions(&input.desc.shape, &out.desc.shape)).collect();
    let conditions = numeric::read(&inputs[0]);
    for (i, to) in out.bytes.chunks_exact_mut(size).enumerate() {
        match chosen::<C>(params.get(), conditions[places[0][i]]) {
            (_, Some(number)) => {
                let mut word = [0u64; 1];
                let bytes = &mut bytemuck::cast_slice_mut::<u64, u8>(&mut word)[..size];
                elements::write_f64(&[number], out.desc.dtype, bytes);
                to.copy_from_slice(bytes);
            }
            (input, None) => to.copy_from_slice(&inputs[input].bytes[places[input][i] * size..][..size]),
        }
    }
    Ok(())
}

fn broadcast_to() -> OpDef {
    OpDef {
        summary: "stretches an array to a shape",
        inputs: InputNames::Fixed(&["array"]),
        precision: Precision::float32,
        infer_shape: |params, inputs, outputs| {
            let shape = &params.get::<BroadcastToParams>().shape;
            let sizes: Option<Vec<usize>> = shape.iter().map(|size| usize::try_from(*size).ok()).collect();
            let Some(sizes) = sizes else {
                return Err(bad_attribute("_npi_broadcast_to", "shape", "no negative size", shape.to_text()));
            };
            if let Some(array) = inputs[0].known()
                && crate::families::broadcast::whole_shape(&array, &sizes).as_ref() != Some(&sizes)
            {
                return Err(Error::shape(
                    OP,
                    "array",
                    format!("a shape that stretches to {}", shape.to_text()),
                    &array,
                ));
            }
            learn(&mut outputs[0], &PartialShape::new(sizes.into_iter().map(Some)), "output")
        },
        samples: || {
            let of = |name, shape, array: &[usize]| Sample::new(name, [("shape", shape)], &[array]);
            vec![
                of("row", "(2, 3, 4)", &[3, 1]),
                of("same", "(2, 3)", &[2, 3]),
                of("scalar", "(2,)", &[]),
                of("empty", "(0, 3)", &[0, 1]),
            ]
        },
        ..stretch::define("_npi_broadcast_to").params::<BroadcastToParams>()
    }
}
