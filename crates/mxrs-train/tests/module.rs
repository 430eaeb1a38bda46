//! The module: it learns, logs MXNet's lines, shares parameters between batch sizes and refuses invalid input.

mod common;

use common::{
    KINDS, Net, batch, bits, context, context_of, examples, fit_options, iter, log_of, module, options, sgd, small_net,
};
use mxrs_data::{DataDesc, DataIter, NdArrayIter};
use mxrs_exec::GradReq;
use mxrs_format::{Checkpoint, Tensor};
use mxrs_graph::Symbol;
use mxrs_train::callback::{
    Callbacks, Monitor, MonitorOptions, ProgressBar, Speedometer, do_checkpoint, log_train_metric, module_checkpoint,
};
use mxrs_train::metric::{create, create_all};
use mxrs_train::{BindFor, InitOptions, Module, ModuleNames, Outcome};
use mxrs_types::DType;

#[test]
fn it_learns_the_same_on_every_engine() {
    let mut all = Vec::new();
    for kind in KINDS {
        let mut module = Module::new(&(context_of(kind), options()), &small_net(16, 3)).unwrap();
        let mut train = iter(1, 160, 8, 3);
        let mut eval = iter(2, 50, 8, 3);
        let mut metric = create("acc", &[]).unwrap();
        let (train, eval) = (&mut train, Some(&mut eval as &mut dyn DataIter));
        let mut callbacks = Callbacks::default();
        let report =
            module.fit(train, eval, &mut metric, Some(sgd(0.05, 0.9)), &mut callbacks, &fit_options(20)).unwrap();
        assert_eq!(report.outcome, Outcome::Finished);
        let accuracy = report.validation[0].1;
        assert!(accuracy > 0.75, "it does not learn: {report:?}");
        // 50 examples in batches of 8: the accuracy is a multiple of 1/50 because padding is not counted.
        assert!((accuracy * 50.0 - (accuracy * 50.0).round()).abs() < 1e-9);
        all.push((bits(&module), report));
    }
    assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "engines differ");
}

#[test]
fn log_lines_are_those_of_mxnet() {
    let dir = tempfile::tempdir().unwrap();
    let prefix = dir.path().join("net");
    let mut module = module();
    let mut callbacks = Callbacks::default();
    callbacks.batch_end.push(Box::new(Speedometer::every(8, 2, true)));
    callbacks.batch_end.push(Box::new(log_train_metric(3, false)));
    callbacks.batch_end.push(Box::new(ProgressBar::with_length(5, 10)));
    callbacks.epoch_end.push(Box::new(do_checkpoint(&prefix, 1)));
    let (mut train, mut eval) = (iter(1, 40, 8, 3), iter(2, 16, 8, 3));
    let mut metric = create_all(&[("acc", &[]), ("ce", &[])]).unwrap();
    let (result, lines) = log_of(|| {
        let optimizer = Some(sgd(0.1, 0.0));
        module.fit(&mut train, Some(&mut eval), &mut metric, optimizer, &mut callbacks, &fit_options(1))
    });
    result.unwrap();
    let lines: Vec<String> = lines.into_iter().filter(|line| !line.contains("StorageManager")).collect();
    let number = r"\d+\.\d{6}";
    let speed = r"\d+\.\d\d";
    let params = regex::escape(&prefix.with_file_name("net-0001.params").display().to_string());
    let two = |from: u64, to: u64| {
        format!(
            "Epoch\\[0\\] Batch \\[{from}-{to}\\]\tSpeed: {speed} samples/sec\taccuracy={number}\tcross-entropy={number}"
        )
    };
    let expected = [
        format!("Iter\\[0\\] Batch\\[0\\] Train-accuracy={number}"),
        format!("Iter\\[0\\] Batch\\[0\\] Train-cross-entropy={number}"),
        "\\[----------\\] 0%\r".into(),
        "\\[==--------\\] 20%\r".into(),
        two(0, 2),
        "\\[====------\\] 40%\r".into(),
        format!("Iter\\[0\\] Batch\\[3\\] Train-accuracy={number}"),
        format!("Iter\\[0\\] Batch\\[3\\] Train-cross-entropy={number}"),
        "\\[======----\\] 60%\r".into(),
        two(2, 4),
        "\\[========--\\] 80%\r".into(),
        format!("Epoch\\[0\\] Train-accuracy={number}"),
        format!("Epoch\\[0\\] Train-cross-entropy={number}"),
        r"Epoch\[0\] Time cost=\d+\.\d{3}".into(),
        format!("Saved checkpoint to \"{params}\""),
        format!("Epoch\\[0\\] Validation-accuracy={number}"),
        format!("Epoch\\[0\\] Validation-cross-entropy={number}"),
    ];
    assert_eq!(lines.len(), expected.len(), "{lines:#?}");
    for (line, pattern) in lines.iter().zip(&expected) {
        assert!(regex::Regex::new(&format!("^{pattern}$")).unwrap().is_match(line), "{line:?} is not {pattern}");
    }
}

/// The accuracy that is printed for an epoch is that of the whole epoch, even if callbacks reset the metric.
#[test]
fn the_epoch_is_counted_whole() {
    let run = |callbacks: &mut Callbacks| {
        let mut metric = create("acc", &[]).unwrap();
        let optimizer = Some(sgd(0.1, 0.9));
        module().fit(&mut iter(1, 40, 8, 3), None, &mut metric, optimizer, callbacks, &fit_options(2)).unwrap().train
    };
    let mut with = Callbacks::default();
    with.batch_end.push(Box::new(Speedometer::every(8, 1, true)));
    assert_eq!(run(&mut with), run(&mut Callbacks::default()));
}

#[test]
fn steps_by_hand_are_what_fit_does() {
    let options = fit_options(1);
    let mut fitted = module();
    let mut metric = create("acc", &[]).unwrap();
    let mut none = Callbacks::default();
    fitted.fit(&mut iter(1, 40, 8, 3), None, &mut metric, Some(sgd(0.1, 0.9)), &mut none, &options).unwrap();
    let mut stepped = module();
    let mut data = iter(1, 40, 8, 3);
    stepped.bind(data.provide_data(), data.provide_label(), BindFor::default()).unwrap();
    stepped.init_params(None, &options.init).unwrap();
    stepped.init_optimizer(sgd(0.1, 0.9)).unwrap();
    while let Some(batch) = data.next_batch().unwrap() {
        stepped.forward_backward(batch).unwrap();
        stepped.update().unwrap();
    }
    assert_eq!(bits(&fitted), bits(&stepped));
    assert_eq!(stepped.optimizer().unwrap().num_update(), 5);
}

/// Executors for other batch sizes use the current parameters, also after inference has packed them.
#[test]
fn batch_sizes_share_parameters() {
    let mut module = module();
    let mut train = iter(1, 40, 8, 3);
    let mut none = Callbacks::default();
    let mut metric = create("acc", &[]).unwrap();
    let predict = |module: &mut Module, batch_size: usize| {
        let (data, labels) = examples(9, 20, 3);
        let mut iter =
            NdArrayIter::builder(batch_size).data("data", data).label("softmax_label", labels).build().unwrap();
        module.predict(&mut iter, None).unwrap().swap_remove(0)
    };
    let mut before: Option<Tensor> = None;
    for _ in 0..2 {
        let optimizer = Some(sgd(0.5, 0.0));
        module.fit(&mut train, None, &mut metric, optimizer, &mut none, &fit_options(1)).unwrap();
        let [large, small, whole] = [7, 3, 20].map(|n| predict(&mut module, n));
        assert_eq!(large.shape().unwrap()[..], [20, 3]);
        assert_eq!((&large, &large), (&small, &whole));
        let fresh = {
            let mut fresh = self::module();
            fresh.bind(&[DataDesc::new("data", [20, 6], DType::F32)], &[], BindFor::inference()).unwrap();
            fresh.set_params(&module.get_params().unwrap()).unwrap();
            predict(&mut fresh, 20)
        };
        assert_eq!(large, fresh);
        assert_ne!(before.replace(large.clone()).as_ref(), Some(&large), "it did not train");
    }
}

#[test]
fn gradients_of_inputs_and_sums_of_gradients() {
    let mut module = module();
    let mut data = iter(1, 8, 8, 3);
    let (descs, labels) = (data.provide_data().to_vec(), data.provide_label().to_vec());
    let how = BindFor { inputs_need_grad: true, grad_req: GradReq::Add, ..BindFor::default() };
    module.bind(&descs, &labels, how).unwrap();
    module.init_params(None, &fit_options(1).init).unwrap();
    let one = batch(&mut data);
    module.context().random().seed(1);
    module.forward_backward(one.clone()).unwrap();
    let first = module.get_input_grads().unwrap()[0].to_vec::<f32>().unwrap();
    assert!(first.iter().any(|g| *g != 0.0));
    module.context().random().seed(1);
    module.forward_backward(one).unwrap();
    let second = module.get_input_grads().unwrap()[0].to_vec::<f32>().unwrap();
    let doubled: Vec<f32> = first.iter().map(|g| 2.0 * g).collect();
    assert_eq!(second, doubled);
}

#[test]
fn fixed_parameters_stay_and_checkpoints_come_back() {
    let dir = tempfile::tempdir().unwrap();
    let prefix = dir.path().join("net");
    let names = ModuleNames { fixed_params: vec!["fc1_weight".into()], ..ModuleNames::default() };
    let mut module = Module::with_names(&(context(), options()), &small_net(8, 3), names.clone()).unwrap();
    let mut train = iter(1, 40, 8, 3);
    let (descs, labels) = (train.provide_data().to_vec(), train.provide_label().to_vec());
    module.bind(&descs, &labels, BindFor::default()).unwrap();
    module.init_params(None, &fit_options(1).init).unwrap();
    let before = module.get_params().unwrap();
    let (mut metric, mut callbacks) = (create("acc", &[]).unwrap(), Callbacks::default());
    callbacks.epoch_end.push(Box::new(module_checkpoint(&prefix, 1, true).keep_last(2)));
    module.fit(&mut train, None, &mut metric, Some(sgd(0.1, 0.9)), &mut callbacks, &fit_options(4)).unwrap();
    let after = module.get_params().unwrap();
    assert_eq!(before.arg["fc1_weight"], after.arg["fc1_weight"]);
    assert!(before.arg["fc2_weight"] != after.arg["fc2_weight"] && before.aux != after.aux);
    let mut files: Vec<String> =
        std::fs::read_dir(dir.path()).unwrap().map(|f| f.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    let kept = ["net-0003.params", "net-0003.states", "net-0004.params", "net-0004.states", "net-symbol.json"];
    assert_eq!(files, kept);
    let mut loaded = Module::load(&prefix, 4, &(context(), options()), names).unwrap();
    loaded.bind(&descs, &labels, BindFor::inference()).unwrap();
    loaded.init_params(None, &InitOptions::default()).unwrap();
    assert_eq!(bits(&loaded), bits(&module));
    let (mut a, mut b) = (create("acc", &[]).unwrap(), create("acc", &[]).unwrap());
    let eval = || iter(4, 30, 7, 3);
    assert_eq!(module.score(&mut eval(), &mut a, None).unwrap(), loaded.score(&mut eval(), &mut b, None).unwrap());
}

#[test]
fn a_checkpoint_of_another_network_names_what_differs() {
    let mut module = module();
    let data = iter(1, 8, 8, 3);
    module.bind(data.provide_data(), data.provide_label(), BindFor::default()).unwrap();
    module.init_params(None, &InitOptions::default()).unwrap();
    let good = module.get_params().unwrap();
    let mut other = good.clone();
    other.arg.insert("fc2_weight".into(), Tensor::from_slice([3, 9], &[0.0f32; 27]).unwrap());
    let error = module.set_params(&other).unwrap_err().to_string();
    assert!(error.contains("`fc2_weight`") && error.contains("(3, 9)") && error.contains("(3, 8)"), "{error}");
    let mut short = good.clone();
    short.arg.shift_remove("fc1_bias");
    let error = module.set_params(&short).unwrap_err().to_string();
    assert!(error.contains("fc1_bias"), "{error}");
    let allowed = InitOptions { force: true, allow_missing: true, ..InitOptions::default() };
    module.init_params(Some(&short), &allowed).unwrap();
    assert!(module.init_params(Some(&Checkpoint::default()), &allowed).is_err(), "nothing of this network");
}

#[test]
fn what_does_not_fit_is_told() {
    let text = |error: mxrs_types::Error| error.to_string();
    let names = ModuleNames { data: vec!["dat".into()], ..ModuleNames::default() };
    let refused =
        Module::with_names(&(context(), options()), &small_net(8, 3), names).err().expect("it has no such input");
    assert!(text(refused).contains("dat"));
    let mut module = module();
    let mut data = iter(1, 16, 8, 3);
    assert!(text(module.forward(batch(&mut data), true).unwrap_err()).contains("first"));
    let (descs, labels) = (data.provide_data().to_vec(), data.provide_label().to_vec());
    module.bind(&descs, &labels, BindFor::default()).unwrap();
    assert!(text(module.update().unwrap_err()).contains("init_optimizer"));
    assert!(text(module.init_optimizer(sgd(f64::NAN, 0.0)).unwrap_err()).contains("`lr`"));
    // The first variable has a name from which no initializer follows; the second has an `__init__` attribute.
    let mut net = Net::default();
    let odd = |attrs: &[(&str, &str)]| {
        let attrs = mxrs_op::Attrs::from_iter(attrs.iter().map(|(k, v)| (k.to_string(), v.to_string())));
        Symbol::variable_with("odd", attrs)
    };
    for (attrs, fits) in [(&[][..], false), (&[("__init__", "[\"one\", {}]")][..], true)] {
        let x = Symbol::variable("data");
        let x = net.call("FullyConnected", "fc", &[("num_hidden", "3"), ("no_bias", "True")], &[&x, &odd(attrs)]);
        let graph = net.call("SoftmaxOutput", "softmax", &[], &[&x]).graph().unwrap();
        let mut module = Module::new(&(context(), options()), &graph).unwrap();
        module.bind(&descs, &labels, BindFor::default()).unwrap();
        match module.init_params(None, &InitOptions::default()) {
            Ok(()) => assert!(fits && module.get_params().unwrap().arg["odd"].to_f32_vec().unwrap() == [1.0; 18]),
            Err(error) => assert!(!fits && text(error).contains("`odd`")),
        }
    }
}

#[test]
fn labels_of_no_class_are_told_in_the_first_epoch() {
    let (data, _) = examples(1, 16, 3);
    let labels: Vec<f32> = (0..16).map(|i| if i == 13 { 3.0 } else { 1.0 }).collect();
    let labels = Tensor::from_slice([16], &labels).unwrap().into_dense().unwrap();
    let mut train = NdArrayIter::builder(8).data("data", data).label("softmax_label", labels).build().unwrap();
    let mut metric = create("acc", &[]).unwrap();
    let (optimizer, mut none) = (Some(sgd(0.1, 0.0)), Callbacks::default());
    let error = module().fit(&mut train, None, &mut metric, optimizer, &mut none, &fit_options(1)).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("row 5") && text.contains("batch 1") && text.contains("softmax") && text.contains("3 classes"),
        "{text}"
    );
}

#[test]
fn outputs_that_are_not_finite_are_told_once() {
    let mut module = module();
    let (mut metric, mut none) = (create("acc", &[]).unwrap(), Callbacks::default());
    let (result, lines) = log_of(|| {
        let optimizer = Some(sgd(1e30, 0.9));
        module.fit(&mut iter(1, 80, 8, 3), None, &mut metric, optimizer, &mut none, &fit_options(2))
    });
    result.unwrap();
    assert_eq!(lines.iter().filter(|line| line.contains("the output is")).count(), 1, "{lines:#?}");
    // A monitor ends the training at the first tensor that is not finite, and prints nothing if its interval is 0.
    let mut callbacks = Callbacks::default();
    let monitor = MonitorOptions { monitor_nan: true, ..MonitorOptions::new(0) };
    callbacks.monitor = Some(Monitor::new(monitor).unwrap());
    let mut module = self::module();
    let (result, lines) = log_of(|| {
        let optimizer = Some(sgd(1e30, 0.9));
        module.fit(&mut iter(1, 80, 8, 3), None, &mut metric, optimizer, &mut callbacks, &fit_options(2))
    });
    let error = result.unwrap_err().to_string();
    assert!(error.contains("tensor `") && error.contains("not finite"), "{error}");
    assert!(!lines.iter().any(|line| line.starts_with("Batch:")), "{lines:#?}");
}

#[test]
fn a_monitor_prints_what_matches_and_changes_nothing() {
    let run = |monitor: Option<MonitorOptions>| {
        let mut callbacks = Callbacks { monitor: monitor.map(|o| Monitor::new(o).unwrap()), ..Callbacks::default() };
        let (mut module, mut metric) = (module(), create("acc", &[]).unwrap());
        let (result, lines) = log_of(|| {
            let optimizer = Some(sgd(0.1, 0.9));
            module.fit(&mut iter(1, 40, 8, 3), None, &mut metric, optimizer, &mut callbacks, &fit_options(1))
        });
        result.unwrap();
        let lines: Vec<String> = lines.into_iter().filter(|line| line.starts_with("Batch:")).collect();
        (bits(&module), lines)
    };
    let (plain, none) = run(None);
    assert!(none.is_empty());
    let options = MonitorOptions {
        pattern: "fc1_(output|weight|bias)|relu1_output".into(),
        sort: true,
        ..MonitorOptions::new(2)
    };
    let (monitored, lines) = run(Some(options));
    assert_eq!(plain, monitored);
    let names: Vec<&str> = lines.iter().take(6).map(|line| line.split_whitespace().nth(2).unwrap()).collect();
    assert_eq!(names[..], ["fc1_bias", "fc1_bias_grad", "fc1_output", "fc1_weight", "fc1_weight_grad", "relu1_output"]);
    assert_eq!(lines.len(), 3 * 6, "batches 0, 2 and 4: {lines:#?}");
    assert!(lines[0].starts_with("Batch:       1 fc1_bias                       "), "{}", lines[0]);
    assert!(Monitor::new(MonitorOptions { pattern: "(".into(), ..MonitorOptions::new(1) }).is_err());
}

/// Learning rate multipliers come from the variables' attributes; a given `rescale_grad` is kept.
#[test]
fn optimizers_by_name_and_given() {
    let mut data = iter(1, 8, 8, 3);
    let weight = mxrs_op::Attrs::from([("__lr_mult__", "0")]);
    let mut net = Net::default();
    let attrs = [("num_hidden", "3"), ("no_bias", "True")];
    let x = net.call(
        "FullyConnected",
        "a",
        &attrs,
        &[&Symbol::variable("data"), &Symbol::variable_with("a_weight", weight)],
    );
    let x = net.call("FullyConnected", "b", &attrs, &[&x]);
    let graph = net.call("SoftmaxOutput", "softmax", &[], &[&x]).graph().unwrap();
    let mut changes = Vec::new();
    let one = batch(&mut data);
    for settings in [Some(&[][..]), Some(&[("rescale_grad", "1")][..]), None] {
        let mut module = Module::new(&(context(), options()), &graph).unwrap();
        module.bind(data.provide_data(), data.provide_label(), BindFor::default()).unwrap();
        module.init_params(None, &fit_options(1).init).unwrap();
        match settings {
            Some(settings) => module.init_optimizer_named("sgd", settings).unwrap(),
            None => module.init_optimizer(mxrs_optim::create("sgd", &[]).unwrap()).unwrap(),
        }
        let before = module.get_params().unwrap().arg;
        module.forward_backward(one.clone()).unwrap();
        module.update().unwrap();
        let after = module.get_params().unwrap().arg;
        assert_eq!(before["a_weight"], after["a_weight"]);
        let values = |tensor: &Tensor| tensor.to_f32_vec().unwrap();
        let pairs = values(&before["b_weight"]).into_iter().zip(values(&after["b_weight"]));
        changes.push(pairs.map(|(b, a)| f64::from((a - b).abs())).fold(0.0, f64::max));
    }
    assert!(changes[0] > 0.0 && (changes[1] / changes[0] - 8.0).abs() < 0.1, "{changes:?}");
    assert_eq!(changes[2], changes[0], "an optimizer that is given has them too");
    let mut module = module();
    module.bind(data.provide_data(), data.provide_label(), BindFor::default()).unwrap();
    let error = module.init_optimizer_named("sgdd", &[]).unwrap_err().to_string();
    assert!(error.contains("sgd"), "{error}");
    assert!(module.init_optimizer_named("sgd", &[("learning_rate", "nan")]).is_err());
}

#[test]
fn clipping_bounds_the_norm() {
    let mut module = module();
    let mut data = iter(1, 16, 8, 3);
    module.bind(data.provide_data(), data.provide_label(), BindFor::default()).unwrap();
    module.init_params(None, &fit_options(1).init).unwrap();
    module.init_optimizer(sgd(0.1, 0.0)).unwrap();
    module.forward_backward(batch(&mut data)).unwrap();
    let before = module.clip_gradients(1e9).unwrap();
    assert_eq!(module.clip_gradients(before / 2.0).unwrap(), before);
    let after = module.clip_gradients(1e9).unwrap();
    assert!((after / before - 0.5).abs() < 1e-5, "{before} {after}");
    assert!(module.clip_gradients(f64::NAN).is_err());
}
