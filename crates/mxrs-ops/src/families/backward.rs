//! Helpers that make the samples of a backward operator from the samples of its forward operator.

use mxrs_op::{Fill, OpDef, Sample, SampleInput};
use mxrs_types::{PartialShape, Shape};

/// An input with elements from the uniform distribution on (-1, 1).
pub fn uniform(shape: &Shape) -> SampleInput {
    SampleInput { shape: shape.clone(), fill: Fill::Uniform(-1.0, 1.0), dtype: None }
}

/// Makes one sample for each sample of `forward`, with the same name. `inputs` gets that sample and [`uniform`] tensors
/// with the shapes of its outputs, and returns the inputs of the backward operator, or `None` to leave the sample out.
pub fn samples_of(
    forward: &OpDef,
    inputs: impl Fn(&Sample, &[SampleInput]) -> Option<Vec<SampleInput>>,
) -> Vec<Sample> {
    let convert = |sample: Sample| {
        let outputs: Vec<SampleInput> = output_shapes(forward, &sample)?.iter().map(uniform).collect();
        let inputs = inputs(&sample, &outputs)?;
        Some(Sample { inputs, ..sample })
    };
    (forward.samples)().into_iter().filter_map(convert).collect()
}

/// Infers the shapes of all outputs of a sample.
fn output_shapes(op: &OpDef, sample: &Sample) -> Option<Vec<Shape>> {
    let params = op.parse(&sample.attrs).ok()?;
    let mut inputs: Vec<PartialShape> = sample.inputs.iter().map(|i| PartialShape::from(&i.shape)).collect();
    let mut outputs = vec![PartialShape::unknown(); op.n_outputs.get(&params)];
    op.infer_shapes(&params, &mut inputs, &mut outputs).ok()?;
    outputs.iter().map(PartialShape::known).collect()
}
