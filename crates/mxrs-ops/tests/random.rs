//! Compares the numbers that random operators draw with their distributions: mean, variance, and the largest distance of the
//! distribution functions (Kolmogorov and Smirnov).

use mxrs_op::{Attrs, Backend, KernelArgs, OpCall, RandomCall, RawTensor, ReferenceBackend, TensorDesc};
use mxrs_sync::Team;
use mxrs_testkit::AlignedBuffer;
use mxrs_types::{DType, WriteReq};

const N: usize = 40_000;

/// Draws numbers under this seed.
fn drawn(name: &str, attrs: &[(&str, &str)], seed: u64) -> Vec<f64> {
    let ops = mxrs_ops::catalog();
    let op = ops.get(name).expect("an operator");
    let attrs: Attrs = attrs.iter().copied().chain([("dtype", "float64")]).collect();
    let params = op.parse(&attrs).expect("readable parameters");
    let outputs = [TensorDesc::dense([N], DType::F64)];
    let call = OpCall { op, params: &params, inputs: &[], outputs: &outputs, is_constant: &[], is_train: false };
    let planned = ReferenceBackend.plan(&call).expect("a kernel");
    let mut result = AlignedBuffer::poisoned(outputs[0].size_bytes());
    let args = KernelArgs {
        inputs: &[],
        outputs: &[RawTensor::from_mut_slice(result.bytes_mut())],
        reqs: &[WriteReq::Write],
        scratch: RawTensor::from_slice(&[]),
        team: &Team::serial(),
        random: Some(RandomCall { seed, number: 3 }),
        stream: None,
    };
    mxrs_testkit::run_kernel(&*planned.kernel, &args).expect("random numbers");
    result.to_f64(DType::F64)
}

/// Checks a sample against mean, variance, kurtosis and distribution function.
fn check(what: &str, mut values: Vec<f64>, [mean, variance, kurtosis]: [f64; 3], below: impl Fn(f64) -> f64) {
    let n = values.len() as f64;
    let found = values.iter().sum::<f64>() / n;
    assert!((found - mean).abs() < 4.0 * (variance / n).sqrt(), "{what}: mean {found}, expected {mean}");
    let spread = values.iter().map(|x| (x - found).powi(2)).sum::<f64>() / n;
    let error = variance * ((kurtosis - 1.0) / n).sqrt();
    assert!((spread - variance).abs() < 4.0 * error, "{what}: variance {spread}, expected {variance}");
    values.sort_by(f64::total_cmp);
    let distance = |(i, x): (usize, &f64)| (below(*x) - (i as f64 + 0.5) / n).abs();
    let largest = values.iter().enumerate().map(distance).fold(0.0, f64::max);
    // The distance is above 2.2 / √n with a probability of 1e-4.
    assert!(largest < 2.2 / n.sqrt(), "{what}: the distribution functions are {largest} apart");
}

#[test]
fn numbers_have_their_distribution() {
    for seed in [0, 7] {
        let uniform = drawn("_random_uniform", &[("low", "-2"), ("high", "3")], seed);
        assert!(uniform.iter().all(|x| (-2.0..3.0).contains(x)));
        check("uniform", uniform, [0.5, 25.0 / 12.0, 1.8], |x| (x + 2.0) / 5.0);
        let normal = drawn("_random_normal", &[("loc", "2"), ("scale", "0.5")], seed);
        check("normal", normal, [2.0, 0.25, 3.0], |x| 0.5 * libm::erfc((2.0 - x) / (0.5 * 2f64.sqrt())));
        let exponential = drawn("_random_exponential", &[("lam", "4")], seed);
        check("exponential", exponential, [0.25, 0.0625, 9.0], |x| 1.0 - (-4.0 * x).exp());
    }
}

/// Checks mean and variance of a sample, which are within six standard deviations of those of the distribution.
fn check_moments(what: &str, values: &[f64], [mean, variance, kurtosis]: [f64; 3]) {
    let n = values.len() as f64;
    let found = values.iter().sum::<f64>() / n;
    assert!((found - mean).abs() < 6.0 * (variance / n).sqrt(), "{what}: mean {found}, expected {mean}");
    let spread = values.iter().map(|x| (x - found).powi(2)).sum::<f64>() / n;
    let error = variance * ((kurtosis - 1.0) / n).sqrt();
    assert!((spread - variance).abs() < 6.0 * error, "{what}: variance {spread}, expected {variance}");
}

/// An operator, its parameters, and the mean, variance and kurtosis of its numbers.
type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], [f64; 3]);

#[test]
fn numbers_have_the_moments_of_their_distribution() {
    // The kurtosis of a negative binomial distribution with r successes of probability p is 3 + 6 / r + p² / (r (1 - p)).
    let cases: [Case<'_>; 8] = [
        ("_random_gamma", &[("alpha", "0.5"), ("beta", "3")], [1.5, 4.5, 15.0]),
        ("_random_gamma", &[("alpha", "4"), ("beta", "0.5")], [2.0, 1.0, 4.5]),
        ("_random_poisson", &[("lam", "3")], [3.0, 3.0, 3.0 + 1.0 / 3.0]),
        ("_random_poisson", &[("lam", "50")], [50.0, 50.0, 3.02]),
        ("_random_negative_binomial", &[("k", "3"), ("p", "0.5")], [3.0, 6.0, 5.0 + 1.0 / 6.0]),
        // With a dispersion a, there are 1 / a successes of probability 1 / (1 + a mu).
        ("_random_generalized_negative_binomial", &[("mu", "2"), ("alpha", "0.5")], [2.0, 4.0, 6.0 + 0.25]),
        ("_random_generalized_negative_binomial", &[("mu", "4"), ("alpha", "0")], [4.0, 4.0, 3.25]),
        ("_random_gamma", &[], [1.0, 1.0, 9.0]),
    ];
    for (name, attrs, moments) in cases {
        let values = drawn(name, attrs, 5);
        assert!(
            values.iter().all(|x| *x >= 0.0) && (name == "_random_gamma" || values.iter().all(|x| x.fract() == 0.0))
        );
        check_moments(&format!("{name} {attrs:?}"), &values, moments);
    }
}

/// The share of each number from 0 to `n - 1` among `values`.
fn frequencies(values: &[f64], n: usize) -> Vec<f64> {
    (0..n).map(|place| values.iter().filter(|x| **x == place as f64).count() as f64 / values.len() as f64).collect()
}

#[test]
fn small_poisson_numbers_have_their_probabilities() {
    for mean in [2.0f64, 14.0] {
        let found = frequencies(&drawn("_random_poisson", &[("lam", &mean.to_string())], 3), 30);
        for (k, found) in found.into_iter().enumerate() {
            let p = (k as f64 * mean.ln() - mean - libm::lgamma(k as f64 + 1.0)).exp();
            assert!((found - p).abs() < 6.0 * (p / N as f64).sqrt() + 1e-4, "{mean}: {k} has {found}, expected {p}");
        }
    }
}

#[test]
fn seeds_decide() {
    let [a, b, c] = [1, 1, 2].map(|seed| drawn("_random_normal", &[], seed));
    assert_eq!(a, b);
    assert_ne!(a, c);
}

#[test]
fn impossible_distributions_are_refused() {
    let ops = mxrs_ops::catalog();
    for (name, key, value) in [
        ("_random_uniform", "high", "-1"),
        ("_random_normal", "scale", "-1"),
        ("_random_exponential", "lam", "0"),
        ("_random_gamma", "alpha", "0"),
        ("_random_poisson", "lam", "-1"),
        ("_random_negative_binomial", "p", "0"),
    ] {
        let op = ops.get(name).expect("an operator");
        let params = op.parse(&Attrs::from([("shape", "(3,)"), (key, value)])).expect("readable parameters");
        let error = op.infer_shapes(&params, &mut [], &mut [mxrs_types::PartialShape::unknown()]).unwrap_err();
        assert!(error.to_string().contains(key), "{error}");
    }
}
