//! Changes of the colors of an image `[h, w, c]` with one gray channel, or with red, green and blue from 0 to 255. The arithmetic
//! is that of float32 for every element type, and results of 8 bits are truncated after each change, as in MXNet, so images of 8
//! bits get MXNet's bits. Only the mean of [`Step::Contrast`] is summed in float64: MXNet sums in float32, and the sum of a large
//! image loses most of its digits.

use crate::numeric;
use mxrs_op::{RefInput, RefOutput};

/// Weights of red, green and blue in the brightness of a pixel.
const GRAY: [f32; 3] = [0.299, 0.587, 0.114];

/// How the three main directions of the colors of photographs move red, green and blue (Krizhevsky, Sutskever and Hinton 2012):
/// the roots of the eigenvalues of their covariance, times the eigenvectors.
const DIRECTIONS: [[f32; 3]; 3] = [
    [(55.46 * -0.5675) as f32, (4.794 * 0.7192) as f32, (1.148 * 0.4009) as f32],
    [(55.46 * -0.5808) as f32, (4.794 * -0.0045) as f32, (1.148 * -0.8140) as f32],
    [(55.46 * -0.5836) as f32, (4.794 * -0.6948) as f32, (1.148 * 0.4203) as f32],
];

/// One change of an image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// Multiplies every element by the number.
    Brightness(f32),
    /// Multiplies the distance of every element from the mean brightness of the image.
    Contrast(f32),
    /// Multiplies the distance of every element from a gray. MXNet's gray is only the blue part of the pixel's brightness.
    Saturation(f32),
    /// Turns the hue by a part of the whole circle of colors.
    Hue(f32),
    /// Moves every pixel along the main directions of the colors of photographs, by three numbers.
    Lighting([f32; 3]),
}

impl Step {
    /// Whether the step changes images with one channel.
    fn changes_gray(&self) -> bool {
        matches!(self, Self::Brightness(_) | Self::Contrast(_))
    }

    /// Changes the elements of an image, which lie pixel by pixel.
    fn apply(self, values: &mut [f32], channels: usize) {
        match self {
            Self::Brightness(factor) => values.iter_mut().for_each(|x| *x *= factor),
            Self::Contrast(factor) => {
                let shift = (1.0 - factor) * mean_brightness(values, channels);
                values.iter_mut().for_each(|x| *x = *x * factor + shift);
            }
            Self::Saturation(factor) => values.chunks_exact_mut(3).for_each(|pixel| {
                let gray = pixel[2] * GRAY[2] * (1.0 - factor);
                pixel.iter_mut().for_each(|x| *x = gray + *x * factor);
            }),
            Self::Hue(turn) => values.chunks_exact_mut(3).for_each(|pixel| {
                let [hue, lightness, saturation] = to_hls([pixel[0], pixel[1], pixel[2]]);
                pixel.copy_from_slice(&from_hls([hue + turn * 360.0, lightness, saturation]));
            }),
            Self::Lighting([a, b, c]) => {
                let shifts = DIRECTIONS.map(|[first, second, third]| first * a + second * b + third * c);
                values.chunks_exact_mut(3).for_each(|pixel| pixel.iter_mut().zip(shifts).for_each(|(x, by)| *x += by));
            }
        }
    }
}

fn mean_brightness(values: &[f32], channels: usize) -> f32 {
    let weight = |at: usize| if channels == 3 { f64::from(GRAY[at % 3]) } else { 1.0 };
    let sum: f64 = values.iter().enumerate().map(|(at, x)| f64::from(*x) * weight(at)).sum();
    (sum / (values.len() / channels.max(1)) as f64) as f32
}

/// Hue from 0 to 360 (red is 0, green 120), lightness and saturation from 0 to 1.
fn to_hls(pixel: [f32; 3]) -> [f32; 3] {
    let [red, green, blue] = pixel.map(|x| x / 255.0);
    let (most, least) = (red.max(green).max(blue), red.min(green).min(blue));
    let (spread, lightness) = (most - least, (most + least) * 0.5);
    if spread > f32::EPSILON {
        let saturation = spread / if lightness < 0.5 { most + least } else { 2.0 - most - least };
        let per_spread = 60.0 / spread;
        let hue = match most {
            most if most == red => (green - blue) * per_spread,
            most if most == green => (blue - red) * per_spread + 120.0,
            _ => (red - green) * per_spread + 240.0,
        };
        [if hue < 0.0 { hue + 360.0 } else { hue }, lightness, saturation]
    } else {
        [0.0, lightness, 0.0]
    }
}

/// The opposite of [`to_hls`]. The hue may be any number.
fn from_hls([hue, lightness, saturation]: [f32; 3]) -> [f32; 3] {
    if saturation == 0.0 {
        return [lightness * 255.0; 3];
    }
    let high =
        if lightness <= 0.5 { lightness * (1.0 + saturation) } else { lightness + saturation - lightness * saturation };
    let low = 2.0 * lightness - high;
    // Of the sixth parts of the circle, each has a color that rises, or one that falls. A tiny negative hue is rounded to the whole
    // circle, which is 0 again.
    let place = (hue * (1.0 / 60.0)).rem_euclid(6.0);
    let place = if place < 6.0 { place } else { 0.0 };
    let part = place - place.floor();
    let (falling, rising) = (low + (high - low) * (1.0 - part), low + (high - low) * part);
    let pixel = match place as usize {
        0 => [high, rising, low],
        1 => [falling, high, low],
        2 => [low, high, rising],
        3 => [low, falling, high],
        4 => [rising, low, high],
        _ => [high, low, falling],
    };
    pixel.map(|x| x * 255.0)
}

/// Computes an image with these changes, one after another. Elements are rounded to their type after each.
pub fn apply(steps: Vec<Step>, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>]) {
    let channels = inputs[0].desc.shape.last().copied().unwrap_or(1);
    let steps: Vec<Step> = steps.into_iter().filter(|step| channels == 3 || step.changes_gray()).collect();
    if steps.is_empty() {
        numeric::copy_bytes(inputs, outputs);
        return;
    }
    let dtype = outputs[0].desc.dtype;
    let mut values: Vec<f32> = numeric::read(&inputs[0]).into_iter().map(|x| x as f32).collect();
    for step in steps {
        step.apply(&mut values, channels);
        values.iter_mut().for_each(|x| *x = numeric::rounded_to(dtype, f64::from(*x)) as f32);
    }
    numeric::write(&mut outputs[0], &values.into_iter().map(f64::from).collect::<Vec<_>>());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hue_lightness_and_saturation_of_known_colors() {
        assert_eq!(to_hls([255.0, 0.0, 0.0]), [0.0, 0.5, 1.0]);
        assert_eq!(to_hls([0.0, 255.0, 0.0]), [120.0, 0.5, 1.0]);
        assert_eq!(to_hls([0.0, 0.0, 255.0]), [240.0, 0.5, 1.0]);
        assert_eq!(to_hls([255.0; 3]), [0.0, 1.0, 0.0]);
    }

    #[test]
    fn colors_return_from_hue_and_lightness() {
        for at in 0..6 * 7 * 5 {
            let pixel = [at % 6 * 50, at / 6 % 7 * 40, at / 42 * 60].map(|x| x as f32);
            let back = from_hls(to_hls(pixel));
            assert!(pixel.iter().zip(back).all(|(a, b)| (a - b).abs() < 1e-3), "{pixel:?} {back:?}");
        }
    }

    #[test]
    fn every_number_is_a_hue() {
        for hue in [-1e-30, -1e-9, 360.0, 1e30, -3e38, f32::INFINITY, f32::NAN] {
            let pixel = from_hls([hue, 0.5, 1.0]);
            assert!(pixel.iter().all(|x| x.is_nan() || (-0.01..255.01).contains(x)), "{hue}: {pixel:?}");
        }
        assert_eq!(from_hls([-1e-9, 0.5, 1.0]), [255.0, 0.0, 0.0]);
    }

    #[test]
    fn the_mean_of_a_large_image_keeps_its_digits() {
        let values = vec![127.0f32; 3 << 20];
        let found = mean_brightness(&values, 3);
        assert!((found - 127.0).abs() < 1e-3, "{found}");
    }
}
