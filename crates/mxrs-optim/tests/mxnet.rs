//! Every optimizer against MXNet 1.9.1, update for update: the recordings of `tests/mxnet/make_optimizers.py`.

mod common;

use common::{array, imperative, numbers, reference};
use mxrs_backend_cpu::CpuBackend;
use mxrs_exec::Imperative;
use mxrs_ndarray::NdArray;
use mxrs_optim::schedule::{Cosine, Factor, LrScheduler, MultiFactor, Poly, Warmup, WarmupMode};
use mxrs_optim::{Gradient, Updater};
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

fn updater(case: &Value, aggregate: usize) -> Updater {
    let settings: Vec<(&str, &str)> = case["settings"]
        .as_object()
        .expect("settings")
        .iter()
        .map(|(key, text)| (key.as_str(), text.as_str().expect("a text")))
        .collect();
    let mut optimizer = mxrs_optim::create(case["optimizer"].as_str().expect("a name"), &settings).expect("settings");
    let common = optimizer.common_mut();
    common.aggregate_num = aggregate;
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

/// Weights by step and parameter.
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
        let params: Vec<Gradient<'_>> = names
            .iter()
            .zip(&weights)
            .zip(&grads)
            .map(|((name, weight), grad)| Gradient { name, weight, grad })
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
        // Half-precision weights may round to the neighbour, an ulp away.
        let tolerance = match case["optimizer"].as_str() {
            _ if case["half"] == true => 1e-3,
            // MXNet composes it of sixteen operators, each of which rounds.
            Some("nadam") => 3e-6,
            _ => 1e-6,
        };
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
    assert!(document["cases"].as_array().expect("cases").len() > 80);
}

#[test]
fn o1_ten_updates_are_mxnets_on_cpu_kernels() {
    let failures = worst(&document(), &imperative(vec![CpuBackend::new(&Team::serial())]));
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// One call for several weights gives the bits of a call for each.
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
