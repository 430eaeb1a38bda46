//! Rust types of array elements.

use mxrs_types::DType;

/// A plain type with a [`DType`].
pub trait Element: bytemuck::Pod + Send + Sync {
    /// The dtype in which arrays store this type.
    const DTYPE: DType;
}

macro_rules! element {
    ($($t:ty => $d:ident),+ $(,)?) => { $(impl Element for $t { const DTYPE: DType = DType::$d; })+ };
}
element!(
    f32 => F32, f64 => F64, half::f16 => F16, half::bf16 => BF16, u8 => U8, i8 => I8, i16 => I16, u16 => U16,
    i32 => I32, u32 => U32, i64 => I64, u64 => U64,
);
