//! Conversion between element types.

use super::{Dense, Tensor};
use crate::AlignedBytes;
use half::{bf16, f16};
use mxrs_types::{DType, Float, Result};

/// One element during a conversion; integers stay exact.
#[derive(Clone, Copy)]
enum Number {
    Float(f64),
    Integer(i128),
}

/// Calls `each` with every element of `bytes`.
fn for_each(dtype: DType, bytes: &[u8], mut each: impl FnMut(Number)) {
    macro_rules! walk {
        ($t:ty, $wrap:expr) => {
            for item in bytes.chunks_exact(size_of::<$t>()) {
                each($wrap(bytemuck::pod_read_unaligned::<$t>(item)));
            }
        };
    }
    match dtype {
        DType::F32 => walk!(f32, |v| Number::Float(f64::from(v))),
        DType::F64 => walk!(f64, Number::Float),
        DType::F16 => walk!(f16, |v: f16| Number::Float(v.to_f64())),
        DType::BF16 => walk!(bf16, |v: bf16| Number::Float(v.to_f64())),
        DType::U8 | DType::Bool => walk!(u8, |v| Number::Integer(i128::from(v))),
        DType::I8 => walk!(i8, |v| Number::Integer(i128::from(v))),
        DType::I16 => walk!(i16, |v| Number::Integer(i128::from(v))),
        DType::U16 => walk!(u16, |v| Number::Integer(i128::from(v))),
        DType::I32 => walk!(i32, |v| Number::Integer(i128::from(v))),
        DType::U32 => walk!(u32, |v| Number::Integer(i128::from(v))),
        DType::I64 => walk!(i64, |v| Number::Integer(i128::from(v))),
        DType::U64 => walk!(u64, |v| Number::Integer(i128::from(v))),
    }
}

impl Number {
    fn float(self) -> f64 {
        match self {
            Self::Float(v) => v,
            Self::Integer(v) => v as f64,
        }
    }

    /// Stores the number as `dtype`. Floats are rounded to the nearest float; conversion to an integer truncates towards
    /// zero and saturates.
    fn store(self, dtype: DType, out: &mut [u8]) {
        macro_rules! integer {
            ($t:ty) => {
                match self {
                    Self::Float(v) => out.copy_from_slice(&(v as $t).to_ne_bytes()),
                    Self::Integer(v) => out.copy_from_slice(&(v as $t).to_ne_bytes()),
                }
            };
        }
        match dtype {
            DType::F32 => out.copy_from_slice(&(self.float() as f32).to_ne_bytes()),
            DType::F64 => out.copy_from_slice(&self.float().to_ne_bytes()),
            DType::F16 => out.copy_from_slice(&<f16 as Float>::from_f64(self.float()).to_ne_bytes()),
            DType::BF16 => out.copy_from_slice(&<bf16 as Float>::from_f64(self.float()).to_ne_bytes()),
            DType::Bool => out[0] = u8::from(self.float() != 0.0),
            DType::U8 => integer!(u8),
            DType::I8 => integer!(i8),
            DType::I16 => integer!(i16),
            DType::U16 => integer!(u16),
            DType::I32 => integer!(i32),
            DType::U32 => integer!(u32),
            DType::I64 => integer!(i64),
            DType::U64 => integer!(u64),
        }
    }
}

impl Dense {
    /// The elements rounded to `f32`.
    pub fn to_f32_vec(&self) -> Vec<f32> {
        if let Ok(same) = self.as_slice::<f32>() {
            return same.to_vec();
        }
        let mut out = Vec::with_capacity(self.bytes().len() / self.dtype().size_of());
        for_each(self.dtype(), self.bytes(), |v| out.push(v.float() as f32));
        out
    }

    /// Converts the elements to another type. Conversion between integers keeps the low bits; floats saturate to the range
    /// of an integer.
    pub fn cast(&self, dtype: DType) -> Self {
        if dtype == self.dtype() {
            return self.clone();
        }
        let n_elements = self.bytes().len() / self.dtype().size_of();
        let item = dtype.size_of();
        let mut bytes = AlignedBytes::zeroed(n_elements * item);
        let mut slots = bytes.chunks_exact_mut(item);
        for_each(self.dtype(), self.bytes(), |v| {
            if let Some(slot) = slots.next() {
                v.store(dtype, slot);
            }
        });
        Self { dtype, shape: self.shape().clone(), bytes }
    }
}

impl Tensor {
    /// The elements of a dense array rounded to `f32`, row-major.
    ///
    /// # Errors
    /// Returns [`mxrs_types::ErrorKind::InvalidValue`] if the array is not dense.
    pub fn to_f32_vec(&self) -> Result<Vec<f32>> {
        Ok(self.as_dense()?.to_f32_vec())
    }

    /// Converts the elements to another type; sparse arrays stay sparse.
    pub fn cast(&self, dtype: DType) -> Self {
        match self {
            Self::None => Self::None,
            Self::Dense(d) => Self::Dense(Box::new(d.cast(dtype))),
            Self::RowSparse(s) => Self::RowSparse(Box::new(s.cast(dtype))),
            Self::Csr(s) => Self::Csr(Box::new(s.cast(dtype))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_stay_exact_and_floats_round() {
        let big = Tensor::from_slice([2], &[i64::MAX, -1]).unwrap();
        assert_eq!(big.cast(DType::U64).as_slice::<u64>().unwrap(), &[i64::MAX as u64, u64::MAX]);
        let f = Tensor::from_slice([3], &[1.75f64, -300.0, f64::NAN]).unwrap();
        assert_eq!(f.cast(DType::I8).as_slice::<i8>().unwrap(), &[1, -128, 0]);
        assert_eq!(f.cast(DType::F16).as_slice::<f16>().unwrap()[..2], [f16::from_f32(1.75), f16::from_f32(-300.0)]);
        let wide = Tensor::from_slice([3], &[0u16, 1, 65535]).unwrap();
        assert_eq!(wide.to_f32_vec().unwrap(), [0.0, 1.0, 65535.0]);
        assert_eq!(wide.cast(DType::Bool).stored_bytes(), [0, 1, 1]);
        assert_eq!(wide.cast(DType::U16), wide);
    }
}
