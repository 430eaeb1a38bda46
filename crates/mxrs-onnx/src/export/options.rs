//! The options of an export.

use mxrs_types::{DType, Error, Result, Shape};
use std::ops::RangeInclusive;

/// Versions of ONNX's operators that can be exported. The operators used are the same in all of these versions.
pub const OPSETS: RangeInclusive<i64> = 13..=17;

/// The options of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportOptions {
    /// Inputs with their shapes, in the order of the model's inputs. Every other variable needs a parameter.
    pub inputs: Vec<(String, Shape)>,
    /// Dtype of the inputs. The dtypes of the parameters are inferred from it, and the parameters are converted to them.
    pub dtype: DType,
    /// Version of ONNX's operators, one of [`OPSETS`].
    pub opset: i64,
    /// Whether the first size of the inputs stays open, under the name `N`.
    pub has_dynamic_batch: bool,
    /// Name of the graph.
    pub name: String,
}

impl ExportOptions {
    /// Options with operators of version 13, float32 and fixed sizes.
    pub fn new<N: Into<String>>(inputs: impl IntoIterator<Item = (N, Shape)>) -> Self {
        Self {
            inputs: inputs.into_iter().map(|(name, shape)| (name.into(), shape)).collect(),
            dtype: DType::F32,
            opset: 13,
            has_dynamic_batch: false,
            name: "mxrs".into(),
        }
    }

    pub(super) fn check(&self) -> Result<()> {
        if !OPSETS.contains(&self.opset) {
            let expected = format!("{} to {}", OPSETS.start(), OPSETS.end());
            return Err(Error::invalid("version of ONNX's operators", self.opset, expected));
        }
        let without_batch = self.inputs.iter().find(|(_, shape)| shape.first().is_none_or(|batch| *batch == 0));
        match without_batch {
            Some((name, shape)) if self.has_dynamic_batch => {
                Err(Error::invalid(format!("shape of input `{name}`"), shape, "a batch of 1 or more as first size"))
            }
            _ => Ok(()),
        }
    }
}
