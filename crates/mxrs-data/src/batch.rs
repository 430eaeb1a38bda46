//! A batch of preprocessed images.

use crate::Image;

/// A batch. It always has `n` rows; the last `pad` rows are padding.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// Images, shape (n, channels, height, width).
    pub data: Vec<f32>,
    /// Labels, shape (n, label_width).
    pub labels: Vec<f32>,
    /// The id in the header of each row's record; 0 for padding with zeros.
    pub index: Vec<u64>,
    /// Number of padding rows at the end: records from the start of the epoch, or zeros without `round_batch`.
    pub pad: usize,
    /// Number of rows, including padding.
    pub n: usize,
    /// Channels, height and width of one row.
    pub data_shape: [usize; 3],
    /// Number of labels per row.
    pub label_width: usize,
    /// The decoded images before preprocessing, if the iterator keeps them; padding with zeros has no images.
    pub images: Vec<Image>,
}

impl Batch {
    /// Number of rows that are not padding.
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
