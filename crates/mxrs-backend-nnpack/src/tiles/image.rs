//! Where the pixels of a tensor lie, by channel block.

use super::{BLOCK, Data};

/// A tensor of activations.
#[derive(Clone, Copy)]
pub(crate) struct Image {
    at: *mut u8,
    data: Data,
    /// Numbers from one image to the next, and from one channel block to the next.
    outer: [usize; 2],
    /// Numbers from one row to the next, and from one pixel to the next.
    pub steps: [usize; 2],
}

impl Image {
    /// Of so many channel blocks, height and width.
    pub fn new(at: *mut u8, data: Data, blocks: usize, [h, w]: [usize; 2]) -> Self {
        let (outer, steps) = match data {
            Data::Blocks => ([blocks * h * w * BLOCK, h * w * BLOCK], [w * BLOCK, BLOCK]),
            Data::ShortPixels => ([blocks * h * w * BLOCK, BLOCK], [w * blocks * BLOCK, blocks * BLOCK]),
        };
        Self { at, data, outer, steps }
    }

    /// The same tensor elsewhere.
    pub fn moved(self, at: *mut u8) -> Self {
        Self { at, ..self }
    }

    /// The same tensor with so many numbers from one image to the next.
    pub fn apart(mut self, image_len: Option<usize>) -> Self {
        self.outer[0] = image_len.unwrap_or(self.outer[0]);
        self
    }

    /// The first of the 16 numbers of a pixel and a channel block.
    pub fn pixel(&self, image: usize, block: usize, [y, x]: [usize; 2]) -> *mut u8 {
        let size = match self.data {
            Data::Blocks => size_of::<f32>(),
            Data::ShortPixels => size_of::<u16>(),
        };
        let number = image * self.outer[0] + block * self.outer[1] + y * self.steps[0] + x * self.steps[1];
        self.at.wrapping_add(number * size)
    }
}
