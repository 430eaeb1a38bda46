//! Mirrored images.

use super::{Draw, Picture, Transform, check_probability};
use mxrs_types::Result;

/// What changes places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flip {
    /// Left and right.
    LeftRight,
    /// Top and bottom.
    TopBottom,
}

/// Mirrors with a probability: `RandomFlipLeftRight` and `RandomFlipTopBottom` of Gluon, `HorizontalFlipAug`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomFlip {
    flip: Flip,
    probability: f64,
}

impl RandomFlip {
    /// Left and right change places every second time.
    pub fn left_right() -> Self {
        Self { flip: Flip::LeftRight, probability: 0.5 }
    }

    /// Top and bottom change places every second time.
    pub fn top_bottom() -> Self {
        Self { flip: Flip::TopBottom, probability: 0.5 }
    }

    /// With this probability.
    ///
    /// # Errors
    /// [`mxrs_types::ErrorKind::InvalidValue`] if the number is not a probability.
    pub fn with_probability(self, probability: f64) -> Result<Self> {
        check_probability("p of a flip", probability)?;
        Ok(Self { probability, ..self })
    }
}

impl Transform for RandomFlip {
    fn apply(&self, picture: Picture, draw: &mut Draw) -> Result<Picture> {
        if draw.happens(self.probability) { picture.flipped(self.flip == Flip::TopBottom) } else { Ok(picture) }
    }
}
