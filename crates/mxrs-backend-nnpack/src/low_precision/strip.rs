//! Copies strips: the input rows of a piece of the output, with zeros at their ends.

use super::block::STEP;
use super::geometry::{Geometry, Piece, Source};
use super::level::{Level, for_each_level};
use mxrs_processor::Isa;

impl Geometry {
    /// Copies the strips of a piece, one for each image, with the channels of a group.
    ///
    /// # Safety
    /// `data` must be those of the problem in the layout of the source; `to` must have [`Self::strip_bytes`] bytes that no
    /// other thread uses.
    pub unsafe fn copy(&self, data: *const u8, piece: &Piece, group: usize, to: *mut u8) {
        let p = &self.problem;
        let pixel = p.c * self.number_bytes;
        let line = self.width * pixel;
        let rows = self.strip_rows(piece.rows.len());
        // Column `x` of the strip is column `x + first` of the data; the columns `inside` are in the data.
        let first = (piece.columns.start * p.stride[1]) as isize - p.pad[1] as isize;
        let clip = |x: isize| (x - first).clamp(0, self.width as isize) as usize;
        let inside = clip(0)..clip(p.input[1] as isize);
        let x = (first + inside.start as isize).max(0) as usize;
        for i in 0..rows * piece.images.len() {
            let (image, row) = (piece.images.start + i / rows, i % rows);
            let y = (piece.rows.start * p.stride[0] + row).wrapping_sub(p.pad[0]);
            // SAFETY: each strip has `rows` lines of `width` pixels. `y` and the columns from `x` on are in the data, as
            // checked here and by `clip`.
            unsafe {
                let to = to.add(i * line);
                if y >= p.input[0] || inside.is_empty() {
                    to.write_bytes(0, line);
                    continue;
                }
                to.write_bytes(0, inside.start * pixel);
                to.add(inside.end * pixel).write_bytes(0, (self.width - inside.end) * pixel);
                let to = to.add(inside.start * pixel);
                match self.source {
                    Source::Planes if self.number_bytes == 2 => {
                        self.interleave::<u16>(data, [image, y, x], inside.len(), to);
                    }
                    Source::Planes => self.interleave::<u8>(data, [image, y, x], inside.len(), to),
                    _ => {
                        let from = data.add(((image * p.input[0] + y) * p.input[1] + x) * p.groups * pixel);
                        if p.groups == 1 {
                            to.copy_from_nonoverlapping(from, inside.len() * pixel);
                            continue;
                        }
                        for i in 0..inside.len() {
                            let from = from.add((i * p.groups + group) * pixel);
                            to.add(i * pixel).copy_from_nonoverlapping(from, pixel);
                        }
                    }
                }
            }
        }
        // SAFETY: the strips have a step of bytes behind their last line. They are multiplied by zeros, so they must not be
        // NaN or infinite.
        unsafe { to.add(rows * piece.images.len() * line).write_bytes(0, STEP) }
    }

    /// Copies `n` pixels of a row of row-major data, so that the channels of each pixel are neighbors.
    ///
    /// # Safety
    /// The pixels from `x` on of row `y` of the image must exist; `to` must have room for them.
    unsafe fn interleave<T: Copy + 'static>(&self, data: *const u8, [image, y, x]: [usize; 3], n: usize, to: *mut u8) {
        let p = &self.problem;
        if p.c == 3 {
            let planes = [0, 1, 2].map(|channel| {
                let at = ((image * p.c + channel) * p.input[0] + y) * p.input[1] + x;
                data.cast::<T>().wrapping_add(at)
            });
            // SAFETY: the caller promises `n` pixels of each plane and in the strip; `Isa::best` detects the instructions.
            return unsafe { interleaved::<T>(Level::of(Isa::best()))(planes, to.cast(), n) };
        }
        for channel in 0..p.c {
            let from = ((image * p.c + channel) * p.input[0] + y) * p.input[1] + x;
            // SAFETY: the caller promises `n` pixels, each with `c` channels in the strip.
            unsafe {
                let (from, to) = (data.cast::<T>().add(from), to.cast::<T>().add(channel));
                for i in 0..n {
                    to.add(i * p.c).write_unaligned(from.add(i).read_unaligned());
                }
            }
        }
    }
}

for_each_level! {
    fn interleaved [T: Copy] [T]: unsafe fn(planes: [*const T; 3], to: *mut T, n: usize) = interleave_three
}

/// Writes `n` pixels of three channels.
///
/// # Safety
/// Each plane must have `n` values, and `to` room for three times as many.
#[inline(always)]
unsafe fn interleave_three<T: Copy>(planes: [*const T; 3], to: *mut T, n: usize) {
    for i in 0..n {
        // SAFETY: `i < n`.
        unsafe {
            *to.add(3 * i) = *planes[0].add(i);
            *to.add(3 * i + 1) = *planes[1].add(i);
            *to.add(3 * i + 2) = *planes[2].add(i);
        }
    }
}
