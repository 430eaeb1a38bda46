//! The sum of the values of all workers for one piece, added in the order of ranks.

use super::packet::Packet;
use crate::Compression;
use crate::sum::{Order, sum_range};
use mxrs_types::{DType, Error, Result};

/// How the elements of a piece are in messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Codec {
    pub dtype: DType,
    /// The compression of values. Sums are not compressed.
    pub compression: Option<Compression>,
}

impl Codec {
    /// Number of bytes of `n` elements of a value.
    pub fn value_bytes(self, n: usize) -> usize {
        self.compression.map_or(n * self.dtype.size_of(), |compression| compression.code_bytes(n))
    }
}

/// A sum of which some values may not have arrived.
pub(super) struct Sum {
    codec: Codec,
    n_elements: usize,
    /// The values that have arrived and are not added, by rank.
    waiting: Vec<Option<Packet>>,
    /// The number of ranks whose values are added: those below this number.
    n_added: usize,
    total: Option<Packet>,
}

impl Sum {
    pub fn new(codec: Codec, n_elements: usize, n_workers: usize) -> Self {
        Self { codec, n_elements, waiting: (0..n_workers).map(|_| None).collect(), n_added: 0, total: None }
    }

    /// Takes the value of a worker, and adds all values whose turn it is. Returns the sum when all values are added.
    ///
    /// # Errors
    /// Fails if the worker has sent its value before, or if the value has another size.
    pub fn take(&mut self, rank: usize, value: Packet) -> Result<Option<Packet>> {
        let expected = self.codec.value_bytes(self.n_elements);
        let n_bytes = value.content().len();
        if n_bytes != expected {
            let got = format!("{n_bytes} bytes");
            let expected = format!("{expected} bytes, as all workers have");
            return Err(Error::invalid(format!("gradient of worker {rank}"), got, expected));
        }
        if rank < self.n_added || self.waiting.get(rank).is_none_or(Option::is_some) {
            return Err(Error::invalid(format!("gradient of worker {rank}"), "a second one", "one in each round"));
        }
        self.waiting[rank] = Some(value);
        while let Some(value) = self.waiting.get_mut(self.n_added).and_then(Option::take) {
            self.add(value);
            self.n_added += 1;
        }
        Ok(if self.n_added == self.waiting.len() { self.total.take() } else { None })
    }

    /// The workers whose values are missing.
    pub fn missing(&self) -> Vec<usize> {
        (self.n_added..self.waiting.len()).filter(|&rank| self.waiting[rank].is_none()).collect()
    }

    fn add(&mut self, value: Packet) {
        let n = self.n_elements;
        let value = match self.codec.compression {
            None => value,
            Some(compression) => {
                let mut decoded = Packet::new(super::packet::Header::of(super::packet::Kind::Value), 4 * n);
                compression.decode(value.content(), bytemuck::cast_slice_mut(decoded.content_mut()));
                decoded
            }
        };
        let Some(total) = &mut self.total else {
            self.total = Some(value);
            return;
        };
        let (sum, value) = (total.content_mut().as_mut_ptr(), value.content().as_ptr());
        // SAFETY: both contents have `n` elements of the type: `take` checked the number of bytes of the value, and the total
        // was a value. A content is aligned to 8 bytes. The store refused types that are not summed. `value` and `total`
        // are different packets, which this thread owns.
        unsafe { sum_range(self.codec.dtype, Order::LeftToRight, &[sum], &[sum.cast_const(), value], n) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::packet::{Header, Kind};

    fn value(elements: &[f32]) -> Packet {
        Packet::with(Header::of(Kind::Value), bytemuck::cast_slice(elements))
    }

    #[test]
    fn the_order_of_arrival_does_not_change_the_sum() {
        // In float32, (1e8 + 1) - 1e8 is 0, and (1e8 - 1e8) + 1 is 1.
        let values = [1e8f32, 1.0, -1e8, 3.0];
        let codec = Codec { dtype: DType::F32, compression: None };
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1], [1, 3, 0, 2]] {
            let mut sum = Sum::new(codec, 1, 4);
            let mut result = None;
            for (n, rank) in order.into_iter().enumerate() {
                assert_eq!((result.is_none(), sum.missing().len()), (true, 4 - n));
                result = sum.take(rank, value(&[values[rank]])).unwrap();
            }
            assert_eq!(bytemuck::cast_slice::<u8, f32>(result.unwrap().content()), [3.0]);
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
        // The codes of MXNet for [.4 .5 -.6 .1 -.5], pushed once and twice.
        assert!(sum.take(1, codes([0xf8, 0x80, 0, 0])).unwrap().is_none());
        let total = sum.take(0, codes([0x38, 0x80, 0, 0])).unwrap().unwrap();
        assert_eq!(bytemuck::cast_slice::<u8, f32>(total.content()), [0.5, 1.0, -1.0, 0.0, -1.0]);
    }
}
