//! Operators whose output element `i` depends only on element `i` of each input, alone and fused.
//!
//! Each becomes a [`Step`], a function of slices. Single calls and chains of calls run the same steps, tile by tile
//! ([`program`]), so a fused call gives the bits of the single calls.

mod activation;
mod binary;
mod convert;
mod fill;
mod half_precision;
mod loops;
mod plan;
mod program;
mod scalar;
mod unary;

pub use binary::{Minus, Over, Plus, Times};
pub use half_precision::HalfFloat;
pub use loops::{Binary, Left, Right, Unary, map_slice, zip_slices};
pub use plan::{plan, plan_fused};

use crate::level::Level;
use mxrs_op::OpParams;
use mxrs_types::DType;

/// Computes all bytes of the output from those of the inputs that it reads; all have the same number of elements.
pub type Run = Box<dyn Fn(&[&[u8]], &mut [u8]) + Send + Sync>;

/// One call, ready to run on any slices.
pub struct Step {
    /// Positions of the inputs that it reads, in the order in which `run` takes them.
    pub reads: Vec<usize>,
    /// The function.
    pub run: Run,
}

impl Step {
    /// A step that reads the first `n` inputs.
    fn of_first(n: usize, run: Run) -> Self {
        Self { reads: (0..n).collect(), run }
    }
}

/// The call that a step is asked for.
pub struct StepCall<'a> {
    /// Operator.
    pub name: &'a str,
    /// Its parameters.
    pub params: &'a OpParams,
    /// Types of its inputs.
    pub inputs: &'a [DType],
    /// Type of its output.
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

/// A step, or the reason why there is none.
type StepResult = Result<Step, String>;

/// Returns the step of a call.
///
/// # Errors
/// The reason, in words, why it has none.
pub fn step(call: &StepCall<'_>) -> StepResult {
    let families = [unary::step, binary::step, scalar::step, activation::step, convert::step, fill::step];
    let found = families.iter().find_map(|family| family(call));
    found.unwrap_or_else(|| Err(format!("no kernel for {}", call.name)))
}

/// Evaluates to `Ok` of an expression that makes a [`Run`], with a type alias per dtype with arithmetic; 16-bit floats
/// are computed in `f32`.
macro_rules! for_numbers {
    ($call:expr, $n_inputs:expr, $t:ident => $make:expr) => {
        $crate::number::for_integers!($call.dtype(), $t => $make,
            _other => $crate::pointwise::for_floats!($call, $n_inputs, $t => $make))
        .map(|run| $crate::pointwise::Step::of_first($n_inputs, run))
    };
}

/// As [`for_numbers`], for floats only; evaluates to the [`Run`] alone.
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
