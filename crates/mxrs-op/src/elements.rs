//! Converts elements of a dense tensor between bytes of any dtype and `f64` or `i64`.
//!
//! `f64` holds every element exactly except 64-bit integers beyond 2^53. Integer arithmetic uses `i64`: a conversion from
//! `u64` to `i64` wraps, but the conversion back restores the value.

use half::{bf16, f16};
use mxrs_types::DType;

/// Evaluates `$body`, in which `$t` is the type of the elements of `$dtype`.
macro_rules! by_dtype {
    ($dtype:expr, $t:ident => $body:expr) => {
        by_dtype!($dtype, $t => $body,
            F32: f32, F64: f64, F16: f16, BF16: bf16, U8: u8, Bool: u8, I8: i8,
            I16: i16, U16: u16, I32: i32, U32: u32, I64: i64, U64: u64)
    };
    ($dtype:expr, $t:ident => $body:expr, $($variant:ident: $type:ty),+) => {
        match $dtype {
            $(DType::$variant => {
                type $t = $type;
                $body
            })+
        }
    };
}

trait Element: bytemuck::Pod {
    fn to_f64(self) -> f64;
    fn from_f64(value: f64) -> Self;
    fn to_i64(self) -> i64;
    fn from_i64(value: i64) -> Self;
}

macro_rules! integer {
    ($($t:ty),*) => {$(
        impl Element for $t {
            fn to_f64(self) -> f64 {
                self as f64
            }
            fn from_f64(value: f64) -> Self {
                value as $t
            }
            fn to_i64(self) -> i64 {
                self as i64
            }
            fn from_i64(value: i64) -> Self {
                value as $t
            }
        }
    )*};
}
integer!(u8, i8, i16, u16, i32, u32, i64, u64, f32, f64);

macro_rules! half_float {
    ($($t:ty),*) => {$(
        impl Element for $t {
            fn to_f64(self) -> f64 {
                <$t>::to_f64(self)
            }
            fn from_f64(value: f64) -> Self {
                <$t as mxrs_types::Float>::from_f64(value)
            }
            fn to_i64(self) -> i64 {
                <$t>::to_f64(self) as i64
            }
            fn from_i64(value: i64) -> Self {
                <$t as mxrs_types::Float>::from_f64(value as f64)
            }
        }
    )*};
}
half_float!(f16, bf16);

/// Reads elements as `f64`. `bytes` must be aligned for the dtype, as tensors of kernels are. An empty slice may have any
/// address.
pub fn read_f64(bytes: &[u8], dtype: DType) -> Vec<f64> {
    if bytes.is_empty() {
        return Vec::new();
    }
    by_dtype!(dtype, T => bytemuck::cast_slice::<u8, T>(bytes).iter().map(|v| Element::to_f64(*v)).collect())
}

/// Writes elements from `f64`. Floats are rounded to nearest, ties to even. Integers are truncated toward zero and
/// saturate; NaN becomes 0. A bool is 0 if the value is 0, and 1 otherwise.
pub fn write_f64(values: &[f64], dtype: DType, bytes: &mut [u8]) {
    if bytes.is_empty() {
        return;
    }
    if dtype == DType::Bool {
        bytes.iter_mut().zip(values).for_each(|(to, v)| *to = u8::from(*v != 0.0));
        return;
    }
    by_dtype!(dtype, T => {
        for (to, v) in bytemuck::cast_slice_mut::<u8, T>(bytes).iter_mut().zip(values) {
            *to = Element::from_f64(*v);
        }
    });
}

/// Reads elements as `i64`. Floats are truncated, `u64` wraps.
pub fn read_i64(bytes: &[u8], dtype: DType) -> Vec<i64> {
    if bytes.is_empty() {
        return Vec::new();
    }
    by_dtype!(dtype, T => bytemuck::cast_slice::<u8, T>(bytes).iter().map(|v| Element::to_i64(*v)).collect())
}

/// Writes elements from `i64`. Narrower integers keep the low bits. A bool is 0 if the value is 0, and 1 otherwise.
pub fn write_i64(values: &[i64], dtype: DType, bytes: &mut [u8]) {
    if bytes.is_empty() {
        return;
    }
    if dtype == DType::Bool {
        bytes.iter_mut().zip(values).for_each(|(to, v)| *to = u8::from(*v != 0));
        return;
    }
    by_dtype!(dtype, T => {
        for (to, v) in bytemuck::cast_slice_mut::<u8, T>(bytes).iter_mut().zip(values) {
            *to = Element::from_i64(*v);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dtype_round_trips_small_numbers() {
        for dtype in DType::ALL {
            let values = if dtype == DType::Bool { [0.0, 1.0, 1.0] } else { [0.0, 1.0, 7.0] };
            let mut words = [0u64; 3];
            let bytes = &mut bytemuck::cast_slice_mut::<u64, u8>(&mut words)[..3 * dtype.size_of()];
            write_f64(&values, dtype, bytes);
            assert_eq!(read_f64(bytes, dtype), values, "{dtype}");
            assert_eq!(read_i64(bytes, dtype), values.map(|v| v as i64), "{dtype}");
            write_i64(&values.map(|v| v as i64), dtype, bytes);
            assert_eq!(read_f64(bytes, dtype), values, "{dtype}");
        }
    }

    #[test]
    fn integers_saturate_from_floats_and_wrap_from_integers() {
        let mut bytes = [0u8; 2];
        write_f64(&[300.0, f64::NAN], DType::U8, &mut bytes);
        assert_eq!(bytes, [255, 0]);
        write_i64(&[300, -1], DType::U8, &mut bytes);
        assert_eq!(bytes, [44, 255]);
    }
}
