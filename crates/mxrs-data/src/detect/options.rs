//! Settings of the random augmentation of images with objects.

use crate::InterMethod;
use mxrs_types::{Error, Result};

/// Largest number of crops that one sampler may try.
const MOST_TRIALS: usize = 1_000_000;

/// One kind of random crop, with the names and defaults of MXNet's `det_aug_default`. Each range is a pair of the smallest
/// and the largest value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CropSampler {
    /// Square root of the fraction of the image's area that the crop covers; default 0 to 1.
    pub scales: (f32, f32),
    /// Width divided by height; default 1 to 1.
    pub aspect_ratios: (f32, f32),
    /// Intersection over union of the crop with an object; default any.
    pub overlaps: (f32, f32),
    /// Area of the intersection with an object divided by the area of the crop; default any.
    pub sample_coverages: (f32, f32),
    /// Area of the intersection with an object divided by the area of the object; default any.
    pub object_coverages: (f32, f32),
    /// Number of crops that are tried, at most 1 000 000; default 25.
    pub max_trials: usize,
}

impl Default for CropSampler {
    fn default() -> Self {
        let any = (0.0, 1.0);
        Self {
            scales: any,
            aspect_ratios: (1.0, 1.0),
            overlaps: any,
            sample_coverages: any,
            object_coverages: any,
            max_trials: 25,
        }
    }
}

/// Which objects are dropped by a crop.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum CropEmit {
    /// Drops objects whose center lies outside the crop.
    #[default]
    Center,
    /// Drops an object if at most this fraction of its area lies inside the crop.
    Overlap(f32),
}

/// How an image is resized to `data_shape`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum DetectResize {
    /// Resizes to `data_shape` exactly, without keeping the proportion.
    #[default]
    Force,
    /// Makes the image smaller if it is too large, keeping its proportion.
    Shrink,
    /// Makes the image as large as fits, keeping its proportion.
    Fit,
}

/// A random change of a color property, such as hue, which is applied with a given probability: a uniform random number is
/// added to it.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct RandomShift {
    /// Largest absolute value of the shift; default 0.
    pub most: f32,
    /// Probability of the shift; default 0.
    pub probability: f64,
}

/// Augmentation of images with objects, with the names and defaults of MXNet's `det_aug_default`. The changes are
/// applied in this order: colors, mirroring, padding, crop, resizing. Probabilities are from 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct DetectAugment {
    /// Shift of the hue, in units of two degrees.
    pub hue: RandomShift,
    /// Shift of the saturation, which ranges from 0 to 255.
    pub saturation: RandomShift,
    /// Shift of the lightness, which ranges from 0 to 255.
    pub illumination: RandomShift,
    /// All colors are multiplied by 1 plus this shift.
    pub contrast: RandomShift,
    /// Probability of mirroring; default 0.
    pub rand_mirror_prob: f64,
    /// Probability of adding a border; default 0.
    pub rand_pad_prob: f64,
    /// Largest size with the border, relative to that of the image; default 1.
    pub max_pad_scale: f32,
    /// Probability of a crop; default 0.
    pub rand_crop_prob: f64,
    /// Kinds of random crops, tried in random order; by default one sampler with its default settings.
    pub crop_samplers: Vec<CropSampler>,
    /// Which objects a crop drops.
    pub crop_emit: CropEmit,
    /// How the image is resized to `data_shape`.
    pub resize_mode: DetectResize,
    /// Pixel value of borders; default **127**.
    pub fill_value: u8,
    /// Interpolation; default linear.
    pub inter_method: InterMethod,
}

impl Default for DetectAugment {
    fn default() -> Self {
        let none = RandomShift::default();
        Self {
            hue: none,
            saturation: none,
            illumination: none,
            contrast: none,
            rand_mirror_prob: 0.0,
            rand_pad_prob: 0.0,
            max_pad_scale: 1.0,
            rand_crop_prob: 0.0,
            crop_samplers: vec![CropSampler::default()],
            crop_emit: CropEmit::default(),
            resize_mode: DetectResize::default(),
            fill_value: 127,
            inter_method: InterMethod::default(),
        }
    }
}

impl DetectAugment {
    /// Checks that every setting is valid.
    ///
    /// # Errors
    /// Returns [`mxrs_types::ErrorKind::InvalidValue`] with the name of the invalid setting.
    pub fn check(&self) -> Result<()> {
        let shifts = [
            ("max_random_hue", self.hue.most),
            ("max_random_saturation", self.saturation.most),
            ("max_random_illumination", self.illumination.most),
            ("max_random_contrast", self.contrast.most),
        ];
        for (name, value) in shifts {
            if !(value.is_finite() && value >= 0.0) {
                return Err(Error::invalid(name, value, "a finite number of at least 0"));
            }
        }
        let probabilities = [
            ("random_hue_prob", self.hue.probability),
            ("random_saturation_prob", self.saturation.probability),
            ("random_illumination_prob", self.illumination.probability),
            ("random_contrast_prob", self.contrast.probability),
            ("rand_mirror_prob", self.rand_mirror_prob),
            ("rand_pad_prob", self.rand_pad_prob),
            ("rand_crop_prob", self.rand_crop_prob),
        ];
        for (name, value) in probabilities {
            if !(0.0..=1.0).contains(&value) {
                return Err(Error::invalid(name, value, "a probability, 0 to 1"));
            }
        }
        if !(self.max_pad_scale.is_finite() && self.max_pad_scale >= 1.0) {
            return Err(Error::invalid("max_pad_scale", self.max_pad_scale, "a finite number of at least 1"));
        }
        if let CropEmit::Overlap(least) = self.crop_emit
            && !(0.0..=1.0).contains(&least)
        {
            return Err(Error::invalid("emit_overlap_thresh", least, "a part, 0 to 1"));
        }
        for sampler in &self.crop_samplers {
            if sampler.max_trials > MOST_TRIALS {
                return Err(Error::invalid("max_crop_trials", sampler.max_trials, format!("at most {MOST_TRIALS}")));
            }
            let part = |(least, most): (f32, f32)| (0.0..=1.0).contains(&least) && least <= most && most.is_finite();
            let CropSampler { scales, aspect_ratios, overlaps, sample_coverages, object_coverages, .. } = *sampler;
            let aspects = aspect_ratios.0 > 0.0 && aspect_ratios.0 <= aspect_ratios.1 && aspect_ratios.1.is_finite();
            for (name, range, is_good) in [
                ("crop_scales", scales, part(scales) && scales.1 <= 1.0 && scales.0 < scales.1),
                ("crop_aspect_ratios", aspect_ratios, aspects),
                ("crop_overlaps", overlaps, part(overlaps)),
                ("crop_sample_coverages", sample_coverages, part(sample_coverages)),
                ("crop_object_coverages", object_coverages, part(object_coverages)),
            ] {
                if !is_good {
                    let expected = "parts of 0 to 1 (ratios above 0), the smaller first, scales not equal";
                    return Err(Error::invalid(format!("min_{name} and max_{name}"), format!("{range:?}"), expected));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_field() {
        let one = DetectAugment::default;
        one().check().unwrap();
        let often = |probability| RandomShift { most: 1.0, probability };
        let tries = |max_trials| vec![CropSampler { max_trials, ..CropSampler::default() }];
        DetectAugment { hue: often(1.0), crop_samplers: tries(MOST_TRIALS), ..one() }.check().unwrap();
        for (bad, name) in [
            (DetectAugment { hue: often(f64::NAN), ..one() }, "random_hue_prob"),
            (DetectAugment { saturation: often(50.0), ..one() }, "random_saturation_prob"),
            (DetectAugment { illumination: often(-0.1), ..one() }, "random_illumination_prob"),
            (DetectAugment { contrast: often(f64::INFINITY), ..one() }, "random_contrast_prob"),
            (DetectAugment { rand_mirror_prob: 1.1, ..one() }, "rand_mirror_prob"),
            (DetectAugment { rand_pad_prob: f64::NAN, ..one() }, "rand_pad_prob"),
            (DetectAugment { rand_crop_prob: -1.0, ..one() }, "rand_crop_prob"),
            (DetectAugment { max_pad_scale: f32::NAN, ..one() }, "max_pad_scale"),
            (DetectAugment { max_pad_scale: f32::INFINITY, ..one() }, "max_pad_scale"),
            (DetectAugment { max_pad_scale: 0.9, ..one() }, "max_pad_scale"),
            (DetectAugment { crop_samplers: tries(MOST_TRIALS + 1), ..one() }, "max_crop_trials"),
            (DetectAugment { crop_samplers: tries(usize::MAX), ..one() }, "max_crop_trials"),
        ] {
            let message = bad.check().unwrap_err().to_string();
            assert!(message.starts_with(name), "{message}");
        }
    }
}
