//! A module over several contexts: the parts of a batch, merged arrays, norms, monitors, and errors.

mod common;

use common::{Net, batch, bits, context, fit_options, iter, log_of, options, sgd, small_net};
use mxrs_data::{DataBatch, DataDesc, DataIter};
use mxrs_format::{Checkpoint, Dense, Tensor};
use mxrs_graph::{Graph, Symbol};
use mxrs_ndarray::NdArray;
use mxrs_train::callback::{Callbacks, Monitor, MonitorOptions};
use mxrs_train::metric::{create, create_all};
use mxrs_train::{BindFor, FitOptions, KvStoreChoice, Module, ModuleNames, StoreOptions};
use mxrs_types::{DType, Device, Shape};

fn over(graph: &Graph, n: u32) -> Module {
    Module::new(&(context(), options()), graph).unwrap().contexts((0..n).map(Device::cpu)).unwrap()
}

/// A module over `n` contexts, bound for batches of 8 and initialized.
fn ready(graph: &Graph, n: u32) -> Module {
    let (mut module, data) = (over(graph, n), iter(1, 16, 8, 3));
    module.bind(data.provide_data(), data.provide_label(), BindFor::default()).unwrap();
    module.init_params(None, &fit_options(1).init).unwrap();
    module
}

/// A perceptron without normalization and dropout, so that rows do not influence each other.
fn plain_net() -> Graph {
    let mut net = Net::default();
    let x = net.call("FullyConnected", "fc1", &[("num_hidden", "5")], &[&Symbol::variable("data")]);
    let x = net.call("Activation", "tanh1", &[("act_type", "tanh")], &[&x]);
    let x = net.call("FullyConnected", "fc2", &[("num_hidden", "3")], &[&x]);
    net.call("SoftmaxOutput", "softmax", &[], &[&x]).graph().unwrap()
}

/// The bytes of all parameters of each context.
fn copies(module: &Module) -> Vec<Vec<Vec<u8>>> {
    let of = |array: &NdArray| array.read_bytes(<[u8]>::to_vec).unwrap();
    let params = |executor: &&mxrs_exec::Executor| {
        let params = executor.arrays().iter().filter(|(name, _)| name.starts_with("fc"));
        params.map(|(_, array)| of(array)).collect::<Vec<_>>()
    };
    let copies: Vec<_> = module.executors().unwrap().iter().map(params).collect();
    assert_eq!(copies[0].len(), 4);
    copies
}

#[test]
fn one_context_trains_as_before_without_a_store() {
    let train = |module: Module| {
        let mut module = module;
        let (mut data, mut metric) = (iter(1, 40, 8, 3), create("acc", &[]).unwrap());
        let options = FitOptions { kvstore: "device".into(), ..fit_options(3) };
        let none = &mut Callbacks::default();
        let report = module.fit(&mut data, None, &mut metric, Some(sgd(0.1, 0.9)), none, &options).unwrap();
        assert!(module.kvstore().is_none() && !module.updates_on_kvstore());
        (bits(&module), report)
    };
    let plain = train(Module::new(&(context(), options()), &small_net(8, 3)).unwrap());
    assert!(plain == train(over(&small_net(8, 3), 1)));
    // Every device has its own random number generator, so only a network without dropout gives equal results on another
    // device.
    let of = |device| train(Module::new(&(context(), options()), &plain_net()).unwrap().contexts([device]).unwrap());
    assert!(of(Device::cpu(0)) == of(Device::cpu(1)));
}

/// With several contexts, every metric and prediction equals that with one context, also for metrics averaged over batches
/// and for padded batches.
#[test]
fn metrics_and_predictions_do_not_depend_on_contexts() {
    let graph = plain_net();
    let run = |n: u32| {
        let mut module = ready(&graph, n);
        let mut metric =
            create_all(&[("acc", &[]), ("ce", &[]), ("top_k_accuracy", &[("top_k", "2")]), ("pcc", &[])]).unwrap();
        let scores = module.score(&mut iter(3, 29, 8, 3), &mut metric, None).unwrap();
        let outputs = module.predict(&mut iter(3, 29, 8, 3), None).unwrap();
        assert_eq!(outputs[0].as_dense().unwrap().shape()[..], [29, 3]);
        // A batch size other than the bound one, so the module binds a second group of executors.
        let other = module.predict(&mut iter(4, 21, 7, 3), None).unwrap();
        (scores, outputs, other)
    };
    let want = run(1);
    for n in [2, 3, 4, 7] {
        assert!(run(n) == want, "{n} contexts");
    }
}

#[test]
fn rows_go_to_contexts_by_their_work_load() {
    let (mut module, data) = (over(&plain_net(), 3).work_load_list([2.0, 1.0, 1.0]).unwrap(), iter(1, 16, 8, 3));
    module.bind(data.provide_data(), data.provide_label(), BindFor::default()).unwrap();
    module.init_params(None, &fit_options(1).init).unwrap();
    let batch = batch(&mut iter(1, 16, 8, 3));
    let rows: Vec<Vec<f32>> = batch.data[0].to_f32_vec().chunks(6).map(<[f32]>::to_vec).collect();
    module.forward(batch, false).unwrap();
    let executors = module.executors().unwrap();
    let mut begin = 0;
    for (executor, (id, n)) in executors.iter().zip([(0, 4), (1, 2), (2, 2)]) {
        let array = executor.argument("data").unwrap();
        assert_eq!((array.device(), array.shape()[0]), (Device::cpu(id), n));
        assert_eq!(array.to_vec::<f32>().unwrap(), rows[begin..begin + n].concat());
        begin += n;
    }
    assert_eq!(module.devices(), [Device::cpu(0), Device::cpu(1), Device::cpu(2)]);
}

fn dense(shape: impl Into<Shape>, values: &[f32]) -> Dense {
    Tensor::from_slice(shape, values).unwrap().into_dense().unwrap()
}

/// The gradients of outputs are cut into the rows of each context, and the gradients of inputs are concatenated. The network
/// computes x·x, whose gradient is 2x.
#[test]
fn gradients_of_inputs_and_outputs_are_divided_by_rows() {
    let mut net = Net::default();
    let x = Symbol::variable("data");
    let graph = net.call("elemwise_mul", "square", &[], &[&x, &x]).graph().unwrap();
    let names = ModuleNames { labels: Vec::new(), ..ModuleNames::default() };
    let module = Module::with_names(&(context(), options()), &graph, names).unwrap();
    let mut module = module.contexts([Device::cpu(0), Device::cpu(1)]).unwrap();
    let how = BindFor { inputs_need_grad: true, ..BindFor::default() };
    module.bind(&[DataDesc::new("data", [5, 2], DType::F32)], &[], how).unwrap();
    module.init_params(None, &fit_options(1).init).unwrap();
    let values: Vec<f32> = (1..=10).map(|i| i as f32).collect();
    let batch = DataBatch { data: vec![dense([5, 2], &values)], labels: vec![], index: (0..5).collect(), pad: 0 };
    module.forward(batch, true).unwrap();
    let head: Vec<f32> = (1..=10).map(|i| 1.0 / i as f32).collect();
    let head = common::array(module.context(), [5, 2], &head);
    module.backward(&[head]).unwrap();
    let grads = module.get_input_grads().unwrap();
    assert_eq!(grads[0].shape()[..], [5, 2]);
    assert_eq!(grads[0].to_vec::<f32>().unwrap(), [2.0; 10]);
    let squares: Vec<f32> = values.iter().map(|v| v * v).collect();
    assert_eq!(module.get_outputs().unwrap()[0].to_vec::<f32>().unwrap(), squares);
    for (shape, words) in [([4, 2], "5 rows"), ([6, 2], "5 rows")] {
        let head = common::array(module.context(), shape, &vec![1.0; shape[0] * 2]);
        let error = module.backward(&[head]).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

/// The network has no normalization, so the gradient of the whole batch is the sum of the contexts' gradients, up to
/// rounding.
#[test]
fn clipping_bounds_the_norm_of_the_sums() {
    let clipped = |n: u32, store: KvStoreChoice, on_store: bool| {
        let mut module = ready(&plain_net(), n);
        let options = StoreOptions { update_on_kvstore: Some(on_store), ..StoreOptions::new(store) };
        module.init_optimizer_with(sgd(1.0, 0.0), &options).unwrap();
        let before = module.get_params().unwrap().arg["fc1_weight"].to_f32_vec().unwrap();
        module.forward_backward(batch(&mut iter(1, 16, 8, 3))).unwrap();
        let norm = module.clip_gradients(0.01).unwrap();
        assert!((module.clip_gradients(1e9).unwrap() / 0.01 - 1.0).abs() < 1e-5);
        module.update().unwrap();
        let after = module.get_params().unwrap().arg["fc1_weight"].to_f32_vec().unwrap();
        (norm, before.iter().zip(&after).map(|(b, a)| a - b).collect::<Vec<f32>>())
    };
    let (norm, change) = clipped(1, KvStoreChoice::None, false);
    assert!(norm > 0.02, "{norm}");
    for (n, on_store) in [(2, true), (2, false), (3, true), (4, false)] {
        let (got, changed) = clipped(n, "local".into(), on_store);
        assert!((got / norm - 1.0).abs() < 1e-5, "{n} contexts: {got}, one has {norm}");
        let off = changed.iter().zip(&change).fold(0f32, |most, (a, b)| most.max((a - b).abs()));
        assert!(off < 1e-7, "{n} contexts: the change is off by {off}");
    }
}

#[test]
fn new_parameters_reach_the_store() {
    for on_store in [true, false] {
        let run = |sets: bool| {
            let mut module = ready(&plain_net(), 2);
            let options = StoreOptions { update_on_kvstore: Some(on_store), ..StoreOptions::default() };
            let start = module.get_params().unwrap();
            module.init_optimizer_with(sgd(0.1, 0.0), &options).unwrap();
            let mut data = iter(1, 24, 8, 3);
            for _ in 0..2 {
                module.forward_backward(batch(&mut data)).unwrap();
                module.update().unwrap();
            }
            if sets {
                module.set_params(&start).unwrap();
            }
            data.seek(0, 0).unwrap();
            module.forward_backward(batch(&mut data)).unwrap();
            module.update().unwrap();
            (start, bits(&module), copies(&module))
        };
        let (start, set, each) = run(true);
        assert!(each[0] == each[1]);
        let mut once = ready(&plain_net(), 2);
        once.set_params(&start).unwrap();
        once.init_optimizer(sgd(0.1, 0.0)).unwrap();
        once.forward_backward(batch(&mut iter(1, 24, 8, 3))).unwrap();
        once.update().unwrap();
        assert!(set == bits(&once), "on the store: {on_store}");
        assert!(run(false).1 != set);
    }
}

/// At the end of an epoch the auxiliary states of all contexts are their mean; within an epoch each has its own.
#[test]
fn auxiliary_states_are_averaged_after_an_epoch() {
    let mut module = ready(&small_net(8, 3), 2);
    let aux = |module: &Module| {
        let executors = module.executors().unwrap();
        let of = |e: &&mxrs_exec::Executor| e.argument("bn1_moving_mean").unwrap().to_vec::<f32>().unwrap();
        executors.iter().map(of).collect::<Vec<_>>()
    };
    module.init_optimizer(sgd(0.1, 0.0)).unwrap();
    module.forward_backward(batch(&mut iter(1, 40, 8, 3))).unwrap();
    let own = aux(&module);
    assert!(own[0] != own[1]);
    let mean: Vec<f32> = own[0].iter().zip(&own[1]).map(|(a, b)| (a + b) / 2.0).collect();
    let params: Checkpoint = module.get_params().unwrap();
    assert_eq!(params.aux["bn1_moving_mean"].to_f32_vec().unwrap(), mean);
    let mut metric = create("acc", &[]).unwrap();
    module.fit(&mut iter(1, 40, 8, 3), None, &mut metric, None, &mut Callbacks::default(), &fit_options(1)).unwrap();
    let averaged = aux(&module);
    assert!(averaged[0] == averaged[1] && averaged[0] != mean);
}

#[test]
fn a_monitor_reports_every_context() {
    let run = |n: u32, options: Option<MonitorOptions>| {
        let monitor = options.map(|options| Monitor::new(options).unwrap());
        let mut callbacks = Callbacks { monitor, ..Callbacks::default() };
        let (mut module, mut metric) = (over(&small_net(8, 3), n), create("acc", &[]).unwrap());
        let (result, lines) = log_of(|| {
            let optimizer = Some(sgd(0.1, 0.9));
            module.fit(&mut iter(1, 40, 8, 3), None, &mut metric, optimizer, &mut callbacks, &fit_options(1))
        });
        let lines: Vec<String> = lines.into_iter().filter(|line| line.starts_with("Batch:")).collect();
        (result.map(|_| bits(&module)), lines)
    };
    let options = || MonitorOptions { pattern: "fc1_(output|weight)".into(), sort: true, ..MonitorOptions::new(2) };
    let (plain, _) = run(2, None);
    let (monitored, lines) = run(2, Some(options()));
    assert_eq!(plain.unwrap(), monitored.unwrap());
    let names: Vec<&str> = lines.iter().take(6).map(|line| line.split_whitespace().nth(2).unwrap()).collect();
    let each = ["fc1_output", "fc1_output", "fc1_weight", "fc1_weight", "fc1_weight_grad", "fc1_weight_grad"];
    assert_eq!(names[..], each, "{lines:#?}");
    assert_eq!(lines.len(), 3 * 6);
}

#[test]
fn numbers_that_are_not_finite_name_the_context() {
    let mut module = ready(&plain_net(), 2);
    let mut monitor = Monitor::new(MonitorOptions { monitor_nan: true, ..MonitorOptions::new(0) }).unwrap();
    let mut batch = batch(&mut iter(1, 16, 8, 3));
    let mut values = batch.data[0].to_f32_vec();
    values[5 * 6] = f32::NAN;
    batch.data[0] = dense([8, 6], &values);
    monitor.tic_all(&module.executors().unwrap());
    module.forward_backward(batch).unwrap();
    let error = monitor.toc_all(&module.executors().unwrap()).unwrap_err().to_string();
    assert!(error.contains("tensor `fc1_output` on cpu(1)"), "{error}");
}

#[test]
fn labels_of_no_class_are_found_in_the_whole_batch() {
    let mut module = over(&plain_net(), 2);
    let (mut data, mut metric) = (iter(1, 40, 8, 4), create("acc", &[]).unwrap());
    let none = &mut Callbacks::default();
    let error = module.fit(&mut data, None, &mut metric, Some(sgd(0.1, 0.0)), none, &fit_options(1)).unwrap_err();
    assert!(error.to_string().contains("`softmax` has 3 classes"), "{error}");
}

#[test]
fn what_does_not_fit_the_contexts_is_refused() {
    let graph = plain_net();
    let new = || Module::new(&(context(), options()), &graph).unwrap();
    let text = |result: mxrs_types::Result<Module>| result.err().expect("an error").to_string();
    assert!(text(new().contexts([])).contains("at least one device"));
    let error = text(new().contexts([Device::cpu(0), Device::gpu(1)]));
    assert!(error.contains("gpu(1)"), "{error}");
    let error = text(over(&graph, 2).work_load_list([1.0]));
    assert!(error.contains("2, one for each context"), "{error}");
    for load in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(text(over(&graph, 2).work_load_list([1.0, load])).contains("a positive number"));
    }
    assert!(text(ready(&graph, 1).contexts([Device::cpu(0)])).contains("before bind"));
    let bind = |n: u32, data: [usize; 2], label: usize| {
        let label = DataDesc::new("softmax_label", [label], DType::F32);
        over(&graph, n).bind(&[DataDesc::new("data", data, DType::F32)], &[label], BindFor::default())
    };
    let error = bind(4, [3, 6], 3).unwrap_err().to_string();
    assert!(error.contains("none for context 3") && error.contains("4 contexts"), "{error}");
    let error = bind(2, [4, 6], 2).unwrap_err().to_string();
    assert!(error.contains("softmax_label") && error.contains("4 rows"), "{error}");
    // A later batch that is too small.
    let mut module = ready(&graph, 4);
    let small = DataBatch { data: vec![dense([2, 6], &[0.0; 12])], labels: vec![], index: vec![0, 1], pad: 0 };
    let error = module.forward(small, false).unwrap_err().to_string();
    assert!(error.contains("none for context"), "{error}");
}

/// If several devices have no store, they train independently of each other, and a warning is logged. A warning is also
/// logged if compression is requested and no store compresses.
#[test]
fn missing_stores_are_told() {
    let warned = |n: u32, options: &StoreOptions| {
        let mut module = ready(&plain_net(), n);
        let (result, lines) = log_of(|| module.init_optimizer_with(sgd(0.1, 0.0), options));
        result.unwrap();
        lines.into_iter().filter(|line| line.contains("no key-value store")).count()
    };
    assert_eq!(warned(2, &StoreOptions::new(KvStoreChoice::None)), 1);
    assert_eq!(warned(1, &StoreOptions::new(KvStoreChoice::None)), 0);
    let compression = Some("2bit".parse().unwrap());
    assert_eq!(warned(1, &StoreOptions { compression, ..StoreOptions::new("device") }), 1);
    assert_eq!(warned(2, &StoreOptions { compression, ..StoreOptions::new("device") }), 0);
    let mut module = ready(&plain_net(), 2);
    let refused = StoreOptions { compression, ..StoreOptions::new("local") };
    let error = module.init_optimizer_with(sgd(0.1, 0.0), &refused).unwrap_err().to_string();
    assert!(error.contains("a store that compresses"), "{error}");
}
