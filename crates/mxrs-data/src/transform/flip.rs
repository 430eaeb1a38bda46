//! Random mirroring of images.

use super::{Draw, Picture, Transform, check_probability};
use mxrs_types::Result;

/// Direction in which an image is mirrored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flip {
    /// Exchanges left and right.
    LeftRight,
    /// Exchanges top and bottom.
    TopBottom,
}

/// Mirrors an image with a given probability: Gluon's `RandomFlipLeftRight` and `RandomFlipTopBottom`, and
/// `HorizontalFlipAug`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomFlip {
    flip: Flip,
    probability: f64,
}

impl RandomFlip {
    /// Exchanges left and right with probability 1/2.
    pub fn left_right() -> Self {
        Self { flip: Flip::LeftRight, probability: 0.5 }
    }

    /// Exchanges top and bottom with probability 1/2.
    pub fn top_bottom() -> Self {
        Self { flip: Flip::TopBottom, probability: 0.5 }
    }

    /// Sets the probability.
    ///
    /// # Errors
    /// Returns [`mxrs_types::ErrorKind::InvalidValue`] if the number is not between 0 and 1.
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
