//! The operators of `mxrs_ops::tables`. This file names no function: an operator that is added to a table gets its kernel
//! from these loops.

use super::loops::{Binary, Left, Right, cast, cast_mut};
use super::real::Evaluate;
use super::{Run, StepCall, StepResult, for_numbers};
use crate::level::Level;
use crate::number::Number;
use mxrs_op::elements;
use mxrs_ops::ScalarParams;
use mxrs_ops::tables::{BinaryFn, BinaryVisitor, Form, UnaryFn, UnaryVisitor, binary, unary};

/// The value of a function of one number.
#[derive(Clone, Copy)]
struct Value<F>(F);

impl<T: Evaluate, F: UnaryFn> super::Unary<T> for Value<F> {
    #[inline(always)]
    fn at(self, x: T) -> T {
        T::unary::<F>(x)
    }
}

/// The gradient of a function of one number.
#[derive(Clone, Copy)]
struct Back<F>(F);

impl<T: Evaluate, F: UnaryFn> Binary<T> for Back<F> {
    #[inline(always)]
    fn at(self, g: T, saved: T) -> T {
        T::unary_back::<F>(g, saved)
    }
}

/// The value of a function of two numbers.
#[derive(Clone, Copy)]
pub struct OfTwo<F>(pub F);

impl<T: Evaluate, F: BinaryFn> Binary<T> for OfTwo<F> {
    #[inline(always)]
    fn at(self, a: T, b: T) -> T {
        T::binary::<F>(a, b)
    }
}

/// The gradient of the tensor in a function of a tensor and a scalar. The tensor is the right operand if `IS_RIGHT`.
#[derive(Clone, Copy)]
struct BackOfScalar<F, T, const IS_RIGHT: bool>(F, T);

impl<T: Evaluate, F: BinaryFn, const IS_RIGHT: bool> Binary<T> for BackOfScalar<F, T, IS_RIGHT> {
    #[inline(always)]
    fn at(self, g: T, x: T) -> T {
        if IS_RIGHT { T::by_rhs::<F>(g, self.1, x) } else { T::by_lhs::<F>(g, x, self.1) }
    }
}

fn map<T: Evaluate>(level: Level, f: impl super::Unary<T>) -> Run {
    Box::new(move |inputs, out| T::map(level, f, cast(inputs[0]), cast_mut(out)))
}

fn zip<T: Evaluate>(level: Level, f: impl Binary<T>) -> Run {
    Box::new(move |inputs, out| T::zip(level, f, cast(inputs[0]), cast(inputs[1]), cast_mut(out)))
}

/// The scalar, converted to the tensor's type.
fn scalar<T: Number>(call: &StepCall<'_>) -> T {
    let mut word = 0u64;
    let bytes = &mut bytemuck::bytes_of_mut(&mut word)[..call.dtype().size_of()];
    elements::write_f64(&[call.params.get::<ScalarParams>().scalar], call.dtype(), bytes);
    T::from_f64(elements::read_f64(bytes, call.dtype())[0])
}

/// Makes the step of an operator of the table of functions of one number.
struct OfUnary<'a>(&'a StepCall<'a>);

impl UnaryVisitor for OfUnary<'_> {
    type Out = StepResult;
    fn visit<F: UnaryFn>(self) -> StepResult {
        let call = self.0;
        if call.name == F::NAME {
            return for_numbers!(call, 1, T => map::<T>(call.level, Value(F::default())));
        }
        for_numbers!(call, 2, T => zip::<T>(call.level, Back(F::default())))
    }
}

/// Makes the step of an operator of the table of functions of two numbers.
struct OfBinary<'a>(&'a StepCall<'a>);

impl BinaryVisitor for OfBinary<'_> {
    type Out = StepResult;
    fn visit<F: BinaryFn>(self, form: Form) -> StepResult {
        let (call, level, f) = (self.0, self.0.level, F::default());
        match form {
            Form::Pair => for_numbers!(call, 2, T => zip::<T>(level, OfTwo(f))),
            Form::Broadcast => Err("this operator is not pointwise".into()),
            Form::Scalar => for_numbers!(call, 1, T => map::<T>(level, Right(OfTwo(f), scalar::<T>(call)))),
            Form::Reversed => for_numbers!(call, 1, T => map::<T>(level, Left(OfTwo(f), scalar::<T>(call)))),
            Form::ScalarBack => {
                for_numbers!(call, 2, T => zip::<T>(level, BackOfScalar::<F, T, false>(f, scalar::<T>(call))))
            }
            Form::ReversedBack => {
                for_numbers!(call, 2, T => zip::<T>(level, BackOfScalar::<F, T, true>(f, scalar::<T>(call))))
            }
        }
    }
}

/// Returns the `Step` (the function of slices) of an operator of a table, or of its gradient; `None` for other operators.
pub fn step(call: &StepCall<'_>) -> Option<StepResult> {
    unary::visit(call.name, OfUnary(call)).or_else(|| binary::visit(call.name, OfBinary(call)))
}
