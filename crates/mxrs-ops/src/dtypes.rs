//! The element types that operators are built for.

use mxrs_op::{op_enum, param::Choice};
use mxrs_types::DType;

/// Floating-point types.
pub const FLOATS: &[DType] = &[DType::F32, DType::F64, DType::F16, DType::BF16];

/// Types with arithmetic: floats, and the integers that MXNet computes with.
pub const NUMBERS: &[DType] =
    &[DType::F32, DType::F64, DType::F16, DType::BF16, DType::U8, DType::I8, DType::I32, DType::I64];

/// Types that data-moving operators accept: [`NUMBERS`] and bool.
pub const MOVABLE: &[DType] =
    &[DType::F32, DType::F64, DType::F16, DType::BF16, DType::U8, DType::I8, DType::I32, DType::I64, DType::Bool];

/// Declares an enum with the names of the dtypes in [`NUMBERS`], in MXNet's order, followed by further names.
macro_rules! number_words {
    ($(#[$doc:meta])* $name:ident $(, $more:ident = $word:literal)*) => {
        op_enum! {
            $(#[$doc])*
            pub enum $name {
                F32 = "float32",
                F64 = "float64",
                F16 = "float16",
                BF16 = "bfloat16",
                U8 = "uint8",
                I8 = "int8",
                I32 = "int32",
                I64 = "int64",
                $($more = $word,)*
            }
        }
    };
}

number_words! {
    /// Element type named by a parameter `dtype`.
    DTypeWord, Bool = "bool"
}

number_words! {
    /// Element type of numbers, named by a parameter `dtype`.
    NumberWord
}

op_enum! {
    /// Floating-point type named by a parameter `dtype`.
    pub enum FloatWord { F16 = "float16", F32 = "float32", F64 = "float64" }
}

/// The dtype that a word names.
pub fn dtype_of(word: impl Choice) -> DType {
    // Parsing cannot fail: every word of these enums is the name of a dtype, as a test checks.
    word.to_word().parse().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_a_dtype() {
        for word in DTypeWord::WORDS {
            let dtype = dtype_of(DTypeWord::from_word(word).expect("its own word"));
            assert_eq!(dtype.name(), *word);
        }
        for word in NumberWord::WORDS {
            assert_eq!(dtype_of(NumberWord::from_word(word).expect("its own word")).name(), *word);
        }
        for word in FloatWord::WORDS {
            assert_eq!(dtype_of(FloatWord::from_word(word).expect("its own word")).name(), *word);
        }
    }
}
