//! Settings of image preprocessing: shape and normalization of the input images of a network.

use crate::DecodeLimits;
use crate::image::check_channels;
use mxrs_types::{Error, Result};

/// Shape and normalization of the input images of a network. Names and defaults are those of MXNet's `ImageRecordIter`.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageOptions {
    /// Channels (1, 3 or 4), height and width of the result.
    pub data_shape: [usize; 3],
    /// Factor by which pixels are multiplied after the mean is subtracted; default 1.
    pub scale: f32,
    /// Mean that is subtracted from each channel, in units of pixel values (0 to 255), in the order red, green, blue, alpha;
    /// default 0. A gray image uses the first value.
    pub mean: [f32; 4],
    /// Divisor of each channel, in the same order; default 1.
    pub std: [f32; 4],
    /// The length that the shorter edge is resized to before the crop; default none.
    pub resize: Option<usize>,
    /// The largest image, before and after resizing.
    pub limits: DecodeLimits,
}

impl ImageOptions {
    /// Options that crop the center to this shape (channels, height, width) and leave pixel values unchanged.
    pub fn new(data_shape: [usize; 3]) -> Self {
        Self { data_shape, scale: 1.0, mean: [0.0; 4], std: [1.0; 4], resize: None, limits: DecodeLimits::default() }
    }

    /// Number of elements of a preprocessed image.
    ///
    /// # Errors
    /// Returns [`mxrs_types::ErrorKind::Overflow`] if the number overflows.
    pub fn n_elements(&self) -> Result<usize> {
        let [c, h, w] = self.data_shape;
        let overflow = || Error::new(mxrs_types::ErrorKind::Overflow { what: format!("data_shape ({c}, {h}, {w})") });
        c.checked_mul(h).and_then(|n| n.checked_mul(w)).ok_or_else(overflow)
    }

    /// Checks that every setting is valid.
    ///
    /// # Errors
    /// Returns [`mxrs_types::ErrorKind::InvalidValue`] with the name of the invalid setting, and
    /// [`mxrs_types::ErrorKind::Overflow`] if the shape has too many elements.
    pub fn check(&self) -> Result<()> {
        let [c, h, w] = self.data_shape;
        check_channels(c).map_err(|e| e.context("checking data_shape"))?;
        if h == 0 || w == 0 {
            return Err(Error::invalid("data_shape", format!("({c}, {h}, {w})"), "height and width of at least 1"));
        }
        self.n_elements()?;
        if (h as u64).saturating_mul(w as u64) > self.limits.max_pixels {
            let most = format!("at most {} pixels", self.limits.max_pixels);
            return Err(Error::invalid("data_shape", format!("({c}, {h}, {w})"), most));
        }
        if !self.scale.is_finite() {
            return Err(Error::invalid("scale", self.scale, "a finite number"));
        }
        for (i, channel) in ["r", "g", "b", "a"].iter().enumerate() {
            if !self.mean[i].is_finite() {
                return Err(Error::invalid(format!("mean_{channel}"), self.mean[i], "a finite number"));
            }
            if !self.std[i].is_finite() || self.std[i] == 0.0 {
                return Err(Error::invalid(format!("std_{channel}"), self.std[i], "a finite number other than 0"));
            }
        }
        match self.resize {
            Some(0) => Err(Error::invalid("resize", 0, "a length of at least 1, or none")),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_field() {
        let good = ImageOptions::new([3, 4, 5]);
        good.check().unwrap();
        for (bad, name) in [
            (ImageOptions::new([2, 4, 5]), "data_shape"),
            (ImageOptions::new([3, 0, 5]), "data_shape"),
            (ImageOptions::new([1, 1 << 20, 1 << 20]), "data_shape"),
            (ImageOptions::new([4, usize::MAX, 5]), "data_shape"),
            (ImageOptions { scale: f32::NAN, ..good.clone() }, "scale"),
            (ImageOptions { mean: [0.0, 0.0, f32::INFINITY, 0.0], ..good.clone() }, "mean_b"),
            (ImageOptions { std: [1.0, 0.0, 1.0, 1.0], ..good.clone() }, "std_g"),
            (ImageOptions { resize: Some(0), ..good.clone() }, "resize"),
        ] {
            let message = bad.check().unwrap_err().to_string();
            assert!(message.contains(name), "{message}");
        }
    }
}
