//! Dropout: at inference `out = data`, a view; in training `out = data · mask`. Srivastava et al. 2014.
//!
//! The hidden second output is the mask, shaped like data with 1 on the shared `axes`. In training every call draws a new
//! mask: element `i` is `1 / (1 - p)` if uniform random number `i` of the call is below `1 - p`, else 0. At inference the
//! mask is all ones.
//!
//! The gradient of data is `ograd · mask`, computed by `_backward_Dropout(ograd, mask)`; this gradient is a view of ograd if
//! nothing is dropped.
//!
//! MXNet: `Dropout`, also `_npx_dropout`. Dtypes: f32 f64 f16 bf16.

use crate::dtypes::FLOATS;
use crate::families::gradients::{Answers, call_with_params, linear_in_ograd};
use crate::families::indexing::{flat, for_each_index};
use crate::inference::{bad_attribute, learn, resolve_axis, unify};
use crate::numeric;
use mxrs_op::param::ShapeAttr;
use mxrs_op::{
    Accuracy, Fill, Gradient, GradientScope, InputNames, OpDef, OpParams, OutputCount, Precision, RefInput, RefOutput,
    RunMode, Sample, View, op_enum, op_params,
};
use mxrs_types::{Error, PartialShape, Result, Shape};

op_enum! {
    /// When elements are dropped.
    pub enum DropoutMode { Training = "training", Always = "always" }
}

op_params! {
    /// Parameters of `Dropout`.
    pub struct DropoutParams for "Dropout" {
        /// Fraction of elements that are dropped in training.
        p: f32 = 0.5,
        /// When elements are dropped.
        mode: DropoutMode = DropoutMode::Training,
        /// Axes along which the mask is shared.
        axes: ShapeAttr = ShapeAttr::default(),
        /// Read and ignored.
        cudnn_off: Option<bool> = Some(false),
    }
}

impl DropoutParams {
    /// Whether a call drops elements.
    fn drops(&self, is_train: bool) -> bool {
        self.p > 0.0 && (is_train || self.mode == DropoutMode::Always)
    }
}

/// Defines the operator `Dropout`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_npx_dropout"],
        summary: "identity at inference",
        n_outputs: OutputCount::Fixed(2),
        output_names: &["output", "mask"],
        infer_shape,
        dtypes: FLOATS,
        inplace: &[(0, 0)],
        view: |params, is_train| match params.get::<DropoutParams>().drops(is_train) {
            true => View::No,
            false => View::Identity,
        },
        is_random: |params, is_train| params.get::<DropoutParams>().drops(is_train),
        precision: Precision::follows,
        gradient: Gradient::By(gradient),
        companions: || vec![define_backward()],
        reference: Some(keep),
        samples,
        ..OpDef::new("Dropout").params::<DropoutParams>()
    }
}

fn define_backward() -> OpDef {
    OpDef {
        summary: "gradient of Dropout",
        inputs: InputNames::Fixed(&["ograd", "mask"]),
        infer_shape: |params, inputs, outputs| {
            let [ograd, mask] = inputs else { return Ok(()) };
            let mut forward = [std::mem::take(ograd), std::mem::take(mask)];
            let result = infer_shape(params, outputs, &mut forward);
            [*ograd, *mask] = forward;
            result
        },
        dtypes: FLOATS,
        inplace: &[(0, 0)],
        view: |params, is_train| match params.get::<DropoutParams>().drops(is_train) {
            true => View::No,
            false => View::Identity,
        },
        accuracy: Accuracy::Elementwise,
        gradient: Gradient::By(|_, scope| linear_in_ograd(scope, "_backward_Dropout")),
        reference: Some(backward),
        samples: backward_samples,
        ..OpDef::new("_backward_Dropout").params::<DropoutParams>()
    }
}

fn gradient(_: &OpParams, scope: &mut dyn GradientScope) -> Answers {
    let mask = scope.output(1);
    Ok(vec![Some(call_with_params(scope, "_backward_Dropout", &[mask])?)])
}

fn backward(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], mode: RunMode) -> Result<()> {
    if !params.get::<DropoutParams>().drops(mode.is_train) {
        numeric::copy_bytes(inputs, outputs);
        return Ok(());
    }
    let gradient = masked(&inputs[0], &inputs[1].desc.shape, &numeric::read(&inputs[1]));
    numeric::write(&mut outputs[0], &gradient);
    Ok(())
}

/// Computes `x · mask`; the mask is shared along its axes of size 1.
fn masked(x: &RefInput<'_>, mask_shape: &Shape, mask: &[f64]) -> Vec<f64> {
    let values = numeric::read(x);
    let mut product = Vec::with_capacity(values.len());
    for_each_index(&x.desc.shape, |index| {
        let at: Vec<usize> =
            index.iter().zip(mask_shape.iter()).map(|(i, size)| if *size == 1 { 0 } else { *i }).collect();
        product.push(values[product.len()] * mask[flat(mask_shape, &at)]);
    });
    product
}

fn backward_samples() -> Vec<Sample> {
    let mask = |n: usize| Fill::Values((0..n).map(|i| if i % 3 == 1 { 0.0 } else { 1.5 }).collect());
    let train = |sample: Sample| Sample { is_train: true, ..sample };
    vec![
        train(Sample::new("training", [("p", "0.3")], &[&[3, 5], &[3, 5]]).fill(1, mask(15))),
        train(Sample::new("shared_mask", [("axes", "(2, 3)")], &[&[2, 3, 4, 5], &[2, 3, 1, 1]]).fill(1, mask(6))),
        Sample::new("always", [("mode", "always")], &[&[7, 5], &[7, 5]]).fill(1, mask(35)),
        Sample::new("inference", [("p", "0.5")], &[&[4], &[4]]).fill(1, Fill::Values(vec![1.0; 4])),
        train(Sample::new("without_p", [("p", "0")], &[&[4], &[4]]).fill(1, Fill::Values(vec![1.0; 4]))),
        train(Sample::new("empty", [("p", "0.5")], &[&[0, 3], &[0, 3]])),
    ]
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let params = params.get::<DropoutParams>();
    if !(0.0..1.0).contains(&params.p) {
        return Err(bad_attribute("Dropout", "p", "a number from 0 up to, but not including, 1", params.p));
    }
    let [out, mask] = outputs else { return Ok(()) };
    unify(&mut inputs[0], out, "output")?;
    let Some(mut dims) = out.dims().map(<[_]>::to_vec) else { return Ok(()) };
    for axis in params.axes.iter() {
        let axis = resolve_axis(*axis, dims.len(), "data")?;
        dims[axis] = Some(1);
    }
    learn(mask, &PartialShape::new(dims), "mask")
}

fn keep(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], mode: RunMode) -> Result<()> {
    let params = params.get::<DropoutParams>();
    let mask_shape = outputs[1].desc.shape.clone();
    if !params.drops(mode.is_train) {
        numeric::copy_bytes(inputs, outputs);
        numeric::write(&mut outputs[1], &vec![1.0; mask_shape.n_elements()]);
        return Ok(());
    }
    let random =
        mode.random.ok_or_else(|| Error::invalid("random numbers of Dropout", "none", "a seed and a number"))?;
    let keep = 1.0 - params.p;
    let scale = 1.0 / f64::from(keep);
    let mask: Vec<f64> =
        (0..mask_shape.n_elements() as u64).map(|i| if random.uniform(i) < keep { scale } else { 0.0 }).collect();
    numeric::write(&mut outputs[1], &mask);
    // The mask is rounded to its dtype, so that the output uses the values that the gradient reads later.
    let mask: Vec<f64> = mask.into_iter().map(|m| numeric::rounded_to(inputs[0].desc.dtype, m)).collect();
    let values = masked(&inputs[0], &mask_shape, &mask);
    numeric::write(&mut outputs[0], &values);
    Ok(())
}

fn samples() -> Vec<Sample> {
    vec![
        Sample::plain("default", &[&[3, 5]]),
        Sample::new("shared_mask", [("axes", "(2, 3)"), ("p", "0.2")], &[&[2, 3, 4, 5]]),
        Sample { is_train: true, ..Sample::new("training_without_p", [("p", "0")], &[&[4]]) },
        Sample { is_train: true, ..Sample::new("training", [("p", "0.3")], &[&[4, 50]]) },
        Sample { is_train: true, ..Sample::new("training_shared", [("axes", "(2, 3)")], &[&[4, 5, 3, 2]]) },
        Sample::new("always", [("mode", "always")], &[&[7, 5]]),
        Sample::plain("one", &[&[1]]),
        Sample::plain("empty", &[&[0, 3]]),
    ]
}
