//! What is handed to the transforms: neighboring tiles of one row of tiles, one channel block.

use super::BLOCK;

/// Columns that the buffer holds.
pub(crate) const BUFFER_COLUMNS: usize = 50;
/// Values from one row of the buffer to the next; no multiple of a page, which would collide in the cache.
pub(crate) const BUFFER_STRIDE: usize = (BUFFER_COLUMNS + 1) * BLOCK;

/// What stands for rows outside the image.
pub(crate) static ZEROS: [f32; BUFFER_STRIDE] = [0.0; BUFFER_STRIDE];

/// Tiles whose inputs are transformed.
pub(crate) struct Inputs {
    /// The image's first pixel of this channel block.
    pub src: *const u8,
    /// Numbers from one row of it to the next, and from one pixel to the next.
    pub steps: [usize; 2],
    /// Its height and width.
    pub size: [usize; 2],
    /// Row and column of the first tile's first input, negative where padding is read.
    pub origin: [isize; 2],
    /// Tiles; all their columns fit the buffer.
    pub len: usize,
    /// Outputs of a tile, down and across: how far tiles are from one another.
    pub m: [usize; 2],
    /// Where the first tile's factor for the first product goes; the next tile's lies 16 values on.
    pub factors: *mut f32,
    /// Values from one product's plane to the next.
    pub plane: usize,
    /// As many rows of [`BUFFER_STRIDE`] values as a tile has.
    pub buffer: *mut f32,
}

/// What is done to a channel block's outputs. Lanes beyond the last channel have zeros everywhere.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Finish {
    /// Added.
    pub bias: [f32; BLOCK],
    /// Lower bounds.
    pub lo: [f32; BLOCK],
    /// Upper bounds.
    pub hi: [f32; BLOCK],
}

/// Tiles whose products are transformed.
pub(crate) struct Outputs<'a> {
    /// The first tile's first product; the next tile's lies 16 values on.
    pub products: *const f32,
    /// Values from one product's plane to the next.
    pub plane: usize,
    /// Tiles.
    pub len: usize,
    /// Outputs of a tile, down and across.
    pub m: [usize; 2],
    /// Where the first tile's first output goes.
    pub dst: *mut u8,
    /// Added to each output, addressed like it. Null for none.
    pub sum: *const u8,
    /// Numbers from one row of the image to the next, and from one pixel to the next.
    pub steps: [usize; 2],
    /// Rows and columns of outputs that are inside the image.
    pub inside: [usize; 2],
    /// What is done to them.
    pub finish: &'a Finish,
    /// As many rows of [`BUFFER_STRIDE`] values as a tile has.
    pub buffer: *mut f32,
}
