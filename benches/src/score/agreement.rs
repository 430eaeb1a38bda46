//! Compares the outputs of two libraries for the same images.

use super::Dtype;

/// Tolerance for 8-bit integers, which every library rounds in its own way. If the likeliest classes of two libraries differ,
/// they still count as the same if our probability of the other library's class is at least our largest probability minus
/// this fraction of it.
pub const TOLERANCE_IN_8_BITS: f64 = 0.1;

/// Agreement of the outputs of two libraries.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Agreement {
    /// Number of compared images.
    pub n_images: usize,
    /// Number of images for which both libraries have the same likeliest class, up to the tolerance.
    pub n_same_class: usize,
    /// Largest difference of two probabilities; infinite if one of them is not a number.
    pub max_difference: f64,
}

/// The tolerance for this element type: 0 unless it is `Dtype::Int8`.
pub fn tolerance(dtype: Dtype) -> f64 {
    if dtype == Dtype::Int8 { TOLERANCE_IN_8_BITS } else { 0.0 }
}

impl Agreement {
    /// Compares the outputs of one batch, both row-major with one row of class probabilities per image. `None` if the sizes
    /// do not match.
    pub fn of(ours: &[f32], theirs: &[f32], n_images: usize, tolerance: f64) -> Option<Self> {
        if ours.len() != theirs.len() || n_images == 0 || ours.is_empty() || !ours.len().is_multiple_of(n_images) {
            return None;
        }
        let n_classes = ours.len() / n_images;
        let images = ours.chunks(n_classes).zip(theirs.chunks(n_classes));
        let n_same_class = images.filter(|(ours, theirs)| is_same_class(ours, theirs, tolerance)).count();
        let difference = |(a, b): (&f32, &f32)| {
            let difference = (f64::from(*a) - f64::from(*b)).abs();
            if difference.is_nan() { f64::INFINITY } else { difference }
        };
        let max_difference = ours.iter().zip(theirs).map(difference).fold(0.0, f64::max);
        Some(Self { n_images, n_same_class, max_difference })
    }

    /// The agreement over the images of `self` and `other` together.
    pub fn and(self, other: Self) -> Self {
        Self {
            n_images: self.n_images + other.n_images,
            n_same_class: self.n_same_class + other.n_same_class,
            max_difference: self.max_difference.max(other.max_difference),
        }
    }
}

fn is_same_class(ours: &[f32], theirs: &[f32], tolerance: f64) -> bool {
    let (ours_at, theirs_at) = (likeliest(ours), likeliest(theirs));
    let is_close = || f64::from(ours[theirs_at]) >= (1.0 - tolerance) * f64::from(ours[ours_at]);
    ours_at == theirs_at || (tolerance > 0.0 && theirs[theirs_at].is_finite() && is_close())
}

/// Index of the largest probability; of equal ones, the first.
fn likeliest(classes: &[f32]) -> usize {
    let mut best = 0;
    for (class, probability) in classes.iter().enumerate() {
        if *probability > classes[best] {
            best = class;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_and_probabilities_are_compared() {
        let ours = [0.1, 0.7, 0.2, 0.5, 0.2, 0.3];
        let theirs = [0.1, 0.6, 0.3, 0.3, 0.2, 0.5];
        let agreement = Agreement::of(&ours, &theirs, 2, 0.0).unwrap();
        assert_eq!((agreement.n_images, agreement.n_same_class), (2, 1));
        assert!((agreement.max_difference - 0.2).abs() < 1e-7);
        let both = agreement.and(Agreement::of(&ours, &ours, 2, 0.0).unwrap());
        assert_eq!((both.n_images, both.n_same_class, both.max_difference), (4, 3, agreement.max_difference));
    }

    #[test]
    fn what_is_nearly_as_likely_is_the_same_in_8_bits_alone() {
        let ours = [0.40, 0.38, 0.22];
        let same =
            |theirs: &[f32], dtype: Dtype| Agreement::of(&ours, theirs, 1, tolerance(dtype)).unwrap().n_same_class;
        assert_eq!((same(&[0.3, 0.5, 0.2], Dtype::Float32), same(&[0.3, 0.5, 0.2], Dtype::Int8)), (0, 1));
        assert_eq!(same(&[0.3, 0.2, 0.5], Dtype::Int8), 0);
        // The other library's first probability is not a number, so its likeliest class cannot count as the same as ours.
        assert_eq!(Agreement::of(&[0.38, 0.4], &[f32::NAN, 0.5], 1, TOLERANCE_IN_8_BITS).unwrap().n_same_class, 0);
    }

    #[test]
    fn what_is_not_a_number_is_no_agreement() {
        let agreement = Agreement::of(&[0.5, 0.5], &[0.5, f32::NAN], 1, 0.0).unwrap();
        assert_eq!(agreement.max_difference, f64::INFINITY);
    }

    #[test]
    fn other_sizes_cannot_be_compared() {
        assert_eq!(Agreement::of(&[0.5; 4], &[0.5; 2], 1, 0.0), None);
        assert_eq!(Agreement::of(&[0.5; 4], &[0.5; 4], 3, 0.0), None);
        assert_eq!(Agreement::of(&[], &[], 0, 0.0), None);
    }
}
