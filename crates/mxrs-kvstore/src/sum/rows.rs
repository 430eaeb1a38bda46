//! Sums of row-sparse values: each has some rows of a large array.

use super::arithmetic::{Order, sum_range};
use mxrs_types::DType;

/// The rows of the sum of several row-sparse values, and where each row's addends are.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RowUnion {
    /// The numbers of the rows that at least one value has, ascending.
    pub ids: Vec<i64>,
    /// The addends of all rows: the value, and the position of the row in it. The addends of one row are in the order of
    /// the values.
    addends: Vec<(usize, usize)>,
    /// Row `i` of the sum has the addends `begins[i]..begins[i + 1]`.
    begins: Vec<usize>,
}

impl RowUnion {
    /// The union of the row numbers of each value, which ascend within the value.
    pub fn new(values: &[&[i64]]) -> Self {
        let mut rows: Vec<(i64, usize, usize)> = Vec::with_capacity(values.iter().map(|ids| ids.len()).sum());
        for (value, ids) in values.iter().enumerate() {
            rows.extend(ids.iter().enumerate().map(|(row, &id)| (id, value, row)));
        }
        rows.sort_unstable();
        let (mut ids, mut begins) = (Vec::new(), Vec::new());
        for (at, &(id, _, _)) in rows.iter().enumerate() {
            if ids.last() != Some(&id) {
                ids.push(id);
                begins.push(at);
            }
        }
        begins.push(rows.len());
        Self { ids, addends: rows.into_iter().map(|(_, value, row)| (value, row)).collect(), begins }
    }
}

/// Sums the rows `begin..end` of the union. A row with one addend is a copy of it; other rows are added in the order of the
/// values.
///
/// # Safety
/// `dtype` is one of [`SUMMED`](super::SUMMED). `values[i]` points to as many rows as value `i` of the union has, and `out`
/// to as many as the union has. Each row has `width` initialized elements of type `dtype`, aligned for it. No other code
/// writes a value or uses these rows of `out` during the call, and no value overlaps `out`.
pub(crate) unsafe fn sum_rows(
    dtype: DType,
    union: &RowUnion,
    out: *mut u8,
    values: &[*const u8],
    width: usize,
    (begin, end): (usize, usize),
) {
    let row_bytes = width * dtype.size_of();
    let mut inputs: Vec<*const u8> = Vec::with_capacity(values.len());
    for row in begin..end {
        inputs.clear();
        let addends = &union.addends[union.begins[row]..union.begins[row + 1]];
        inputs.extend(addends.iter().map(|&(value, row)| values[value].wrapping_add(row * row_bytes)));
        // SAFETY: `row` is a row of the union, and each addend is a row of its value, so `width` elements are there. The
        // caller's promises hold for them.
        unsafe { sum_range(dtype, Order::LeftToRight, &[out.add(row * row_bytes)], &inputs, width) };
    }
}

/// Copies rows of `row_bytes` bytes: row `i` of `from` is copied to row `ids[i]` of `to` if `scatter` is true. Otherwise row
/// `ids[i]` of `from` is copied to row `i` of `to`.
///
/// # Safety
/// `from` and `to` point to initialized memory that contains all these rows, and do not overlap. No other code writes the
/// rows of `from` or uses those of `to` during the call. No number in `ids` is negative.
pub(crate) unsafe fn copy_rows(from: *const u8, to: *mut u8, ids: &[i64], row_bytes: usize, scatter: bool) {
    for (i, &id) in ids.iter().enumerate() {
        let (source, target) = if scatter { (i, id as usize) } else { (id as usize, i) };
        // SAFETY: the caller promises that both rows are there and do not overlap.
        unsafe { std::ptr::copy_nonoverlapping(from.add(source * row_bytes), to.add(target * row_bytes), row_bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unions_are_sorted_and_keep_the_order_of_values() {
        let union = RowUnion::new(&[&[2, 7], &[], &[0, 2, 9], &[2]]);
        assert_eq!(union.ids, [0, 2, 7, 9]);
        assert_eq!(union.addends, [(2, 0), (0, 0), (2, 1), (3, 0), (0, 1), (2, 2)]);
        assert_eq!(union.begins, [0, 1, 4, 5, 6]);
        assert_eq!(RowUnion::new(&[&[], &[]]), RowUnion { ids: vec![], addends: vec![], begins: vec![0] });
    }

    #[test]
    fn rows_are_added_in_the_order_of_values() {
        // 1e8 + 1 rounds to 1e8, so the order of additions shows: (1e8 + 1) - 1e8 = 0, but (1e8 - 1e8) + 1 = 1.
        let values: [&[f32]; 3] = [&[1e8, 1.0], &[1.0, 2.0, 5.0, 6.0], &[-1e8, 3.0]];
        let union = RowUnion::new(&[&[4], &[4, 8], &[4]]);
        let mut out = [9.0f32; 4];
        let pointers = values.map(|value| value.as_ptr().cast::<u8>());
        // SAFETY: the values have 1, 2 and 1 rows of 2 elements, `out` has 2 rows, and only this code uses them.
        unsafe { sum_rows(DType::F32, &union, out.as_mut_ptr().cast(), &pointers, 2, (0, 2)) };
        assert_eq!(out, [0.0, 6.0, 5.0, 6.0]);
    }

    #[test]
    fn rows_move_both_ways() {
        let (from, mut to) = ([1u8, 2, 3, 4], [0u8; 8]);
        // SAFETY: `from` has 2 rows of 2 bytes, `to` has 4, and the numbers are below 4.
        unsafe { copy_rows(from.as_ptr(), to.as_mut_ptr(), &[3, 1], 2, true) };
        assert_eq!(to, [0, 0, 3, 4, 0, 0, 1, 2]);
        let mut back = [0u8; 4];
        // SAFETY: as above, in the other direction.
        unsafe { copy_rows(to.as_ptr(), back.as_mut_ptr(), &[3, 1], 2, false) };
        assert_eq!(back, from);
    }
}
