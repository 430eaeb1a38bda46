//! Element types, with MXNet's names and the flags stored in files.

use crate::{Error, ErrorKind};
use std::fmt;
use std::str::FromStr;

/// Element type of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[repr(i32)]
pub enum DType {
    /// 32-bit IEEE float.
    #[default]
    F32 = 0,
    /// 64-bit IEEE float.
    F64 = 1,
    /// 16-bit IEEE float.
    F16 = 2,
    /// Unsigned 8-bit integer.
    U8 = 3,
    /// Signed 32-bit integer.
    I32 = 4,
    /// Signed 8-bit integer.
    I8 = 5,
    /// Signed 64-bit integer.
    I64 = 6,
    /// One byte, 0 or 1.
    Bool = 7,
    /// Signed 16-bit integer.
    I16 = 8,
    /// Unsigned 16-bit integer.
    U16 = 9,
    /// Unsigned 32-bit integer.
    U32 = 10,
    /// Unsigned 64-bit integer.
    U64 = 11,
    /// bfloat16: the upper half of a 32-bit float.
    BF16 = 12,
}

impl DType {
    /// Every type, in flag order.
    pub const ALL: [Self; 13] = [
        Self::F32,
        Self::F64,
        Self::F16,
        Self::U8,
        Self::I32,
        Self::I8,
        Self::I64,
        Self::Bool,
        Self::I16,
        Self::U16,
        Self::U32,
        Self::U64,
        Self::BF16,
    ];

    /// Floating-point types, for which gradients are defined.
    pub const FLOATS: [Self; 4] = [Self::F16, Self::BF16, Self::F32, Self::F64];

    /// The size of one element in bytes.
    pub const fn size_of(self) -> usize {
        match self {
            Self::U8 | Self::I8 | Self::Bool => 1,
            Self::F16 | Self::BF16 | Self::I16 | Self::U16 => 2,
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::F64 | Self::I64 | Self::U64 => 8,
        }
    }

    /// The flag stored in `.params` files and in the attribute `__dtype__` of symbol files.
    pub const fn flag(self) -> i32 {
        self as i32
    }

    /// The type for a stored flag; `None` for an unknown flag.
    pub fn from_flag(flag: i32) -> Option<Self> {
        Self::ALL.into_iter().find(|t| t.flag() == flag)
    }

    /// The name that MXNet and NumPy use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F32 => "float32",
            Self::F64 => "float64",
            Self::F16 => "float16",
            Self::U8 => "uint8",
            Self::I32 => "int32",
            Self::I8 => "int8",
            Self::I64 => "int64",
            Self::Bool => "bool",
            Self::I16 => "int16",
            Self::U16 => "uint16",
            Self::U32 => "uint32",
            Self::U64 => "uint64",
            Self::BF16 => "bfloat16",
        }
    }

    /// Whether this is one of [`Self::FLOATS`].
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::BF16 | Self::F32 | Self::F64)
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for DType {
    type Err = Error;

    /// Parses an MXNet name such as `float32`.
    ///
    /// # Errors
    /// Returns [`ErrorKind::InvalidValue`] with all names if the text is not one of them.
    fn from_str(text: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|t| t.name() == text).ok_or_else(|| {
            Error::new(ErrorKind::InvalidValue {
                what: "dtype".into(),
                got: text.into(),
                expected: Self::ALL.map(Self::name).join(", "),
            })
        })
    }
}

/// A floating-point element type; kernels convert it to `f64` or `f32` for arithmetic.
pub trait Float: Copy + Send + Sync + 'static {
    /// The [`DType`] of this type.
    const DTYPE: DType;
    /// Converts to `f64`, which is exact.
    fn to_f64(self) -> f64;
    /// Converts from `f64`, rounding to nearest, ties to even.
    fn from_f64(value: f64) -> Self;
}

macro_rules! float {
    ($t:ty, $d:expr, $to:expr, $from:expr) => {
        impl Float for $t {
            const DTYPE: DType = $d;
            fn to_f64(self) -> f64 {
                $to(self)
            }
            fn from_f64(value: f64) -> Self {
                $from(value)
            }
        }
    };
}
float!(f32, DType::F32, f64::from, |v| v as f32);
float!(f64, DType::F64, |v| v, |v| v);
float!(half::f16, DType::F16, half::f16::to_f64, |v| half::f16::from_f32(to_odd(v)));
float!(half::bf16, DType::BF16, half::bf16::to_f64, |v| half::bf16::from_f32(to_odd(v)));

/// Rounds to `f32` towards 0, and sets the last bit if the result is inexact. Rounding the result to 16 bits then gives the
/// same number as rounding `value` to 16 bits. (The conversion from `f64` in the crate `half` drops the last bits first,
/// and so treats values near a tie as ties.)
fn to_odd(value: f64) -> f32 {
    let nearest = value as f32;
    if f64::from(nearest) == value || !nearest.is_finite() {
        return nearest;
    }
    let is_beyond = f64::from(nearest).abs() > value.abs();
    f32::from_bits((nearest.to_bits() - u32::from(is_beyond)) | 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_bits_are_rounded_once() {
        use half::{bf16, f16};
        let away = |value: f64, by: i64| f64::from_bits((value.to_bits() as i64 + by) as u64);
        // Rounds values halfway between two neighboring 16-bit numbers, and slightly below and above, with both signs.
        for sign in [1.0, -1.0] {
            for (low, tie, high) in [(5.625, 5.640625, 5.65625), [2.0, 2.5, 3.0].map(|v| v * 2f64.powi(-133)).into()] {
                let round = |value: f64| <bf16 as Float>::from_f64(value).to_f64();
                assert_eq!(round(sign * away(tie, -1)), sign * low);
                assert_eq!(round(sign * away(tie, 1)), sign * high);
            }
            let round = |value: f64| <f16 as Float>::from_f64(value).to_f64();
            for (low, tie, high) in
                [(1.0, 1.0 + 2f64.powi(-11), 1.0 + 2f64.powi(-10)), (0.0, 2f64.powi(-25), 2f64.powi(-24))]
            {
                assert_eq!(round(sign * away(tie, -1)), sign * low);
                assert_eq!(round(sign * tie), sign * low);
                assert_eq!(round(sign * away(tie, 1)), sign * high);
            }
            assert_eq!(round(sign * 1e6), sign * f64::INFINITY);
        }
        assert!(<f16 as Float>::from_f64(f64::NAN).is_nan() && <bf16 as Float>::from_f64(f64::NAN).is_nan());
    }

    #[test]
    fn names_and_flags_are_unique_and_round_trip() {
        for (position, dtype) in DType::ALL.into_iter().enumerate() {
            assert_eq!(dtype.flag(), position as i32);
            assert_eq!(DType::from_flag(dtype.flag()), Some(dtype));
            assert_eq!(dtype.name().parse::<DType>().unwrap(), dtype);
        }
        assert_eq!(DType::from_flag(-1), None);
        assert!("float".parse::<DType>().is_err());
    }
}
