//! The tables of NumPy's functions of two numbers: of two tensors that broadcast, and of a tensor and a scalar. The types of
//! operands and results are described in `families/promoted.rs`. MXNet's gradient of `_npi_rarctan2_scalar` has the operands
//! in the wrong order; here it is the derivative.

use crate::families::promoted::{self, Pair, Two, Types, WithScalar};
use crate::tables::binary::*;
use mxrs_op::OpDef;
use std::f64::consts::LN_2;

const ARCTAN2: Two = Two {
    summary: "out = the angle of the point (rhs, lhs)",
    domain: (0.25, 2.0),
    float: f64::atan2,
    integer: |a, b| (a as f64).atan2(b as f64) as i64,
    slopes: Some([|g, a, b| g * b / (a * a + b * b), |g, a, b| -g * a / (a * a + b * b)]),
};

const COPYSIGN: Two = Two {
    summary: "out = |lhs| with the sign of rhs",
    domain: (0.25, 2.0),
    float: f64::copysign,
    integer: |a, b| if (a < 0) == (b < 0) { a } else { a.wrapping_neg() },
    slopes: Some([|g, a, b| if (a < 0.0) == (b < 0.0) { g } else { -g }, |_, _, _| 0.0]),
};

const LDEXP: Two = Two {
    summary: "out = lhs * 2^rhs",
    domain: (-1.0, 1.0),
    float: |a, b| a * b.exp2(),
    integer: |a, b| (a as f64 * (b as f64).exp2()) as i64,
    slopes: Some([|g, _, b| g * b.exp2(), |g, a, b| g * a * b.exp2() * LN_2]),
};

const LCM: Two = Two {
    summary: "out = the least common multiple of lhs and rhs",
    domain: (-9.0, 9.0),
    float: |a, b| lcm(a as i64, b as i64) as f64,
    integer: lcm,
    slopes: None,
};

const AND: Two = bitwise("out = lhs and rhs, bit by bit", |a, b| a & b);
const OR: Two = bitwise("out = lhs or rhs, bit by bit", |a, b| a | b);
const XOR: Two = bitwise("out = exactly one of lhs and rhs, bit by bit", |a, b| a ^ b);

const fn bitwise(summary: &'static str, integer: fn(i64, i64) -> i64) -> Two {
    // Integers only: the function of floats is never called.
    Two { summary, domain: (0.0, 9.0), float: |_, _| f64::NAN, integer, slopes: None }
}

fn lcm(a: i64, b: i64) -> i64 {
    let (mut x, mut y) = (a.unsigned_abs(), b.unsigned_abs());
    while y != 0 {
        (x, y) = (y, x % y);
    }
    a.unsigned_abs().checked_div(x).map_or(0, |times| times.wrapping_mul(b.unsigned_abs()) as i64)
}

macro_rules! pairs {
    ($($type:ident $name:literal [$lhs:literal, $rhs:literal] $two:expr, $types:ident;)*) => {
        $(struct $type;

        impl Pair for $type {
            const NAME: &'static str = $name;
            const INPUTS: &'static [&'static str] = &[$lhs, $rhs];
            const TWO: Two = $two;
            const TYPES: Types = Types::$types;
            const BACKWARD: &'static str = concat!("_backward", $name);
        })*

        /// Functions that define the operators of two tensors.
        pub const PAIRS: &[fn() -> OpDef] = &[$(promoted::define::<$type>),*];
    };
}

pairs! {
    Add "_npi_add" ["lhs", "rhs"] Two::of::<Plus>(), Common;
    Subtract "_npi_subtract" ["lhs", "rhs"] Two::of::<Minus>(), Common;
    Multiply "_npi_multiply" ["lhs", "rhs"] Two::of::<Times>(), Common;
    TrueDivide "_npi_true_divide" ["lhs", "rhs"] Two { domain: (0.25, 2.0), ..Two::of::<Over>() }, Float;
    Mod "_npi_mod" ["lhs", "rhs"] Two::of::<Modulo>(), Common;
    PowerOf "_npi_power" ["lhs", "rhs"] Two::of::<Power>(), Common;
    HypotOf "_npi_hypot" ["x1", "x2"] Two::of::<Hypot>(), OneFloat;
    ArcTan2 "_npi_arctan2" ["x1", "x2"] ARCTAN2, OneFloat;
    CopySign "_npi_copysign" ["lhs", "rhs"] COPYSIGN, One;
    LdExp "_npi_ldexp" ["lhs", "rhs"] LDEXP, One;
    Lcm "_npi_lcm" ["lhs", "rhs"] LCM, OneInteger;
    BitwiseAnd "_npi_bitwise_and" ["lhs", "rhs"] AND, OneInteger;
    BitwiseOr "_npi_bitwise_or" ["lhs", "rhs"] OR, OneInteger;
    BitwiseXor "_npi_bitwise_xor" ["lhs", "rhs"] XOR, OneInteger;
    EqualTo "_npi_equal" ["lhs", "rhs"] Two::of::<Equal>(), Bool;
    NotEqualTo "_npi_not_equal" ["lhs", "rhs"] Two::of::<NotEqual>(), Bool;
    GreaterThan "_npi_greater" ["lhs", "rhs"] Two::of::<Greater>(), Bool;
    GreaterOrEqual "_npi_greater_equal" ["lhs", "rhs"] Two::of::<GreaterEqual>(), Bool;
    LessThan "_npi_less" ["lhs", "rhs"] Two::of::<Lesser>(), Bool;
    LessOrEqual "_npi_less_equal" ["lhs", "rhs"] Two::of::<LesserEqual>(), Bool;
}

macro_rules! scalars {
    ($($type:ident $name:literal $two:expr, $types:ident, $is_reversed:literal;)*) => {
        $(struct $type;

        impl WithScalar for $type {
            const NAME: &'static str = $name;
            const TWO: Two = $two;
            const TYPES: Types = Types::$types;
            const IS_REVERSED: bool = $is_reversed;
            const BACKWARD: &'static str = concat!("_backward", $name);
        })*

        /// Functions that define the operators of a tensor and a scalar.
        pub const SCALARS: &[fn() -> OpDef] = &[$(promoted::define_scalar::<$type>),*];
    };
}

scalars! {
    AddScalar "_npi_add_scalar" Two::of::<Plus>(), Common, false;
    SubtractScalar "_npi_subtract_scalar" Two::of::<Minus>(), Common, false;
    RsubtractScalar "_npi_rsubtract_scalar" Two::of::<Minus>(), Common, true;
    MultiplyScalar "_npi_multiply_scalar" Two::of::<Times>(), Common, false;
    TrueDivideScalar "_npi_true_divide_scalar" Two::of::<Over>(), Float, false;
    RtrueDivideScalar "_npi_rtrue_divide_scalar" Two::of::<Over>(), Float, true;
    ModScalar "_npi_mod_scalar" Two::of::<Modulo>(), Common, false;
    RmodScalar "_npi_rmod_scalar" Two::of::<Modulo>(), Common, true;
    PowerScalar "_npi_power_scalar" Two::of::<Power>(), Common, false;
    RpowerScalar "_npi_rpower_scalar" Two::of::<Power>(), Common, true;
    ArcTan2Scalar "_npi_arctan2_scalar" ARCTAN2, Common, false;
    RarcTan2Scalar "_npi_rarctan2_scalar" ARCTAN2, Common, true;
    CopySignScalar "_npi_copysign_scalar" COPYSIGN, Common, false;
    RcopySignScalar "_npi_rcopysign_scalar" COPYSIGN, Common, true;
    LdExpScalar "_npi_ldexp_scalar" LDEXP, Common, false;
    RldExpScalar "_npi_rldexp_scalar" LDEXP, Common, true;
    LcmScalar "_npi_lcm_scalar" LCM, OneInteger, false;
    BitwiseAndScalar "_npi_bitwise_and_scalar" AND, OneInteger, false;
    BitwiseOrScalar "_npi_bitwise_or_scalar" OR, OneInteger, false;
    BitwiseXorScalar "_npi_bitwise_xor_scalar" XOR, OneInteger, false;
    EqualScalar "_npi_equal_scalar" Two::of::<Equal>(), Bool, false;
    NotEqualScalar "_npi_not_equal_scalar" Two::of::<NotEqual>(), Bool, false;
    GreaterScalar "_npi_greater_scalar" Two::of::<Greater>(), Bool, false;
    GreaterEqualScalar "_npi_greater_equal_scalar" Two::of::<GreaterEqual>(), Bool, false;
    LessScalar "_npi_less_scalar" Two::of::<Lesser>(), Bool, false;
    LessEqualScalar "_npi_less_equal_scalar" Two::of::<LesserEqual>(), Bool, false;
}
