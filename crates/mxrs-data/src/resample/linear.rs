//! Bilinear resizing in fixed point with OpenCV's rounding, so that pixels equal those with which MXNet's models were
//! trained.
//!
//! Sample `d` of `n_out` is at position `(d + 1/2) * n_in / n_out - 1/2` of the source. Its two neighbors get weights with
//! 11 fractional bits. The horizontal sums are exact, the vertical sums drop 4 bits, and the result is rounded half up.

use super::{Interpolation, Out, Region, View, resize_region};
use crate::wide::wide;
use crate::{DecodeLimits, Image, ImageThreads};
use mxrs_types::Result;

/// Number of fractional bits of a weight.
const BITS: u32 = 11;

/// One output sample: two source positions and their weights.
struct Tap {
    near: usize,
    far: usize,
    weight_near: i32,
    weight_far: i32,
}

/// The taps of one axis. At the borders both positions are the border pixel. On the horizontal axis one of them then gets
/// the full weight; on the vertical axis the weights are unchanged, which rounds differently.
fn taps(n_in: usize, n_out: usize, all_weight_at_border: bool) -> Vec<Tap> {
    let step = 1.0 / (n_out as f64 / n_in as f64);
    let last = n_in as i64 - 1;
    let one = (1 << BITS) as f32;
    let tap = |d: usize| {
        let place = ((d as f64 + 0.5) * step - 0.5) as f32;
        let floor = place.floor();
        let mut part = place - floor;
        let near = floor as i64;
        if all_weight_at_border && (near < 0 || near >= last) {
            part = 0.0;
        }
        Tap {
            near: near.clamp(0, last) as usize,
            far: (near + 1).clamp(0, last) as usize,
            weight_near: ((1.0 - part) * one).round_ties_even() as i32,
            weight_far: (part * one).round_ties_even() as i32,
        }
    };
    (0..n_out).map(tap).collect()
}

/// Resizes an image by bilinear interpolation without a low-pass filter (OpenCV's `INTER_LINEAR`).
///
/// # Errors
/// Returns [`mxrs_types::ErrorKind::InvalidValue`] for a size of 0 or beyond the limits.
pub fn resize(image: &Image, height: usize, width: usize, limits: &DecodeLimits) -> Result<Image> {
    resize_on(&ImageThreads::calling(), image, height, width, limits)
}

/// Like [`resize`], with the rows of the result shared among threads.
///
/// # Errors
/// Returns the errors of [`resize`], and those of the function that was given to [`ImageThreads::chosen_by`].
pub fn resize_on(
    threads: &ImageThreads,
    image: &Image,
    height: usize,
    width: usize,
    limits: &DecodeLimits,
) -> Result<Image> {
    let region = Region { top: 0, left: 0, height: image.height(), width: image.width() };
    resize_region(threads, image, region, height, width, Interpolation::Linear, limits)
}

/// Resizes a view by linear interpolation.
pub(super) fn resize_view(view: View<'_>, out: Out<'_>) -> Result<()> {
    let columns = taps(view.region.width, out.width, true);
    let rows = taps(view.region.height, out.height, false);
    combine(view, out, &columns, &rows)
}

/// Enlarges a view like OpenCV's area interpolation: source pixels become areas, with a narrow linear transition between two
/// of them.
pub(super) fn enlarge_area(view: View<'_>, out: Out<'_>) -> Result<()> {
    let columns = area_taps(view.region.width, out.width);
    let rows = area_taps(view.region.height, out.height);
    combine(view, out, &columns, &rows)
}

fn area_taps(n_in: usize, n_out: usize) -> Vec<Tap> {
    let grown = n_out as f64 / n_in as f64;
    let last = n_in - 1;
    let one = (1 << BITS) as f32;
    let tap = |d: usize| {
        let near = (d as f64 / grown).floor();
        let over = ((d as f64 + 1.0) - (near + 1.0) * grown) as f32;
        let near = (near as usize).min(last);
        let part = if over <= 0.0 || near == last { 0.0 } else { over.fract() };
        Tap {
            near,
            far: (near + 1).min(last),
            weight_near: ((1.0 - part) * one).round_ties_even() as i32,
            weight_far: (part * one).round_ties_even() as i32,
        }
    };
    (0..n_out).map(tap).collect()
}

fn combine(view: View<'_>, out: Out<'_>, columns: &[Tap], rows: &[Tap]) -> Result<()> {
    let row_len = out.width * view.image.channels();
    out.threads.share_rows(out.pixels, row_len, &|first, out| {
        // The two source rows in use, already interpolated horizontally.
        let mut near = Combined::new(row_len);
        let mut far = Combined::new(row_len);
        for (row, out) in rows[first..].iter().zip(out.chunks_exact_mut(row_len)) {
            if far.source == Some(row.near) {
                std::mem::swap(&mut near, &mut far);
            }
            near.fill(view, row.near, columns);
            far.fill(view, row.far, columns);
            wide(|| {
                for ((o, &n), &f) in out.iter_mut().zip(&near.values).zip(&far.values) {
                    let sum = ((row.weight_near * (n >> 4)) >> 16) + ((row.weight_far * (f >> 4)) >> 16);
                    *o = ((sum + 2) >> 2).clamp(0, 255) as u8;
                }
            });
        }
    })
}

/// A source row interpolated horizontally, scaled by 2^11.
struct Combined {
    source: Option<usize>,
    values: Vec<i32>,
}

impl Combined {
    fn new(len: usize) -> Self {
        Self { source: None, values: vec![0; len] }
    }

    fn fill(&mut self, view: View<'_>, y: usize, columns: &[Tap]) {
        if self.source == Some(y) {
            return;
        }
        let row = view.row(y);
        match view.image.channels() {
            1 => along::<1>(row, columns, &mut self.values),
            3 => along::<3>(row, columns, &mut self.values),
            _ => along::<4>(row, columns, &mut self.values),
        }
        self.source = Some(y);
    }
}

/// Interpolates a row of pixels with `C` channels horizontally.
fn along<const C: usize>(row: &[u8], columns: &[Tap], out: &mut [i32]) {
    let pixels = row.as_chunks::<C>().0;
    for (tap, out) in columns.iter().zip(out.as_chunks_mut::<C>().0) {
        let (near, far) = (&pixels[tap.near], &pixels[tap.far]);
        for c in 0..C {
            out[c] = i32::from(near[c]) * tap.weight_near + i32::from(far[c]) * tap.weight_far;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gray(height: usize, pixels: &[u8]) -> Image {
        Image::new(height, pixels.len() / height, 1, pixels.to_vec()).unwrap()
    }

    #[test]
    fn hand_computed_examples() {
        let limits = DecodeLimits::default();
        // Halving gives the mean of each 2 x 2 square, rounded half up: (0 + 10 + 20 + 32) / 4 = 15.5.
        assert_eq!(resize(&gray(2, &[0, 10, 20, 32]), 1, 1, &limits).unwrap().pixels(), [16]);
        // Doubling puts samples at -1/4, 1/4, 3/4 and 5/4; the border pixels are repeated.
        assert_eq!(resize(&gray(1, &[0, 100]), 1, 4, &limits).unwrap().pixels(), [0, 25, 75, 100]);
        assert_eq!(resize(&gray(2, &[0, 100]), 4, 1, &limits).unwrap().pixels(), [0, 25, 75, 100]);
        // Channels do not mix, and resizing to the same size changes nothing.
        let rgb = Image::new(1, 2, 3, vec![0, 50, 100, 100, 50, 0]).unwrap();
        assert_eq!(resize(&rgb, 1, 1, &limits).unwrap().pixels(), [50, 50, 50]);
        assert_eq!(resize(&rgb, 1, 2, &limits).unwrap(), rgb);
    }

    #[test]
    fn constant_images_stay_constant_at_any_size() {
        for (h, w) in [(1, 1), (2, 3), (7, 5), (31, 17)] {
            for value in [0, 1, 127, 254, 255] {
                let out = resize(&gray(5, &[value; 35]), h, w, &DecodeLimits::default()).unwrap();
                assert!(out.pixels().iter().all(|p| *p == value), "{h} {w} {value}");
            }
        }
    }

    #[test]
    fn limits() {
        let limits = DecodeLimits { max_pixels: 100 };
        assert!(resize(&gray(1, &[1]), 10, 10, &limits).is_ok());
        assert!(resize(&gray(1, &[1]), 10, 11, &limits).is_err());
        assert!(resize(&gray(1, &[1]), usize::MAX, usize::MAX, &limits).is_err());
        assert!(resize(&gray(1, &[1]), 0, 5, &limits).is_err());
    }
}
