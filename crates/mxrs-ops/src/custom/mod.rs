//! Operators that a program defines: MXNet's `CustomOpProp` and `CustomOp` in one trait, and `mx.operator.register`.
//!
//! A program registers a function by name. A call of the operator `Custom` names it in the parameter `op_type`; the function gets
//! all attributes of the call and returns the operator. Symbol files that contain `Custom` are read after the registration.
//!
//! An operator runs as a task of the engine: it gets the elements of its inputs and outputs, and must not wait for arrays.
//!
//! ```
//! use mxrs_op::{Attrs, RefInput, RefOutput, elements};
//! use mxrs_ops::custom::{CustomOp, register};
//! use mxrs_types::Result;
//!
//! struct Scale(f64);
//!
//! impl CustomOp for Scale {
//!     fn forward(&self, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _is_train: bool) -> Result<()> {
//!         let data = elements::read_f64(inputs[0].bytes, inputs[0].desc.dtype);
//!         let scaled: Vec<f64> = data.iter().map(|x| self.0 * x).collect();
//!         elements::write_f64(&scaled, outputs[0].desc.dtype, outputs[0].bytes);
//!         Ok(())
//!     }
//! }
//!
//! register("scale", |attrs: &Attrs| {
//!     let factor = attrs.get("factor").and_then(|text| text.parse().ok()).unwrap_or(1.0);
//!     Ok(Box::new(Scale(factor)))
//! })?;
//! let op = mxrs_ops::catalog().get("Custom")?.clone();
//! assert!(op.parse(&Attrs::from([("op_type", "scale"), ("factor", "3")])).is_ok());
//! assert!(op.parse(&Attrs::from([("op_type", "unknown")])).is_err());
//! # Ok::<(), mxrs_types::Error>(())
//! ```

mod backward;
pub mod operator;
mod registry;
mod square;

pub use registry::register;

use mxrs_op::{RefInput, RefOutput};
use mxrs_types::{DType, Error, PartialShape, Result};

/// An operator that a program defines.
pub trait CustomOp: Send + Sync {
    /// Names of the inputs.
    fn arguments(&self) -> Vec<String> {
        vec!["data".into()]
    }

    /// Number of outputs, at least 1.
    fn n_outputs(&self) -> usize {
        1
    }

    /// Finds unknown shapes of inputs and outputs from the known ones. It is called until no shape changes, and must only add
    /// knowledge. By default all shapes are equal.
    ///
    /// # Errors
    /// Should return an error if the shapes contradict each other.
    fn infer_shape(&self, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        crate::inference::unify_all(inputs, outputs, "an input or output")
    }

    /// Finds unknown types, with the rules of [`Self::infer_shape`]. By default all types are equal.
    ///
    /// # Errors
    /// Should return an error if the types contradict each other.
    fn infer_dtype(&self, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
        crate::inference::unify_dtypes(inputs.iter_mut().chain(outputs), "an input or output")
    }

    /// Computes the outputs, row-major like the inputs. It must write every element of every output.
    ///
    /// # Errors
    /// The error becomes that of the arrays that the call writes.
    fn forward(&self, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], is_train: bool) -> Result<()>;

    /// Computes the gradients of the inputs from those of the outputs. It must write every element of every gradient. By default
    /// the operator has no gradient.
    ///
    /// # Errors
    /// The error becomes that of the gradients.
    fn backward(&self, call: &CustomGradient<'_>, gradients: &mut [RefOutput<'_>]) -> Result<()> {
        let _ = (call, gradients);
        Err(Error::not_built("gradient of a custom operator", "the program that registered it defines no `backward`"))
    }
}

/// What the gradient of a call may read.
#[derive(Clone, Copy, Debug)]
pub struct CustomGradient<'a> {
    /// Gradients of the outputs.
    pub out_grads: &'a [RefInput<'a>],
    /// The inputs of the call.
    pub inputs: &'a [RefInput<'a>],
    /// The outputs of the call.
    pub outputs: &'a [RefInput<'a>],
}
