//! Compares initializers with their definitions.

use super::{FactorKind, Initializer, RandomKind};
use mxrs_types::{ErrorKind, Shape};

/// The mean, the variance, and the largest absolute value.
fn moments(values: &[f32]) -> (f64, f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().map(|v| f64::from(*v)).sum::<f64>() / n;
    let variance = values.iter().map(|v| (f64::from(*v) - mean).powi(2)).sum::<f64>() / n;
    (mean, variance, values.iter().fold(0.0, |m, v| m.max(f64::from(v.abs()))))
}

#[test]
fn distributions_have_the_defined_moments() {
    let shape = Shape::from([64, 32, 5, 5]);
    let n = shape.n_elements() as f64;
    let values = |init: Initializer| init.values("w_weight", None, &shape, 7).unwrap();
    // The expected fans, computed by hand: 32 * 25 = 800 inputs, 64 * 25 = 1600 outputs, and a mean of 1200.
    let xavier = |rnd_type, factor_type| Initializer::Xavier { rnd_type, factor_type, magnitude: 3.0 };
    let uniform = |scale: f64| scale * scale / 3.0;
    let cases = [
        (Initializer::Uniform { scale: 0.07 }, uniform(0.07), Some(0.07)),
        (Initializer::Normal { sigma: 0.01 }, 1e-4, None),
        (Initializer::xavier(2.0), uniform((2.0f64 / 1200.0).sqrt()), Some((2.0f64 / 1200.0).sqrt())),
        (xavier(RandomKind::Uniform, FactorKind::In), 1.0 / 800.0, Some((3.0f64 / 800.0).sqrt())),
        (xavier(RandomKind::Gaussian, FactorKind::Out), 3.0 / 1600.0, None),
    ];
    for (init, variance, bound) in cases {
        let (mean, got, largest) = moments(&values(init.clone()));
        // The limits are four standard errors of the mean, and of the variance of a normal distribution (for a uniform
        // distribution it is smaller).
        assert!(mean.abs() < 4.0 * (variance / n).sqrt(), "{init:?}: mean {mean}");
        assert!((got / variance - 1.0).abs() < 4.0 * (2.0 / n).sqrt(), "{init:?}: variance {got}, not {variance}");
        match bound {
            Some(bound) => assert!(largest <= bound * 1.000_001 && largest > bound * 0.999, "{init:?}: {largest}"),
            // The largest of 51200 normally distributed numbers is between 3 and 6.5 standard deviations.
            None => assert!((3.0..6.5).contains(&(largest / variance.sqrt())), "{init:?}: {largest}"),
        }
    }
}

#[test]
fn streams_depend_on_seed_and_name_only() {
    let shape = Shape::from([4, 3]);
    let init = Initializer::Uniform { scale: 1.0 };
    let values = |name: &str, seed| init.values(name, None, &shape, seed).unwrap();
    assert_eq!(values("a_weight", 1), values("a_weight", 1));
    assert_ne!(values("a_weight", 1), values("a_weight", 2));
    assert_ne!(values("a_weight", 1), values("b_weight", 1));
}

#[test]
fn names_and_attributes_choose() {
    let shape = Shape::from([3]);
    let init = Initializer::xavier(2.0);
    let values = |name: &str, own: Option<&str>| init.values(name, own, &shape, 0).map(|v| v[0]);
    for (name, value) in [
        ("fc_bias", 0.0),
        ("bn_gamma", 1.0),
        ("bn_beta", 0.0),
        ("bn_moving_mean", 0.0),
        ("bn_moving_var", 1.0),
        ("q_min", 0.0),
        ("q_max", 1.0),
    ] {
        assert_eq!(values(name, None), Ok(value), "{name}");
    }
    // The variable's own `__init__` works even if the name selects another initializer.
    assert_eq!(values("p_gamma", Some("[\"Constant\", {\"value\": 0.25}]")), Ok(0.25));
    assert_eq!(values("anything", Some("[\"one\", {}]")), Ok(1.0));
    assert!(values("softmax_label", None).unwrap_err().to_string().contains("`softmax_label`"));
    // A weight needs two axes.
    assert!(values("fc_weight", None).unwrap_err().to_string().contains("`fc_weight`: got (3,)"));
    assert!(init.fill("fc_bias", None, &shape, 0, &mut [0.0; 2]).is_err());
}

#[test]
fn attributes_are_read_or_refused() {
    let parse = |text: &str| super::parse::parse("v", text);
    let (gaussian, fan_in) = (RandomKind::Gaussian, FactorKind::In);
    let text = "[\"xavier\", {\"rnd_type\": \"gaussian\", \"factor_type\": \"in\", \"magnitude\": 2.34}]";
    let expected = Initializer::Xavier { rnd_type: gaussian, factor_type: fan_in, magnitude: 2.34 };
    assert_eq!(parse(text), Ok(expected));
    assert_eq!(parse("[\"Xavier\", {}]"), Ok(Initializer::xavier(3.0)));
    assert_eq!(parse("[\"uniform\", {}]"), Ok(Initializer::Uniform { scale: 0.07 }));
    assert_eq!(parse("[\"normal\", {\"sigma\": 2}]"), Ok(Initializer::Normal { sigma: 2.0 }));
    let msra = Initializer::Xavier { rnd_type: gaussian, factor_type: FactorKind::Avg, magnitude: 2.0 / 1.0625 };
    assert_eq!(parse("[\"msraprelu\", {}]"), Ok(msra));
    // Gluon writes the name alone.
    assert_eq!((parse("zeros"), parse("ones")), (Ok(Initializer::Zero), Ok(Initializer::One)));
    assert_eq!(parse("Xavier"), Ok(Initializer::xavier(3.0)));
    for bad in [
        "",
        "nothing",
        "zero {}",
        "[\"zero\"]",
        "[\"nothing\", {}]",
        "[\"zero\", {\"value\": 1}]",
        "[\"normal\", {\"sigma\": \"x\"}]",
        "[\"xavier\", {\"rnd_type\": \"round\"}]",
        "[\"xavier\", {\"factor_type\": 3}]",
    ] {
        assert!(parse(bad).unwrap_err().to_string().contains("variable `v`"), "{bad}");
    }
}

#[test]
fn orthogonal_vectors_have_their_length() {
    for (shape, kind) in [([6usize, 4, 3, 3], RandomKind::Uniform), ([40, 2, 3, 3], RandomKind::Gaussian)] {
        let scale = 1.414;
        let init = Initializer::Orthogonal { scale, rand_type: kind };
        let shape = Shape::from(shape);
        let values = init.values("a_weight", None, &shape, 3).unwrap();
        let (rows, columns) = (shape[0], values.len() / shape[0]);
        let vector = |i: usize| -> Vec<f64> {
            let at = |j: usize| if rows <= columns { i * columns + j } else { j * columns + i };
            (0..rows.max(columns)).map(|j| f64::from(values[at(j)])).collect()
        };
        for i in 0..rows.min(columns) {
            for j in 0..=i {
                let product: f64 = vector(i).iter().zip(vector(j)).map(|(x, y)| x * y).sum();
                let expected = if i == j { f64::from(scale).powi(2) } else { 0.0 };
                assert!((product - expected).abs() < 1e-5, "{i} {j}: {product}");
            }
        }
    }
    let init = Initializer::create("orthogonal").unwrap();
    assert!(init.values("a_weight", None, &Shape::from([3]), 0).unwrap_err().to_string().contains("2 axes"));
}

#[test]
fn names_are_those_mxnet_creates_by() {
    for name in ["zeros", "ones", "Uniform", "normal", "Xavier", "MSRAPrelu", "orthogonal", "bilinear", "LSTMBias"] {
        Initializer::create(name).unwrap();
    }
    let error = Initializer::create("xavir").unwrap_err().to_string();
    assert!(error.contains("`xavir`") && error.contains("xavier"), "{error}");
}

#[test]
fn the_forget_gate_is_the_second_of_four() {
    let init = Initializer::Zero;
    let text = "[\"lstmbias\", {\"forget_bias\": 2.5}]";
    let values = init.values("x", Some(text), &Shape::from([8]), 0).unwrap();
    assert_eq!(values, [0.0, 0.0, 2.5, 2.5, 0.0, 0.0, 0.0, 0.0]);
}

/// The expected values are the first channel of a weight of shape (1, 2, 4, 4) that `mx.init.Bilinear()` of MXNet 1.9.1
/// filled.
#[test]
fn bilinear_is_that_of_mxnet() {
    let [a, b, c] = [0.0625, 0.1875, 0.5625];
    let values = Initializer::Bilinear.values("up_weight", None, &Shape::from([1, 2, 4, 4]), 0).unwrap();
    assert_eq!(values[..16], [a, b, b, a, b, c, c, b, b, c, c, b, a, b, b, a]);
    assert_eq!(values[..16], values[16..]);
    assert!(Initializer::Bilinear.values("up_weight", None, &Shape::from([4, 4]), 0).is_err());
}

#[test]
fn patterns_choose_the_first_that_matches_at_the_start() {
    let rules = [("fc", Initializer::One), ("conv\\d+_", Initializer::Constant { value: 3.0 })];
    let mixed = Initializer::mixed(rules.clone()).unwrap();
    let shape = Shape::from([1, 2]);
    let value = |name: &str, own: Option<&str>| mixed.values(name, own, &shape, 0).map(|v| v[0]);
    assert_eq!(value("fc1_weight", None), Ok(1.0));
    assert_eq!(value("conv12_weight", None), Ok(3.0));
    assert_eq!(value("fc1_bias", None), Ok(0.0), "names that say what they are");
    assert_eq!(value("fc1_weight", Some("[\"constant\", {\"value\": 5}]")), Ok(5.0));
    let error = value("the_fc_weight", None).unwrap_err().to_string();
    assert!(error.contains("`the_fc_weight`"), "{error}");
    assert_eq!(mixed, Initializer::mixed(rules).unwrap());
    assert_ne!(mixed, Initializer::mixed([("fc", Initializer::One)]).unwrap());
    assert!(Initializer::mixed([("(", Initializer::One)]).unwrap_err().to_string().contains('('));
}

#[test]
fn loaded_values_come_before_the_default() {
    let shape = Shape::from([1, 2]);
    let values =
        || [("arg:a_weight".to_owned(), shape.clone(), vec![4.0, 5.0]), ("b".to_owned(), shape.clone(), vec![6.0; 2])];
    let load = Initializer::load(values(), Some(Initializer::One));
    assert_eq!(load.values("a_weight", Some("[\"zero\", {}]"), &shape, 0).unwrap(), [4.0, 5.0]);
    assert_eq!(load.values("b", None, &shape, 0).unwrap(), [6.0; 2]);
    assert_eq!(load.values("c_weight", None, &shape, 0).unwrap(), [1.0; 2]);
    assert_eq!(load.values("c_weight", Some("[\"zero\", {}]"), &shape, 0).unwrap(), [0.0; 2]);
    let error = load.values("b", None, &Shape::from([2, 1]), 0).unwrap_err().to_string();
    assert!(error.contains("(2, 1)") && error.contains("(1, 2)"), "{error}");
    let error = Initializer::load(values(), None).values("c_weight", None, &shape, 0).unwrap_err().to_string();
    assert!(error.contains("`c_weight`"), "{error}");
}

#[test]
fn what_there_is_no_room_for_is_an_error() {
    let error = |shape: Shape| Initializer::Zero.values("a_bias", None, &shape, 0).unwrap_err();
    // This shape needs more memory than the address space of a process has.
    let huge = error(Shape::from([1 << 30, 1 << 30]));
    assert!(matches!(huge.kind(), ErrorKind::OutOfMemory { requested, .. } if *requested == 1 << 62), "{huge}");
    assert!(huge.to_string().contains("`a_bias`"), "{huge}");
    let uncountable = error(Shape::from([usize::MAX, 2]));
    assert!(matches!(uncountable.kind(), ErrorKind::Overflow { .. }), "{uncountable}");
}
