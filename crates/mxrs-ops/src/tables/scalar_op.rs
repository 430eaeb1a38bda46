//! The operators of a tensor and a scalar in the table of functions of two numbers.

use super::sym::{Nodes, Place, Sym};
use super::{BinaryFn, Scalar};
use crate::families::gradients::{Answers, call_with_params, if_wanted};
use crate::families::with_scalar::{self, ScalarParams};
use mxrs_op::{GradValue, Gradient, GradientScope, OpDef, OpParams, Precision};
use mxrs_types::Result;

/// Defines the operator whose tensor is the left operand.
pub fn scalar<F: BinaryFn>() -> OpDef {
    OpDef {
        gradient: if F::HAS_GRADIENT { Gradient::By(gradient::<F, false>) } else { Gradient::Zero },
        companions: || F::SCALAR.back.map(backward::<F, false>).into_iter().collect(),
        reference: Some(|params, inputs, outputs, _| {
            with_scalar::apply(params, inputs, outputs, F::value, F::integer);
            Ok(())
        }),
        ..define::<F, false>()
    }
}

/// Defines the operator whose tensor is the right operand.
pub fn reversed<F: BinaryFn>() -> OpDef {
    OpDef {
        gradient: if F::HAS_GRADIENT { Gradient::By(gradient::<F, true>) } else { Gradient::Zero },
        companions: || names::<F, true>().back.map(backward::<F, true>).into_iter().collect(),
        reference: Some(|params, inputs, outputs, _| {
            with_scalar::apply(params, inputs, outputs, |x, s| F::value(s, x), |x, s| F::integer(s, x));
            Ok(())
        }),
        ..define::<F, true>()
    }
}

/// The names of the operator whose tensor is the right operand, or else the left operand.
fn names<F: BinaryFn, const REVERSED: bool>() -> Scalar {
    if REVERSED { F::REVERSED.unwrap_or(F::SCALAR) } else { F::SCALAR }
}

fn define<F: BinaryFn, const REVERSED: bool>() -> OpDef {
    let Scalar { name, aliases, .. } = names::<F, REVERSED>();
    let follows: fn(&OpParams) -> Precision = Precision::follows;
    OpDef {
        aliases,
        summary: F::SUMMARY,
        precision_float16: F::SCALARS_FOLLOW[usize::from(REVERSED)].then_some(follows),
        ..with_scalar::define(name)
    }
}

/// The gradient of the tensor: an expression if `T` is a symbolic number, and a value if `T` is a plain number.
fn back<F: BinaryFn, T: super::Real, const REVERSED: bool>(g: T, x: T, scalar: T) -> T {
    if REVERSED { F::by_rhs(g, scalar, x) } else { F::by_lhs(g, x, scalar) }
}

fn gradient<F: BinaryFn, const REVERSED: bool>(params: &OpParams, scope: &mut dyn GradientScope) -> Answers {
    let data = scope.input(0);
    if let Some(name) = names::<F, REVERSED>().back {
        return Ok(vec![Some(call_with_params(scope, name, &[data])?)]);
    }
    let (nodes, head) = (Nodes::default(), scope.out_grad(0)?);
    let (head, data) = (nodes.value(head, Place::Out), nodes.value(data, Place::Out));
    let by_data = back::<F, Sym<'_>, REVERSED>(head, data, Sym::Number(params.get::<ScalarParams>().scalar));
    Ok(vec![by_data.emit(scope)?])
}

fn backward<F: BinaryFn, const REVERSED: bool>(name: &'static str) -> OpDef {
    OpDef {
        summary: "gradient of an operator with a scalar",
        gradient: Gradient::By(second::<F, REVERSED>),
        reference: Some(|params, inputs, outputs, _| {
            with_scalar::apply_backward(params, inputs, outputs, back::<F, f64, REVERSED>);
            Ok(())
        }),
        ..with_scalar::define_backward(name)
    }
}

/// The gradient of the backward operator, which is linear in ograd. With respect to data it is the derivative of
/// `back(head · ograd, data, scalar)`, where `head` is the gradient of the result.
fn second<F: BinaryFn, const REVERSED: bool>(params: &OpParams, scope: &mut dyn GradientScope) -> Answers {
    let (head, ograd, data) = (scope.out_grad(0)?, scope.input(0), scope.input(1));
    let name = names::<F, REVERSED>().back.unwrap_or_default();
    let by_ograd = if_wanted(scope, 0, |scope| call_with_params(scope, name, &[data]))?;
    let by_data = if scope.wants(1) { curvature::<F, REVERSED>(params, scope, [head, ograd, data])? } else { None };
    Ok(vec![by_ograd, by_data])
}

fn curvature<F: BinaryFn, const REVERSED: bool>(
    params: &OpParams,
    scope: &mut dyn GradientScope,
    values: [GradValue; 3],
) -> Result<Option<GradValue>> {
    let nodes = Nodes::default();
    let [head, ograd, data] = values.map(|value| nodes.value(value, Place::Out));
    let scalar = Sym::Number(params.get::<ScalarParams>().scalar);
    back::<F, Sym<'_>, REVERSED>(head * ograd, data, scalar).derivative(data).emit(scope)
}
