//! Conversion of pixels between numbers of channels and color spaces.

use crate::wide::wide;

/// The gray value of a color PNG pixel.
pub(super) fn png_gray([r, g, b]: [u8; 3]) -> u8 {
    ((9797 * u32::from(r) + 19234 * u32::from(g) + 3737 * u32::from(b)) >> 15) as u8
}

/// The gray value of a JPEG pixel if the file has no luminance plane.
pub(super) fn jpeg_gray([r, g, b]: [u8; 3]) -> u8 {
    ((19595 * u32::from(r) + 38470 * u32::from(g) + 7471 * u32::from(b) + (1 << 15)) >> 16) as u8
}

/// Converts luminance and chrominance to red, green and blue as JFIF defines, in 16-bit fixed point, in place.
#[inline(always)]
pub(super) fn ycc_to_rgb(pixel: &mut [u8; 3]) {
    let [y, cb, cr] = pixel.map(i32::from);
    *pixel = rgb_of(y, cb, cr);
}

#[inline(always)]
fn rgb_of(y: i32, cb: i32, cr: i32) -> [u8; 3] {
    const HALF: i32 = 1 << 15;
    let (cb, cr) = (cb - 128, cr - 128);
    let red = y + ((91_881 * cr + HALF) >> 16);
    let green = y + ((-22_554 * cb - 46_802 * cr + HALF) >> 16);
    let blue = y + ((116_130 * cb + HALF) >> 16);
    [red, green, blue].map(|v| v.clamp(0, 255) as u8)
}

/// Applies [`ycc_to_rgb`] to all pixels.
pub(super) fn all_ycc_to_rgb(pixels: &mut [u8]) {
    /// Number of pixels that are split into components together, so that one SIMD vector holds one component of many pixels.
    const RUN: usize = 32;
    wide(|| {
        let (runs, rest) = pixels.as_chunks_mut::<{ 3 * RUN }>();
        for run in runs {
            let mut parts = [[0_i32; RUN]; 3];
            for i in 0..RUN {
                for c in 0..3 {
                    parts[c][i] = i32::from(run[3 * i + c]);
                }
            }
            let mut out = [[0_u8; RUN]; 3];
            for i in 0..RUN {
                let [red, green, blue] = rgb_of(parts[0][i], parts[1][i], parts[2][i]);
                (out[0][i], out[1][i], out[2][i]) = (red, green, blue);
            }
            for i in 0..RUN {
                for c in 0..3 {
                    run[3 * i + c] = out[c][i];
                }
            }
        }
        rest.as_chunks_mut().0.iter_mut().for_each(ycc_to_rgb);
    });
}

/// Converts cyan, magenta, yellow and black to red, green and blue. The inks are inverted, as in files of Adobe: 255 means
/// no ink. Rounds like OpenCV.
pub(super) fn inks_to_rgb([c, m, y, k]: [u8; 4]) -> [u8; 3] {
    let k = i32::from(k);
    [c, m, y].map(|ink| (k - (((255 - i32::from(ink)) * k) >> 8)) as u8)
}

/// Converts pixels with `from` channels (1 gray, 2 gray and alpha, 3 RGB, 4 RGBA) to pixels with `to` channels (1, 3 or 4).
pub(super) fn convert(pixels: Vec<u8>, from: usize, to: usize, gray: fn([u8; 3]) -> u8) -> Vec<u8> {
    if from == to {
        return pixels;
    }
    let mut out = Vec::with_capacity(pixels.len() / from * to);
    for pixel in pixels.chunks_exact(from) {
        let (rgb, alpha) = match *pixel {
            [y] => ([y; 3], 255),
            [y, a] => ([y; 3], a),
            [r, g, b] => ([r, g, b], 255),
            [r, g, b, a] => ([r, g, b], a),
            _ => continue,
        };
        match to {
            1 if from <= 2 => out.push(rgb[0]),
            1 => out.push(gray(rgb)),
            3 => out.extend(rgb),
            _ => out.extend([rgb[0], rgb[1], rgb[2], alpha]),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair() {
        let gray = |rgb: [u8; 3]| rgb[1];
        let go = |pixels: &[u8], from, to| convert(pixels.to_vec(), from, to, gray);
        assert_eq!(go(&[1, 2], 1, 3), [1, 1, 1, 2, 2, 2]);
        assert_eq!(go(&[1, 2], 1, 4), [1, 1, 1, 255, 2, 2, 2, 255]);
        assert_eq!(go(&[1, 2], 2, 1), [1]);
        assert_eq!(go(&[1, 2], 2, 3), [1, 1, 1]);
        assert_eq!(go(&[1, 2], 2, 4), [1, 1, 1, 2]);
        assert_eq!(go(&[1, 2, 3], 3, 1), [2]);
        assert_eq!(go(&[1, 2, 3], 3, 4), [1, 2, 3, 255]);
        assert_eq!(go(&[1, 2, 3, 4], 4, 1), [2]);
        assert_eq!(go(&[1, 2, 3, 4], 4, 3), [1, 2, 3]);
        assert_eq!(go(&[1, 2, 3, 4], 4, 4), [1, 2, 3, 4]);
    }

    #[test]
    fn ycc_and_inks() {
        // JFIF: R = Y + 1.402 (Cr - 128), G = Y - 0.344136 (Cb - 128) - 0.714136 (Cr - 128), B = Y + 1.772 (Cb - 128).
        for [y, cb, cr] in [[0, 128, 128], [77, 128, 128], [100, 90, 160], [29, 255, 107], [150, 43, 21], [255, 0, 255]]
        {
            let mut pixel = [y, cb, cr];
            ycc_to_rgb(&mut pixel);
            let (y, cb, cr) = (f64::from(y), f64::from(cb) - 128.0, f64::from(cr) - 128.0);
            let exact = [y + 1.402 * cr, y - 0.344136 * cb - 0.714136 * cr, y + 1.772 * cb];
            assert_eq!(pixel, exact.map(|v| v.round().clamp(0.0, 255.0) as u8));
        }
        assert_eq!(inks_to_rgb([255, 255, 255, 255]), [255; 3]);
        // 200 - (255 * 200 >> 8) = 200 - 199 and 200 - (127 * 200 >> 8) = 200 - 99.
        assert_eq!(inks_to_rgb([255, 0, 128, 200]), [200, 1, 101]);
        for ink in 0..=255u8 {
            for key in (0..=255u8).step_by(5) {
                let exact = f64::from(ink) * f64::from(key) / 255.0;
                assert!((f64::from(inks_to_rgb([ink, ink, ink, key])[0]) - exact).abs() < 2.0);
            }
        }
    }

    #[test]
    fn many_pixels_at_once_are_the_same() {
        let mut many: Vec<u8> = (0..3 * 1000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        let mut one = many.clone();
        one.as_chunks_mut().0.iter_mut().for_each(ycc_to_rgb);
        all_ycc_to_rgb(&mut many);
        assert_eq!(many, one);
    }

    #[test]
    fn gray_of_gray_is_itself() {
        for v in 0..=255 {
            assert_eq!((png_gray([v; 3]), jpeg_gray([v; 3])), (v, v));
        }
    }
}
