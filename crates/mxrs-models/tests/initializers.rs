//! Tests that initializers have the same distributions as those of MXNet 1.9.1. `tests/mxnet/make_initializers.py` wrote the
//! quantiles to compare with.

use mxrs_models::Initializer;
use mxrs_types::Shape;
use serde_json::Value;

/// If two distributions are equal, the two-sample statistic of Kolmogorov and Smirnov exceeds this factor times
/// `sqrt(1/n + 1/m)` once in a thousand cases.
const ONCE_IN_A_THOUSAND: f64 = 1.95;

/// The share of sorted `values` that are at most `x`.
fn share(values: &[f32], x: f64) -> f64 {
    values.partition_point(|value| f64::from(*value) <= x) as f64 / values.len() as f64
}

#[test]
fn draws_are_distributed_as_those_of_mxnet() {
    let cases: Value = serde_json::from_str(include_str!("fixtures/initializers.json")).unwrap();
    for case in cases.as_array().unwrap() {
        let init = case["init"].as_str().unwrap();
        let shape: Shape = case["shape"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap() as usize).collect();
        let mut values = Initializer::Zero.values("a_weight", Some(init), &shape, 11).unwrap();
        values.sort_by(f32::total_cmp);
        assert!(values.len() >= 10_000);
        let quantiles: Vec<f64> = case["quantiles"].as_array().unwrap().iter().map(|q| q.as_f64().unwrap()).collect();
        let n = quantiles.len() as f64 + 1.0;
        let distance = |(i, q): (usize, &f64)| (share(&values, *q) - (i + 1) as f64 / n).abs();
        let largest = quantiles.iter().enumerate().map(distance).fold(0.0, f64::max);
        let bound = ONCE_IN_A_THOUSAND * (2.0 / values.len() as f64).sqrt();
        assert!(largest < bound, "{init}: {largest} apart, bound {bound}");
        // The test must detect a wrong width: if all values are multiplied by 1.25, the distance of the distributions is
        // between 0.054 (normal) and 0.1 (uniform).
        let wider: Vec<f32> = values.iter().map(|x| 1.25 * x).collect();
        let far = |(i, q): (usize, &f64)| (share(&wider, *q) - (i + 1) as f64 / n).abs();
        let furthest = quantiles.iter().enumerate().map(far).fold(0.0, f64::max);
        assert!(furthest > bound, "{init}: {furthest} apart where a quarter wider, bound {bound}");
    }
}
