//! The last step of preprocessing: converts pixels to the values that a network reads, one channel after the other.

use crate::{Image, ImageOptions, ImageThreads};
use mxrs_types::{DType, Error, Result};

/// Element type of the data of a record iterator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum PixelType {
    /// `(pixel - mean) * scale / std`, with random contrast and illumination if they are set.
    #[default]
    F32,
    /// The pixel itself; mean, scale and std are ignored.
    U8,
    /// The pixel minus the rounded mean, clamped to -128 to 127; scale and std are ignored.
    I8,
}

impl PixelType {
    /// The corresponding dtype.
    pub fn dtype(self) -> DType {
        match self {
            Self::F32 => DType::F32,
            Self::U8 => DType::U8,
            Self::I8 => DType::I8,
        }
    }

    /// Parses MXNet's name of an element type.
    ///
    /// # Errors
    /// Returns [`mxrs_types::ErrorKind::InvalidValue`], with the valid names, for any other name.
    pub fn from_name(name: &str) -> Result<Self> {
        match name {
            "float32" => Ok(Self::F32),
            "uint8" => Ok(Self::U8),
            "int8" => Ok(Self::I8),
            _ => Err(Error::invalid("dtype", name, "float32, uint8 or int8")),
        }
    }
}

/// The random changes that the last step of preprocessing makes, drawn for one image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Finish {
    /// First row and column of the crop.
    pub(crate) corner: (usize, usize),
    /// Whether the image is mirrored (left and right exchanged).
    pub(crate) mirrored: bool,
    /// Factor that multiplies each pixel's difference from the mean.
    pub(crate) contrast: f32,
    /// Number that is added to each pixel, before it is multiplied by scale and divided by std.
    pub(crate) illumination: f32,
    /// Noise that is added to the pixels of each channel; the sums are truncated to integers from 0 to 255.
    pub(crate) noise: [f32; 4],
}

impl Finish {
    /// Only a crop that begins at `corner`, without other changes.
    pub(crate) fn plain(corner: (usize, usize)) -> Self {
        Self { corner, mirrored: false, contrast: 1.0, illumination: 0.0, noise: [0.0; 4] }
    }

    /// For each of the 256 pixel values, the value with the noise of channel `c` added.
    fn levels(&self, c: usize) -> impl Iterator<Item = f32> {
        let noise = self.noise[c];
        // Truncates toward zero, as MXNet does.
        (0..=255_u8).map(move |pixel| (f32::from(pixel) + noise).trunc().clamp(0.0, 255.0))
    }
}

/// Normalizes the image and writes it to `out` in the order (channel, row, column), as elements of `pixel_type`. `out` has
/// the size of `options.data_shape`.
pub(crate) fn write(
    threads: &ImageThreads,
    image: &Image,
    options: &ImageOptions,
    finish: &Finish,
    mean_image: Option<&[f32]>,
    pixel_type: PixelType,
    out: &mut [u8],
) -> Result<()> {
    let unfit = || Error::invalid("memory of a batch", "unaligned", "memory aligned for its type");
    let [channels, ..] = options.data_shape;
    let factor = |c: usize| finish.contrast * options.scale / options.std[c];
    let bias = |c: usize| finish.illumination * options.scale / options.std[c];
    let int8 = |level: f32, mean: f32| (level - mean.round()).clamp(-128.0, 127.0) as i8;
    match pixel_type {
        PixelType::U8 => {
            let tables = tables(channels, finish, |_, level| level as u8);
            fill(threads, image, options, finish, out, &|c, _, pixel| tables[c][usize::from(pixel)])
        }
        PixelType::I8 => {
            let out = bytemuck::try_cast_slice_mut(out).map_err(|_| unfit())?;
            let levels = tables(channels, finish, |_, level| level);
            match mean_image {
                Some(mean) => fill(threads, image, options, finish, out, &|c, place, pixel| {
                    int8(levels[c][usize::from(pixel)], mean[place])
                }),
                None => {
                    let tables = tables(channels, finish, |c, level| int8(level, options.mean[c]));
                    fill(threads, image, options, finish, out, &|c, _, pixel| tables[c][usize::from(pixel)])
                }
            }
        }
        PixelType::F32 => {
            let out = bytemuck::try_cast_slice_mut(out).map_err(|_| unfit())?;
            match mean_image {
                Some(mean) => {
                    let levels = tables(channels, finish, |_, level| level);
                    fill(threads, image, options, finish, out, &|c, place, pixel| {
                        (levels[c][usize::from(pixel)] - mean[place]) * factor(c) + bias(c)
                    })
                }
                None => {
                    let tables = tables(channels, finish, |c, level| (level - options.mean[c]) * factor(c) + bias(c));
                    fill(threads, image, options, finish, out, &|c, _, pixel| tables[c][usize::from(pixel)])
                }
            }
        }
    }
}

/// Creates, for each channel, a table that maps pixel values to output values.
fn tables<T: Copy + Default>(channels: usize, finish: &Finish, value: impl Fn(usize, f32) -> T) -> Vec<[T; 256]> {
    let table = |c: usize| {
        let mut table = [T::default(); 256];
        for (entry, level) in table.iter_mut().zip(finish.levels(c)) {
            *entry = value(c, level);
        }
        table
    };
    (0..channels).map(table).collect()
}

/// Sets each element of `out` to the result of `value`. Its arguments are the channel, the index of the element before
/// mirroring, and the pixel.
fn fill<T: Send>(
    threads: &ImageThreads,
    image: &Image,
    options: &ImageOptions,
    finish: &Finish,
    out: &mut [T],
    value: &(impl Fn(usize, usize, u8) -> T + Sync),
) -> Result<()> {
    let [_, height, width] = options.data_shape;
    let (channels, (top, left)) = (image.channels(), finish.corner);
    threads.share_rows(out, width, &|first, lines| {
        for (line, row) in lines.chunks_exact_mut(width).zip(first..) {
            // The result is one plane per channel; the planes follow each other.
            let (c, y) = (row / height, row % height);
            let pixels = &image.row(top + y)[left * channels..][..width * channels];
            let each = |place: usize, pixel: u8| value(c, row * width + place, pixel);
            match channels {
                1 => write_line::<1, T>(line, pixels, c, finish.mirrored, each),
                3 => write_line::<3, T>(line, pixels, c, finish.mirrored, each),
                _ => write_line::<4, T>(line, pixels, c, finish.mirrored, each),
            }
        }
    })
}

/// Writes the values of one channel for a row of pixels with `C` channels.
#[inline(always)]
fn write_line<const C: usize, T>(
    line: &mut [T],
    pixels: &[u8],
    c: usize,
    mirrored: bool,
    each: impl Fn(usize, u8) -> T,
) {
    let pixels = pixels.as_chunks::<C>().0;
    let c = c.min(C - 1);
    if mirrored {
        for ((out, pixel), place) in line.iter_mut().rev().zip(pixels).zip(0..) {
            *out = each(place, pixel[c]);
        }
    } else {
        for ((out, pixel), place) in line.iter_mut().zip(pixels).zip(0..) {
            *out = each(place, pixel[c]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers<T: bytemuck::Pod>(
        finish: &Finish,
        options: &ImageOptions,
        mean: Option<&[f32]>,
        pixel_type: PixelType,
    ) -> Vec<T> {
        let image = Image::new(1, 2, 3, vec![10, 20, 30, 40, 50, 250]).unwrap();
        let mut words = vec![0_u64; 6];
        let bytes = &mut bytemuck::cast_slice_mut::<u64, u8>(&mut words)[..6 * size_of::<T>()];
        write(&ImageThreads::calling(), &image, options, finish, mean, pixel_type, bytes).unwrap();
        bytemuck::cast_slice::<u8, T>(bytes).to_vec()
    }

    /// The formula is (pixel - mean) * contrast * scale / std + illumination * scale / std; the expected values are computed
    /// by hand.
    #[test]
    fn formula_of_each_type() {
        let options = ImageOptions {
            mean: [10.0, 20.4, 30.0, 0.0],
            std: [1.0, 2.0, 4.0, 1.0],
            scale: 2.0,
            ..ImageOptions::new([3, 1, 2])
        };
        let plain = Finish::plain((0, 0));
        let finish = Finish { contrast: 1.5, illumination: 3.0, ..plain };
        let want = [6.0, 96.0, -0.6 + 3.0, 44.4 + 3.0, 1.5, 166.5];
        for (got, want) in numbers::<f32>(&finish, &options, None, PixelType::F32).iter().zip(want) {
            assert!((got - want).abs() < 1e-4, "{got} {want}");
        }
        let mirrored = Finish { mirrored: true, ..plain };
        assert_eq!(numbers::<u8>(&mirrored, &options, None, PixelType::U8), [40, 10, 50, 20, 250, 30]);
        assert_eq!(numbers::<i8>(&plain, &options, None, PixelType::I8), [0, 30, 0, 30, 0, 127]);
        // Pixels with noise are integers in range: 20 - 1.5 = 18.5 becomes 18.
        let noisy = Finish { noise: [-40.5, -1.5, 9.9, 0.0], ..plain };
        assert_eq!(numbers::<u8>(&noisy, &options, None, PixelType::U8), [0, 0, 18, 48, 39, 255]);
    }

    #[test]
    fn a_mean_image_is_taken_away_before_mirroring() {
        let options = ImageOptions { mean: [99.0; 4], scale: 0.5, ..ImageOptions::new([3, 1, 2]) };
        let mean = [1.0, 2.0, 3.0, 4.0, 5.0, 6.4];
        let mirrored = Finish { mirrored: true, ..Finish::plain((0, 0)) };
        let want = [19.0, 4.5, 23.0, 8.5, 121.8, 12.5];
        assert_eq!(numbers::<f32>(&mirrored, &options, Some(&mean), PixelType::F32), want);
        let plain = Finish::plain((0, 0));
        assert_eq!(numbers::<i8>(&plain, &options, Some(&mean), PixelType::I8), [9, 38, 17, 46, 25, 127]);
    }
}
