//! Iterates over the elements of a tensor by index, and moves elements as bytes.

use mxrs_op::{RefInput, RefOutput};
use mxrs_types::Shape;

/// Calls `visit` with every index of `shape` in row-major order.
pub fn for_each_index(shape: &[usize], mut visit: impl FnMut(&[usize])) {
    if shape.contains(&0) {
        return;
    }
    let mut index = vec![0; shape.len()];
    loop {
        visit(&index);
        let mut axis = shape.len();
        loop {
            if axis == 0 {
                return;
            }
            axis -= 1;
            index[axis] += 1;
            if index[axis] < shape[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
}

/// Position of `index` in row-major order.
pub fn flat(shape: &Shape, index: &[usize]) -> usize {
    index.iter().zip(shape.strides()).map(|(i, s)| i * s).sum()
}

/// Computes `output[index] = input[source(index)]`, where `source` returns a flat position. Elements are moved as bytes, so
/// that every dtype keeps its bits.
pub fn gather_bytes(input: &RefInput<'_>, output: &mut RefOutput<'_>, mut source: impl FnMut(&[usize]) -> usize) {
    let size = output.desc.dtype.size_of();
    let mut to = output.bytes.chunks_exact_mut(size);
    for_each_index(&output.desc.shape, |index| {
        let from = source(index) * size;
        if let Some(to) = to.next() {
            to.copy_from_slice(&input.bytes[from..from + size]);
        }
    });
}

/// Computes `output[i] = input[from[i]]` by row-major positions. Elements are moved as bytes.
pub fn gather_positions(input: &RefInput<'_>, output: &mut RefOutput<'_>, from: &[usize]) {
    let size = output.desc.dtype.size_of();
    for (to, from) in output.bytes.chunks_exact_mut(size).zip(from) {
        to.copy_from_slice(&input.bytes[from * size..][..size]);
    }
}

/// Three sizes around one axis: the product of the sizes before the axis, the size of the axis, and the product of the
/// sizes after it.
pub fn around_axis(shape: &[usize], axis: usize) -> (usize, usize, usize) {
    // The sizes on one side of an axis may be large if a size on the other side is 0.
    let product = |sizes: &[usize]| {
        if sizes.contains(&0) { 0 } else { sizes.iter().fold(1, |n: usize, size| n.saturating_mul(*size)) }
    };
    (product(&shape[..axis]), shape[axis], product(&shape[axis + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_come_in_row_major_order() {
        let shape = Shape::from([2, 1, 3]);
        let mut seen = Vec::new();
        for_each_index(&shape, |index| seen.push(flat(&shape, index)));
        assert_eq!(seen, [0, 1, 2, 3, 4, 5]);
        let mut n = 0;
        for_each_index(&[], |_| n += 1);
        assert_eq!(n, 1, "a scalar has one element");
        for_each_index(&[3, 0], |_| n += 1);
        assert_eq!(n, 1, "an empty tensor has none");
    }
}
