//! Compares every optimizer with MXNet 1.9.1 after each update, using the recordings of `tests/mxnet/make_optimizers.py`.

mod common;

use common::{array, imperative, numbers, reference};
use mxrs_backend_cpu::CpuBackend;
use mxrs_exec::Imperative;
use mxrs_format::pickle::PickledStates;
use mxrs_ndarray::NdArray;
use mxrs_optim::schedule::{Cosine, Factor, LrScheduler, MultiFactor, Poly, Warmup, WarmupMode};
use mxrs_optim::{Parameter, Updater};
use mxrs_sync::Team;
use mxrs_types::DType;
use serde_json::Value;
use std::sync::Arc;

const NAMES: [&str; 3] = ["fc_weight", "fc_bias", "bn_gamma"];

fn document() -> Value {
    serde_json::from_str(include_str!("fixtures/optimizers.json")).expect("a recording")
}

fn floats(value: &Value) -> Vec<f32> {
    value.as_array().expect("numbers").iter().map(|v| v.as_f64().expect("a number") as f32).collect()
}

fn schedule(case: &Value) -> Option<Arc<dyn LrScheduler>> {
    let settings = &case["schedule_settings"];
    let number = |key: &str, default: f64| settings[key].as_f64().unwrap_or(default);
    let count = |key: &str| settings[key].as_u64().unwrap_or(0);
    let mode = if settings["warmup_mode"] == "constant" { WarmupMode::Constant } else { WarmupMode::Linear };
    let warmup = Warmup {
        base_lr: number("base_lr", 0.01),
        steps: count("warmup_steps"),
        begin_lr: number("warmup_begin_lr", 0.0),
        mode,
    };
    Some(match case["schedule"].as_str()? {
        "factor" | "stop" => {
            let stop = number("stop_factor_lr", 1e-8);
            Arc::new(Factor::new(count("step"), number("factor", 1.0), stop, warmup).expect("a schedule"))
        }
        "multi_factor" => {
            let steps = settings["step"].as_array().expect("steps").iter().filter_map(Value::as_u64).collect();
            Arc::new(MultiFactor::new(steps, number("factor", 1.0), warmup).expect("a schedule"))
        }
        "poly" => Arc::new(
            Poly::new(count("max_update"), number("pwr", 2.0), number("final_lr", 0.0), warmup).expect("a schedule"),
        ),
        _ => Arc::new(Cosine::new(count("max_update"), number("final_lr", 0.0), warmup).expect("a schedule")),
    })
}

fn parameter(name: &str, weight: &NdArray, grad: &NdArray) -> Parameter {
    Parameter { name: name.to_owned(), weight: weight.clone(), grad: grad.clone() }
}

fn updater(case: &Value, aggregate: usize) -> Updater {
    let settings: Vec<(&str, &str)> = case["settings"]
        .as_object()
        .expect("settings")
        .iter()
        .map(|(key, text)| (key.as_str(), text.as_str().expect("a text")))
        .collect();
    let mut optimizer = mxrs_optim::create(case["optimizer"].as_str().expect("a name"), &settings).expect("settings");
    let common = optimizer.common_mut();
    common.aggregate_num = Some(aggregate);
    let factors = |key: &str| -> Vec<(String, f64)> {
        let map = case[key].as_object().expect("factors");
        map.iter().map(|(name, factor)| (name.clone(), factor.as_f64().expect("a factor"))).collect()
    };
    common.mult.set_lr_mult(factors("lr_mult"));
    common.mult.set_wd_mult(factors("wd_mult"));
    if let Some(schedule) = schedule(case) {
        common.set_scheduler(schedule);
    }
    Updater::new(optimizer)
}

/// Returns the weights by step and parameter.
fn run(nd: &Imperative, document: &Value, case: &Value, aggregate: usize) -> Vec<Vec<Vec<f32>>> {
    let dtype = if case["half"] == true { DType::F16 } else { DType::F32 };
    let names: Vec<&str> = NAMES.into_iter().filter(|name| case["steps"][0].get(name).is_some()).collect();
    let made = |name: &str, values: &Value| {
        let shape: Vec<usize> = document["shapes"][name]
            .as_array()
            .expect("a shape")
            .iter()
            .filter_map(|n| n.as_u64().map(|n| n as usize))
            .collect();
        array(nd, &shape, &floats(&values[name]), dtype)
    };
    let weights: Vec<NdArray> = names.iter().map(|name| made(name, &document["start"])).collect();
    let mut updater = updater(case, aggregate);
    let step = |grads: &Value| {
        let grads: Vec<NdArray> = names.iter().map(|name| made(name, grads)).collect();
        let params: Vec<Parameter> = names
            .iter()
            .zip(&weights)
            .zip(&grads)
            .map(|((name, weight), grad)| parameter(name, weight, grad))
            .collect();
        updater.update_all(nd, &params).unwrap_or_else(|e| panic!("{}: {e}", case["name"]));
        weights.iter().map(|weight| numbers(nd, weight)).collect()
    };
    document["grads"].as_array().expect("gradients").iter().map(step).collect()
}

fn worst(document: &Value, nd: &Imperative) -> Vec<String> {
    let mut failures = Vec::new();
    for case in document["cases"].as_array().expect("cases") {
        let steps = run(nd, document, case, 4);
        // A half-precision weight may be rounded to the neighboring number, one unit in the last place away.
        let tolerance = if case["half"] == true { 1e-3 } else { 1e-6 };
        'case: for (step, (got, expected)) in steps.iter().zip(case["steps"].as_array().expect("steps")).enumerate() {
            let names = NAMES.iter().filter(|name| expected.get(**name).is_some());
            for (name, got) in names.zip(got) {
                let expected = floats(&expected[*name]);
                let difference = |(a, b): (&f32, &f32)| f64::from((a - b).abs()) / f64::from(b.abs().max(1.0));
                let worst = got.iter().zip(&expected).map(difference).fold(0.0, f64::max);
                let is_nan = got.iter().any(|v| v.is_nan()) != expected.iter().any(|v| v.is_nan());
                if worst > tolerance || is_nan || got.len() != expected.len() {
                    failures.push(format!("{} after update {}: {name} is off by {worst:.1e}", case["name"], step + 1));
                    break 'case;
                }
            }
        }
    }
    failures
}

#[test]
fn o1_ten_updates_are_mxnets_on_reference_kernels() {
    let document = document();
    let failures = worst(&document, &reference());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    let cases = document["cases"].as_array().expect("cases");
    assert!(cases.len() > 80);
    // These cases show whether the weight decay in NAG's momentum is computed from the new weight, as in MXNet, or from the
    // old one.
    for name in ["nag_decay", "nag_decay_half"] {
        assert!(cases.iter().any(|case| case["name"] == name), "{name} is not recorded");
    }
}

#[test]
fn o1_ten_updates_are_mxnets_on_cpu_kernels() {
    let failures = worst(&document(), &imperative(vec![CpuBackend::new(&Team::serial())]));
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// One call for several weights gives the same bits as one call for each weight.
#[test]
fn o2_aggregated_updates_are_single_ones() {
    let document = document();
    for nd in [reference(), imperative(vec![CpuBackend::new(&Team::serial())])] {
        for case in document["cases"].as_array().expect("cases") {
            let bits = |aggregate| -> Vec<u32> {
                run(&nd, &document, case, aggregate).into_iter().flatten().flatten().map(f32::to_bits).collect()
            };
            let single = bits(1);
            assert_eq!(bits(4), single, "{}", case["name"]);
            assert_eq!(bits(2), single, "{}", case["name"]);
        }
    }
}

/// A run of MXNet that was saved after five updates is resumed by mxrs, and the last five updates equal MXNet's.
#[test]
fn o7_mxnets_states_go_on_here() {
    let (document, nd) = (document(), reference());
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut n_compared = 0;
    for case in document["cases"].as_array().expect("cases") {
        let name = case["name"].as_str().expect("a name");
        let path = folder.join(format!("{name}.states"));
        if !path.exists() {
            continue;
        }
        let saved = PickledStates::load(&path, &mxrs_format::Options::default()).unwrap_or_else(|e| panic!("{e}"));
        let dtype = if case["half"] == true { DType::F16 } else { DType::F32 };
        let made = |name: &str, values: &Value| {
            let shape = document["shapes"][name].as_array().expect("a shape");
            let shape: Vec<usize> = shape.iter().filter_map(Value::as_u64).map(|n| n as usize).collect();
            array(&nd, &shape, &floats(&values[name]), dtype)
        };
        let weights: Vec<NdArray> = NAMES.iter().map(|name| made(name, &case["steps"][4])).collect();
        let params = |grads: &'_ [NdArray]| -> Vec<(&'static str, NdArray, NdArray)> {
            NAMES.iter().zip(&weights).zip(grads).map(|((n, w), g)| (*n, w.clone(), g.clone())).collect()
        };
        let mut updater = updater(case, 4);
        let update = |updater: &mut Updater, grads: &[NdArray], first: bool| {
            let owned = params(grads);
            let all: Vec<Parameter> = owned.iter().map(|(name, weight, grad)| parameter(name, weight, grad)).collect();
            if first { updater.set_pickled_states(&nd, &all, &saved) } else { updater.update_all(&nd, &all) }
        };
        update(&mut updater, &weights, true).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(saved.optimizer.is_some(), updater.optimizer().common().num_update == 5, "{name}");
        let tolerance = if case["half"] == true { 1e-3 } else { 1e-6 };
        for step in 5..10 {
            let grads: Vec<NdArray> = NAMES.iter().map(|name| made(name, &document["grads"][step])).collect();
            update(&mut updater, &grads, false).unwrap_or_else(|e| panic!("{name}: {e}"));
            for (parameter, weight) in NAMES.iter().zip(&weights) {
                let expected = floats(&case["steps"][step][*parameter]);
                for (a, b) in numbers(&nd, weight).iter().zip(&expected) {
                    assert!((a - b).abs() <= tolerance * b.abs().max(1.0), "{name}, {parameter}, {step}: {a} {b}");
                }
            }
        }
        n_compared += 1;
    }
    assert_eq!(n_compared, 6);
}

#[test]
fn o8_mxnets_states_of_something_else_are_refused() {
    let (document, nd) = (document(), reference());
    let case = document["cases"].as_array().expect("cases").iter().find(|case| case["name"] == "sgd_momentum_0.9_all");
    let case = case.expect("the case");
    let file = |name: &str| {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/{name}.states"));
        PickledStates::load(path, &mxrs_format::Options::default()).expect("a readable file")
    };
    let shapes: [&[usize]; 3] = [&[4, 3], &[7], &[5]];
    let weights = shapes.map(|shape| array(&nd, shape, &vec![0.0; shape.iter().product()], DType::F32));
    let all: Vec<Parameter> =
        NAMES.iter().zip(&weights).map(|(name, weight)| parameter(name, weight, weight)).collect();
    let refused = |params: &[Parameter], name: &str| {
        let mut updater = updater(case, 4);
        let error = updater.set_pickled_states(&nd, params, &file(name)).expect_err("other states");
        assert!(updater.state_arrays().is_empty());
        error.to_string()
    };
    let message = refused(&all, "sgd_momentum_0.9_all");
    assert!(message.contains("fc_bias") && message.contains("(7,)") && message.contains("(4,)"), "{message}");
    let message = refused(&all, "adam_all");
    assert!(message.contains("Adam") && message.contains("sgd"), "{message}");
    let message = refused(&all[..1], "sgd_momentum_0.9_all");
    assert!(message.contains("parameter 1"), "{message}");
}
