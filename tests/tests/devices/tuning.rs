//! Kernels chosen by timing: results for a device are kept apart from those for the host, in memory and in the file.

use super::{BATCH, CPU, GPU, Plug};
use mxrs::env::MapSource;
use mxrs::exec::{ChosenBy, Search, StepReport};
use mxrs::format::tuning::TuningFile;
use mxrs::types::{Device, Shape};
use mxrs::{Model, Runtime, RuntimeBuilder};
use mxrs_simulated_gpu::SimulatedDevice;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A builder of runtimes with a simulated GPU and this file of results.
fn builder(file: &Path) -> RuntimeBuilder {
    let file = file.to_str().unwrap();
    let gpu = SimulatedDevice::new(GPU, 512 << 20);
    let variables = MapSource::new([("MXRS_TUNING_CACHE", file), ("OMP_NUM_THREADS", "1")]);
    Runtime::builder().env(&variables).device(Arc::new(Plug(gpu)))
}

/// How the kernels of the convolutions of a network were chosen.
fn chosen(runtime: &Runtime, device: Device) -> Vec<ChosenBy> {
    let model = Model::load(runtime, mxrs_tests::digits("lenet"), 10).unwrap().on_device(device).unwrap();
    let bound = model.bind(&[("data", Shape::from([BATCH, 1, 28, 28]))]).unwrap();
    bound.executor().forward().unwrap();
    bound.executor().outputs()[0].wait_to_read().unwrap();
    let steps = bound.executor().report().unwrap().steps;
    // `_sg_conv` is the name of a convolution into which oneDNN has fused the activation.
    let is_convolution = |step: &&StepReport| step.op.contains("Convolution") || step.op == "_sg_conv";
    let chosen: Vec<_> = steps.iter().filter(is_convolution).map(|step| step.chosen_by).collect();
    assert!(chosen.len() >= 2, "{steps:?}");
    chosen
}

fn all(chosen: &[ChosenBy], by: ChosenBy) -> bool {
    chosen.iter().all(|chosen| *chosen == by)
}

#[test]
fn results_for_a_device_and_for_the_host_are_apart() {
    let folder = tempfile::tempdir().unwrap();
    let search = |device: Device| {
        let file = folder.path().join(format!("{}.json", device.kind.name()));
        let runtime = builder(&file).search_kernels(Search::new(Duration::ZERO)).build().unwrap();
        let found = chosen(&runtime, device);
        assert!(found.contains(&ChosenBy::Search), "{device}: {found:?}");
        assert_eq!(runtime.keep_kernels().unwrap(), Some(file.clone()));
        file
    };
    for (device, other) in [(CPU, GPU), (GPU, CPU)] {
        let file = search(device);
        let keys: Vec<String> =
            TuningFile::open(&file).unwrap().machines.into_iter().flat_map(|of| of.calls.into_keys()).collect();
        assert!(!keys.is_empty() && keys.iter().all(|key| key.contains(" on gpu") == (device == GPU)), "{keys:?}");
        let runtime = builder(&file).build().unwrap();
        let found = chosen(&runtime, device);
        assert!(found.contains(&ChosenBy::Cache) && !found.contains(&ChosenBy::Search), "{device}: {found:?}");
        assert!(all(&chosen(&runtime, other), ChosenBy::Estimate), "results for {device} were used on {other}");
    }
}
