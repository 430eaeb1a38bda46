//! The standard list of augmenters, with the settings of MXNet's `CreateAugmenter`.

use super::{
    Cast, CenterCrop, Compose, HueSpace, Normalize, RandomColorJitter, RandomCrop, RandomFlip, RandomGray, RandomHue,
    RandomLighting, RandomResizedCrop, Resize, ResizeTo,
};
use crate::resample::{InterMethod, Interpolation};
use mxrs_types::{Error, Result};

/// Mean of ImageNet's colors.
pub const IMAGENET_MEAN: [f32; 3] = [123.68, 116.28, 103.53];
/// Standard deviation of ImageNet's colors.
pub const IMAGENET_STD: [f32; 3] = [58.395, 57.12, 57.375];

/// Settings of the standard list of augmenters, with the names, defaults and order of `mxnet.image.CreateAugmenter`. The
/// augmenters take images with channels last.
#[derive(Clone, Debug, PartialEq)]
pub struct Augmenter {
    /// Height and width of the result.
    pub size: (usize, usize),
    /// Length of the shorter edge before the crop; default none.
    pub resize: Option<usize>,
    /// Whether crops are at a random position instead of the center; default no.
    pub rand_crop: bool,
    /// Whether crops also have a random area and proportion, which needs `rand_crop`; default no.
    pub rand_resize: bool,
    /// Whether images are mirrored (left and right exchanged) with probability 1/2; default no.
    pub rand_mirror: bool,
    /// Mean that is subtracted from red, green and blue; default none.
    pub mean: Option<[f32; 3]>,
    /// Divisor of red, green and blue; default none.
    pub std: Option<[f32; 3]>,
    /// Largest relative change of brightness; default 0.
    pub brightness: f32,
    /// Largest relative change of contrast; default 0.
    pub contrast: f32,
    /// Largest relative change of saturation; default 0.
    pub saturation: f32,
    /// Largest rotation of the hue, in half turns; default 0.
    pub hue: f32,
    /// Standard deviation of the noise along the principal components of colors; default 0.
    pub pca_noise: f32,
    /// Probability of converting an image to gray; default 0.
    pub rand_gray: f64,
    /// Interpolation; default cubic.
    pub inter_method: InterMethod,
}

impl Augmenter {
    /// Settings that only crop the center to this size.
    pub fn new(height: usize, width: usize) -> Self {
        Self {
            size: (height, width),
            resize: None,
            rand_crop: false,
            rand_resize: false,
            rand_mirror: false,
            mean: None,
            std: None,
            brightness: 0.0,
            contrast: 0.0,
            saturation: 0.0,
            hue: 0.0,
            pca_noise: 0.0,
            rand_gray: 0.0,
            inter_method: InterMethod::Fixed(Interpolation::Cubic),
        }
    }

    /// Builds the list of transforms.
    ///
    /// # Errors
    /// Returns [`mxrs_types::ErrorKind::InvalidValue`] with the name of an invalid setting.
    pub fn build(&self) -> Result<Compose> {
        let ((height, width), method) = (self.size, self.inter_method);
        let mut all = Compose::default();
        if let Some(edge) = self.resize {
            all.push(Resize::new(ResizeTo::ShorterEdge(edge)).method(method));
        }
        match (self.rand_crop, self.rand_resize) {
            (true, true) => all.push(RandomResizedCrop::new(height, width).method(method)),
            (true, false) => all.push(RandomCrop::new(height, width).method(method)),
            (false, false) => all.push(CenterCrop::new(height, width).method(method)),
            (false, true) => return Err(Error::invalid("rand_resize", true, "rand_crop as well")),
        }
        if self.rand_mirror {
            all.push(RandomFlip::left_right());
        }
        all.push(Cast::float32());
        if [self.brightness, self.contrast, self.saturation] != [0.0; 3] {
            all.push(RandomColorJitter::new(self.brightness, self.contrast, self.saturation, 0.0)?);
        }
        if self.hue != 0.0 {
            all.push(RandomHue::new(self.hue, HueSpace::Yiq)?);
        }
        if self.pca_noise != 0.0 {
            all.push(RandomLighting::new(self.pca_noise)?);
        }
        if self.rand_gray != 0.0 {
            all.push(RandomGray::new(self.rand_gray)?.weights([0.21, 0.72, 0.07]));
        }
        if self.mean.is_some() || self.std.is_some() {
            all.push(Normalize::new(self.mean.unwrap_or_default(), self.std.unwrap_or([1.0; 3]))?);
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_has_what_is_asked_for_in_order() {
        let plain = || Augmenter::new(4, 5);
        let names = |augmenter: Augmenter| {
            let text = format!("{:?}", augmenter.build().unwrap());
            let all =
                ["CenterCrop", "RandomResizedCrop", "RandomCrop", "Resize {", "RandomFlip", "Cast", "RandomOrder"];
            let more = ["RandomHue", "RandomLighting", "RandomGray", "Normalize"];
            let mut seen: Vec<_> = all.iter().chain(&more).filter_map(|name| Some((text.find(name)?, *name))).collect();
            seen.sort_unstable();
            seen.into_iter().map(|(_, name)| name).collect::<Vec<_>>()
        };
        assert_eq!(names(plain()), ["CenterCrop", "Cast"]);
        let all = Augmenter {
            resize: Some(6),
            rand_crop: true,
            rand_resize: true,
            rand_mirror: true,
            mean: Some(IMAGENET_MEAN),
            contrast: 0.1,
            hue: 0.1,
            pca_noise: 0.1,
            rand_gray: 0.1,
            ..plain()
        };
        let expected = [
            "Resize {",
            "RandomResizedCrop",
            "RandomFlip",
            "Cast",
            "RandomOrder",
            "RandomHue",
            "RandomLighting",
            "RandomGray",
            "Normalize",
        ];
        assert_eq!(names(all), expected);
        assert_eq!(
            names(Augmenter { rand_crop: true, std: Some(IMAGENET_STD), ..plain() })[..],
            ["RandomCrop", "Cast", "Normalize"]
        );
        for (bad, name) in [
            (Augmenter { rand_resize: true, ..plain() }, "rand_crop"),
            (Augmenter { brightness: -1.0, ..plain() }, "brightness"),
            (Augmenter { hue: f32::NAN, ..plain() }, "hue"),
            (Augmenter { rand_gray: 1.5, ..plain() }, "RandomGray"),
            (Augmenter { std: Some([0.0; 3]), ..plain() }, "std"),
        ] {
            let message = bad.build().unwrap_err().to_string();
            assert!(message.contains(name), "{message}");
        }
    }
}
