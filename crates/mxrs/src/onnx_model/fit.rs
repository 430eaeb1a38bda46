//! Which arrays an input of another element type accepts, and whether a conversion keeps their values.

use mxrs_format::Dense;
use mxrs_types::{DType, Result};

/// The elements of an array, one after the other.
type Elements<'a, T> = Box<dyn Iterator<Item = T> + 'a>;

/// Whether arrays of one type are converted for an input of another type: bools to integers and floats, integers to floats,
/// and between types of the same kind. The reverse loses values: 0.5 is not an integer.
pub fn converts(from: DType, to: DType) -> bool {
    let kind = |dtype: DType| match dtype {
        DType::Bool => 0,
        dtype if dtype.is_float() => 2,
        _ => 1,
    };
    kind(from) <= kind(to)
}

/// Index of the first element whose value a conversion changed, in row-major order. Bools and integers must stay equal. Floats
/// may be rounded, but a finite one must stay finite.
///
/// # Errors
/// Returns the errors of reading elements.
pub fn first_changed(before: &Dense, after: &Dense) -> Result<Option<usize>> {
    if before.dtype().is_float() {
        let (before, after) = (floats(before)?, floats(after)?);
        return Ok(before.zip(after).position(|(a, b)| a.is_finite() != b.is_finite()));
    }
    let after: Elements<'_, i128> = match after.dtype().is_float() {
        // A float that is infinite becomes the largest number, which no 64-bit integer equals.
        true => Box::new(floats(after)?.map(|value| value as i128)),
        false => integers(after)?,
    };
    Ok(integers(before)?.zip(after).position(|(a, b)| a != b))
}

/// The elements of an array of floats.
fn floats(dense: &Dense) -> Result<Elements<'_, f64>> {
    let elements: Elements<'_, f64> = match dense.dtype() {
        DType::F64 => Box::new(dense.as_slice::<f64>()?.iter().copied()),
        DType::F32 => Box::new(dense.as_slice::<f32>()?.iter().map(|value| f64::from(*value))),
        _ => Box::new(dense.to_f32_vec().into_iter().map(f64::from)),
    };
    Ok(elements)
}

/// The elements of an array of bools or integers.
fn integers(dense: &Dense) -> Result<Elements<'_, i128>> {
    macro_rules! read {
        ($t:ty) => {
            Box::new(dense.as_slice::<$t>()?.iter().map(|value| i128::from(*value)))
        };
    }
    let elements: Elements<'_, i128> = match dense.dtype() {
        DType::I8 => read!(i8),
        DType::I16 => read!(i16),
        DType::I32 => read!(i32),
        DType::I64 => read!(i64),
        DType::U16 => read!(u16),
        DType::U32 => read!(u32),
        DType::U64 => read!(u64),
        DType::U8 => read!(u8),
        // A bool is stored as a byte. Arrays of floats are read by `floats`.
        DType::Bool | DType::F16 | DType::BF16 | DType::F32 | DType::F64 => {
            Box::new(dense.bytes().iter().map(|value| i128::from(*value)))
        }
    };
    Ok(elements)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_format::{Element, Tensor};

    #[track_caller]
    fn changed<T: Element>(elements: &[T], to: DType) -> Option<usize> {
        let before = Tensor::from_slice([elements.len()], elements).unwrap().into_dense().unwrap();
        assert!(converts(before.dtype(), to), "{to}");
        first_changed(&before, &before.cast(to)).unwrap()
    }

    #[test]
    fn integers_stay_equal() {
        assert_eq!(changed(&[0_i64, -1, i64::from(i32::MAX)], DType::I32), None);
        assert_eq!(changed(&[0_i64, 1 << 31], DType::I32), Some(1));
        assert_eq!(changed(&[1_i8, -1], DType::U64), Some(1));
        assert_eq!(changed(&[127_u8, 200], DType::I8), Some(1));
        assert_eq!(changed(&[0_u64, u64::MAX], DType::I64), Some(1));
    }

    #[test]
    fn integers_that_a_float_holds_become_floats() {
        assert_eq!(changed(&[255_u8, 0], DType::F32), None);
        assert_eq!(changed(&[1_i64 << 24, (1 << 24) + 1], DType::F32), Some(1));
        assert_eq!(changed(&[2048_i32, 70_000], DType::F16), Some(1));
        assert_eq!(changed(&[0_i64, i64::MAX], DType::F64), Some(1));
    }

    #[test]
    fn floats_are_rounded_but_stay_finite() {
        assert_eq!(changed(&[0.1_f64, f64::INFINITY, f64::NAN], DType::F32), None);
        assert_eq!(changed(&[0.1_f64, 1e300], DType::F32), Some(1));
        assert_eq!(changed(&[1.0_f32, 70_000.0], DType::F16), Some(1));
    }

    #[test]
    fn floats_do_not_become_integers_nor_numbers_bools() {
        assert!(!converts(DType::F32, DType::I64) && !converts(DType::U8, DType::Bool));
        assert!(!converts(DType::F16, DType::Bool) && converts(DType::Bool, DType::F32));
    }
}
