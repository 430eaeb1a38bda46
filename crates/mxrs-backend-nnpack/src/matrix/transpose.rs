//! Transposed copies of small matrices.

/// Copies a matrix of `rows` by `columns` to its transposed form: `to[column * to_stride + row] = from[row * from_stride +
/// column]`. Four rows of four columns move at a time, so that every cache line of four rows is read completely before the
/// next four rows.
///
/// # Safety
/// All values that the formula reads must be readable, and those that it writes must be writable and used by no other code.
pub unsafe fn transpose(
    from: *const f32,
    from_stride: usize,
    to: *mut f32,
    to_stride: usize,
    [rows, columns]: [usize; 2],
) {
    let (whole_rows, whole_columns) = (rows / 4 * 4, columns / 4 * 4);
    for row in (0..whole_rows).step_by(4) {
        for column in (0..whole_columns).step_by(4) {
            // SAFETY: four rows and four columns from here on belong to the matrix.
            unsafe {
                four_by_four(
                    from.add(row * from_stride + column),
                    from_stride,
                    to.add(column * to_stride + row),
                    to_stride,
                );
            }
        }
    }
    for row in 0..rows {
        let first = if row < whole_rows { whole_columns } else { 0 };
        for column in first..columns {
            // SAFETY: row and column belong to the matrix.
            unsafe { *to.add(column * to_stride + row) = *from.add(row * from_stride + column) }
        }
    }
}

/// Transposes four rows of four values.
///
/// # Safety
/// As for [`transpose`].
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn four_by_four(from: *const f32, from_stride: usize, to: *mut f32, to_stride: usize) {
    use std::arch::x86_64::{
        _mm_loadu_ps, _mm_movehl_ps, _mm_movelh_ps, _mm_storeu_ps, _mm_unpackhi_ps, _mm_unpacklo_ps,
    };
    // SAFETY: every x86-64 processor has these instructions, and the caller promises the memory.
    unsafe {
        let row = |i: usize| _mm_loadu_ps(from.add(i * from_stride));
        let (a, b, c, d) = (row(0), row(1), row(2), row(3));
        let (ab, cd) = (_mm_unpacklo_ps(a, b), _mm_unpacklo_ps(c, d));
        let (ab_high, cd_high) = (_mm_unpackhi_ps(a, b), _mm_unpackhi_ps(c, d));
        _mm_storeu_ps(to, _mm_movelh_ps(ab, cd));
        _mm_storeu_ps(to.add(to_stride), _mm_movehl_ps(cd, ab));
        _mm_storeu_ps(to.add(2 * to_stride), _mm_movelh_ps(ab_high, cd_high));
        _mm_storeu_ps(to.add(3 * to_stride), _mm_movehl_ps(cd_high, ab_high));
    }
}

/// Transposes four rows of four values.
///
/// # Safety
/// As for [`transpose`].
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
unsafe fn four_by_four(from: *const f32, from_stride: usize, to: *mut f32, to_stride: usize) {
    for row in 0..4 {
        for column in 0..4 {
            // SAFETY: the caller promises the memory.
            unsafe { *to.add(column * to_stride + row) = *from.add(row * from_stride + column) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_arrives_at_its_place_and_no_other_is_written() {
        for [rows, columns] in [[0, 3], [1, 1], [4, 4], [5, 9], [14, 16], [32, 16], [3, 2], [8, 7]] {
            let (from_stride, to_stride) = (columns + 3, rows + 2);
            let from: Vec<f32> = (0..rows * from_stride).map(|i| i as f32).collect();
            let mut to = vec![-1.0; columns * to_stride];
            // SAFETY: both vectors have room for the matrix with these strides.
            unsafe { transpose(from.as_ptr(), from_stride, to.as_mut_ptr(), to_stride, [rows, columns]) }
            for (at, value) in to.iter().enumerate() {
                let (column, row) = (at / to_stride, at % to_stride);
                let want = if row < rows { (row * from_stride + column) as f32 } else { -1.0 };
                assert!(*value == want, "{rows}x{columns} at {row}, {column}: {value}");
            }
        }
    }
}
