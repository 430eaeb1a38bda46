//! Definitions of operators and backends: [`OpDef`], its parameters, [`Kernel`], [`Backend`], [`OpSet`].
//!
//! An operator is declared once, as data: names, parameters with MXNet's own type texts, inference, reference kernel,
//! samples. A backend [offers](Backend::offer) faster kernels for some calls and adds no second definition. This crate
//! depends on no concrete operator, graph, engine or vendor library.
//!
//! ```
//! use mxrs_op::{Attrs, OpDef, op_params};
//!
//! op_params! {
//!     /// Parameters of a `scale` operator.
//!     pub struct ScaleParams for "scale" {
//!         /// Factor.
//!         factor: f32 = 1.0,
//!     }
//! }
//! let op = OpDef::new("scale").params::<ScaleParams>();
//! let params = op.parse(&Attrs::from([("factor", "2.5")])).unwrap();
//! assert_eq!(params.get::<ScaleParams>().factor, 2.5);
//! assert!(op.parse(&Attrs::from([("factor", "two")])).is_err());
//! ```
//!
//! Read next: `mxrs-ops`, where each file declares one operator as an [`OpDef`].
#![allow(unsafe_code)]
// Unsafe code: kernels get raw memory that the executor has sized and aligned and that the engine protects. Only
// `kernel.rs` turns this memory into slices; the head of that file states the contract. `reference.rs` calls the unsafe
// functions of `kernel.rs`.

mod attrs;
mod backend;
mod by_values;
mod call;
mod control_flow;
pub mod elements;
mod fused;
mod gradient;
mod input_names;
mod kernel;
mod layer;
mod moves;
mod op_def;
mod op_set;
mod pair;
pub mod param;
mod pattern;
mod precision;
mod products;
mod properties;
mod random;
mod reference;
mod sample;
mod speed;

pub use attrs::{Attrs, is_annotation_key};
pub use backend::{Answer, Backend, DEFAULT_ALGORITHM, Offer, PlannedKernel};
pub use by_values::{ByValues, ResolveCall, ResolvedCall};
pub use call::{OpCall, TensorDesc};
pub use control_flow::{ControlFlow, ControlFlowOp, ControlKind, DescribeControlFlow};
pub use fused::{FUSED_OP, Fused, FusedCall, FusedValue, fused_op};
pub use gradient::{GradValue, Gradient, GradientFn, GradientScope, MadeBy};
pub use input_names::{InputNames, OutputCount};
pub use kernel::{Kernel, KernelArgs, RawTensor};
pub use layer::Layer;
pub use moves::{MovedAxis, MovedPart, MovedParts, MovedRows, Moves, PartsFn, RowsFn};
pub use op_def::{InferDType, InferShape, InplacePairs, MAX_TENSORS, OpDef, SameAs};
pub use op_set::OpSet;
pub use pair::Pair;
pub use param::{OpParams, ParamSpec, Parameters};
pub use pattern::{Member, NewCall, Operand, Pattern, Proposal, Stage};
pub use precision::Precision;
pub use products::{DescribeProducts, Matrices, Products};
pub use properties::{Accuracy, Combines, Pointwise, View};
pub use random::RandomCall;
pub use reference::{RefInput, RefOutput, ReferenceBackend, ReferenceFn, RunMode, accumulate};
pub use sample::{Fill, Sample, SampleInput};
pub use speed::Speed;

#[doc(hidden)]
pub mod macro_support {
    pub use crate::param::{Field, ParamSpec, Parameters, missing};
    pub use mxrs_types::Result;
}
