//! Settings of the random augmentation of images.

use crate::ImageOptions;
use crate::resample::InterMethod;
use mxrs_types::{Error, Result};

/// Augmentation of a record iterator's images, with the names and defaults of MXNet's `ImageRecordIter`. The default changes
/// nothing: images are resized and cropped in the center as [`crate::ImageOptions`] specifies.
///
/// The changes are applied in this order:
///
/// 1. resize of the shorter edge ([`crate::ImageOptions::resize`]),
/// 2. shear, rotation, scale and aspect in one affine map, and limits on the size,
/// 3. padding,
/// 4. the crop: of random area and aspect, of random size, or of the requested size,
/// 5. brightness, contrast and saturation in random order,
/// 6. a shift in hue, lightness and saturation,
/// 7. noise along the principal components of colors,
/// 8. mirroring, contrast around the mean, illumination.
#[derive(Clone, Debug, PartialEq)]
pub struct Augment {
    /// Interpolation used when an image is resized or mapped (`inter_method`); default linear.
    pub inter_method: InterMethod,
    /// Whether crops are at a random position instead of the center; default no.
    pub rand_crop: bool,
    /// Whether a region of random area and aspect is cropped and resized; default no. Cannot be combined with `rand_crop`,
    /// the crop sizes or the scales.
    pub random_resized_crop: bool,
    /// Rotates by a random integer angle of at most this many degrees in either direction; default 0.
    pub max_rotate_angle: u32,
    /// Rotates by exactly this many degrees, if above 0; default 0.
    pub rotate: u32,
    /// Angles in degrees. If there are any, the image is rotated by one of them, chosen at random; default none.
    pub rotate_list: Vec<i32>,
    /// Largest ratio of width to height. If `min_aspect_ratio` is not set, this is how far the ratio may differ from 1;
    /// default 0.
    pub max_aspect_ratio: f32,
    /// Smallest width divided by height; default not set.
    pub min_aspect_ratio: Option<f32>,
    /// Shears by at most this fraction of the height in either direction; default 0.
    pub max_shear_ratio: f32,
    /// Largest side of a random square crop, which is resized to the requested size; default none.
    pub max_crop_size: Option<usize>,
    /// Smallest side of the random square crop; default none.
    pub min_crop_size: Option<usize>,
    /// Largest random scale factor; default 1.
    pub max_random_scale: f32,
    /// Smallest random scale factor; default 1.
    pub min_random_scale: f32,
    /// Largest fraction of the area that `random_resized_crop` takes; default 1.
    pub max_random_area: f32,
    /// Smallest fraction of the area that `random_resized_crop` takes; default 1.
    pub min_random_area: f32,
    /// Largest height and width after the affine map, in pixels; default 1e10.
    pub max_img_size: f32,
    /// Smallest height and width after the affine map, in pixels; default 0.
    pub min_img_size: f32,
    /// Largest relative change of brightness; default 0.
    pub brightness: f32,
    /// Largest relative change of contrast; default 0.
    pub contrast: f32,
    /// Largest relative change of saturation; default 0.
    pub saturation: f32,
    /// Standard deviation of the noise along the principal components of colors; default 0.
    pub pca_noise: f32,
    /// Largest shift of the hue, in units of two degrees; default 0.
    pub random_h: u32,
    /// Largest shift of the saturation, which ranges from 0 to 255; default 0.
    pub random_s: u32,
    /// Largest shift of the lightness, which ranges from 0 to 255; default 0.
    pub random_l: u32,
    /// Pixel value of padding and of pixels from outside the image; default **255**.
    pub fill_value: u8,
    /// Number of pixels added on each side; default 0.
    pub pad: usize,
    /// Whether every image is mirrored (left and right exchanged); default no.
    pub mirror: bool,
    /// Whether images are mirrored with probability 1/2; default no.
    pub rand_mirror: bool,
    /// Largest relative change of a pixel's difference from the mean; default 0.
    pub max_random_contrast: f32,
    /// Largest number that is added to the pixels, before they are multiplied by `scale` and divided by `std`; default 0.
    pub max_random_illumination: f32,
}

impl Default for Augment {
    fn default() -> Self {
        Self {
            inter_method: InterMethod::default(),
            rand_crop: false,
            random_resized_crop: false,
            max_rotate_angle: 0,
            rotate: 0,
            rotate_list: Vec::new(),
            max_aspect_ratio: 0.0,
            min_aspect_ratio: None,
            max_shear_ratio: 0.0,
            max_crop_size: None,
            min_crop_size: None,
            max_random_scale: 1.0,
            min_random_scale: 1.0,
            max_random_area: 1.0,
            min_random_area: 1.0,
            max_img_size: 1e10,
            min_img_size: 0.0,
            brightness: 0.0,
            contrast: 0.0,
            saturation: 0.0,
            pca_noise: 0.0,
            random_h: 0,
            random_s: 0,
            random_l: 0,
            fill_value: 255,
            pad: 0,
            mirror: false,
            rand_mirror: false,
            max_random_contrast: 0.0,
            max_random_illumination: 0.0,
        }
    }
}

impl Augment {
    /// The settings of `--use-imagenet-data-augmentation` in MXNet's training scripts: crops of random area and aspect,
    /// mirroring, jitter of 0.4 in brightness, contrast and saturation, and PCA noise of 0.1.
    pub fn imagenet() -> Self {
        Self {
            random_resized_crop: true,
            rand_mirror: true,
            min_random_area: 0.08,
            min_aspect_ratio: Some(3.0 / 4.0),
            max_aspect_ratio: 4.0 / 3.0,
            brightness: 0.4,
            contrast: 0.4,
            saturation: 0.4,
            pca_noise: 0.1,
            ..Self::default()
        }
    }

    /// Smallest and largest aspect ratio.
    pub(super) fn aspects(&self) -> (f32, f32) {
        match self.min_aspect_ratio {
            Some(least) => (least, self.max_aspect_ratio),
            None => (1.0 - self.max_aspect_ratio, 1.0 + self.max_aspect_ratio),
        }
    }

    /// Smallest and largest side of the square crop, if its size is random.
    pub(super) fn crop_sizes(&self) -> Option<(usize, usize)> {
        let (least, most) = (self.min_crop_size, self.max_crop_size);
        (least.is_some() || most.is_some()).then(|| (least.or(most).unwrap_or(1), most.or(least).unwrap_or(1)))
    }

    /// Checks that every setting is valid and that the settings can be combined.
    ///
    /// # Errors
    /// Returns [`mxrs_types::ErrorKind::InvalidValue`] with the name of the invalid setting.
    pub fn check(&self, image: &ImageOptions) -> Result<()> {
        let not_negative = [
            ("max_shear_ratio", self.max_shear_ratio),
            ("max_aspect_ratio", self.max_aspect_ratio),
            ("min_random_scale", self.min_random_scale),
            ("max_random_scale", self.max_random_scale),
            ("min_random_area", self.min_random_area),
            ("max_random_area", self.max_random_area),
            ("min_img_size", self.min_img_size),
            ("max_img_size", self.max_img_size),
            ("brightness", self.brightness),
            ("contrast", self.contrast),
            ("saturation", self.saturation),
            ("pca_noise", self.pca_noise),
            ("max_random_contrast", self.max_random_contrast),
            ("max_random_illumination", self.max_random_illumination),
        ];
        for (name, value) in not_negative {
            if !(value.is_finite() && value >= 0.0) {
                return Err(Error::invalid(name, value, "a finite number of at least 0"));
            }
        }
        let (least, most) = self.aspects();
        if !(least > 0.0 && least <= most) {
            let expected = "positive, and min_aspect_ratio at most max_aspect_ratio (without min_aspect_ratio below 1)";
            return Err(Error::invalid("max_aspect_ratio", format!("aspects from {least} to {most}"), expected));
        }
        for (name, other, least, most) in [
            ("min_random_area", "max_random_area", self.min_random_area, self.max_random_area),
            ("min_random_scale", "max_random_scale", self.min_random_scale, self.max_random_scale),
            ("min_img_size", "max_img_size", self.min_img_size, self.max_img_size),
        ] {
            if least > most {
                return Err(Error::invalid(name, least, format!("at most {other} ({most})")));
            }
        }
        if i32::try_from(self.max_rotate_angle).is_err() {
            return Err(Error::invalid(
                "max_rotate_angle",
                self.max_rotate_angle,
                format!("at most {} degrees", i32::MAX),
            ));
        }
        if let Some((least, most)) = self.crop_sizes()
            && (least == 0 || least > most)
        {
            return Err(Error::invalid("min_crop_size", least, format!("from 1 to max_crop_size ({most})")));
        }
        let scales = self.min_random_scale != 1.0 || self.max_random_scale != 1.0;
        if self.random_resized_crop && (self.rand_crop || scales || self.crop_sizes().is_some()) {
            let expected = "without rand_crop, min_crop_size, max_crop_size, min_random_scale and max_random_scale";
            return Err(Error::invalid("random_resized_crop", true, expected));
        }
        let colors = self.random_h != 0 || self.random_s != 0 || self.random_l != 0 || self.pca_noise > 0.0;
        if colors && image.data_shape[0] == 1 {
            let expected = "images with colors (data_shape of 3 channels)";
            return Err(Error::invalid("random_h, random_s, random_l or pca_noise", "a gray image", expected));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_field() {
        let color = ImageOptions::new([3, 4, 4]);
        Augment::default().check(&color).unwrap();
        Augment::imagenet().check(&color).unwrap();
        let one = Augment::default;
        for (bad, name) in [
            (Augment { brightness: -0.1, ..one() }, "brightness"),
            (Augment { pca_noise: f32::NAN, ..one() }, "pca_noise"),
            (Augment { max_aspect_ratio: 1.0, ..one() }, "max_aspect_ratio"),
            (Augment { min_aspect_ratio: Some(1.5), max_aspect_ratio: 1.0, ..one() }, "max_aspect_ratio"),
            (Augment { min_random_area: 1.5, ..one() }, "min_random_area"),
            (Augment { min_random_scale: 1.5, ..one() }, "min_random_scale"),
            (Augment { min_img_size: 9.0, max_img_size: 8.0, ..one() }, "min_img_size"),
            (Augment { min_crop_size: Some(9), max_crop_size: Some(8), ..one() }, "min_crop_size"),
            (Augment { max_crop_size: Some(0), ..one() }, "min_crop_size"),
            (Augment { max_rotate_angle: 1 << 31, ..one() }, "max_rotate_angle"),
            (Augment { rand_crop: true, ..Augment::imagenet() }, "random_resized_crop"),
            (Augment { max_crop_size: Some(8), ..Augment::imagenet() }, "random_resized_crop"),
            (Augment { max_random_scale: 2.0, ..Augment::imagenet() }, "random_resized_crop"),
        ] {
            let message = bad.check(&color).unwrap_err().to_string();
            assert!(message.contains(name), "{message}");
        }
        let gray = ImageOptions::new([1, 4, 4]);
        assert!(Augment { random_h: 1, ..one() }.check(&gray).is_err());
        Augment { contrast: 0.5, ..one() }.check(&gray).unwrap();
    }
}
