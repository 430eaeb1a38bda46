//! Brightness, contrast and saturation.
//!
//! Grays are 0.299 red + 0.587 green + 0.114 blue. MXNet 1.9.1's own `RandomSaturation` forgets to add up and takes 0.114 blue
//! for gray; its `SaturationJitterAug` is right, and so is this.

use super::{Draw, HueSpace, Picture, RandomHue, RandomOrder, Transform, check_range};
use mxrs_types::Result;

/// The gray of a pixel.
pub(super) fn gray([r, g, b]: [f32; 3]) -> f32 {
    r * 0.299 + g * 0.587 + b * 0.114
}

/// Factors that are uniform in a range.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Factor(f32, f32);

impl Factor {
    /// 1 and up to `most` more or less, but not below 0.
    fn around_one(name: &str, most: f32) -> Result<Self> {
        check_range(name, (most, most), 0.0)?;
        Ok(Self((1.0 - most).max(0.0), 1.0 + most))
    }

    fn draw(self, draw: &mut Draw) -> f32 {
        draw.random.uniform(self.0, self.1)
    }
}

macro_rules! jitters {
    ($($(#[$doc:meta])* $name:ident of $what:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $name(Factor);

        impl $name {
            /// With a factor that is uniform in 1 ± `most`, but not below 0.
            ///
            /// # Errors
            /// [`mxrs_types::ErrorKind::InvalidValue`] for what is negative or not finite.
            pub fn new(most: f32) -> Result<Self> {
                Factor::around_one($what, most).map(Self)
            }

            /// With a factor that is uniform in a range, or always the same.
            ///
            /// # Errors
            /// [`mxrs_types::ErrorKind::InvalidValue`] for what is negative, not finite or not in order.
            pub fn between(least: f32, most: f32) -> Result<Self> {
                check_range($what, (least, most), 0.0)?;
                Ok(Self(Factor(least, most)))
            }
        }
    )*};
}

jitters! {
    /// Every color times a random factor.
    RandomBrightness of "brightness";
    /// Every color away from the mean gray of the image, or towards it, by a random factor.
    RandomContrast of "contrast";
    /// Every color away from the gray of its pixel, or towards it, by a random factor. Gray images stay.
    RandomSaturation of "saturation";
}

impl Transform for RandomBrightness {
    fn apply(&self, mut picture: Picture, draw: &mut Draw) -> Result<Picture> {
        let factor = self.0.draw(draw);
        picture.recolor(|colors| colors.map(|value| value * factor));
        Ok(picture)
    }
}

impl Transform for RandomContrast {
    fn apply(&self, mut picture: Picture, draw: &mut Draw) -> Result<Picture> {
        let factor = self.0.draw(draw);
        let offset = (1.0 - factor) * if picture.has_colors() { picture.mean(gray) } else { picture.mean(|c| c[0]) };
        picture.recolor(|colors| colors.map(|value| value * factor + offset));
        Ok(picture)
    }
}

impl Transform for RandomSaturation {
    fn apply(&self, mut picture: Picture, draw: &mut Draw) -> Result<Picture> {
        let factor = self.0.draw(draw);
        if picture.has_colors() {
            picture.recolor(|colors| {
                let offset = (1.0 - factor) * gray(colors);
                colors.map(|value| value * factor + offset)
            });
        }
        Ok(picture)
    }
}

/// Brightness, contrast, saturation and hue, as far as they are above 0, in random order.
#[derive(Debug)]
pub struct RandomColorJitter(RandomOrder);

impl RandomColorJitter {
    /// Each with its largest change; `hue` as in [`RandomHue`], in hue, lightness and saturation.
    ///
    /// # Errors
    /// [`mxrs_types::ErrorKind::InvalidValue`] for what is negative or not finite.
    pub fn new(brightness: f32, contrast: f32, saturation: f32, hue: f32) -> Result<Self> {
        let all = [
            (brightness, RandomBrightness::new(brightness)?.boxed()),
            (contrast, RandomContrast::new(contrast)?.boxed()),
            (saturation, RandomSaturation::new(saturation)?.boxed()),
            (hue, RandomHue::new(hue, HueSpace::Hls)?.boxed()),
        ];
        Ok(Self(RandomOrder::of(all.into_iter().filter(|(most, _)| *most > 0.0).map(|(_, transform)| transform))))
    }
}

impl Transform for RandomColorJitter {
    fn apply(&self, picture: Picture, draw: &mut Draw) -> Result<Picture> {
        self.0.apply(picture, draw)
    }
}
