//! The table of functions of two numbers. An entry declares up to four operators: of two tensors of equal shape, of two
//! tensors that broadcast, of a tensor and a scalar, and, if the order matters, of a scalar and a tensor. Everything else
//! follows from the entry, as in the table of [functions of one number](super::unary).
//!
//! An entry holds: a type name, a summary, the range of the samples, the names and aliases of its operators, and the formula
//! for floats and for integers, of which results keep the low bits. Then follow the gradients `lhs(g, a, b)` and
//! `rhs(g, a, b)`; without them, the gradients are zero.
//!
//! The gradients of two tensors are made of calls. So are those of a tensor and a scalar, unless `back` names an operator
//! that computes the gradient in one kernel.
//!
//! Options: `with sum` for an operator that only adds its inputs; `with float32` if mixed precision computes in float32,
//! `with float32_if_broadcast` if mixed precision in bfloat16 does so for tensors that broadcast, and `with
//! float32_if_reversed` if mixed precision in float16 does so for a scalar and a tensor.

use super::{BinaryFn, Real, Scalar, binary_op, scalar_op};
use crate::numeric;
use mxrs_op::{Combines, OpDef, OpParams, Precision};

/// Which operator of an entry is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Two tensors of equal shape.
    Pair,
    /// Two tensors that broadcast.
    Broadcast,
    /// The tensor is the left operand, and the parameter `scalar` the right one.
    Scalar,
    /// The parameter `scalar` is the left operand, and the tensor the right one.
    Reversed,
    /// The gradient of [`Form::Scalar`].
    ScalarBack,
    /// The gradient of [`Form::Reversed`].
    ReversedBack,
}

/// A computation that is made for one operator of the table.
pub trait BinaryVisitor {
    /// The result.
    type Out;
    /// Makes the computation for this operator of the entry `F`.
    fn visit<F: BinaryFn>(self, form: Form) -> Self::Out;
}

macro_rules! table {
    ($($type:ident $summary:literal on($low:literal, $high:literal)
        pair $pair:literal [$($pair_alias:literal),*]
        broadcast $broadcast:literal [$($broadcast_alias:literal),*]
        scalar $scalar:literal [$($scalar_alias:literal),*] $(back $back:literal)?
        $(reversed $reversed:literal [$($reversed_alias:literal),*] $(back $rback:literal)?)?
        $(swapped $swapped:literal)?
        ($a:ident, $b:ident) = $value:expr,
        int($i:ident, $j:ident) = $integer:expr
        $(, lhs($lg:ident, $la:ident, $lb:ident) = $lhs:expr, rhs($rg:ident, $ra:ident, $rb:ident) = $rhs:expr)?
        $(, with $option:ident)?;)*
    ) => {
        $(#[doc = concat!("`", $summary, "`.")]
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $type;

        impl BinaryFn for $type {
            const SUMMARY: &'static str = concat!("out = ", $summary);
            const DOMAIN: (f64, f64) = ($low, $high);
            const PAIR: (&'static str, &'static [&'static str]) = ($pair, &[$($pair_alias),*]);
            const BROADCAST: (&'static str, &'static [&'static str]) = ($broadcast, &[$($broadcast_alias),*]);
            const SCALAR: Scalar = Scalar { name: $scalar, aliases: &[$($scalar_alias),*], back: table!(@name $($back)?) };
            $(const REVERSED: Option<Scalar> = Some(Scalar {
                name: $reversed,
                aliases: &[$($reversed_alias),*],
                back: table!(@name $($rback)?),
            });
            const SWAPPED: &'static str = $reversed;)?
            $(const SWAPPED: &'static str = $swapped;)?
            $(const HAS_GRADIENT: bool = { let _ = stringify!($lg); true };)?
            $(table!(@$option);)?

            #[inline(always)]
            fn value<T: Real>($a: T, $b: T) -> T {
                $value
            }
            #[inline(always)]
            fn integer($i: i64, $j: i64) -> i64 {
                $integer
            }
            $(#[inline(always)]
            fn by_lhs<T: Real>($lg: T, $la: T, $lb: T) -> T {
                $lhs
            }
            #[inline(always)]
            fn by_rhs<T: Real>($rg: T, $ra: T, $rb: T) -> T {
                $rhs
            })?
        })*

        /// Functions that define the operators of two tensors of equal shape.
        pub const PAIRS: &[fn() -> OpDef] = &[$(binary_op::pair::<$type>),*];
        /// Functions that define the operators that broadcast.
        pub const BROADCASTS: &[fn() -> OpDef] = &[$(binary_op::broadcast::<$type>),*];
        /// Functions that define the operators of a tensor and a scalar.
        pub const SCALARS: &[fn() -> OpDef] =
            &[$(scalar_op::scalar::<$type>, $({ let _ = $reversed; scalar_op::reversed::<$type> },)?)*];

        /// Calls `visitor` with the entry and the form of the operator with this name; `None` if the table has none.
        pub fn visit<V: BinaryVisitor>(name: &str, visitor: V) -> Option<V::Out> {
            Some(match name {
                $($pair => visitor.visit::<$type>(Form::Pair),
                $broadcast => visitor.visit::<$type>(Form::Broadcast),
                $scalar => visitor.visit::<$type>(Form::Scalar),
                $($back => visitor.visit::<$type>(Form::ScalarBack),)?
                $($reversed => visitor.visit::<$type>(Form::Reversed),
                $($rback => visitor.visit::<$type>(Form::ReversedBack),)?)?)*
                _ => return None,
            })
        }
    };
    (@name) => { None };
    (@name $name:literal) => { Some($name) };
    (@sum) => { const COMBINES: Combines = Combines::Sum; };
    (@float32) => {
        const PRECISIONS: [fn(&OpParams) -> Precision; 2] = [Precision::float32; 2];
        const SCALARS_FOLLOW: [bool; 2] = [false; 2];
    };
    (@float32_if_broadcast) => {
        const PRECISIONS: [fn(&OpParams) -> Precision; 2] = [Precision::widest, Precision::float32];
        const PRECISIONS_FLOAT16: [fn(&OpParams) -> Precision; 2] = [Precision::widest; 2];
    };
    (@float32_if_reversed) => { const SCALARS_FOLLOW: [bool; 2] = [true, false]; };
}

table! {
    Plus "lhs + rhs" on(-1.0, 1.0)
        pair "elemwise_add" ["_Plus", "_add", "_plus", "_sparse_elemwise_add"]
        broadcast "broadcast_add" ["_sparse_broadcast_add", "_sparse_broadcast_plus", "broadcast_plus"]
        scalar "_plus_scalar" ["_PlusScalar"] swapped "_plus_scalar"
        (a, b) = a + b, int(a, b) = a.wrapping_add(b), lhs(g, _a, _b) = g, rhs(g, _a, _b) = g, with sum;
    Minus "lhs - rhs" on(-1.0, 1.0)
        pair "elemwise_sub" ["_Minus", "_minus", "_sparse_elemwise_sub", "_sub"]
        broadcast "broadcast_sub" ["_sparse_broadcast_minus", "_sparse_broadcast_sub", "broadcast_minus"]
        scalar "_minus_scalar" ["_MinusScalar"] reversed "_rminus_scalar" ["_RMinusScalar"]
        (a, b) = a - b, int(a, b) = a.wrapping_sub(b), lhs(g, _a, _b) = g, rhs(g, _a, _b) = -g;
    Times "lhs * rhs" on(-1.0, 1.0)
        pair "elemwise_mul" ["_Mul", "_mul", "_sparse_elemwise_mul"]
        broadcast "broadcast_mul" ["_sparse_broadcast_mul"]
        scalar "_mul_scalar" ["_MulScalar"] swapped "_mul_scalar"
        (a, b) = a * b, int(a, b) = a.wrapping_mul(b), lhs(g, _a, b) = g * b, rhs(g, a, _b) = g * a, with float32_if_broadcast;
    Over "lhs / rhs" on(-1.0, 1.0)
        pair "elemwise_div" ["_Div", "_div", "_sparse_elemwise_div"]
        broadcast "broadcast_div" ["_sparse_broadcast_div"]
        scalar "_div_scalar" ["_DivScalar"] reversed "_rdiv_scalar" ["_RDivScalar"] back "_backward_rdiv_scalar"
        (a, b) = a / b, int(a, b) = numeric::divide_integers(a, b),
        lhs(g, _a, b) = g / b, rhs(g, a, b) = -(g / b * a / b), with float32_if_reversed;
    Modulo "lhs mod rhs" on(0.25, 2.0)
        pair "_mod" ["_Mod"] broadcast "broadcast_mod" []
        scalar "_mod_scalar" ["_ModScalar"] reversed "_rmod_scalar" ["_RModScalar"] back "_backward_rmod_scalar"
        (a, b) = a.modulo(b), int(a, b) = numeric::modulo_integers(a, b),
        lhs(g, _a, _b) = g, rhs(g, a, b) = -(g * (a / b).floor());
    Power "lhs ^ rhs" on(0.25, 2.0)
        pair "_power" ["_Power"] broadcast "broadcast_power" []
        scalar "_power_scalar" ["_PowerScalar"] back "_backward_power_scalar"
        reversed "_rpower_scalar" ["_RPowerScalar"] back "_backward_rpower_scalar"
        (a, b) = a.powf(b), int(a, b) = (a as f64).powf(b as f64) as i64,
        lhs(g, a, b) = g * b * a.powf(b - T::one()), rhs(g, a, b) = g * a.powf(b) * a.ln(), with float32;
    Hypot "(lhs^2 + rhs^2)^(1/2)" on(0.25, 2.0)
        pair "_hypot" ["_Hypot"] broadcast "broadcast_hypot" []
        scalar "_hypot_scalar" ["_HypotScalar", "_npi_hypot_scalar"] back "_backward_hypot_scalar" swapped "_hypot_scalar"
        (a, b) = a.hypot(b), int(a, b) = (a as f64).hypot(b as f64) as i64,
        lhs(g, a, b) = g * a / a.hypot(b), rhs(g, a, b) = g * b / a.hypot(b), with float32;
    Maximum "max(lhs, rhs)" on(-1.0, 1.0)
        pair "_maximum" ["_Maximum"] broadcast "broadcast_maximum" ["_npi_maximum"]
        scalar "_maximum_scalar" ["_MaximumScalar", "_npi_maximum_scalar"] back "_backward_maximum_scalar"
        swapped "_maximum_scalar"
        (a, b) = a.larger(b), int(a, b) = a.max(b),
        lhs(g, a, b) = a.reaches(b).choose(g, T::zero()), rhs(g, a, b) = b.exceeds(a).choose(g, T::zero());
    Minimum "min(lhs, rhs)" on(-1.0, 1.0)
        pair "_minimum" ["_Minimum"] broadcast "broadcast_minimum" ["_npi_minimum"]
        scalar "_minimum_scalar" ["_MinimumScalar", "_npi_minimum_scalar"] back "_backward_minimum_scalar"
        swapped "_minimum_scalar"
        (a, b) = a.smaller(b), int(a, b) = a.min(b),
        lhs(g, a, b) = b.reaches(a).choose(g, T::zero()), rhs(g, a, b) = a.exceeds(b).choose(g, T::zero());
    Equal "1 where lhs = rhs, else 0" on(-1.0, 1.0)
        pair "_equal" ["_Equal"] broadcast "broadcast_equal" [] scalar "_equal_scalar" ["_EqualScalar"] swapped "_equal_scalar"
        (a, b) = a.equals(b), int(a, b) = i64::from(a == b);
    NotEqual "1 where lhs and rhs differ, else 0" on(-1.0, 1.0)
        pair "_not_equal" ["_Not_Equal"] broadcast "broadcast_not_equal" []
        scalar "_not_equal_scalar" ["_NotEqualScalar"] swapped "_not_equal_scalar"
        (a, b) = T::one() - a.equals(b), int(a, b) = i64::from(a != b);
    Greater "1 where lhs > rhs, else 0" on(-1.0, 1.0)
        pair "_greater" ["_Greater"] broadcast "broadcast_greater" []
        scalar "_greater_scalar" ["_GreaterScalar"] swapped "_lesser_scalar"
        (a, b) = a.exceeds(b), int(a, b) = i64::from(a > b);
    GreaterEqual "1 where lhs >= rhs, else 0" on(-1.0, 1.0)
        pair "_greater_equal" ["_Greater_Equal"] broadcast "broadcast_greater_equal" []
        scalar "_greater_equal_scalar" ["_GreaterEqualScalar"] swapped "_lesser_equal_scalar"
        (a, b) = a.reaches(b), int(a, b) = i64::from(a >= b);
    Lesser "1 where lhs < rhs, else 0" on(-1.0, 1.0)
        pair "_lesser" ["_Lesser"] broadcast "broadcast_lesser" []
        scalar "_lesser_scalar" ["_LesserScalar"] swapped "_greater_scalar"
        (a, b) = b.exceeds(a), int(a, b) = i64::from(a < b);
    LesserEqual "1 where lhs <= rhs, else 0" on(-1.0, 1.0)
        pair "_lesser_equal" ["_Lesser_Equal"] broadcast "broadcast_lesser_equal" []
        scalar "_lesser_equal_scalar" ["_LesserEqualScalar"] swapped "_greater_equal_scalar"
        (a, b) = b.reaches(a), int(a, b) = i64::from(a <= b);
    LogicalAnd "1 where neither lhs nor rhs is 0, else 0" on(-1.0, 1.0)
        pair "_logical_and" ["_Logical_And"] broadcast "broadcast_logical_and" []
        scalar "_logical_and_scalar" ["_LogicalAndScalar"] swapped "_logical_and_scalar"
        (a, b) = a.not().choose(T::zero(), T::one() - b.not()), int(a, b) = i64::from(a != 0 && b != 0);
    LogicalOr "1 where lhs or rhs is not 0, else 0" on(-1.0, 1.0)
        pair "_logical_or" ["_Logical_Or"] broadcast "broadcast_logical_or" []
        scalar "_logical_or_scalar" ["_LogicalOrScalar"] swapped "_logical_or_scalar"
        (a, b) = T::one() - a.not().choose(b.not(), T::zero()), int(a, b) = i64::from(a != 0 || b != 0);
    LogicalXor "1 where exactly one of lhs and rhs is not 0, else 0" on(-1.0, 1.0)
        pair "_logical_xor" ["_Logical_Xor"] broadcast "broadcast_logical_xor" []
        scalar "_logical_xor_scalar" ["_LogicalXorScalar"] swapped "_logical_xor_scalar"
        (a, b) = T::one() - a.not().equals(b.not()), int(a, b) = i64::from((a != 0) != (b != 0));
}
