//! Where the pixels of a tensor are stored, by channel block.

use super::{BLOCK, Data};

/// A tensor of activations.
#[derive(Clone, Copy)]
pub(crate) struct Image {
    at: *mut u8,
    data: Data,
    /// Distance in values from one image to the next, and from one channel block to the next.
    outer: [usize; 2],
    /// Distance in values from one row to the next, and from one pixel to the next.
    pub steps: [usize; 2],
}

impl Image {
    /// A tensor with this number of channel blocks, height and width.
    pub fn new(at: *mut u8, data: Data, blocks: usize, [h, w]: [usize; 2]) -> Self {
        let (outer, steps) = match data {
            Data::Blocks => ([blocks * h * w * BLOCK, h * w * BLOCK], [w * BLOCK, BLOCK]),
            Data::Bf16Pixels => ([blocks * h * w * BLOCK, BLOCK], [w * blocks * BLOCK, blocks * BLOCK]),
        };
        Self { at, data, outer, steps }
    }

    /// A tensor of the same sizes at another address.
    pub fn moved(self, at: *mut u8) -> Self {
        Self { at, ..self }
    }

    /// The same tensor with another distance between images, if one is given.
    pub fn with_image_stride(mut self, image_len: Option<usize>) -> Self {
        self.outer[0] = image_len.unwrap_or(self.outer[0]);
        self
    }

    /// The address of the 16 values that a pixel has in a channel block.
    pub fn pixel(&self, image: usize, block: usize, [y, x]: [usize; 2]) -> *mut u8 {
        let size = match self.data {
            Data::Blocks => size_of::<f32>(),
            Data::Bf16Pixels => size_of::<u16>(),
        };
        let number = image * self.outer[0] + block * self.outer[1] + y * self.steps[0] + x * self.steps[1];
        self.at.wrapping_add(number * size)
    }
}
