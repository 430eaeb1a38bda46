//! Tests of two runtimes with different settings in one process: each follows its own settings, and the outputs are equal.

use mxrs::engine::EngineKind;
use mxrs::env::MapSource;
use mxrs::storage::PoolKind;
use mxrs::types::Device;
use mxrs::{Model, Runtime};
use mxrs_tests::digits;

fn runtime(vars: &[(&str, &str)]) -> Runtime {
    let source = MapSource::new(vars.iter().copied());
    Runtime::builder().env(&source).only_backend("reference").build().unwrap()
}

fn answers(runtime: &Runtime) -> Vec<f32> {
    let predictor = Model::load(runtime, digits("lenet"), 10).unwrap().predictor(1, &[1, 28, 28]).unwrap();
    let image: Vec<f32> = (0..28 * 28).map(|i| (i % 29) as f32 / 29.0).collect();
    predictor.predict(&image).unwrap()
}

#[test]
fn settings_belong_to_their_runtime() {
    let naive = runtime(&[("MXNET_ENGINE_TYPE", "NaiveEngine"), ("MXNET_CPU_MEM_POOL_TYPE", "Unpooled")]);
    let round = runtime(&[("MXNET_ENGINE_TYPE", "ThreadedEngine"), ("MXNET_CPU_MEM_POOL_TYPE", "Round")]);
    assert_eq!(naive.engine().config().kind, EngineKind::Naive);
    assert_eq!(round.engine().config().kind, EngineKind::Threaded);
    assert_eq!(round.storage().config().cpu.kind, PoolKind::Round);
    // Memory plans, engines and pools only decide where and when data are stored; they compute nothing.
    let expected = answers(&naive);
    assert_eq!(answers(&round), expected);
    for vars in [
        &[("MXNET_EXEC_BULK_EXEC_INFERENCE", "0")][..],
        &[("MXNET_EXEC_ENABLE_INPLACE", "0")],
        &[("NNVM_EXEC_MATCH_RANGE", "0")],
        &[("MXNET_EXEC_NUM_TEMP", "2")],
        &[("MXNET_USE_NAIVE_STORAGE_MANAGERS", "1"), ("OMP_NUM_THREADS", "3")],
    ] {
        assert_eq!(answers(&runtime(vars)), expected, "{vars:?}");
    }
    let stats = naive.storage().stats(Device::cpu(0));
    assert!(stats.allocations > 0 && stats.hits == 0, "{stats:?}");
}

#[test]
fn bulks_are_one_push_and_single_operators_many() {
    let pushes = |vars: &[(&str, &str)]| {
        let runtime = runtime(vars);
        let model = Model::load(&runtime, digits("lenet"), 10).unwrap();
        let bound = model.bind(&[("data", [1, 1, 28, 28].into())]).unwrap();
        runtime.engine().wait_for_all().unwrap();
        let before = runtime.engine().counters().pushed;
        bound.forward(&[]).unwrap();
        runtime.engine().wait_for_all().unwrap();
        runtime.engine().counters().pushed - before
    };
    assert_eq!(pushes(&[]), 1);
    // LeNet has eleven operators, so single pushes are at least ten: a bound graph may have no step for Flatten.
    let single = pushes(&[("MXNET_EXEC_BULK_EXEC_INFERENCE", "0")]);
    assert!((10..=12).contains(&single), "{single}");
}

#[test]
fn plans_follow_their_settings() {
    let report = |vars: &[(&str, &str)]| {
        let runtime = runtime(vars);
        let model = Model::load(&runtime, digits("resnet8"), 10).unwrap();
        let bound = model.bind(&[("data", [1, 1, 28, 28].into())]).unwrap();
        bound.executor().report().unwrap().plan
    };
    let free = report(&[]);
    let asked = report(&[("NNVM_EXEC_MATCH_RANGE", "16")]);
    assert_eq!(asked.tried.iter().map(|tried| tried.match_range).collect::<Vec<_>>(), [1, 2, 4, 8, 16]);
    assert!(free.bytes <= asked.bytes && free.bytes >= free.lower_bound_bytes, "{free} {asked}");
    let single = report(&[("NNVM_EXEC_MATCH_RANGE", "16"), ("NNVM_AUTO_SEARCH_MATCH_RANGE", "0")]);
    assert_eq!(single.tried.len(), 1);
    assert_eq!(report(&[("MXNET_EXEC_ENABLE_INPLACE", "0")]).n_inplace, 0);
    assert!(free.n_inplace > 0, "{free}");
}

#[test]
fn a_bad_variable_is_an_error_of_the_builder() {
    let bad = MapSource::new([("MXNET_ENGINE_TYPE", "FastEngine")]);
    let error = Runtime::builder().env(&bad).build().map(|_| ()).unwrap_err().to_string();
    assert!(error.starts_with("MXNET_ENGINE_TYPE: invalid value \"FastEngine\": expected "), "{error}");
}
