//! Random shifts of hue, lightness and saturation.

use super::Augment;
use crate::Image;
use crate::random::Random;

/// Whether hue, saturation or lightness may be shifted.
pub(super) fn is_wanted(augment: &Augment) -> bool {
    augment.random_h != 0 || augment.random_s != 0 || augment.random_l != 0
}

/// A random shift between `-most` and `most`. It is computed from (u + 4 v) / 5 with two uniform numbers u and v, so extreme
/// shifts are rarer.
fn shift(most: u32, random: &mut Random) -> i32 {
    let u = (random.unit() + 4.0 * random.unit()) / 5.0;
    (u * f64::from(most) * 2.0 - f64::from(most)) as i32
}

/// Shifts hue, lightness and saturation of all pixels at random. A component that would leave its range is clamped.
pub(super) fn apply(image: &mut Image, augment: &Augment, random: &mut Random) {
    shift_hls(image, [augment.random_h, augment.random_s, augment.random_l].map(|most| shift(most, random)));
}

/// Adds the given shifts to hue, lightness and saturation of all pixels.
pub(crate) fn shift_hls(image: &mut Image, [h, s, l]: [i32; 3]) {
    let channels = image.channels();
    for pixel in image.pixels_mut().chunks_exact_mut(channels) {
        let [r, g, b, ..] = pixel else { continue };
        let [hue, lightness, saturation] = to_hls([*r, *g, *b]);
        let moved = |value: u8, by: i32, most: i32| i32::from(value).saturating_add(by).clamp(0, most) as u8;
        [*r, *g, *b] = to_rgb([moved(hue, h, 180), moved(lightness, l, 255), moved(saturation, s, 255)]);
    }
}

/// Hue in units of two degrees; lightness and saturation from 0 to 255.
fn to_hls(rgb: [u8; 3]) -> [u8; 3] {
    let [hue, lightness, saturation] = hls_of(rgb.map(|v| f32::from(v) / 255.0));
    [hue / 2.0, lightness * 255.0, saturation * 255.0].map(round)
}

/// Converts red, green and blue from 0 to 1 to hue in degrees from 0 to 360 and lightness and saturation from 0 to 1.
pub(crate) fn hls_of([r, g, b]: [f32; 3]) -> [f32; 3] {
    let (most, least) = (r.max(g).max(b), r.min(g).min(b));
    let (sum, range) = (most + least, most - least);
    let lightness = sum * 0.5;
    if range <= f32::EPSILON {
        return [0.0, lightness, 0.0];
    }
    let saturation = if lightness < 0.5 { range / sum } else { range / (2.0 - sum) };
    let sixth = 60.0 / range;
    let hue = if most == r {
        (g - b) * sixth
    } else if most == g {
        (b - r) * sixth + 120.0
    } else {
        (r - g) * sixth + 240.0
    };
    [if hue < 0.0 { hue + 360.0 } else { hue }, lightness, saturation]
}

fn to_rgb([hue, lightness, saturation]: [u8; 3]) -> [u8; 3] {
    let (l, s) = (f32::from(lightness) / 255.0, f32::from(saturation) / 255.0);
    rgb_of([f32::from(hue) * 2.0, l, s]).map(|v| round(v * 255.0))
}

/// Converts any hue in degrees and lightness and saturation from 0 to 1 to red, green and blue from 0 to 1.
pub(crate) fn rgb_of([hue, l, s]: [f32; 3]) -> [f32; 3] {
    if s == 0.0 {
        return [l; 3];
    }
    let high = if l <= 0.5 { l * (1.0 + s) } else { l + s - l * s };
    let low = 2.0 * l - high;
    // For a tiny negative hue, `rem_euclid` rounds up to 6.0, a full turn; `%` makes it 0.
    let sixths = (hue / 60.0).rem_euclid(6.0) % 6.0;
    let part = sixths.fract();
    let (rising, falling) = (low + (high - low) * part, low + (high - low) * (1.0 - part));
    match sixths as u8 {
        0 => [high, rising, low],
        1 => [falling, high, low],
        2 => [low, high, rising],
        3 => [low, falling, high],
        4 => [rising, low, high],
        _ => [high, low, falling],
    }
}

fn round(value: f32) -> u8 {
    (value.clamp(0.0, 255.0) + 0.5) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_of_the_hue_are_the_same_color() {
        for hue in [-1e-12, -360.0, 0.0, 360.0, 720.0] {
            assert_eq!(rgb_of([hue, 0.5, 1.0]), [1.0, 0.0, 0.0], "{hue}");
        }
        assert_eq!(rgb_of([-120.0, 0.5, 1.0]), rgb_of([240.0, 0.5, 1.0]));
    }

    #[test]
    fn known_colors() {
        for (rgb, hls) in [
            ([255, 0, 0], [0, 128, 255]),
            ([0, 255, 0], [60, 128, 255]),
            ([0, 0, 255], [120, 128, 255]),
            ([255, 255, 0], [30, 128, 255]),
            ([255, 0, 255], [150, 128, 255]),
            ([100, 100, 100], [0, 100, 0]),
            ([255, 255, 255], [0, 255, 0]),
            ([0, 0, 0], [0, 0, 0]),
            ([64, 32, 32], [0, 48, 85]),
        ] {
            assert_eq!(to_hls(rgb), hls, "{rgb:?}");
        }
    }

    /// A conversion and its inverse give the same color, up to the precision of 8 bits for lightness and saturation and of
    /// two degrees for the hue.
    #[test]
    fn there_and_back() {
        for r in (0..=255).step_by(15) {
            for g in (0..=255).step_by(15) {
                for b in (0..=255).step_by(15) {
                    let back = to_rgb(to_hls([r, g, b]));
                    let apart = back.iter().zip([r, g, b]).map(|(x, y)| x.abs_diff(y)).max();
                    assert!(apart <= Some(6), "{:?} {back:?}", [r, g, b]);
                }
            }
        }
    }

    /// For u and v uniform in [0, 1), (u + 4 v) / 5 has the variance 17/25/12. Shifts from -100 to 100 have 200^2 times that
    /// variance.
    #[test]
    fn shifts_follow_the_formula() {
        let shifts: Vec<f64> = (0..20_000).map(|i| f64::from(shift(100, &mut Random::keyed(&[i])))).collect();
        let mean = shifts.iter().sum::<f64>() / 2e4;
        let variance = shifts.iter().map(|s| s * s).sum::<f64>() / 2e4;
        let want = 40_000.0 * 17.0 / 25.0 / 12.0;
        assert!(mean.abs() < 1.4 && (variance / want - 1.0).abs() < 0.05, "{mean} {variance} {want}");
        assert!(shifts.iter().all(|s| s.abs() <= 100.0));
        assert_eq!(shift(0, &mut Random::keyed(&[])), 0);
    }

    #[test]
    fn no_shift_of_a_pure_color_is_no_change_and_alpha_stays() {
        let augment = Augment { random_l: 255, ..Augment::default() };
        let mut image = Image::new(1, 2, 4, vec![255, 0, 0, 9, 7, 7, 7, 200]).unwrap();
        apply(&mut image, &augment, &mut Random::keyed(&[1]));
        assert_eq!((image.pixels()[3], image.pixels()[7]), (9, 200));
        assert_eq!(image.pixels()[4], image.pixels()[5], "gray stays gray");
    }
}
