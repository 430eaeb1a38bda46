//! Which server keeps which elements of a key: MXNet's rule.

use crate::dist::part_ends;
use std::ops::Range;

/// Some elements of the flattened value of a key, and the server that keeps them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The number of the server, from 0.
    pub server: usize,
    /// The elements.
    pub elements: Range<usize>,
}

/// The prime number by which MXNet multiplies the number of a key before it chooses a server.
const FACTOR: i128 = 9973;

/// Divides the value of a key among servers, as MXNet does. A value of fewer than `big_array_elements` elements
/// (`MXNET_KVSTORE_BIGARRAY_BOUND`) is kept by server `number * 9973 % n_servers`. A larger one is divided among all
/// servers: part `i` ends at element `round(n_elements / n_servers * (i + 1))`. The rule needs no other keys, so a worker
/// that starts later finds the same servers.
///
/// With a `grain` above 1, parts end at multiples of this number of elements.
///
/// ```
/// use mxrs_kvstore::served::divide;
///
/// let sizes = |n_elements, n_servers| {
///     divide(0, n_elements, n_servers, 1_000_000, 1).iter().map(|part| part.elements.len()).collect::<Vec<_>>()
/// };
/// assert_eq!(sizes(1_466_521, 4), [366_630, 366_631, 366_630, 366_630]);
/// assert_eq!(divide(3, 10, 2, 1_000_000, 1)[0].server, 1);
/// ```
pub fn divide(number: i64, n_elements: usize, n_servers: usize, big_array_elements: u64, grain: usize) -> Vec<Part> {
    let n_servers = n_servers.max(1);
    if n_servers == 1 || (n_elements as u64) < big_array_elements {
        let server = (i128::from(number) * FACTOR).rem_euclid(n_servers as i128);
        return vec![Part { server: usize::try_from(server).unwrap_or(0), elements: 0..n_elements }];
    }
    let ends = part_ends(n_elements, n_servers, grain.max(1));
    let begins = std::iter::once(0).chain(ends.clone());
    let parts = begins.zip(ends).enumerate().map(|(server, (begin, end))| Part { server, elements: begin..end });
    parts.filter(|part| !part.elements.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// MXNet's rule with `BIGARRAY_BOUND` = 1,000,000 and `S` servers: a key of fewer elements is on server `(key * 9973) %
    /// S`. Other keys are divided among all servers: part `i` has `round(n / S * (i + 1)) - round(n / S * i)` elements, and
    /// a half is rounded away from zero.
    #[test]
    fn the_rule_of_mxnet() {
        let sizes = |n, s| divide(7, n, s, 1_000_000, 1).iter().map(|part| part.elements.len()).collect::<Vec<_>>();
        assert_eq!(sizes(1_466_521, 4), [366_630, 366_631, 366_630, 366_630]);
        assert_eq!(sizes(1_000_003, 8), [125_000, 125_001, 125_000, 125_001, 125_000, 125_000, 125_001, 125_000]);
        assert_eq!(sizes(999_999, 4), [999_999]);
        assert_eq!(sizes(5_000_000, 1), [5_000_000]);
        for (number, n_servers, server) in [(0, 4, 0), (1, 4, 1), (2, 4, 2), (5, 4, 1), (1, 9973, 0), (3, 2, 1)] {
            assert_eq!(divide(number, 10, n_servers, 100, 1), [Part { server, elements: 0..10 }]);
        }
    }

    fn ends(n_elements: usize, n_servers: usize, grain: usize) -> Vec<usize> {
        divide(0, n_elements, n_servers, 1, grain).iter().map(|part| part.elements.end).collect()
    }

    /// "Compressed: parts are cut in the compressed length and multiplied by 16 (2-bit) or 32 (1-bit), so pull parts may differ
    /// from the dense ones." 1000 elements have 63 words of 2-bit codes and 32 words of 1-bit codes.
    #[test]
    fn parts_of_compressed_values_are_whole_words_of_codes() {
        assert_eq!(ends(1000, 3, 1), [333, 667, 1000]);
        assert_eq!(ends(1000, 3, 16), [21 * 16, 42 * 16, 1000]);
        assert_eq!(ends(1000, 3, 32), [11 * 32, 21 * 32, 1000]);
    }

    /// "row_sparse: rows are split by the same rule when rows*width >= bound." Stores of several processes refuse row-sparse
    /// values; the division that these need is the one with the width of a row as grain.
    #[test]
    fn whole_rows_are_divided_by_the_same_rule() {
        let (n_rows, width) = (1_466_521, 7);
        let by_rows: Vec<usize> = ends(n_rows, 4, 1).into_iter().map(|end| end * width).collect();
        assert_eq!(ends(n_rows * width, 4, width), by_rows);
        assert_eq!(divide(3, 10 * width, 2, 10 * width as u64 + 1, width).len(), 1, "below the bound");
        assert_eq!(divide(3, 10 * width, 2, 10 * width as u64, width).len(), 2);
    }

    #[test]
    fn parts_cover_the_value_once_for_any_number() {
        for n in [1usize, 2, 5, 31, 32, 33, 1000] {
            for n_servers in 1..9 {
                for grain in [1, 16, 32] {
                    for bound in [0, u64::MAX] {
                        let parts = divide(-5, n, n_servers, bound, grain);
                        let ends = parts.iter().map(|part| part.elements.end);
                        let begins = parts.iter().map(|part| part.elements.start);
                        assert!(begins.eq(std::iter::once(0).chain(ends.clone()).take(parts.len())), "{parts:?}");
                        assert_eq!(ends.clone().next_back(), Some(n));
                        assert!(ends.take(parts.len() - 1).all(|end| end % grain == 0), "{parts:?}");
                        assert!(parts.iter().all(|part| part.server < n_servers), "{parts:?}");
                    }
                }
            }
        }
    }
}
