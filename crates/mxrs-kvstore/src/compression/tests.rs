//! The golden values of MXNet's compression, and properties that follow from its formula.

use super::*;
use proptest::prelude::*;

const GRADIENT: [f32; 5] = [0.4, 0.5, -0.6, 0.1, -0.5];

fn thrice(compression: Compression) -> ([Vec<u8>; 3], [[f32; 5]; 3]) {
    let mut residual = [0.0f32; 5];
    let mut residuals = [[0.0; 5]; 3];
    let codes = std::array::from_fn(|i| {
        let mut codes = vec![0xaa; compression.code_bytes(5)];
        compression.encode(&GRADIENT, &mut residual, &mut codes);
        residuals[i] = residual;
        codes
    });
    (codes, residuals)
}

fn assert_near(got: &[f32], expected: &[f32]) {
    assert!(got.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{got:?} {expected:?}");
}

#[test]
fn golden_two_bits() {
    let (codes, residuals) = thrice(Compression::new("2bit", 0.5).unwrap());
    assert_eq!(codes, [[0x38, 0x80, 0, 0], [0xf8, 0x80, 0, 0], [0xf8, 0x80, 0, 0]].map(Vec::from));
    assert_near(&residuals[0], &[0.4, 0.0, -0.1, 0.1, 0.0]);
    assert_near(&residuals[1], &[0.3, 0.0, -0.2, 0.2, 0.0]);
    assert_near(&residuals[2], &[0.2, 0.0, -0.3, 0.3, 0.0]);
}

#[test]
fn golden_one_bit() {
    let (codes, residuals) = thrice(Compression::new("1bit", 0.0).unwrap());
    assert_eq!(codes, [[0xd0, 0, 0, 0], [0, 0, 0, 0], [0xf8, 0, 0, 0]].map(Vec::from));
    assert_near(&residuals[2], &[0.2, 0.5, -0.8, -0.7, -0.5]);
}

#[test]
fn sizes() {
    let (one, two) = ("1bit".parse::<Compression>().unwrap(), "2bit".parse::<Compression>().unwrap());
    assert_eq!([0, 1, 32, 33, 64, 65].map(|n| one.code_bytes(n)), [0, 4, 4, 8, 8, 12]);
    assert_eq!([0, 1, 16, 17, 32, 33].map(|n| two.code_bytes(n)), [0, 4, 4, 8, 8, 12]);
    assert_eq!((one.threshold(), two.threshold(), one.kind(), two.kind()), (0.5, 0.5, "1bit", "2bit"));
}

#[test]
fn bad_settings_are_refused() {
    for (kind, threshold, word) in [("3bit", 0.5, "`3bit`"), ("2bit", 0.0, "positive"), ("2bit", f64::NAN, "positive")]
    {
        let error = Compression::new(kind, threshold).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    }
    assert!(Compression::new("1bit", f64::INFINITY).is_err() && Compression::new("1bit", -0.5).is_ok());
    let error = Compression::OneBit { threshold: 0.0 }.check_dtype(DType::F16).unwrap_err().to_string();
    assert!(error.contains("float16") && error.contains("float32"), "{error}");
}

proptest! {
    #[test]
    fn what_is_sent_and_what_is_left_make_the_sum(
        rows in prop::collection::vec((-2.0f32..2.0, -1.0f32..1.0), 0..70), threshold in 0.01f32..1.5
    ) {
        let (gradient, before): (Vec<f32>, Vec<f32>) = rows.into_iter().unzip();
        for compression in [Compression::OneBit { threshold }, Compression::TwoBit { threshold }] {
            let mut residual = before.clone();
            let mut codes = vec![0xff; compression.code_bytes(gradient.len())];
            compression.encode(&gradient, &mut residual, &mut codes);
            let mut values = vec![9.0; gradient.len()];
            compression.decode(&codes, &mut values);
            for i in 0..gradient.len() {
                let sum = before[i] + gradient[i];
                let expected = match compression {
                    Compression::OneBit { .. } => if sum > threshold { 1.0 } else { -1.0 },
                    Compression::TwoBit { .. } if sum >= threshold => threshold,
                    Compression::TwoBit { .. } if sum <= -threshold => -threshold,
                    Compression::TwoBit { .. } => 0.0,
                };
                prop_assert_eq!(values[i], expected);
                prop_assert_eq!(residual[i], sum - expected);
            }
        }
    }
}
