//! Samples: example calls that every operator declares. Conformance tests, benches and docs are made from them.

use crate::Attrs;
use mxrs_types::{DType, Shape};

/// How a sample's input is filled.
#[derive(Clone, Debug, PartialEq)]
pub enum Fill {
    /// Uniform between the two bounds, from a seeded generator.
    Uniform(f64, f64),
    /// These elements, in row-major order.
    Values(Vec<f64>),
    /// Uniform integers in `[low, high)`.
    Integers(i64, i64),
}

/// One input of a sample.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleInput {
    /// Shape of the input.
    pub shape: Shape,
    /// How the input is filled.
    pub fill: Fill,
    /// Element type of the input, if it is not that of the sample.
    pub dtype: Option<DType>,
}

/// One call with example inputs. It is run for each dtype of the operator, except for inputs with a fixed type.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Short name, unique within the operator.
    pub name: &'static str,
    /// Parameters as text.
    pub attrs: Attrs,
    /// Inputs, auxiliary states included.
    pub inputs: Vec<SampleInput>,
    /// Whether the call runs as in training.
    pub is_train: bool,
}

impl Sample {
    /// A sample with inputs of these shapes, uniform in (-1, 1).
    pub fn new<const N: usize>(name: &'static str, attrs: [(&str, &str); N], shapes: &[&[usize]]) -> Self {
        let inputs = shapes
            .iter()
            .map(|s| SampleInput { shape: Shape::from(*s), fill: Fill::Uniform(-1.0, 1.0), dtype: None })
            .collect();
        Self { name, attrs: attrs.into_iter().collect(), inputs, is_train: false }
    }

    /// A sample without parameters, with inputs of these shapes, uniform in (-1, 1).
    pub fn plain(name: &'static str, shapes: &[&[usize]]) -> Self {
        Self::new::<0>(name, [], shapes)
    }

    /// Replaces the content of input `index`.
    #[must_use]
    pub fn fill(mut self, index: usize, fill: Fill) -> Self {
        self.inputs[index].fill = fill;
        self
    }

    /// Fixes the element type of input `index`.
    #[must_use]
    pub fn dtype(mut self, index: usize, dtype: DType) -> Self {
        self.inputs[index].dtype = Some(dtype);
        self
    }
}
