//! The image type that transforms take and return.

use crate::Image;
use crate::resample::Region;
use mxrs_format::{AlignedBytes, Dense, Tensor};
use mxrs_types::{DType, Error, Result};

/// An image between transforms: 8-bit pixels at first, float32 numbers after [`super::Cast`] or [`super::ToTensor`].
#[derive(Clone, Debug, PartialEq)]
pub enum Picture {
    /// 8-bit pixels, in the order (row, column, channel).
    Pixels(Image),
    /// Float32 numbers.
    Numbers(Numbers),
}

/// Position of the channel axis of [`Numbers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channels {
    /// The order (channel, row, column), which networks read.
    First,
    /// The order (row, column, channel), which pixels have.
    Last,
}

/// An image of float32 numbers.
#[derive(Clone, PartialEq)]
pub struct Numbers {
    height: usize,
    width: usize,
    n_channels: usize,
    channels: Channels,
    values: Vec<f32>,
}

impl Numbers {
    /// An image from all its numbers, in the order that `channels` specifies.
    ///
    /// # Errors
    /// Returns [`mxrs_types::ErrorKind::InvalidValue`] for an empty image or a wrong number of values.
    pub fn new([height, width, n_channels]: [usize; 3], channels: Channels, values: Vec<f32>) -> Result<Self> {
        let len = height.checked_mul(width).and_then(|n| n.checked_mul(n_channels)).filter(|len| *len > 0);
        if len != Some(values.len()) {
            let expected = format!("height x width x channels ({height} x {width} x {n_channels}), not 0");
            return Err(Error::invalid("numbers of an image", values.len(), expected));
        }
        Ok(Self { height, width, n_channels, channels, values })
    }

    /// Position of the channel axis.
    pub fn channels(&self) -> Channels {
        self.channels
    }

    /// All numbers of the image.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// All numbers of the image, for writing.
    pub fn values_mut(&mut self) -> &mut [f32] {
        &mut self.values
    }

    /// Index of the number at a row, column and channel.
    pub(super) fn place(&self, y: usize, x: usize, c: usize) -> usize {
        match self.channels {
            Channels::First => (c * self.height + y) * self.width + x,
            Channels::Last => (y * self.width + x) * self.n_channels + c,
        }
    }

    /// Replaces every number by the result of `value`, called with the channel and the number.
    pub(super) fn map_channels(mut self, value: impl Fn(usize, f32) -> f32) -> Self {
        match self.channels {
            Channels::First => {
                let plane = self.height * self.width;
                for (c, plane) in self.values.chunks_exact_mut(plane).enumerate() {
                    plane.iter_mut().for_each(|number| *number = value(c, *number));
                }
            }
            Channels::Last => {
                for pixel in self.values.chunks_exact_mut(self.n_channels) {
                    pixel.iter_mut().enumerate().for_each(|(c, number)| *number = value(c, *number));
                }
            }
        }
        self
    }

    /// The same image with channels first.
    pub(super) fn channels_first(&self) -> Self {
        let out = Self { channels: Channels::First, values: Vec::new(), ..*self };
        out.map(self.height, self.width, |y, x, c| self.values[self.place(y, x, c)])
    }

    /// An image with this size and the layout of `self`. Each number is the result of `value`, called with row, column and
    /// channel.
    pub(super) fn map(&self, height: usize, width: usize, value: impl Fn(usize, usize, usize) -> f32) -> Self {
        let n_channels = self.n_channels;
        let mut out = Self { height, width, values: vec![0.0; height * width * n_channels], ..*self };
        for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
            for c in 0..n_channels {
                let place = out.place(y, x, c);
                out.values[place] = value(y, x, c);
            }
        }
        out
    }
}

impl std::fmt::Debug for Numbers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { height, width, n_channels, channels, .. } = self;
        write!(f, "{height} x {width} x {n_channels} numbers, channels {channels:?}")
    }
}

impl Picture {
    /// Converts a sample's tensor to an image: uint8 pixels or float32 numbers in the order (row, column, channel).
    ///
    /// # Errors
    /// Returns [`mxrs_types::ErrorKind::InvalidValue`] for another type, for other than three axes, and for images that
    /// [`Image::new`] refuses.
    pub fn from_dense(dense: &Dense) -> Result<Self> {
        let &[height, width, channels] = &dense.shape()[..] else {
            let got = format!("shape {:?}", dense.shape());
            return Err(Error::invalid("image to transform", got, "(height, width, channels)"));
        };
        match dense.dtype() {
            DType::U8 => Image::new(height, width, channels, dense.bytes().to_vec()).map(Self::Pixels),
            DType::F32 => {
                let values = dense.as_slice::<f32>()?.to_vec();
                Numbers::new([height, width, channels], Channels::Last, values).map(Self::Numbers)
            }
            other => Err(Error::invalid("type of an image to transform", other, "uint8 or float32")),
        }
    }

    /// Converts the image to a tensor of uint8 or float32.
    ///
    /// # Errors
    /// Returns an error if the tensor cannot be created.
    pub fn into_dense(self) -> Result<Dense> {
        match self {
            Self::Pixels(image) => {
                let shape = [image.height(), image.width(), image.channels()];
                Tensor::dense(DType::U8, shape, AlignedBytes::copy_of(image.pixels()))?.into_dense()
            }
            Self::Numbers(numbers) => {
                let Numbers { height, width, n_channels, .. } = numbers;
                let shape = match numbers.channels {
                    Channels::First => [n_channels, height, width],
                    Channels::Last => [height, width, n_channels],
                };
                Tensor::from_slice(shape, &numbers.values)?.into_dense()
            }
        }
    }

    /// Number of rows.
    pub fn height(&self) -> usize {
        match self {
            Self::Pixels(image) => image.height(),
            Self::Numbers(numbers) => numbers.height,
        }
    }

    /// Number of columns.
    pub fn width(&self) -> usize {
        match self {
            Self::Pixels(image) => image.width(),
            Self::Numbers(numbers) => numbers.width,
        }
    }

    /// Number of channels.
    pub fn n_channels(&self) -> usize {
        match self {
            Self::Pixels(image) => image.channels(),
            Self::Numbers(numbers) => numbers.n_channels,
        }
    }

    /// Cuts out a region, which must lie inside the image.
    pub(super) fn cut(self, region: Region) -> Result<Self> {
        let Region { top, left, height, width } = region;
        if (top, left, height, width) == (0, 0, self.height(), self.width()) {
            return Ok(self);
        }
        Ok(match self {
            Self::Pixels(image) => Self::Pixels(crate::augment::cut_out(&image, (top, left), height, width)?),
            Self::Numbers(old) => {
                Self::Numbers(old.map(height, width, |y, x, c| old.values[old.place(top + y, left + x, c)]))
            }
        })
    }

    /// Mirrors the image: reverses the rows if `upside_down` is set, otherwise the columns.
    pub(crate) fn flipped(self, upside_down: bool) -> Result<Self> {
        let (height, width) = (self.height(), self.width());
        let from = |y: usize, x: usize| if upside_down { (height - 1 - y, x) } else { (y, width - 1 - x) };
        match self {
            Self::Pixels(image) => {
                let channels = image.channels();
                let mut pixels = Vec::with_capacity(image.pixels().len());
                for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
                    let (y, x) = from(y, x);
                    pixels.extend_from_slice(&image.row(y)[x * channels..][..channels]);
                }
                Image::new(height, width, channels, pixels).map(Self::Pixels)
            }
            Self::Numbers(old) => Ok(Self::Numbers(old.map(height, width, |y, x, c| {
                let (y, x) = from(y, x);
                old.values[old.place(y, x, c)]
            }))),
        }
    }

    /// Applies `change` to red, green and blue of every pixel. For a gray image, `change` gets the gray value three times,
    /// and its first result is used. Alpha is unchanged. 8-bit results are clamped and truncated, as in Gluon's transforms.
    pub(super) fn recolor(&mut self, change: impl Fn([f32; 3]) -> [f32; 3]) {
        match self {
            Self::Pixels(image) => {
                let n = image.channels();
                for pixel in image.pixels_mut().chunks_exact_mut(n) {
                    let byte = |value: f32| value.clamp(0.0, 255.0) as u8;
                    match pixel {
                        [r, g, b, ..] => [*r, *g, *b] = change([*r, *g, *b].map(f32::from)).map(byte),
                        [gray, ..] => *gray = byte(change([f32::from(*gray); 3])[0]),
                        [] => {}
                    }
                }
            }
            Self::Numbers(numbers) => {
                for (y, x) in (0..numbers.height).flat_map(|y| (0..numbers.width).map(move |x| (y, x))) {
                    let last = numbers.n_channels - 1;
                    // Images with two channels are uncommon; their first channel is used as gray.
                    let places = [0, 1, 2].map(|c| numbers.place(y, x, if last < 2 { 0 } else { c }));
                    let new = change(places.map(|place| numbers.values[place]));
                    let n = if last < 2 { 1 } else { 3 };
                    for (place, value) in places.into_iter().zip(new).take(n) {
                        numbers.values[place] = value;
                    }
                }
            }
        }
    }

    /// The mean over all pixels of the result of `of`, called with the colors of the pixel.
    pub(super) fn mean(&self, of: impl Fn([f32; 3]) -> f32) -> f32 {
        let (height, width) = (self.height(), self.width());
        let mut sum = 0.0;
        for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
            let colors = match self {
                Self::Pixels(image) => match &image.row(y)[x * image.channels()..] {
                    [r, g, b, ..] if image.channels() > 2 => [*r, *g, *b].map(f32::from),
                    rest => [rest.first().copied().map_or(0.0, f32::from); 3],
                },
                Self::Numbers(numbers) => {
                    let last = numbers.n_channels - 1;
                    [0, 1, 2].map(|c| numbers.values[numbers.place(y, x, if last < 2 { 0 } else { c })])
                }
            };
            sum += f64::from(of(colors));
        }
        (sum / (height * width) as f64) as f32
    }

    /// Whether the image has color channels.
    pub(super) fn has_colors(&self) -> bool {
        self.n_channels() > 2
    }
}
