//! The definitions, gradients and reference kernels of the operators in the table of functions of one number.

use super::sym::{Nodes, Place};
use super::{Slope, UnaryFn};
use crate::families::gradients::{Answers, call_with_params, from_input, from_output};
use crate::families::unary;
use crate::numeric;
use mxrs_op::{Gradient, GradientScope, OpDef, OpParams};

/// Defines the operator of a function.
pub fn define<F: UnaryFn>() -> OpDef {
    OpDef {
        aliases: F::ALIASES,
        summary: F::SUMMARY,
        precision: F::PRECISION,
        precision_float16: F::PRECISION_FLOAT16,
        accuracy: F::ACCURACY,
        samples: || unary::samples(F::DOMAIN.0, F::DOMAIN.1),
        gradient: match F::SLOPE {
            Slope::Zero => Gradient::Zero,
            _ => Gradient::By(gradient::<F>),
        },
        companions: || match F::SLOPE {
            Slope::Zero => Vec::new(),
            _ if F::IS_BY_CALLS => Vec::new(),
            _ => vec![backward::<F>()],
        },
        reference: Some(|_, inputs, outputs, _| {
            if F::IS_EXACT {
                numeric::map(inputs, outputs, F::value, F::integer);
            } else {
                numeric::map_float(inputs, outputs, F::value);
            }
            Ok(())
        }),
        ..unary::define(F::NAME)
    }
}

fn gradient<F: UnaryFn>(_: &OpParams, scope: &mut dyn GradientScope) -> Answers {
    match F::SLOPE {
        Slope::OfOutput if !F::IS_BY_CALLS => return from_output(scope, F::BACKWARD),
        Slope::OfData if !F::IS_BY_CALLS => return from_input(scope, F::BACKWARD),
        _ => {}
    }
    let saved = if F::SLOPE == Slope::OfOutput { scope.output(0) } else { scope.input(0) };
    let (nodes, head) = (Nodes::default(), scope.out_grad(0)?);
    let back = F::back(nodes.value(head, Place::Out), nodes.value(saved, Place::Out));
    Ok(vec![back.emit(scope)?])
}

fn backward<F: UnaryFn>() -> OpDef {
    let family = match F::SLOPE {
        Slope::OfOutput => unary::define_backward_of_output(F::BACKWARD),
        _ => unary::define_backward(F::BACKWARD),
    };
    OpDef {
        summary: F::BACKWARD_SUMMARY,
        accuracy: F::ACCURACY,
        gradient: Gradient::By(|_, scope| second::<F>(scope)),
        reference: Some(|_, inputs, outputs, _| {
            unary::apply_backward(inputs, outputs, F::back);
            Ok(())
        }),
        ..family
    }
}

/// The gradient of the backward operator `back(ograd, saved)`, which is linear in ograd. With respect to saved it is the
/// derivative of `back(head · ograd, saved)`, where `head` is the gradient of the result.
fn second<F: UnaryFn>(scope: &mut dyn GradientScope) -> Answers {
    let (head, ograd, saved) = (scope.out_grad(0)?, scope.input(0), scope.input(1));
    let by_ograd = if scope.wants(0) { Some(call_with_params(scope, F::BACKWARD, &[saved])?) } else { None };
    if !scope.wants(1) {
        return Ok(vec![by_ograd, None]);
    }
    let nodes = Nodes::default();
    let both = nodes.value(head, Place::Out) * nodes.value(ograd, Place::Out);
    let saved = nodes.value(saved, Place::Out);
    let by_saved = F::back(both, saved).derivative(saved).emit(scope)?;
    Ok(vec![by_ograd, by_saved])
}
