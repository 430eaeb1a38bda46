//! Draws classes with given probabilities. Data `[n, k]` holds n distributions over k classes, or `[k]` a single one. With a
//! `shape` (s), the result `[n, s]` holds s draws from each distribution; without a shape there is one draw from each:
//! `[n]`, or `[1]`. With `get_prob` a second output holds the logarithms of the probabilities of the draws.
//!
//! Gradient: with `get_prob`, the logarithms have a gradient. A class gets 1 / probability times `ograd`, summed over its
//! draws.
//!
//! MXNet: `_sample_multinomial`, also `sample_multinomial`. Dtypes: f32 f64 f16 bf16; draws as `dtype` says.

use super::laws::sizes;
use crate::dtypes::{FLOATS, dtype_of};
use crate::families::backward::samples_of;
use crate::families::draws;
use crate::families::gradients::params_of;
use crate::inference::{OP, learn, learn_dtype, unify, unify_dtypes};
use crate::numeric;
use mxrs_op::param::ShapeAttr;
use mxrs_op::{
    Accuracy, Fill, Gradient, InputNames, OpDef, OpParams, OutputCount, Precision, RefInput, RefOutput, RunMode,
    Sample, op_enum, op_params,
};
use mxrs_types::{DType, Error, PartialShape, Result};

op_enum! {
    /// Element type of the drawn classes.
    pub enum DrawDtype { U8 = "uint8", I32 = "int32", F16 = "float16", F32 = "float32", F64 = "float64" }
}

op_params! {
    /// Parameters of `_sample_multinomial`.
    pub struct MultinomialParams for "_sample_multinomial" {
        /// Shape of the draws of each distribution.
        shape: ShapeAttr = ShapeAttr::default(),
        /// Whether the logarithms of the probabilities are an output too.
        get_prob: bool = false,
        /// Element type of the draws.
        dtype: DrawDtype = DrawDtype::I32,
    }
}

fn n_outputs(params: &OpParams) -> usize {
    if params.get::<MultinomialParams>().get_prob { 2 } else { 1 }
}

const BACKWARD: &str = "_backward_sample_multinomial";

/// Defines the operator `_sample_multinomial`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["sample_multinomial"],
        summary: "random places with given probabilities",
        n_outputs: OutputCount::ByParams(n_outputs),
        n_visible: OutputCount::ByParams(n_outputs),
        output_names: &["output0", "output1"],
        infer_shape,
        infer_dtype: |params, inputs, outputs| {
            learn_dtype(&mut outputs[0], dtype_of(params.get::<MultinomialParams>().dtype), "output")?;
            match &mut outputs[1..] {
                [log] => unify_dtypes([&mut inputs[0], log], "output"),
                _ => Ok(()),
            }
        },
        dtypes: FLOATS,
        accuracy: Accuracy::Reduction,
        is_random: |_, _| true,
        gradient: Gradient::By(|params, scope| {
            if !params.get::<MultinomialParams>().get_prob {
                return Ok(vec![None]);
            }
            let inputs = [scope.out_grad(1)?, scope.input(0), scope.output(0)];
            let attrs = params_of(scope);
            Ok(vec![Some(scope.call(BACKWARD, attrs, &inputs)?[0])])
        }),
        companions: || vec![backward()],
        reference: Some(run),
        samples: || {
            let of = |name, attrs: &[(&str, &str)], shape: &[usize]| Sample {
                attrs: attrs.iter().copied().collect(),
                ..Sample::plain(name, &[shape]).fill(0, Fill::Uniform(0.1, 0.4))
            };
            vec![
                of("rows", &[("shape", "(3,)")], &[2, 4]),
                of("one", &[], &[3]),
                of("logarithms", &[("shape", "(2, 2)"), ("get_prob", "True")], &[2, 3]),
                of("empty", &[("get_prob", "True")], &[0, 3]),
            ]
        },
        precision_float16: Some(Precision::follows),
        ..OpDef::new("_sample_multinomial").params::<MultinomialParams>()
    }
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let more = sizes("_sample_multinomial", &params.get::<MultinomialParams>().shape)?;
    let Some(dims) = inputs[0].dims() else { return Ok(()) };
    let Some((k, outer)) = dims.split_last() else {
        return Err(Error::shape(OP, "data", "at least one axis", &inputs[0]));
    };
    if *k == Some(0) {
        return Err(Error::shape(OP, "data", "at least one place", &inputs[0]));
    }
    let mut all: Vec<Option<usize>> = outer.iter().copied().chain(more).collect();
    if all.is_empty() {
        all.push(Some(1));
    }
    let out = PartialShape::new(all);
    outputs.iter_mut().try_for_each(|output| learn(output, &out, "output"))
}

fn run(_: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], mode: RunMode) -> Result<()> {
    let data = numeric::read(&inputs[0]);
    let k = inputs[0].desc.shape.last().copied().unwrap_or(1).max(1);
    let n_draws = outputs[0].desc.shape.n_elements();
    let per_row = n_draws.checked_div(data.len() / k).unwrap_or(0);
    let mut places = vec![0; n_draws];
    draws::fill(&mut outputs[0], mode, |stream, at| {
        let row = &data[at / per_row * k..][..k];
        let mut rest = stream.uniform() * row.iter().sum::<f64>();
        let place = row.iter().position(|p| {
            rest -= p;
            rest < 0.0
        });
        places[at] = place.unwrap_or(k - 1);
        places[at] as f64
    })?;
    if let [_, log] = outputs {
        let values = places.iter().enumerate().map(|(at, place)| data[at / per_row * k + place].ln());
        numeric::write(log, &values.collect::<Vec<f64>>());
    }
    Ok(())
}

/// Takes (ograd of the logarithms, data, draws) and returns the gradient of data.
fn backward() -> OpDef {
    OpDef {
        summary: "gradient of the logarithms of probabilities",
        inputs: InputNames::Fixed(&["ograd", "data", "draws"]),
        infer_shape: |params, inputs, outputs| {
            let [ograd, data, draws] = inputs else { return Ok(()) };
            unify(data, &mut outputs[0], "data")?;
            unify(draws, ograd, "draws")?;
            infer_shape(params, std::slice::from_mut(data), std::slice::from_mut(ograd))?;
            unify(ograd, draws, "draws")?;
            unify(data, &mut outputs[0], "data")
        },
        infer_dtype: |params, inputs, outputs| {
            let [ograd, data, draws] = inputs else { return Ok(()) };
            learn_dtype(draws, dtype_of(params.get::<MultinomialParams>().dtype), "draws")?;
            unify_dtypes([ograd, data, &mut outputs[0]], "data")
        },
        dtypes: FLOATS,
        accuracy: Accuracy::Reduction,
        reference: Some(|_, inputs, outputs, _| {
            let [ograd, data, draws] = [0, 1, 2].map(|i| numeric::read(&inputs[i]));
            let k = inputs[1].desc.shape.last().copied().unwrap_or(1).max(1);
            let per_row = draws.len().checked_div(data.len() / k).unwrap_or(0);
            let mut gradient = vec![0.0; data.len()];
            for (at, (g, place)) in ograd.iter().zip(&draws).enumerate() {
                let place = at / per_row * k + (*place as usize).min(k - 1);
                gradient[place] += g / data[place];
            }
            numeric::write(&mut outputs[0], &gradient);
            Ok(())
        }),
        samples: || {
            samples_of(&define(), |sample, outputs| {
                let mut draws = outputs[0].clone();
                (draws.fill, draws.dtype) = (Fill::Integers(0, 3), Some(DType::I32));
                Some(vec![outputs[0].clone(), sample.inputs[0].clone(), draws])
            })
        },
        ..OpDef::new(BACKWARD).params::<MultinomialParams>()
    }
}
