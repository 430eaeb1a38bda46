//! The sum of the values of all workers for one piece, added in the order of ranks.

use super::packet::{Header, Kind, Packet};
use crate::Compression;
use crate::sum::{Order, sum_range};
use mxrs_types::{DType, Error, Result};

/// How the elements of a piece are encoded in messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Codec {
    pub dtype: DType,
    /// The compression of values. Sums are not compressed.
    pub compression: Option<Compression>,
}

impl Codec {
    /// Number of bytes of a message that carries a worker's value of `n` elements.
    pub fn value_bytes(self, n: usize) -> usize {
        self.compression.map_or(n * self.dtype.size_of(), |compression| compression.code_bytes(n))
    }
}

/// A sum of which some values may not have arrived. The values are added when all are there, in one pass over the memory.
pub(super) struct Sum {
    codec: Codec,
    n_elements: usize,
    /// The values that have arrived, by rank.
    values: Vec<Option<Packet>>,
}

impl Sum {
    pub fn new(codec: Codec, n_elements: usize, n_workers: usize) -> Self {
        Self { codec, n_elements, values: (0..n_workers).map(|_| None).collect() }
    }

    /// Takes the value of a worker. Returns whether all values are there.
    ///
    /// # Errors
    /// Fails if the worker has sent its value before, or if the value has another size.
    pub fn take(&mut self, rank: usize, value: Packet) -> Result<bool> {
        let expected = self.codec.value_bytes(self.n_elements);
        let n_bytes = value.content().len();
        if n_bytes != expected {
            let got = format!("{n_bytes} bytes");
            let expected = format!("{expected} bytes, as all workers have");
            return Err(Error::invalid(format!("gradient of worker {rank}"), got, expected));
        }
        let Some(place @ None) = self.values.get_mut(rank) else {
            return Err(Error::invalid(format!("gradient of worker {rank}"), "a second one", "one in each round"));
        };
        *place = Some(match self.codec.compression {
            None => value,
            Some(compression) => {
                let mut decoded = Packet::new(Header::of(Kind::Value), 4 * self.n_elements);
                compression.decode(value.content(), bytemuck::cast_slice_mut(decoded.content_mut()));
                decoded
            }
        });
        Ok(self.values.iter().all(Option::is_some))
    }

    /// The workers whose values are missing.
    pub fn missing(&self) -> Vec<usize> {
        (0..self.values.len()).filter(|&rank| self.values[rank].is_none()).collect()
    }

    /// Adds all values in the order of ranks, and writes the sum to `out`.
    ///
    /// # Safety
    /// All values are there. `out` points to as many elements of the type as a value has, aligned for the type. No other
    /// code uses these elements, and they do not overlap a value.
    pub unsafe fn write(&self, out: *mut u8) {
        let inputs: Vec<*const u8> = self.values.iter().flatten().map(|value| value.content().as_ptr()).collect();
        // SAFETY: `take` checked that every value has `n_elements` elements of the type, and the store refused types that
        // are not summed. A content is aligned to 8 bytes, or begins at an element of an array of the type. The caller
        // promises the rest.
        unsafe { sum_range(self.codec.dtype, Order::LeftToRight, &[out], &inputs, self.n_elements) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(elements: &[f32]) -> Packet {
        Packet::with(Header::of(Kind::Value), bytemuck::cast_slice(elements))
    }

    fn total(sum: &Sum) -> Vec<f32> {
        let mut total = vec![f32::NAN; sum.n_elements];
        // SAFETY: the test has given all values. `total` has as many elements, which nothing else uses.
        unsafe { sum.write(total.as_mut_ptr().cast()) };
        total
    }

    #[test]
    fn the_order_of_arrival_does_not_change_the_sum() {
        // In float32, (1e8 + 1) - 1e8 is 0, and (1e8 - 1e8) + 1 is 1.
        let values = [1e8f32, 1.0, -1e8, 3.0];
        let codec = Codec { dtype: DType::F32, compression: None };
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1], [1, 3, 0, 2]] {
            let mut sum = Sum::new(codec, 1, 4);
            for (n, rank) in order.into_iter().enumerate() {
                assert_eq!(sum.missing().len(), 4 - n);
                assert_eq!(sum.take(rank, value(&[values[rank]])).unwrap(), n == 3);
            }
            assert_eq!(total(&sum), [3.0]);
        }
    }

    #[test]
    fn wrong_values_are_refused() {
        let mut sum = Sum::new(Codec { dtype: DType::F32, compression: None }, 2, 3);
        let refused = |sum: &mut Sum, rank, elements: &[f32], words: &str| {
            let error = sum.take(rank, value(elements)).unwrap_err().to_string();
            assert!(error.contains(words) && error.contains("worker"), "{error}");
        };
        refused(&mut sum, 0, &[1.0], "4 bytes");
        sum.take(1, value(&[1.0, 2.0])).unwrap();
        refused(&mut sum, 1, &[1.0, 2.0], "a second one");
        sum.take(0, value(&[1.0, 2.0])).unwrap();
        refused(&mut sum, 0, &[1.0, 2.0], "a second one");
        refused(&mut sum, 3, &[1.0, 2.0], "a second one");
        assert_eq!(sum.missing(), [2]);
    }

    #[test]
    fn codes_are_decoded_and_added() {
        let compression = Compression::TwoBit { threshold: 0.5 };
        let mut sum = Sum::new(Codec { dtype: DType::F32, compression: Some(compression) }, 5, 2);
        let codes = |bytes: [u8; 4]| Packet::with(Header::of(Kind::Value), &bytes);
        // The two-bit codes of MXNet for the gradient [.4 .5 -.6 .1 -.5]. Worker 1 has pushed it twice, so residuals of the
        // first push are included; worker 0 has pushed it once.
        assert!(!sum.take(1, codes([0xf8, 0x80, 0, 0])).unwrap());
        assert!(sum.take(0, codes([0x38, 0x80, 0, 0])).unwrap());
        assert_eq!(total(&sum), [0.5, 1.0, -1.0, 0.0, -1.0]);
    }
}
