//! Random changes of brightness, contrast and saturation.
//!
//! Gray is 0.299 red + 0.587 green + 0.114 blue. MXNet 1.9.1's `RandomSaturation` has a bug: it does not sum the terms and
//! uses 0.114 blue as gray. Its `SaturationJitterAug` is correct, and this module computes the same.

use super::{Draw, HueSpace, Picture, RandomHue, RandomOrder, Transform, check_range};
use mxrs_types::Result;

/// The gray value of a pixel.
pub(super) fn gray([r, g, b]: [f32; 3]) -> f32 {
    r * 0.299 + g * 0.587 + b * 0.114
}

/// Range of a uniformly distributed factor.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Factor(f32, f32);

impl Factor {
    /// The range from `1 - most`, but at least 0, to `1 + most`.
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
            /// Uses a factor that is uniformly distributed in 1 ± `most`, but at least 0.
            ///
            /// # Errors
            /// Returns [`mxrs_types::ErrorKind::InvalidValue`] if `most` is negative or not finite.
            pub fn new(most: f32) -> Result<Self> {
                Factor::around_one($what, most).map(Self)
            }

            /// Uses a factor that is uniformly distributed between `least` and `most`, which may be equal.
            ///
            /// # Errors
            /// Returns [`mxrs_types::ErrorKind::InvalidValue`] if a bound is negative or not finite, or if `least` is above
            /// `most`.
            pub fn between(least: f32, most: f32) -> Result<Self> {
                check_range($what, (least, most), 0.0)?;
                Ok(Self(Factor(least, most)))
            }
        }
    )*};
}

jitters! {
    /// Multiplies every color by a random factor.
    RandomBrightness of "brightness";
    /// Multiplies the difference of every color from the mean gray of the image by a random factor.
    RandomContrast of "contrast";
    /// Multiplies the difference of every color from the gray of its pixel by a random factor. Gray images stay unchanged.
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

/// Changes brightness, contrast, saturation and hue in random order; changes whose bound is 0 are left out.
#[derive(Debug)]
pub struct RandomColorJitter(RandomOrder);

impl RandomColorJitter {
    /// The arguments are the largest changes; `hue` is used with [`RandomHue`] in [`HueSpace::Hls`].
    ///
    /// # Errors
    /// Returns [`mxrs_types::ErrorKind::InvalidValue`] if an argument is negative or not finite.
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
