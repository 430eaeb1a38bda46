//! Operators whose output element `i` depends only on element `i` of each input, both as single calls and as fused calls.
//!
//! Each operator becomes a [`Step`], a function of slices. Single calls and chains of calls run the same steps, tile by
//! tile ([`program`]), so a fused call gives the bits of the single calls.

mod activation;
mod binary;
mod convert;
mod fill;
mod half_precision;
mod loops;
mod plan;
mod program;
mod real;
mod rectified;
mod tables;
mod unary;

pub use binary::Times;
pub use half_precision::{HalfFloat, narrow_at, widen_at};
pub use loops::{Binary, Left, Right, Unary};
pub use plan::{plan, plan_fused};
pub use real::Evaluate;
pub use rectified::takes;
pub use tables::OfTwo;

use crate::level::Level;
use mxrs_op::OpParams;
use mxrs_types::DType;

/// Computes all bytes of the output from the bytes of the inputs that its [`Step`] reads. All tensors have the same
/// number of elements.
pub type Run = Box<dyn Fn(&[&[u8]], &mut [u8]) + Send + Sync>;

/// The computation of one call, for slices of any length.
pub struct Step {
    /// Positions of the inputs that the step reads, in the order in which `run` takes them.
    pub reads: Vec<usize>,
    /// The function that computes the output.
    pub run: Run,
}

impl Step {
    /// A step that reads the first `n` inputs of the call.
    fn of_first(n: usize, run: Run) -> Self {
        Self { reads: (0..n).collect(), run }
    }
}

/// The call for which a [`Step`] is requested.
pub struct StepCall<'a> {
    /// Name of the operator.
    pub name: &'a str,
    /// Parameters of the call.
    pub params: &'a OpParams,
    /// Dtypes of the inputs.
    pub inputs: &'a [DType],
    /// Dtype of the output.
    pub output: DType,
    /// Instruction set to use.
    pub level: Level,
}

impl StepCall<'_> {
    /// Type of the first input, or of the output if there are no inputs.
    fn dtype(&self) -> DType {
        self.inputs.first().copied().unwrap_or(self.output)
    }
}

/// A step, or the reason why this backend has no step for the call.
type StepResult = Result<Step, String>;

/// Returns the [`Step`] that computes a call.
///
/// # Errors
/// Returns the reason as text if there is no step for the call.
pub fn step(call: &StepCall<'_>) -> StepResult {
    let families =
        [unary::step, binary::step, activation::step, convert::step, fill::step, tables::step, rectified::step];
    let found = families.iter().find_map(|family| family(call));
    found.unwrap_or_else(|| Err(format!("no kernel for {}", call.name)))
}

/// For dtypes with arithmetic, evaluates to a [`Step`] that runs `$make`. `$make` makes a [`Run`] and may use the type
/// alias `$t` for the dtype. 16-bit floats are computed in `f32`.
macro_rules! for_numbers {
    ($call:expr, $n_inputs:expr, $t:ident => $make:expr) => {
        $crate::number::for_integers!($call.dtype(), $t => $make,
            _other => $crate::pointwise::for_floats!($call, $n_inputs, $t => $make))
        .map(|run| $crate::pointwise::Step::of_first($n_inputs, run))
    };
}

/// The variant of [`for_numbers`] for floats only. It evaluates to the [`Run`], not to a [`Step`].
macro_rules! for_floats {
    ($call:expr, $n_inputs:expr, $t:ident => $make:expr) => {
        $crate::number::for_types!([F64: f64, F32: f32], $call.dtype(), $t => $make, other => match other {
            ::mxrs_types::DType::F16 | ::mxrs_types::DType::BF16 => {
                type $t = f32;
                $crate::pointwise::half_precision::widened(other, $n_inputs, $make)
            }
            _ => Err(format!("{} on {other}", $call.name)),
        })
    };
}
use {for_floats, for_numbers};
