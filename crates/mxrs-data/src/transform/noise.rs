//! Random noise along the principal components of colors, and random conversion to gray.

use super::{Draw, Picture, Transform, check_probability, check_range};
use crate::augment::pca_noise;
use mxrs_types::Result;

/// Adds the same random color to all pixels, along the principal components of ImageNet's colors. Gray images stay
/// unchanged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomLighting(f32);

impl RandomLighting {
    /// `deviation` is the standard deviation of the factor of each component; 0.05 in Gluon's operator.
    ///
    /// # Errors
    /// Returns [`mxrs_types::ErrorKind::InvalidValue`] if `deviation` is negative or not finite.
    pub fn new(deviation: f32) -> Result<Self> {
        check_range("deviation of RandomLighting", (deviation, deviation), 0.0)?;
        Ok(Self(deviation))
    }
}

impl Transform for RandomLighting {
    fn apply(&self, mut picture: Picture, draw: &mut Draw) -> Result<Picture> {
        let [r, g, b, _] = pca_noise(self.0, &mut draw.random);
        if picture.has_colors() {
            picture.recolor(|[red, green, blue]| [red + r, green + g, blue + b]);
        }
        Ok(picture)
    }
}

/// Sets all channels to the gray value of the pixel, with a given probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomGray {
    probability: f64,
    weights: [f32; 3],
}

impl RandomGray {
    /// Sets the probability (1/2 in Gluon), with Gluon's weights of red, green and blue: 0.2989, 0.587, 0.114.
    ///
    /// # Errors
    /// Returns [`mxrs_types::ErrorKind::InvalidValue`] if the number is not between 0 and 1.
    pub fn new(probability: f64) -> Result<Self> {
        check_probability("p of RandomGray", probability)?;
        Ok(Self { probability, weights: [0.2989, 0.587, 0.114] })
    }

    /// Sets the weights of red, green and blue; `RandomGrayAug` has 0.21, 0.72, 0.07.
    #[must_use]
    pub fn weights(self, weights: [f32; 3]) -> Self {
        Self { weights, ..self }
    }
}

impl Transform for RandomGray {
    fn apply(&self, mut picture: Picture, draw: &mut Draw) -> Result<Picture> {
        if draw.happens(self.probability) && picture.has_colors() {
            picture.recolor(|colors| [colors.iter().zip(self.weights).map(|(a, b)| a * b).sum(); 3]);
        }
        Ok(picture)
    }
}
