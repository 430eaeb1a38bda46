//! Rust types that correspond to element types of files.

use half::{bf16, f16};
use mxrs_types::DType;

/// A Rust number that is the element type of some [`DType`].
pub trait Element: bytemuck::Pod + Send + Sync {
    /// The corresponding element type.
    const DTYPE: DType;
}

macro_rules! element {
    ($($rust:ty => $dtype:ident),+ $(,)?) => {
        $(impl Element for $rust {
            const DTYPE: DType = DType::$dtype;
        })+
    };
}

element! {
    f32 => F32, f64 => F64, f16 => F16, bf16 => BF16,
    u8 => U8, u16 => U16, u32 => U32, u64 => U64,
    i8 => I8, i16 => I16, i32 => I32, i64 => I64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_agree() {
        fn check<T: Element>() {
            assert_eq!(size_of::<T>(), T::DTYPE.size_of());
        }
        check::<f32>();
        check::<f16>();
        check::<bf16>();
        check::<i64>();
        check::<u8>();
    }
}
