//! The operators of two tensors in the table of functions of two numbers.

use super::BinaryFn;
use super::sym::{Nodes, Place};
use crate::families::broadcast_back::SUM_LIKE;
use crate::families::gradients::{Answers, if_wanted};
use crate::families::{broadcast, pairwise};
use crate::numeric;
use mxrs_op::{Fill, Gradient, GradientScope, OpDef, OpParams, Sample};

/// Defines the operator of tensors of equal shape.
pub fn pair<F: BinaryFn>() -> OpDef {
    let family = pairwise::define(F::PAIR.0);
    OpDef {
        aliases: F::PAIR.1,
        summary: F::SUMMARY,
        combines: F::COMBINES,
        precision: F::PRECISIONS[0],
        precision_float16: Some(F::PRECISIONS_FLOAT16[0]),
        gradient: if F::HAS_GRADIENT { Gradient::By(gradient_of_pair::<F>) } else { Gradient::Zero },
        samples: || on_domain::<F>((pairwise::define(F::PAIR.0).samples)()),
        reference: Some(|_, inputs, outputs, _| {
            numeric::zip(inputs, outputs, F::value, F::integer);
            Ok(())
        }),
        ..family
    }
}

/// Defines the operator `_scatter_elemwise_div`, which differs from `elemwise_div` only for sparse tensors; these are not built.
pub fn scatter_div() -> OpDef {
    OpDef { name: "_scatter_elemwise_div", aliases: &[], ..pair::<super::binary::Over>() }
}

/// Defines the operator of tensors that broadcast.
pub fn broadcast<F: BinaryFn>() -> OpDef {
    OpDef {
        aliases: F::BROADCAST.1,
        summary: F::SUMMARY,
        precision: F::PRECISIONS[1],
        precision_float16: Some(F::PRECISIONS_FLOAT16[1]),
        gradient: if F::HAS_GRADIENT { Gradient::By(gradient_of_broadcast::<F>) } else { Gradient::Zero },
        samples: || on_domain::<F>((broadcast::define(F::BROADCAST.0).samples)()),
        reference: Some(|_, inputs, outputs, _| {
            broadcast::zip(inputs, outputs, F::value, F::integer);
            Ok(())
        }),
        ..broadcast::define(F::BROADCAST.0)
    }
}

/// The samples with uniform inputs from the range of the function.
fn on_domain<F: BinaryFn>(mut samples: Vec<Sample>) -> Vec<Sample> {
    for input in samples.iter_mut().flat_map(|sample| &mut sample.inputs) {
        if let Fill::Uniform(..) = input.fill {
            input.fill = Fill::Uniform(F::DOMAIN.0, F::DOMAIN.1);
        }
    }
    samples
}

fn gradient_of_pair<F: BinaryFn>(_: &OpParams, scope: &mut dyn GradientScope) -> Answers {
    let (nodes, head) = (Nodes::default(), scope.out_grad(0)?);
    let [head, lhs, rhs] = [head, scope.input(0), scope.input(1)].map(|value| nodes.value(value, Place::Out));
    let by_lhs = if scope.wants(0) { F::by_lhs(head, lhs, rhs).emit(scope)? } else { None };
    let by_rhs = if scope.wants(1) { F::by_rhs(head, lhs, rhs).emit(scope)? } else { None };
    Ok(vec![by_lhs, by_rhs])
}

fn gradient_of_broadcast<F: BinaryFn>(_: &OpParams, scope: &mut dyn GradientScope) -> Answers {
    let nodes = Nodes::default();
    let (head, lhs, rhs) = (scope.out_grad(0)?, scope.input(0), scope.input(1));
    let g = nodes.value(head, Place::Out);
    let (a, b) = (nodes.value(lhs, Place::Left), nodes.value(rhs, Place::Right));
    let by_lhs = if_wanted(scope, 0, |scope| {
        let full = F::by_lhs(g, a, b).emit(scope)?.unwrap_or(head);
        scope.call_one(SUM_LIKE, &[full, lhs])
    })?;
    let by_rhs = if_wanted(scope, 1, |scope| {
        let full = F::by_rhs(g, a, b).emit(scope)?.unwrap_or(head);
        scope.call_one(SUM_LIKE, &[full, rhs])
    })?;
    Ok(vec![by_lhs, by_rhs])
}
