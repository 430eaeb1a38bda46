//! Conversion of pixels to numbers, and normalization.

use super::{Channels, Draw, Numbers, Picture, Transform};
use crate::Image;
use mxrs_types::{DType, Error, Result};

/// Converts the element type to float32, or to uint8 (clamped to its range and truncated).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cast(DType);

impl Cast {
    /// Converts to this type.
    ///
    /// # Errors
    /// Returns [`mxrs_types::ErrorKind::InvalidValue`], with the supported types, for any other type.
    pub fn new(dtype: DType) -> Result<Self> {
        match dtype {
            DType::F32 | DType::U8 => Ok(Self(dtype)),
            other => Err(Error::invalid("dtype of Cast", other, "float32 or uint8")),
        }
    }

    /// Converts to float32.
    pub fn float32() -> Self {
        Self(DType::F32)
    }
}

impl Transform for Cast {
    fn apply(&self, picture: Picture, _: &mut Draw) -> Result<Picture> {
        match (picture, self.0) {
            (Picture::Pixels(image), DType::F32) => {
                let shape = [image.height(), image.width(), image.channels()];
                let values = image.pixels().iter().copied().map(f32::from).collect();
                Numbers::new(shape, Channels::Last, values).map(Picture::Numbers)
            }
            (Picture::Numbers(numbers), DType::U8) => {
                if numbers.channels() == Channels::First {
                    return Err(Error::invalid("image to cast to uint8", "channels first", "channels last"));
                }
                let picture = Picture::Numbers(numbers);
                let (height, width, channels) = (picture.height(), picture.width(), picture.n_channels());
                let Picture::Numbers(numbers) = picture else { return Ok(picture) };
                let pixels = numbers.values().iter().map(|value| value.clamp(0.0, 255.0) as u8).collect();
                Image::new(height, width, channels, pixels).map(Picture::Pixels)
            }
            (same, _) => Ok(same),
        }
    }
}

/// Converts to float32 with channels first, and from the range 0 to 255 to the range 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToTensor;

impl Transform for ToTensor {
    fn apply(&self, picture: Picture, draw: &mut Draw) -> Result<Picture> {
        let Picture::Numbers(numbers) = Cast::float32().apply(picture, draw)? else {
            return Err(Error::invalid("image for ToTensor", "pixels", "pixels that can be cast"));
        };
        if numbers.channels() == Channels::First {
            return Err(Error::invalid("image for ToTensor", "channels first", "channels last"));
        }
        Ok(Picture::Numbers(numbers.channels_first().map_channels(|_, value| value / 255.0)))
    }
}

/// Computes `(number - mean) / std` for each channel; channels may be first or last.
#[derive(Clone, Debug, PartialEq)]
pub struct Normalize {
    mean: Vec<f32>,
    std: Vec<f32>,
}

impl Normalize {
    /// `mean` and `std` have one value for all channels, or one per channel.
    ///
    /// # Errors
    /// Returns [`mxrs_types::ErrorKind::InvalidValue`] if a list is empty, a value is not finite, or a standard deviation is
    /// 0.
    pub fn new(mean: impl Into<Vec<f32>>, std: impl Into<Vec<f32>>) -> Result<Self> {
        let (mean, std) = (mean.into(), std.into());
        if mean.is_empty() || !mean.iter().all(|v| v.is_finite()) {
            return Err(Error::invalid(
                "mean of Normalize",
                format!("{mean:?}"),
                "one finite number or one per channel",
            ));
        }
        if std.is_empty() || !std.iter().all(|v| v.is_finite() && *v != 0.0) {
            let expected = "one finite number or one per channel, not 0";
            return Err(Error::invalid("std of Normalize", format!("{std:?}"), expected));
        }
        Ok(Self { mean, std })
    }
}

impl Transform for Normalize {
    fn apply(&self, picture: Picture, _: &mut Draw) -> Result<Picture> {
        let n = picture.n_channels();
        let Picture::Numbers(numbers) = picture else {
            let expected = "numbers of float32, that is, after Cast or ToTensor";
            return Err(Error::invalid("image to normalize", "pixels of 8 bits", expected));
        };
        for (name, values) in [("mean", &self.mean), ("std", &self.std)] {
            if values.len() != 1 && values.len() != n {
                let expected = format!("1, or {n} as the image has channels");
                return Err(Error::invalid(format!("length of {name} of Normalize"), values.len(), expected));
            }
        }
        let of = |values: &[f32], c: usize| if values.len() == 1 { values[0] } else { values[c] };
        Ok(Picture::Numbers(numbers.map_channels(|c, value| (value - of(&self.mean, c)) / of(&self.std, c))))
    }
}
