//! A batch of prepared images.

use crate::Image;

/// A batch. It always has `n` rows, of which the last `pad` only fill it up.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// Images, shape (n, channels, height, width).
    pub data: Vec<f32>,
    /// Labels, shape (n, label_width).
    pub labels: Vec<f32>,
    /// The id in the header of each row's record; 0 in padding with zeros.
    pub index: Vec<u64>,
    /// Rows at the end that only fill the batch up: records from the start again, or zeros without `round_batch`.
    pub pad: usize,
    /// How many rows there are, including padding.
    pub n: usize,
    /// Channels, height, width of one row.
    pub data_shape: [usize; 3],
    /// How many labels a row has.
    pub label_width: usize,
    /// The decoded images before preparation, if the iterator keeps them; padding of zeros has none.
    pub images: Vec<Image>,
}

impl Batch {
    /// How many rows are not padding.
    pub fn n_valid(&self) -> usize {
        self.n - self.pad
    }

    /// Data of one row, in the order (channel, row, column).
    ///
    /// # Panics
    /// If `row >= n`.
    pub fn row(&self, row: usize) -> &[f32] {
        let len = self.data.len() / self.n;
        &self.data[row * len..][..len]
    }

    /// Labels of one row.
    ///
    /// # Panics
    /// If `row >= n`.
    pub fn labels_of(&self, row: usize) -> &[f32] {
        &self.labels[row * self.label_width..][..self.label_width]
    }
}
