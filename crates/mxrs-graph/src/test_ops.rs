//! Tiny operators for this crate's tests.

use mxrs_op::{InputNames, OpDef, OpParams, OutputCount, op_params};
use mxrs_types::{PartialShape, Result};
use std::sync::Arc;

op_params! {
    /// Parameters of `Dense`.
    pub struct DenseParams for "Dense" {
        /// Columns of the output.
        num_hidden: u32,
        /// Omits the bias.
        no_bias: bool = false,
    }
}

op_params! {
    /// Parameters of `Split`.
    pub struct SplitParams for "Split" {
        /// Number of pieces.
        num_outputs: u32,
    }
}

op_params! {
    /// Parameters of `Sum`.
    pub struct SumParams for "Sum" {
        /// Number of inputs.
        num_args: u32,
    }
}

/// An elementwise operator with one input.
pub fn relu() -> Arc<OpDef> {
    let mut op = OpDef::new("Relu");
    op.inplace = &[(0, 0)];
    Arc::new(op)
}

/// The elementwise sum of two inputs.
pub fn add() -> Arc<OpDef> {
    let mut op = OpDef::new("Add");
    op.inputs = InputNames::Fixed(&["lhs", "rhs"]);
    Arc::new(op)
}

/// The elementwise sum of `num_args` inputs.
pub fn sum() -> Arc<OpDef> {
    let mut op = OpDef::new("Sum").params::<SumParams>();
    op.inputs = InputNames::Variable {
        prefix: "arg",
        listed: "args",
        key: "num_args",
        count: |p| p.get::<SumParams>().num_args as usize,
    };
    Arc::new(op)
}

/// A matrix product: data `[N, K]`, weight `[num_hidden, K]` and bias `[num_hidden]` give `[N, num_hidden]`. Shapes are
/// inferred in every direction.
pub fn dense() -> Arc<OpDef> {
    fn infer(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let hidden = params.get::<DenseParams>().num_hidden as usize;
        let rows = inputs[0].dim(0).or(outputs[0].dim(0));
        let columns = inputs[0].dim(1).or(inputs[1].dim(1));
        let found = [
            PartialShape::new([rows, columns]),
            PartialShape::new([Some(hidden), columns]),
            PartialShape::new([Some(hidden)]),
        ];
        inputs.iter_mut().zip(found).for_each(|(i, f)| *i = f);
        outputs[0] = PartialShape::new([rows, Some(hidden)]);
        Ok(())
    }
    let mut op = OpDef::new("Dense").params::<DenseParams>();
    op.inputs = InputNames::ByParams {
        all: &["data", "weight", "bias"],
        chosen: |p| {
            if p.get::<DenseParams>().no_bias { vec!["data", "weight"] } else { vec!["data", "weight", "bias"] }
        },
    };
    op.infer_shape = infer;
    Arc::new(op)
}

/// An operator with three outputs, one of them visible, and two auxiliary states with initial values.
pub fn norm() -> Arc<OpDef> {
    fn infer(_: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let channel = PartialShape::new([inputs[0].dim(1)]);
        inputs[1..].iter_mut().chain(&mut outputs[1..]).for_each(|s| *s = channel.clone());
        let data = inputs[0].clone();
        outputs[0] = data;
        Ok(())
    }
    let mut op = OpDef::new("Norm");
    op.inputs = InputNames::Fixed(&["data", "gamma", "mean", "var"]);
    op.n_aux = 2;
    op.n_outputs = OutputCount::Fixed(3);
    op.output_names = &["output", "mean", "var"];
    op.init_hints = &[("mean", "[\"zero\", {}]"), ("var", "[\"one\", {}]")];
    op.infer_shape = infer;
    Arc::new(op)
}

/// An operator with `num_outputs` outputs of the input's shape.
pub fn split() -> Arc<OpDef> {
    let mut op = OpDef::new("Split").params::<SplitParams>();
    op.n_outputs = OutputCount::ByParams(|p| p.get::<SplitParams>().num_outputs as usize);
    op.n_visible = op.n_outputs;
    Arc::new(op)
}

pub mod growth;
pub mod smooth;
