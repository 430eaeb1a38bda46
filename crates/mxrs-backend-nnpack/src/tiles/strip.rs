//! The arguments of the transforms: neighboring tiles of one row of tiles, one channel block.

use super::BLOCK;

/// Number of columns that the buffer of a transform holds.
pub(crate) const BUFFER_COLUMNS: usize = 50;
/// Distance in values from one row of the buffer to the next. It is not a multiple of a page, because rows at such
/// distances would collide in the cache.
pub(crate) const BUFFER_STRIDE: usize = (BUFFER_COLUMNS + 1) * BLOCK;

/// Zeros that are read instead of rows outside the image.
pub(crate) static ZEROS: [f32; BUFFER_STRIDE] = [0.0; BUFFER_STRIDE];

/// Tiles whose inputs are to be transformed.
pub(crate) struct Inputs {
    /// The image's first pixel of this channel block.
    pub src: *const u8,
    /// Distance in values from one row of the image to the next, and from one pixel to the next.
    pub steps: [usize; 2],
    /// Height and width of the image.
    pub size: [usize; 2],
    /// Row and column of the first tile's first input; negative in the padding.
    pub origin: [isize; 2],
    /// Number of tiles. All their columns must fit into the buffer.
    pub len: usize,
    /// Outputs of a tile, down and across, which is the distance between tiles.
    pub m: [usize; 2],
    /// Address of the first plane of the result: 16 values (one per channel) of the first tile, then those of the next
    /// tile.
    pub factors: *mut f32,
    /// Distance in values from one plane to the next.
    pub plane: usize,
    /// A buffer with [`BUFFER_STRIDE`] values for each row of a tile.
    pub buffer: *mut f32,
}

/// The epilogue of a channel block. Padding channels have zeros everywhere, so they become 0.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(crate) struct ChannelEpilogue {
    /// Bias, which is added to the outputs.
    pub bias: [f32; BLOCK],
    /// Lower bounds.
    pub lo: [f32; BLOCK],
    /// Upper bounds.
    pub hi: [f32; BLOCK],
}

/// Tiles whose products are to be transformed.
pub(crate) struct Outputs<'a> {
    /// Address of the first plane of products: 16 values (one per channel) of the first tile, then those of the next
    /// tile.
    pub products: *const f32,
    /// Distance in values from one plane to the next.
    pub plane: usize,
    /// Number of tiles.
    pub len: usize,
    /// Outputs of a tile, down and across.
    pub m: [usize; 2],
    /// Address of the first tile's first output, to be written.
    pub dst: *mut u8,
    /// Address of the same output in a tensor that is added to the outputs. Null for none.
    pub sum: *const u8,
    /// Distance in values from one row of the image to the next, and from one pixel to the next.
    pub steps: [usize; 2],
    /// Rows and columns of outputs that lie inside the image.
    pub inside: [usize; 2],
    /// The epilogue.
    pub epilogue: &'a ChannelEpilogue,
    /// A buffer with [`BUFFER_STRIDE`] values for each row of a tile.
    pub buffer: *mut f32,
}
