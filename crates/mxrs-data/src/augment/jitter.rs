//! Random changes of brightness, contrast and saturation, in random order.

use super::Augment;
use crate::Image;
use crate::random::Random;
use crate::wide::wide;

/// Whether brightness, contrast or saturation may change.
pub(super) fn is_wanted(augment: &Augment) -> bool {
    augment.brightness > 0.0 || augment.contrast > 0.0 || augment.saturation > 0.0
}

/// The gray value of a pixel as MXNet computes it. MXNet stores pixels as blue, green, red, but uses OpenCV's formula for
/// red, green, blue. So blue gets the weight of red, and red that of blue.
#[inline(always)]
fn gray([r, g, b]: [u8; 3]) -> u8 {
    ((3735 * u32::from(r) + 19235 * u32::from(g) + 9798 * u32::from(b) + (1 << 14)) >> 15) as u8
}

/// Rounds to the nearest pixel value; ties round to even.
#[inline(always)]
fn saturate(value: f32) -> u8 {
    // 2^23 plus a value up to 255 leaves no bits for a fraction in a float32, so the addition rounds.
    ((value.clamp(0.0, 255.0) + 8_388_608.0).to_bits() & 0xff) as u8
}

/// One change of an image's colors, with its factor.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Change {
    Brightness(f32),
    Contrast(f32),
    Saturation(f32),
}

fn draw(augment: &Augment, random: &mut Random) -> [Change; 3] {
    let mut changes = [
        Change::Brightness(random.around(1.0, augment.brightness)),
        Change::Contrast(random.around(1.0, augment.contrast)),
        Change::Saturation(random.around(1.0, augment.saturation)),
    ];
    random.shuffle(&mut changes);
    changes
}

/// Changes brightness, contrast and saturation of all pixels at random.
pub(super) fn apply(image: &mut Image, augment: &Augment, random: &mut Random) {
    for change in draw(augment, random) {
        match change {
            Change::Brightness(1.0) | Change::Contrast(1.0) | Change::Saturation(1.0) => {}
            Change::Brightness(factor) => linear(image, factor, 0.0),
            Change::Contrast(factor) => linear(image, factor, (1.0 - factor) * gray_mean(image)),
            Change::Saturation(factor) => saturation(image, factor),
        }
    }
}

/// Multiplies every value by `factor`; alpha is unchanged.
pub(crate) fn scale_colors(image: &mut Image, factor: f32) {
    linear(image, factor, 0.0);
}

/// Multiplies every value by a factor and adds an offset; alpha is unchanged.
fn linear(image: &mut Image, factor: f32, offset: f32) {
    let mut table = [0; 256];
    for (value, entry) in (0..=255_u8).zip(&mut table) {
        *entry = saturate(f32::from(value) * factor + offset);
    }
    let channels = image.channels();
    let pixels = image.pixels_mut();
    if channels == 4 {
        pixels.as_chunks_mut::<4>().0.iter_mut().for_each(|[r, g, b, _]| {
            (*r, *g, *b) = (table[usize::from(*r)], table[usize::from(*g)], table[usize::from(*b)]);
        });
    } else {
        pixels.iter_mut().for_each(|value| *value = table[usize::from(*value)]);
    }
}

/// The mean of the gray values of all pixels.
fn gray_mean(image: &Image) -> f32 {
    let pixels = image.pixels();
    let sum: u64 = match image.channels() {
        1 => pixels.iter().map(|v| u64::from(*v)).sum(),
        3 => wide(|| {
            let run = |run: &[[u8; 3]]| u64::from(run.iter().map(|p| u32::from(gray(*p))).sum::<u32>());
            pixels.as_chunks::<3>().0.chunks(1024).map(run).sum()
        }),
        _ => pixels.as_chunks::<4>().0.iter().map(|[r, g, b, _]| u64::from(gray([*r, *g, *b]))).sum(),
    };
    (sum as f64 / (image.height() * image.width()) as f64) as f32
}

/// Interpolates between every pixel and its gray value; factor 0 gives gray, factors above 1 increase saturation. A gray
/// image is unchanged.
fn saturation(image: &mut Image, factor: f32) {
    let channels = image.channels();
    wide(|| match channels {
        3 => image.pixels_mut().as_chunks_mut::<3>().0.iter_mut().for_each(|pixel| *pixel = saturated(*pixel, factor)),
        4 => image.pixels_mut().as_chunks_mut::<4>().0.iter_mut().for_each(|[r, g, b, _]| {
            [*r, *g, *b] = saturated([*r, *g, *b], factor);
        }),
        _ => {}
    });
}

#[inline(always)]
fn saturated(pixel: [u8; 3], factor: f32) -> [u8; 3] {
    let part = f32::from(gray(pixel)) * (1.0 - factor);
    pixel.map(|value| saturate(f32::from(value) * factor + part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_by_hand() {
        let mut image = Image::new(1, 2, 3, vec![10, 20, 30, 200, 100, 0]).unwrap();
        linear(&mut image, 1.5, -5.0);
        assert_eq!(image.pixels(), [10, 25, 40, 255, 145, 0]);
        // The grays are 0.114 r + 0.587 g + 0.299 b: 27.775 and 114.19.
        assert!((gray_mean(&image) - 71.0).abs() < 1e-6);
        saturation(&mut image, 0.5);
        assert_eq!(image.pixels(), [19, 26, 34, 184, 130, 57]);
        let mut alpha = Image::new(1, 1, 4, vec![10, 20, 30, 7]).unwrap();
        linear(&mut alpha, 2.0, 0.0);
        saturation(&mut alpha, 0.0);
        assert_eq!(alpha.pixels(), [44, 44, 44, 7]);
        let mut gray = Image::new(1, 2, 1, vec![10, 30]).unwrap();
        saturation(&mut gray, 0.0);
        assert_eq!((gray_mean(&gray), gray.pixels()), (20.0, &[10, 30][..]));
        assert_eq!([-3.0, 0.5, 1.5, 2.4999, 254.5, 300.0].map(saturate), [0, 0, 2, 2, 254, 255]);
    }

    /// Factors are uniformly distributed, and all six orders are equally likely.
    #[test]
    fn factors_and_orders() {
        let augment = Augment { brightness: 0.4, contrast: 0.2, saturation: 0.1, ..Augment::default() };
        let mut orders = std::collections::HashMap::<String, f64>::new();
        let mut sums = [(0.0, 0.0); 3];
        for i in 0..6000 {
            let changes = draw(&augment, &mut Random::keyed(&[i]));
            let mut order = String::new();
            for change in changes {
                let (kind, value) = match change {
                    Change::Brightness(v) => (0, v),
                    Change::Contrast(v) => (1, v),
                    Change::Saturation(v) => (2, v),
                };
                let off = f64::from(value) - 1.0;
                assert!(off.abs() <= [0.4, 0.2, 0.1][kind] + 1e-6);
                sums[kind] = (sums[kind].0 + off, sums[kind].1 + off * off);
                order += &kind.to_string();
            }
            *orders.entry(order).or_default() += 1.0;
        }
        for ((sum, squares), x) in sums.iter().zip([0.4_f64, 0.2, 0.1]) {
            assert!((sum / 6000.0).abs() < 4.0 * x / 3_f64.sqrt() / 6000_f64.sqrt());
            assert!((squares / 6000.0 / (x * x / 3.0) - 1.0).abs() < 0.05);
        }
        // Chi-square test: five degrees of freedom, 0.999 quantile 20.5.
        let chi_square: f64 = orders.values().map(|n| (n - 1000.0).powi(2) / 1000.0).sum();
        assert!(orders.len() == 6 && chi_square < 20.5, "{orders:?}");
    }
}
