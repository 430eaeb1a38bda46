//! The usual list of augmenters, by `CreateAugmenter`'s names.

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

/// Settings of the usual list of augmenters: names, defaults and order are those of `mxnet.image.CreateAugmenter`. Its
/// pictures are numbers with the channels last.
#[derive(Clone, Debug, PartialEq)]
pub struct Augmenter {
    /// Rows and columns of the result.
    pub size: (usize, usize),
    /// Length of the shorter edge before the crop; none.
    pub resize: Option<usize>,
    /// Crops lie anywhere instead of in the center; no.
    pub rand_crop: bool,
    /// Crops are of random area and proportion too, which needs `rand_crop`; no.
    pub rand_resize: bool,
    /// Left and right change places every second time; no.
    pub rand_mirror: bool,
    /// Taken away from red, green and blue; none.
    pub mean: Option<[f32; 3]>,
    /// Red, green and blue are divided by it; none.
    pub std: Option<[f32; 3]>,
    /// Largest relative change of brightness; 0.
    pub brightness: f32,
    /// Largest relative change of contrast; 0.
    pub contrast: f32,
    /// Largest relative change of saturation; 0.
    pub saturation: f32,
    /// Largest turn of the hues, in half turns; 0.
    pub hue: f32,
    /// Standard deviation of the noise along the principal components; 0.
    pub pca_noise: f32,
    /// Probability of an image without colors; 0.
    pub rand_gray: f64,
    /// Interpolation; cubic.
    pub inter_method: InterMethod,
}

impl Augmenter {
    /// The center, of this size.
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

    /// The list.
    ///
    /// # Errors
    /// [`mxrs_types::ErrorKind::InvalidValue`] naming what cannot be used.
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
