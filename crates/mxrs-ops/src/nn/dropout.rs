//! Dropout: at inference `out = data`, a view. Srivastava et al. 2014.
//!
//! The hidden second output is the mask, shaped like data with 1 on the shared `axes`; at inference it is all ones.
//! Training with `p` above 0, and `mode` always, draw random masks, which this version does not build.
//!
//! MXNet: `Dropout`, also `_npx_dropout`. Dtypes: f32 f64 f16 bf16.

use crate::dtypes::FLOATS;
use crate::inference::{bad_attribute, learn, resolve_axis, unify};
use crate::numeric;
use mxrs_op::param::ShapeAttr;
use mxrs_op::{OpDef, OpParams, OutputCount, RefInput, RefOutput, Sample, View, op_enum, op_params};
use mxrs_types::{Error, PartialShape, Result};

op_enum! {
    /// When elements are dropped.
    pub enum DropoutMode { Training = "training", Always = "always" }
}

op_params! {
    /// Parameters of `Dropout`.
    pub struct DropoutParams for "Dropout" {
        /// Fraction of elements dropped in training.
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
    /// Whether a call drops anything.
    fn drops(&self, is_train: bool) -> bool {
        self.p > 0.0 && (is_train || self.mode == DropoutMode::Always)
    }
}

/// `Dropout`.
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
        reference: Some(keep),
        samples,
        ..OpDef::new("Dropout").params::<DropoutParams>()
    }
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

fn keep(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], is_train: bool) -> Result<()> {
    if params.get::<DropoutParams>().drops(is_train) {
        return Err(Error::not_built(
            "Dropout in training",
            "this version has no random masks; run at inference, set p to 0, or use mode training",
        ));
    }
    numeric::copy_bytes(inputs, outputs);
    let n = outputs[1].desc.shape.n_elements();
    numeric::write(&mut outputs[1], &vec![1.0; n]);
    Ok(())
}

fn samples() -> Vec<Sample> {
    let none: [(&str, &str); 0] = [];
    vec![
        Sample::new("default", none, &[&[3, 5]]),
        Sample::new("shared_mask", [("axes", "(2, 3)"), ("p", "0.2")], &[&[2, 3, 4, 5]]),
        Sample { is_train: true, ..Sample::new("training_without_p", [("p", "0")], &[&[4]]) },
        Sample::new("one", none, &[&[1]]),
        Sample::new("empty", none, &[&[0, 3]]),
    ]
}
