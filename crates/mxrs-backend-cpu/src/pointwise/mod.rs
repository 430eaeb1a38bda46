//! Operators whose output element `i` depends on element `i` of each input only, alone and fused.
//!
//! Each becomes a [`Step`]: a function of slices. Single calls and chains of them run the same steps, tile by tile
//! ([`program`]), so a fused call gives the bits of its calls.

mod activation;
mod binary;
mod convert;
mod fill;
mod loops;
mod plan;
mod program;
mod scalar;
mod short;
mod unary;

pub use binary::{Minus, Over, Plus, Times};
pub use loops::{Binary, Left, Right, Unary, map_slice, zip_slices};
pub use plan::{plan, plan_fused};
pub use short::Short;

use crate::level::Level;
use mxrs_op::OpParams;
use mxrs_types::DType;

/// Computes every element of the output's bytes from those of the inputs it reads, all of one number of elements.
pub type Run = Box<dyn Fn(&[&[u8]], &mut [u8]) + Send + Sync>;

/// One call, ready to run on any slices.
pub struct Step {
    /// Positions of the inputs it reads, in the order `run` gets them.
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

/// The call a step is asked for.
pub struct Ask<'a> {
    /// Operator.
    pub name: &'a str,
    /// Its parameters.
    pub params: &'a OpParams,
    /// Types of its inputs.
    pub inputs: &'a [DType],
    /// Type of its output.
    pub output: DType,
    /// Instructions to use.
    pub level: Level,
}

impl Ask<'_> {
    /// Type of the first input, or of the output when there is none.
    fn dtype(&self) -> DType {
        self.inputs.first().copied().unwrap_or(self.output)
    }
}

/// A step, or why there is none.
type Answer = Result<Step, String>;

/// The step of a call.
///
/// # Errors
/// Why it has none, in words.
pub fn step(ask: &Ask<'_>) -> Answer {
    let families = [unary::step, binary::step, scalar::step, activation::step, convert::step, fill::step];
    let found = families.iter().find_map(|family| family(ask));
    found.unwrap_or_else(|| Err(format!("no function for {}", ask.name)))
}

/// `Ok` of an expression that makes a [`Run`] with the type alias given, per element type with arithmetic; 16-bit floats are
/// computed in `f32`.
macro_rules! for_numbers {
    ($ask:expr, $n_inputs:expr, $t:ident => $make:expr) => {
        $crate::number::for_integers!($ask.dtype(), $t => $make,
            _other => $crate::pointwise::for_floats!($ask, $n_inputs, $t => $make))
        .map(|run| $crate::pointwise::Step::of_first($n_inputs, run))
    };
}

/// As [`for_numbers`], for floats only; gives the [`Run`] alone.
macro_rules! for_floats {
    ($ask:expr, $n_inputs:expr, $t:ident => $make:expr) => {
        $crate::number::for_types!([F64: f64, F32: f32], $ask.dtype(), $t => $make, other => match other {
            ::mxrs_types::DType::F16 | ::mxrs_types::DType::BF16 => {
                type $t = f32;
                $crate::pointwise::short::widened(other, $n_inputs, $make)
            }
            _ => Err(format!("{} on {other}", $ask.name)),
        })
    };
}
use {for_floats, for_numbers};
