//! The definition that all products with an epilogue share, derived from the definition of the plain product.

use crate::families::products::{self, Product};
use crate::fused::WithEpilogue;
use crate::inference::unify;
use crate::numeric;
use mxrs_op::{Gradient, InputNames, OpDef, OpParams, RefInput, RefOutput, RunMode};
use mxrs_types::{PartialShape, Result};

/// The definition of the product `P` with an epilogue, under the name `name`. Summary and samples are left to the
/// caller.
pub fn operator<P: Product>(name: &'static str) -> OpDef {
    OpDef {
        inputs: InputNames::ByParams {
            all: &["data", "weight", "bias", "sum"],
            chosen: |params| {
                let WithEpilogue::<P::Params> { product, epilogue } = params.get();
                let bias = (!P::no_bias(product)).then_some("bias");
                let sum = epilogue.with_sum.then_some("sum");
                ["data", "weight"].into_iter().chain(bias).chain(sum).collect()
            },
        },
        // The addition is done in place: the output may be written to the memory of the input `sum`, the last input.
        inplace_by_params: Some(|params| {
            let WithEpilogue::<P::Params> { product, epilogue } = params.get();
            match (epilogue.with_sum, P::no_bias(product)) {
                (false, _) => &[],
                (true, true) => &[(2, 0)],
                (true, false) => &[(3, 0)],
            }
        }),
        infer_shape: infer_shape::<P>,
        reference: Some(run::<P>),
        gradient: Gradient::Undefined,
        companions: Vec::new,
        name,
        ..products::operator::<P>().params::<WithEpilogue<P::Params>>()
    }
}

fn infer_shape<P: Product>(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let WithEpilogue::<P::Params> { product, epilogue } = params.get();
    let (inputs, sum) = inputs.split_at_mut(epilogue.n_product_inputs(inputs.len()));
    for sum in sum.iter_mut() {
        unify(&mut outputs[0], sum, "sum")?;
    }
    P::infer_shape(product, inputs, outputs)?;
    sum.iter_mut().try_for_each(|sum| unify(&mut outputs[0], sum, "sum"))
}

fn run<P: Product>(
    params: &OpParams,
    inputs: &[RefInput<'_>],
    outputs: &mut [RefOutput<'_>],
    _: RunMode,
) -> Result<()> {
    let WithEpilogue::<P::Params> { product, epilogue } = params.get();
    let (inputs, sum) = inputs.split_at(epilogue.n_product_inputs(inputs.len()));
    let y = P::values(product, inputs, &outputs[0].desc.shape)?;
    numeric::write(&mut outputs[0], &epilogue.apply(y, sum.first()));
    Ok(())
}
