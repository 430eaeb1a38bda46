//! The loss scale of a module: MXNet's numbers, steps that are skipped, gradients that float16 would lose, resuming.

mod common;

use common::{Net, StoreHost, batch, bits, context, examples, fit_options, iter, log_of, options, sgd, small_net};
use mxrs_data::{DataBatch, DataDesc, DataIter};
use mxrs_exec::GradReq;
use mxrs_format::Dense;
use mxrs_graph::{Graph, Symbol};
use mxrs_kvstore::dist::{DistSync, Group, GroupOptions, local_workers};
use mxrs_kvstore::{KvStore, KvStoreOptions};
use mxrs_ndarray::NdArray;
use mxrs_optim::{TwoBit, Updater};
use mxrs_sync::atomic::{AtomicBool, Ordering};
use mxrs_train::callback::{BatchEnd, Callbacks};
use mxrs_train::metric::create;
use mxrs_train::{
    BindFor, CheckpointOptions, Compression, FitOptions, Host, LossScaler, Module, ModuleNames, Outcome, StoreOptions,
};
use mxrs_types::{DType, Device, Result};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// Recorded by `tests/mxnet/make_loss_scaler.py`.
const MXNET: &str = include_str!("fixtures/loss_scaler.json");

#[test]
fn scales_are_those_of_mxnet() {
    let runs: Value = serde_json::from_str(MXNET).unwrap();
    let mut scaler = LossScaler::dynamic();
    let runs = runs.as_array().unwrap();
    for (number, run) in runs.iter().enumerate() {
        for _ in 0..run["n_steps"].as_u64().unwrap() {
            scaler.update(run["is_finite"].as_bool().unwrap()).unwrap();
        }
        assert_eq!(scaler.scale(), run["scale"].as_f64().unwrap(), "after run {number}");
    }
    assert!(runs.len() > 20);
}

/// A perceptron without batch normalization. With it, the forward pass would change auxiliary states even if the update is
/// skipped.
fn plain_net() -> Graph {
    let mut net = Net::default();
    let x = net.call("FullyConnected", "fc1", &[("num_hidden", "5")], &[&Symbol::variable("data")]);
    let x = net.call("Activation", "tanh1", &[("act_type", "tanh")], &[&x]);
    let x = net.call("FullyConnected", "fc2", &[("num_hidden", "3")], &[&x]);
    net.call("SoftmaxOutput", "softmax", &[], &[&x]).graph().unwrap()
}

/// A module over `n` contexts, bound for batches of 8, initialized, and with an optimizer.
fn ready(host: &impl Host, graph: &Graph, n: u32, scaler: Option<LossScaler>) -> Module {
    let mut module = Module::new(host, graph).unwrap().contexts((0..n).map(Device::cpu)).unwrap();
    if let Some(scaler) = scaler {
        module = module.loss_scaling(scaler).unwrap();
    }
    let data = iter(1, 16, 8, 3);
    module.bind(data.provide_data(), data.provide_label(), BindFor::default()).unwrap();
    module.init_params(None, &fit_options(1).init).unwrap();
    module.init_optimizer(sgd(0.1, 0.9)).unwrap();
    module
}

/// A scale that is a power of 2 changes no rounding in float32, so training must give the same bits with and without it.
#[test]
fn in_float32_a_scale_changes_no_bit() {
    for (n, on_store) in [(1, false), (2, true), (2, false), (3, true)] {
        let train = |scaler: Option<LossScaler>| {
            let is_scaled = scaler.is_some();
            let host = StoreHost::new(on_store);
            let mut module = ready(&host, &small_net(8, 3), n, scaler);
            let (mut train, mut eval) = (iter(1, 40, 8, 3), iter(2, 20, 8, 3));
            let options = FitOptions { clip_global_norm: Some(0.5), ..fit_options(3) };
            let (mut metric, mut callbacks) = (create("acc", &[]).unwrap(), Callbacks::default());
            let seen = Arc::new(AtomicBool::new(false));
            let told = seen.clone();
            callbacks.batch_end.push(Box::new(move |at: &mut BatchEnd<'_>| {
                told.store(at.loss_scale == Some(1024.0), Ordering::Relaxed);
                Ok(())
            }));
            let report = module.fit(&mut train, Some(&mut eval), &mut metric, None, &mut callbacks, &options).unwrap();
            assert_eq!(seen.load(Ordering::Relaxed), is_scaled);
            assert_eq!(module.updates_on_kvstore(), on_store && n > 1);
            let states = module.optimizer().unwrap().states().unwrap();
            (bits(&module), report, states)
        };
        let plain = train(None);
        assert!(train(Some(LossScaler::fixed(1024.0).unwrap())) == plain, "{n} contexts, on the store: {on_store}");
    }
}

/// A batch of 8 examples.
fn batch_of(data: Vec<Dense>, labels: Vec<Dense>) -> DataBatch {
    DataBatch { data, labels, index: (0..8).collect(), pad: 0 }
}

#[test]
fn gradients_of_inputs_and_of_outputs_that_are_no_losses_take_the_scale_into_account() {
    let mut net = Net::default();
    let graph = net.call("Activation", "tanh", &[("act_type", "tanh")], &[&Symbol::variable("data")]).graph().unwrap();
    let run = |scaler: Option<LossScaler>| {
        let names = ModuleNames { labels: Vec::new(), ..ModuleNames::default() };
        let mut module = Module::with_names(&(context(), options()), &graph, names).unwrap();
        if let Some(scaler) = scaler {
            module = module.loss_scaling(scaler).unwrap();
        }
        let how = BindFor { inputs_need_grad: true, grad_req: GradReq::Write, ..BindFor::default() };
        module.bind(&[DataDesc::new("data", [8, 6], DType::F32)], &[], how).unwrap();
        module.init_params(None, &fit_options(1).init).unwrap();
        let (data, _) = examples(3, 8, 3);
        module.forward(batch_of(vec![data], Vec::new()), true).unwrap();
        let head = NdArray::from_slice(module.context(), [8, 6], &common::numbers(5, 48)).unwrap();
        module.backward(&[head]).unwrap();
        let scaled = module.executor().unwrap().gradient("data").unwrap().to_vec::<f32>().unwrap();
        (module.get_input_grads().unwrap()[0].to_vec::<f32>().unwrap(), scaled)
    };
    let (plain, same) = run(None);
    assert_eq!(plain, same);
    let (unscaled, scaled) = run(Some(LossScaler::fixed(256.0).unwrap()));
    assert_eq!(unscaled, plain);
    assert!(scaled.iter().zip(&plain).all(|(scaled, plain)| *scaled == plain * 256.0));
}

/// Makes one element of a gradient of the last context infinite.
fn spoil(module: &Module) {
    let executors = module.executors().unwrap();
    let gradient = executors.last().unwrap().gradient("fc2_bias").unwrap();
    gradient.copy_from(&[0.0, f32::NEG_INFINITY, 0.0]).unwrap();
}

#[test]
fn a_step_that_overflows_changes_nothing_and_halves_the_scale() {
    for (n, on_store) in [(1, false), (2, true), (2, false)] {
        let host = StoreHost::new(on_store);
        let mut module = ready(&host, &plain_net(), n, Some(LossScaler::dynamic()));
        let mut data = iter(1, 80, 8, 3);
        let state = |module: &Module| {
            let update = module.optimizer().unwrap();
            (bits(module), update.states().unwrap(), update.num_update())
        };
        module.forward_backward(batch(&mut data)).unwrap();
        module.update().unwrap();
        let before = state(&module);
        assert_eq!(before.2, 1);
        module.forward_backward(batch(&mut data)).unwrap();
        spoil(&module);
        let (result, lines) = log_of(|| module.update());
        result.unwrap();
        assert_eq!(lines, ["AMP: decreasing loss scale to 32768.000000"]);
        assert!(state(&module) == before, "{n} contexts, on the store: {on_store}");
        let scaler = module.loss_scaler().unwrap();
        assert_eq!((scaler.scale(), scaler.n_skipped(), scaler.n_good()), (32768.0, 1, 0));
        // After a skipped step, the next step gives the same state as in a training that never saw the skipped batch.
        module.forward_backward(batch(&mut data)).unwrap();
        module.update().unwrap();
        let mut other = ready(&host, &plain_net(), n, None);
        let mut data = iter(1, 80, 8, 3);
        for is_used in [true, false, true] {
            let batch = batch(&mut data);
            if is_used {
                other.forward_backward(batch).unwrap();
                other.update().unwrap();
            }
        }
        assert!(state(&module) == state(&other), "{n} contexts, on the store: {on_store}");
    }
}

/// Gradients near 1e-9 are 0 in float16, where the smallest number is 6e-8, unless they are scaled.
#[test]
fn small_gradients_survive_in_float16() {
    let mut net = Net::default();
    let x = net.call("FullyConnected", "fc", &[("num_hidden", "3")], &[&Symbol::variable("data")]);
    let graph = net.call("LinearRegressionOutput", "lro", &[("grad_scale", "1e-9")], &[&x]).graph().unwrap();
    let moved = |dtype: Option<DType>, scaler: Option<LossScaler>| {
        let names = ModuleNames { labels: vec!["lro_label".into()], ..ModuleNames::default() };
        let mut module = Module::with_names(&(context(), options()), &graph, names).unwrap();
        if let Some(dtype) = dtype {
            module = module.amp(dtype);
        }
        if let Some(scaler) = scaler {
            module = module.loss_scaling(scaler).unwrap();
        }
        let desc = |name: &str, columns: usize| [DataDesc::new(name, [8, columns], DType::F32)];
        module.bind(&desc("data", 6), &desc("lro_label", 3), BindFor::default()).unwrap();
        module.init_params(None, &fit_options(1).init).unwrap();
        module.init_optimizer(sgd(1e8, 0.0)).unwrap();
        let weight = |module: &Module| {
            let arg = &module.get_params().unwrap().arg;
            arg["fc_weight"].as_slice::<f32>().unwrap().to_vec()
        };
        let before = weight(&module);
        let (data, _) = examples(3, 8, 3);
        let label = mxrs_format::Tensor::from_slice([8, 3], &common::numbers(4, 24)).unwrap().into_dense().unwrap();
        module.forward_backward(batch_of(vec![data], vec![label])).unwrap();
        module.update().unwrap();
        weight(&module).iter().zip(before).map(|(after, before)| after - before).collect::<Vec<f32>>()
    };
    let want = moved(None, None);
    let size = want.iter().fold(0.0f32, |most, step| most.max(step.abs()));
    assert!(size > 0.01, "{want:?}");
    assert!(moved(Some(DType::F16), None).iter().all(|step| *step == 0.0));
    let got = moved(Some(DType::F16), Some(LossScaler::dynamic()));
    for (got, want) in got.iter().zip(&want) {
        // A gradient is a sum of 8 products. Each is rounded to the 11 bits of float16, so each adds an error of at most
        // 1/1024 of the largest step.
        assert!((got - want).abs() <= size * 8.0 / 1024.0, "{got} instead of {want}");
    }
}

/// Trains in float16 with a scale that changes often, as a new process would.
fn train(prefix: Option<&Path>, interrupt: Option<(&Arc<AtomicBool>, u64)>) -> (Module, Outcome) {
    let scaler = LossScaler::dynamic().starting_at(1e9).unwrap().doubled_after(4).unwrap();
    let module = Module::new(&(context(), options()), &small_net(8, 3)).unwrap();
    let mut module = module.amp(DType::F16).loss_scaling(scaler).unwrap();
    let mut callbacks = Callbacks::default();
    if let Some((flag, n)) = interrupt {
        let (flag, mut seen) = (flag.clone(), 0);
        callbacks.batch_end.push(Box::new(move |_: &mut BatchEnd<'_>| {
            seen += 1;
            flag.store(seen == n, Ordering::Relaxed);
            Ok(())
        }));
    }
    let options = FitOptions {
        checkpoint: prefix.map(CheckpointOptions::new),
        resume: true,
        interrupt: interrupt.map(|(flag, _)| flag.clone()),
        optimizer_params: [("learning_rate", "0.1"), ("momentum", "0.9")].map(|(k, v)| (k.into(), v.into())).to_vec(),
        ..fit_options(6)
    };
    let mut metric = create("acc", &[]).unwrap();
    let report = module.fit(&mut iter(1, 37, 8, 3), None, &mut metric, None, &mut callbacks, &options).unwrap();
    (module, report.outcome)
}

#[test]
fn a_training_in_float16_resumes_bit_by_bit_with_its_scale() {
    let (whole, _) = train(None, None);
    let scaler = whole.loss_scaler().unwrap();
    // The scale has fallen from 1e9 because of overflows. Since then, steps without overflow were counted.
    assert!(scaler.n_skipped() > 5 && scaler.scale() < 1e8, "{scaler:?}");
    let dir = tempfile::tempdir().unwrap();
    // Batch 3 is among those where the scale still falls; batches 13 and 20 come later.
    for stop in [3, 13, 20] {
        let prefix = dir.path().join(format!("{stop}/net"));
        let flag = Arc::new(AtomicBool::new(false));
        let (_, outcome) = train(Some(&prefix), Some((&flag, stop)));
        assert_eq!(outcome, Outcome::Interrupted);
        flag.store(false, Ordering::Relaxed);
        let (module, outcome) = train(Some(&prefix), Some((&flag, 0)));
        assert_eq!(outcome, Outcome::Finished);
        assert_eq!(module.loss_scaler(), whole.loss_scaler(), "after batch {stop}");
        assert!(bits(&module) == bits(&whole), "after batch {stop}");
    }
}

/// If a gradient of one worker is not finite, all workers skip the step, so their weights and scales stay equal.
#[test]
fn workers_agree() {
    type Trained = (Vec<(String, Vec<u8>)>, LossScaler);
    let run = |group: &Arc<Group>| -> Result<Trained> {
        let host = (context(), options());
        let store = DistSync::new("dist_sync".parse()?, &host.0, &KvStoreOptions::default(), group)?;
        let module = Module::new(&host, &plain_net())?;
        let mut module = module.loss_scaling(LossScaler::dynamic())?;
        let mut data = iter(1 + group.rank() as u64, 24, 8, 3);
        module.bind(data.provide_data(), data.provide_label(), BindFor::default())?;
        module.init_params(None, &fit_options(1).init)?;
        let store: Arc<dyn KvStore> = Arc::new(store);
        module.init_optimizer_with(sgd(0.1, 0.9), &StoreOptions::new(store))?;
        for step in 0..3 {
            module.forward_backward(batch(&mut data))?;
            if step == 1 && group.rank() == 1 {
                spoil(&module);
            }
            module.update()?;
        }
        assert_eq!(module.optimizer().map(|update| update.num_update()), Some(2));
        Ok((bits(&module), module.loss_scaler().unwrap().clone()))
    };
    let results: Vec<_> = std::thread::scope(|scope| {
        let run = &run;
        let start =
            |connect| scope.spawn(move || run(&Group::start(connect, GroupOptions::default()).unwrap()).unwrap());
        let threads: Vec<_> = local_workers(2).into_iter().map(start).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(results[0] == results[1]);
    assert_eq!((results[0].1.scale(), results[0].1.n_skipped(), results[0].1.n_good()), (32768.0, 1, 1));
}

#[test]
fn what_cannot_be_scaled_is_refused() {
    let module = |n: u32| {
        let module = Module::new(&(context(), options()), &plain_net()).unwrap();
        let mut module = module.contexts((0..n).map(Device::cpu)).unwrap().loss_scaling(LossScaler::dynamic()).unwrap();
        let data = iter(1, 16, 8, 3);
        module.bind(data.provide_data(), data.provide_label(), BindFor::default()).unwrap();
        module
    };
    let compression = Some(Compression::new("2bit", 0.5).unwrap());
    let options = StoreOptions { compression, ..StoreOptions::new("device") };
    let error = module(2).init_optimizer_with(sgd(0.1, 0.0), &options).unwrap_err().to_string();
    assert!(error.contains("loss scale") && error.contains("compressed"), "{error}");
    let mut updater: Updater = sgd(0.1, 0.0);
    updater.set_compression(TwoBit::new(0.5).unwrap()).unwrap();
    assert!(module(1).init_optimizer(updater).is_err());
    let error = module(1).loss_scaling(LossScaler::dynamic()).err().unwrap().to_string();
    assert!(error.contains("before bind"), "{error}");
}
