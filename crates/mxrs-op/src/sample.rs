//! Samples: calls every operator brings along, from which conformance tests, benches and docs follow.

use crate::Attrs;
use mxrs_types::{DType, Shape};

/// How a sample's input is filled.
#[derive(Clone, Debug, PartialEq)]
pub enum Fill {
    /// Uniform between the two bounds, from a seeded generator.
    Uniform(f64, f64),
    /// Exactly these elements, row-major.
    Values(Vec<f64>),
    /// Uniform integers in `[low, high)`.
    Integers(i64, i64),
}

/// One input of a sample.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleInput {
    /// Shape.
    pub shape: Shape,
    /// Content.
    pub fill: Fill,
    /// Element type when it does not follow the sample's.
    pub dtype: Option<DType>,
}

/// One call with example inputs. Its dtype runs over the operator's dtypes unless an input fixes its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Short name, unique within the operator.
    pub name: &'static str,
    /// Parameters as text.
    pub attrs: Attrs,
    /// Inputs, auxiliary states included.
    pub inputs: Vec<SampleInput>,
    /// Training mode.
    pub is_train: bool,
}

impl Sample {
    /// A sample with uniform(-1, 1) inputs of these shapes.
    pub fn new<const N: usize>(name: &'static str, attrs: [(&str, &str); N], shapes: &[&[usize]]) -> Self {
        let inputs = shapes
            .iter()
            .map(|s| SampleInput { shape: Shape::from(*s), fill: Fill::Uniform(-1.0, 1.0), dtype: None })
            .collect();
        Self { name, attrs: attrs.into_iter().collect(), inputs, is_train: false }
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
