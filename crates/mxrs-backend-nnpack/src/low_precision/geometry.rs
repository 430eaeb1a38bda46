//! How a convolution becomes a product of rows with panels of weights.
//!
//! Data have channels last, so the values under one row of a window are contiguous: `kw` pixels of `c` channels. They are a
//! *run* of the sum. If columns of the window are dilated, each pixel is a run of its own. A run is cut into steps of 64
//! bytes; the last step may reach into the next pixel, whose values are multiplied by zeros.
//!
//! The rows of a tile are neighboring output pixels, whose windows are at a fixed distance in memory. So nothing is copied for
//! each window. Only padding needs a copy: a *strip*, the input rows of a few output rows with zeros at their ends.

use super::block::{STEP, TILE};
use smallvec::SmallVec;
use std::ops::Range;

/// Sizes of a convolution, or of a fully-connected layer (a window of one pixel).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Images.
    pub n: usize,
    /// Groups of channels.
    pub groups: usize,
    /// Input channels of a group.
    pub c: usize,
    /// Output channels of a group.
    pub k: usize,
    /// Height and width of the input.
    pub input: [usize; 2],
    /// Height and width of the output.
    pub output: [usize; 2],
    /// Height and width of the window.
    pub window: [usize; 2],
    /// Distance between windows, down and across.
    pub stride: [usize; 2],
    /// Rows above and columns to the left of the data that are zeros.
    pub pad: [usize; 2],
    /// Distance between neighboring taps of a window, down and across.
    pub dilate: [usize; 2],
}

impl Problem {
    /// A product of `rows` rows of `steps` values with `outputs` columns.
    pub fn dense(rows: usize, steps: usize, outputs: usize) -> Self {
        let (one, none) = ([1, 1], [0, 0]);
        Self {
            n: 1,
            groups: 1,
            c: steps,
            k: outputs,
            input: [1, rows],
            output: [1, rows],
            window: one,
            stride: one,
            pad: none,
            dilate: one,
        }
    }

    /// Output pixels of all images.
    pub fn pixels(&self) -> usize {
        self.n * self.output[0] * self.output[1]
    }

    /// The same problem with all pixels in one row, if the window is one pixel and nothing depends on rows or images.
    fn flattened(self) -> Self {
        let is_pointwise = self.groups == 1 && self.window == [1, 1] && self.stride == [1, 1] && self.pad == [0, 0];
        if is_pointwise && self.input == self.output { Self::dense(self.pixels(), self.c, self.k) } else { self }
    }
}

/// The runs that a sum consists of: their number and their length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Runs {
    /// Number of runs.
    pub n: usize,
    /// Values of a run.
    pub len: usize,
}

impl Runs {
    /// The runs of a window: one per row if `merged`, otherwise one per pixel.
    pub fn new(c: usize, [kh, kw]: [usize; 2], merged: bool) -> Self {
        if merged { Self { n: kh, len: kw * c } } else { Self { n: kh * kw, len: c } }
    }

    /// Steps of one run of numbers of this size.
    pub fn steps(&self, number_bytes: usize) -> usize {
        (self.len * number_bytes).div_ceil(STEP)
    }

    /// Steps of the whole sum.
    pub fn all_steps(&self, number_bytes: usize) -> usize {
        self.n * self.steps(number_bytes)
    }
}

/// The pixels of the output that a problem computes, if they are not all: `first`, `first + step` and so on along each axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    /// Height and width of the whole output.
    pub size: [usize; 2],
    /// Row and column of the first pixel.
    pub first: [usize; 2],
    /// Distance between the pixels, down and across.
    pub step: [usize; 2],
}

/// Where the rows of a product come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The data, where they are.
    InPlace,
    /// Strips that are copied from data with channels last.
    Pixels,
    /// Strips that are copied from row-major data.
    Planes,
}

/// A part of the output that is computed at a time: these rows and columns of these images.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Images.
    pub images: Range<usize>,
    /// Rows.
    pub rows: Range<usize>,
    /// Columns.
    pub columns: Range<usize>,
}

/// One tile of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Distance in bytes of the first row from the start of the piece.
    pub at: usize,
    /// Number of rows.
    pub len: usize,
    /// Number of rows at the beginning that the previous tile computes too.
    pub skip: usize,
    /// Image of the tile.
    pub image: usize,
    /// Output row of the tile. If all rows of the piece form one line (`is_one_line`), the first row of the piece.
    pub y: usize,
    /// Index of the first row of the tile in its line.
    pub first: usize,
}

/// The output pixels of some rows of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// First row of the tile.
    pub row: usize,
    /// Number of rows, whose pixels are neighbors.
    pub len: usize,
    /// Index of the first pixel in the output of all images.
    pub pixel: usize,
}

/// Bytes of the rows of a piece, so that they stay in the second-level cache while they are multiplied by all panels.
const PIECE_BYTES: usize = 256 << 10;
/// Largest size in bytes of the rows of two tiles that stay in the first-level cache while they are multiplied by all
/// panels.
const NEAR_BYTES: usize = 26 << 10;
/// Largest size in bytes of all panels that stay in the second-level cache while the rows are multiplied by them.
const FAR_BYTES: usize = 1 << 20;
/// Largest width of an output whose rows are computed together as one line, so that tiles have enough rows.
const NARROW: usize = 8;
/// Number of pieces that are wanted for each thread, so that threads finish at about the same time.
const SHARES: usize = 4;

/// A problem, with everything that follows from it.
#[derive(Clone, Debug)]
pub struct Geometry {
    /// The problem, flattened if possible.
    pub problem: Problem,
    /// Bytes of a number.
    pub number_bytes: usize,
    /// Where the rows come from.
    pub source: Source,
    /// Distance in bytes of each step from the start of a row.
    pub offsets: Vec<usize>,
    /// Distance in bytes between the rows of neighboring output pixels.
    pub row_bytes: usize,
    /// Pixels of a row of the source: of the data, or of a strip.
    pub width: usize,
    /// Whether all rows of a piece form one line across the ends of the image's rows. The rows at these ends are not output
    /// pixels; their sums are not stored.
    is_one_line: bool,
    /// Images, rows and columns of a piece.
    piece: [usize; 3],
    /// Number of groups that the panels are divided into.
    pub panel_groups: usize,
    /// Whether a few rows, which stay in the first-level cache, are multiplied by all panels before the next rows. If not,
    /// all rows are multiplied by one panel before the next panel.
    pub is_by_rows: bool,
    /// Which pixels of the output are computed, if they are not all.
    spread: Option<Spread>,
}

impl Geometry {
    /// Prepares a problem for numbers of this size and this number of threads. `planes` is whether the data are row-major.
    pub fn new(problem: Problem, number_bytes: usize, merged: bool, planes: bool, threads: usize) -> Self {
        Self::of(if planes { problem } else { problem.flattened() }, number_bytes, merged, planes, threads)
    }

    /// Prepares a problem in bfloat16 with channels last, whose output pixels are spread over a larger output.
    pub fn spread(problem: Problem, merged: bool, spread: Spread, threads: usize) -> Self {
        Self { spread: Some(spread), ..Self::of(problem, 2, merged, false, threads) }
    }

    fn of(p: Problem, number_bytes: usize, merged: bool, planes: bool, threads: usize) -> Self {
        let runs = Runs::new(p.c, p.window, merged);
        let is_whole = (runs.len * number_bytes).is_multiple_of(STEP);
        let covers =
            |axis: usize| (p.output[axis] - 1) * p.stride[axis] + (p.window[axis] - 1) * p.dilate[axis] < p.input[axis];
        let is_inside = p.pad == [0, 0] && covers(0) && covers(1);
        let source = match (planes, is_whole && p.groups == 1 && is_inside) {
            (true, _) => Source::Planes,
            (false, true) => Source::InPlace,
            (false, false) => Source::Pixels,
        };
        let copies = source != Source::InPlace;
        let is_one_line = copies && p.stride == [1, 1] && p.output[1] <= NARROW && p.output[0] > 1;
        let pixel = p.c * number_bytes;
        let weights = runs.all_steps(number_bytes) * STEP * p.k;
        let piece = piece_sizes(&p, pixel, weights, threads);
        let width = match source {
            Source::InPlace => p.input[1],
            // A piece has all columns of the output, unless the window is one row.
            _ => (piece[2] - 1) * p.stride[1] + (p.window[1] - 1) * p.dilate[1] + 1,
        };
        let mut offsets = Vec::with_capacity(runs.all_steps(number_bytes));
        for run in 0..runs.n {
            let [ky, kx] = if merged { [run, 0] } else { [run / p.window[1], run % p.window[1]] };
            let start = (ky * p.dilate[0] * width + kx * p.dilate[1]) * pixel;
            offsets.extend((0..runs.steps(number_bytes)).map(|step| start + step * STEP));
        }
        let mut geometry = Self {
            problem: p,
            number_bytes,
            source,
            offsets,
            row_bytes: p.stride[1] * pixel,
            width,
            is_one_line,
            piece,
            panel_groups: 1,
            is_by_rows: false,
            spread: None,
        };
        let (panels, wanted) = (p.k.div_ceil(super::block::PANEL), SHARES * threads);
        if threads > 1 && geometry.pieces() < wanted {
            geometry.panel_groups = wanted.div_ceil(geometry.pieces()).min(panels);
        }
        // Bytes of the input that two tiles read: for each row of the window, the pixels under their output pixels.
        let of_two_tiles = 2 * TILE * p.stride[1] * pixel * p.window[0];
        geometry.is_by_rows = of_two_tiles <= NEAR_BYTES && weights / geometry.panel_groups <= FAR_BYTES;
        geometry
    }

    /// Number of pieces of the output.
    pub fn pieces(&self) -> usize {
        self.counts().into_iter().product()
    }

    fn sizes(&self) -> [usize; 3] {
        [self.problem.n, self.problem.output[0], self.problem.output[1]]
    }

    /// Number of pieces along images, rows and columns.
    fn counts(&self) -> [usize; 3] {
        [0, 1, 2].map(|axis| self.sizes()[axis].div_ceil(self.piece[axis]))
    }

    /// Piece `index` of the output.
    pub fn piece(&self, index: usize) -> Piece {
        let [_, rows, columns] = self.counts();
        let part = |axis: usize, i: usize| {
            let first = i * self.piece[axis];
            first..(first + self.piece[axis]).min(self.sizes()[axis])
        };
        Piece {
            images: part(0, index / (rows * columns)),
            rows: part(1, index / columns % rows),
            columns: part(2, index % columns),
        }
    }

    /// Bytes of the largest strip, with the bytes behind it that the last step may read. 0 if nothing is copied.
    pub fn strip_bytes(&self) -> usize {
        if self.source == Source::InPlace {
            return 0;
        }
        let strip = self.strip_rows(self.piece[1]) * self.width * self.problem.c * self.number_bytes;
        (self.piece[0] * strip + STEP).next_multiple_of(STEP)
    }

    /// Input rows of a strip for this number of output rows.
    pub fn strip_rows(&self, rows: usize) -> usize {
        let p = &self.problem;
        (rows - 1) * p.stride[0] + (p.window[0] - 1) * p.dilate[0] + 1
    }

    /// Address of the first row of a piece in the data.
    ///
    /// # Safety
    /// The data must be those of the problem, and their rows must be used where they are.
    pub unsafe fn in_place(&self, data: *const u8, piece: &Piece) -> *const u8 {
        let p = &self.problem;
        let pixel = (piece.images.start * p.input[0] + piece.rows.start * p.stride[0]) * p.input[1]
            + piece.columns.start * p.stride[1];
        // SAFETY: without padding, the window of an output pixel begins at this pixel of the data.
        unsafe { data.add(pixel * p.c * self.number_bytes) }
    }

    /// The tiles of a piece, in the order of its rows.
    pub fn tiles(&self, piece: &Piece) -> SmallVec<[Tile; 32]> {
        let p = &self.problem;
        let (rows, columns) = (piece.rows.len(), piece.columns.len());
        let (lines, len) = match self.is_one_line {
            true => (1, (rows - 1) * self.width + columns),
            false => (rows, columns),
        };
        let per_line = len.div_ceil(TILE);
        let height = len.div_ceil(per_line);
        let line_bytes = self.width * p.c * self.number_bytes;
        let image_bytes = line_bytes * if self.source == Source::InPlace { p.input[0] } else { self.strip_rows(rows) };
        let lines = piece.images.clone().flat_map(|image| (0..lines).map(move |line| (image, line)));
        let all = lines.flat_map(|(image, line)| (0..per_line).map(move |i| (image, line, i)));
        all.map(|(image, line, i)| {
            // All tiles have the same number of rows. The last one of a line begins earlier for that.
            let first = (i * height).min(len - height);
            let start = (image - piece.images.start) * image_bytes + line * p.stride[0] * line_bytes;
            let at = start + first * self.row_bytes;
            Tile { at, len: height, skip: i * height - first, image, y: piece.rows.start + line, first }
        })
        .collect()
    }

    /// The output pixels of the rows of a tile.
    pub fn targets(&self, piece: &Piece, tile: &Tile) -> SmallVec<[Target; 4]> {
        let [height, width] = self.problem.output;
        let pixel = |row: usize, column: usize| match self.spread {
            None => (tile.image * height + row) * width + column,
            Some(Spread { size, first, step }) => {
                (tile.image * size[0] + first[0] + row * step[0]) * size[1] + first[1] + column * step[1]
            }
        };
        if !self.is_one_line {
            let pixel = pixel(tile.y, piece.columns.start + tile.first + tile.skip);
            let target = Target { row: tile.skip, len: tile.len - tile.skip, pixel };
            return SmallVec::from_slice(&[target]);
        }
        let mut targets = SmallVec::new();
        let mut row = tile.skip;
        while row < tile.len {
            let (y, x) = ((tile.first + row) / self.width, (tile.first + row) % self.width);
            if x < width {
                let len = (width - x).min(tile.len - row);
                targets.push(Target { row, len, pixel: pixel(tile.y + y, x) });
                row += len;
            } else {
                row += self.width - x;
            }
        }
        targets
    }
}

/// Images, rows and columns of a piece. Pieces are small enough for the cache. If there are more data than weights, there are
/// also several pieces for each thread. Small images are computed together, so that weights are read for several at a time.
fn piece_sizes(p: &Problem, pixel: usize, weights: usize, threads: usize) -> [usize; 3] {
    let [height, width] = p.output;
    let wanted = if p.n * p.input[0] * p.input[1] * pixel > weights { SHARES * threads } else { 1 };
    if height == 1 && p.window[0] == 1 && p.n == 1 {
        let most = (PIECE_BYTES / (pixel * p.stride[1])).max(1);
        let n = width.div_ceil(most).max(wanted.min(width.div_ceil(2 * TILE)));
        return [1, 1, width.div_ceil(n).next_multiple_of(2 * TILE).min(width)];
    }
    let row = (p.input[1] + p.pad[1]) * pixel;
    let most = (PIECE_BYTES / (row * p.stride[0]).max(1)).max(1);
    let n = height.div_ceil(most).max(wanted.div_ceil(p.n).min(height));
    let images = (PIECE_BYTES / (row * (p.input[0] + p.pad[0])).max(1)).min(p.n / wanted).max(1);
    if n == 1 { [images, height, width] } else { [1, height.div_ceil(n), width] }
}
