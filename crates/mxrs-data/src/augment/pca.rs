//! Noise along the principal components of the colors of ImageNet (Krizhevsky, Sutskever, Hinton 2012, section 4.1).

use crate::random::Random;

/// Square roots of the eigenvalues of the covariance of red, green and blue.
const SCALES: [f32; 3] = [55.46, 4.794, 1.148];
/// The eigenvectors, as the columns of the matrix.
const VECTORS: [[f32; 3]; 3] = [[-0.5675, 0.7192, 0.4009], [-0.5808, -0.0045, -0.8140], [-0.5836, -0.6948, 0.4203]];

/// Noise to add to red, green, blue and alpha (0 for alpha). Each principal component is multiplied by a random factor with
/// the standard deviation `deviation`.
pub(crate) fn noise(deviation: f32, random: &mut Random) -> [f32; 4] {
    let factors: [f32; 3] = std::array::from_fn(|i| SCALES[i] * random.normal() * deviation);
    let [r, g, b] = VECTORS.map(|row| row.iter().zip(factors).map(|(v, f)| v * f).sum::<f32>());
    [r, g, b, 0.0]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The covariance of 20000 draws is V diag(scale^2) V^T, within five standard errors of about 1 % each.
    #[test]
    fn covariance_is_that_of_the_components() {
        let n = 20_000_u64;
        let draws: Vec<[f32; 4]> = (0..n).map(|i| noise(0.1, &mut Random::keyed(&[9, i]))).collect();
        for a in 0..3 {
            let mean = draws.iter().map(|d| f64::from(d[a])).sum::<f64>() / n as f64;
            assert!(mean.abs() < 0.12, "{mean}");
            for b in 0..3 {
                let got = draws.iter().map(|d| f64::from(d[a]) * f64::from(d[b])).sum::<f64>() / n as f64;
                let want: f64 = (0..3)
                    .map(|i| f64::from(VECTORS[a][i]) * f64::from(VECTORS[b][i]) * f64::from(SCALES[i] * 0.1).powi(2))
                    .sum();
                assert!((got / want - 1.0).abs() < 0.06, "{a} {b}: {got} {want}");
            }
        }
        assert!(draws.iter().all(|d| d[3] == 0.0));
        // The eigenvectors are orthonormal to the precision of their four digits.
        for a in 0..3 {
            for b in 0..3 {
                let dot: f32 = (0..3).map(|i| VECTORS[i][a] * VECTORS[i][b]).sum();
                assert!((dot - f32::from(u8::from(a == b))).abs() < 2e-3, "{dot}");
            }
        }
    }
}
