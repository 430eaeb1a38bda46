//! Combinations of transforms: in sequence, in random order, or with a probability.

use super::{Draw, Picture, Transform, check_probability};
use mxrs_types::Result;

/// Applies transforms in sequence.
#[derive(Debug, Default)]
pub struct Compose(Vec<Box<dyn Transform>>);

impl Compose {
    /// A composition of these transforms, in the given order.
    pub fn of(transforms: impl IntoIterator<Item = Box<dyn Transform>>) -> Self {
        Self(transforms.into_iter().collect())
    }

    /// Adds a transform at the end.
    pub fn push(&mut self, transform: impl Transform + 'static) {
        self.0.push(transform.boxed());
    }

    /// Number of transforms.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no transforms.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Transform for Compose {
    fn apply(&self, picture: Picture, draw: &mut Draw) -> Result<Picture> {
        self.0.iter().try_fold(picture, |picture, transform| transform.apply(picture, draw))
    }
}

/// Applies all transforms in an order that is drawn for each image.
#[derive(Debug, Default)]
pub struct RandomOrder(Vec<Box<dyn Transform>>);

impl RandomOrder {
    /// A composition of these transforms, in random order.
    pub fn of(transforms: impl IntoIterator<Item = Box<dyn Transform>>) -> Self {
        Self(transforms.into_iter().collect())
    }
}

impl Transform for RandomOrder {
    fn apply(&self, picture: Picture, draw: &mut Draw) -> Result<Picture> {
        let mut order: Vec<usize> = (0..self.0.len()).collect();
        draw.random.shuffle(&mut order);
        order.into_iter().try_fold(picture, |picture, i| self.0[i].apply(picture, draw))
    }
}

/// Applies a transform with a given probability, and otherwise leaves the image unchanged.
#[derive(Debug)]
pub struct RandomApply {
    transform: Box<dyn Transform>,
    probability: f64,
}

impl RandomApply {
    /// Applies `transform` with this probability, which is 1/2 in Gluon.
    ///
    /// # Errors
    /// Returns [`mxrs_types::ErrorKind::InvalidValue`] if `probability` is not between 0 and 1.
    pub fn new(transform: impl Transform + 'static, probability: f64) -> Result<Self> {
        check_probability("p of RandomApply", probability)?;
        Ok(Self { transform: transform.boxed(), probability })
    }
}

impl Transform for RandomApply {
    fn apply(&self, picture: Picture, draw: &mut Draw) -> Result<Picture> {
        if draw.happens(self.probability) { self.transform.apply(picture, draw) } else { Ok(picture) }
    }
}
