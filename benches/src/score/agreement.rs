//! Whether two libraries say the same of the same images.

/// How the answers of two libraries compare.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Agreement {
    /// Images both answered.
    pub n_images: usize,
    /// Images whose likeliest class is the same.
    pub n_same_class: usize,
    /// Largest difference of two probabilities; infinite if one of them is not a number.
    pub max_difference: f64,
}

impl Agreement {
    /// Of one batch, both row-major with one row of classes per image; `None` when they are not of the same size.
    pub fn of(ours: &[f32], theirs: &[f32], n_images: usize) -> Option<Self> {
        if ours.len() != theirs.len() || n_images == 0 || ours.is_empty() || !ours.len().is_multiple_of(n_images) {
            return None;
        }
        let n_classes = ours.len() / n_images;
        let images = ours.chunks(n_classes).zip(theirs.chunks(n_classes));
        let n_same_class = images.filter(|(ours, theirs)| likeliest(ours) == likeliest(theirs)).count();
        let difference = |(a, b): (&f32, &f32)| {
            let difference = (f64::from(*a) - f64::from(*b)).abs();
            if difference.is_nan() { f64::INFINITY } else { difference }
        };
        let max_difference = ours.iter().zip(theirs).map(difference).fold(0.0, f64::max);
        Some(Self { n_images, n_same_class, max_difference })
    }

    /// Both together.
    pub fn and(self, other: Self) -> Self {
        Self {
            n_images: self.n_images + other.n_images,
            n_same_class: self.n_same_class + other.n_same_class,
            max_difference: self.max_difference.max(other.max_difference),
        }
    }
}

/// The first of the largest.
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
        let agreement = Agreement::of(&ours, &theirs, 2).unwrap();
        assert_eq!((agreement.n_images, agreement.n_same_class), (2, 1));
        assert!((agreement.max_difference - 0.2).abs() < 1e-7);
        let both = agreement.and(Agreement::of(&ours, &ours, 2).unwrap());
        assert_eq!((both.n_images, both.n_same_class, both.max_difference), (4, 3, agreement.max_difference));
    }

    #[test]
    fn what_is_not_a_number_is_no_agreement() {
        let agreement = Agreement::of(&[0.5, 0.5], &[0.5, f32::NAN], 1).unwrap();
        assert_eq!(agreement.max_difference, f64::INFINITY);
    }

    #[test]
    fn other_sizes_cannot_be_compared() {
        assert_eq!(Agreement::of(&[0.5; 4], &[0.5; 2], 1), None);
        assert_eq!(Agreement::of(&[0.5; 4], &[0.5; 4], 3), None);
        assert_eq!(Agreement::of(&[], &[], 0), None);
    }
}
