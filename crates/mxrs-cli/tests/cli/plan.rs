//! Tests of `mxrs plan`.

use crate::mxrs::{Ran, digits, mxrs, mxrs_with};
use serde_json::{Value, json};

const LENET: [&str; 2] = ["--shape", "data=(2,1,28,28)"];

fn plan(flags: &[&str]) -> Ran {
    let symbol = digits("lenet-symbol.json");
    mxrs(["plan", &symbol].iter().chain(&LENET).chain(flags))
}

fn bytes(json: &Value, key: &str) -> u64 {
    json["bytes"][key].as_u64().unwrap_or_else(|| panic!("{key} in {json}"))
}

#[test]
fn figures_of_lenet_by_hand() {
    let json = plan(&["--format", "json"]).json();
    assert_eq!([&json["graph"], &json["mode"], &json["dtype"]], ["lenet", "inference", "float32"]);
    assert_eq!((&json["batch"], &json["recomputed_operators"]), (&2.into(), &0.into()));
    // LeNet has 520 + 25,050 + 400,500 + 5,010 parameters.
    assert_eq!(bytes(&json, "parameters"), 4 * 431_080);
    // Inputs are two images and two labels; outputs are ten probabilities per image.
    assert_eq!((bytes(&json, "inputs"), bytes(&json, "outputs")), (4 * (2 * 784 + 2), 4 * 20));
    assert_eq!(bytes(&json, "gradients"), 0);
    // The first convolution's output has 2 x 20 x 24 x 24 elements; pooling reduces it to a quarter. Both are alive at the
    // same time.
    let (bound, arena) = (bytes(&json, "lower_bound"), bytes(&json, "arena"));
    assert!(bound >= 4 * 2 * 20 * (24 * 24 + 12 * 12) && bound <= arena, "{json}");
    let sum: u64 = ["arena", "packed_constants", "parameters", "gradients", "inputs", "outputs"]
        .iter()
        .map(|key| bytes(&json, key))
        .sum();
    assert_eq!(bytes(&json, "total"), sum);
    let tried = json["tried"].as_array().expect("a list");
    let least = tried.iter().filter_map(|t| t["bytes"].as_u64()).min().expect("some");
    assert!(tried.len() == 6 && tried.iter().any(|t| t["algorithm"] == json["algorithm"]), "{json}");
    assert!(least <= arena && arena < least + 64 * 20, "{json}");
}

#[test]
fn training_has_gradients_of_all_parameters() {
    let json = plan(&["--format", "json", "--mode", "training"]).json();
    assert_eq!(bytes(&json, "gradients"), bytes(&json, "parameters"));
    assert!(json["steps"].as_u64() > json["forward_steps"].as_u64(), "{json}");
    let inference = plan(&["--format", "json"]).json();
    assert_eq!(inference["steps"], inference["forward_steps"]);
}

#[test]
fn training_keeps_activations_for_the_gradient() {
    let activations = |mode| {
        let symbol = digits("resnet8-symbol.json");
        let flags = ["--shape", "data=(2,1,28,28)", "--format", "json", "--mode", mode];
        bytes(&mxrs(["plan", &symbol].iter().chain(&flags)).json(), "activations")
    };
    assert!(activations("training") > 2 * activations("inference"));
}

#[test]
fn a_network_by_name_takes_a_batch() {
    let bound = |batch: &str| bytes(&mxrs(["plan", "mlp", "--batch", batch, "--format", "json"]).json(), "inputs");
    assert_eq!(bound("1"), 4 * 785);
    assert_eq!(bound("32"), 32 * 4 * 785);
    let title = mxrs(["plan", "mlp", "--batch", "32"]).ok();
    assert!(title.starts_with("mlp: inference, batch 32, float32, "), "{title}");
}

#[test]
fn all_algorithms_are_compared_with_the_lower_bound() {
    let json = plan(&["--compare", "--mode", "training", "--format", "json"]).json();
    let rows = json["compared"].as_array().expect("a list");
    let of = |name: &str| {
        let row = rows.iter().find(|row| row["algorithm"] == name).unwrap_or_else(|| panic!("{name} in {json}"));
        (row["bytes"].as_u64().expect("a number"), row["ratio"].as_f64().expect("a number"))
    };
    let names = ["pool, match range 1", "pool, match range 16", "pool, sweep to 16", "offset, in place off", "offset"];
    assert!(names.iter().all(|name| of(name).1 >= 1.0));
    assert!(of("no sharing").0 > of("in place only").0 && of("in place only").0 > of("offset").0);
    assert_eq!(of("no sharing").0, bytes(&json, "without_sharing"));
    let chosen: Vec<&Value> = rows.iter().filter(|row| row["chosen"] == true).collect();
    assert_eq!(chosen.len(), 1);
    // The algorithm without in-place outputs may need up to 2 % less: an output in place is fixed to its input's address, so
    // the planner cannot always pack it as tightly.
    let bytes_of = chosen[0]["bytes"].as_u64().expect("a number");
    let least = |name: &str| if name.ends_with("in place off") { bytes_of - bytes_of / 50 } else { bytes_of };
    assert!(names.iter().all(|name| of(name).0 >= least(name)), "{json}");
    let text = plan(&["--compare"]).ok();
    assert!(text.contains("x lower bound") && text.contains("chosen: "), "{text}");
    let markdown = plan(&["--compare", "--format", "markdown"]).ok();
    assert!(markdown.contains("| no sharing | ") && markdown.contains("| peak (lower bound) | "), "{markdown}");
}

#[test]
fn modes_of_recomputation_are_compared() {
    let args = ["plan", "resnet-50", "--shape", "data=(2,3,64,64)", "--mode", "training", "--format", "json"];
    let json = mxrs(args.iter().chain(&["--compare", "--set", "MXRS_REMAT=sqrt"])).json();
    let rows = json["recomputed"].as_array().expect("a list");
    let of = |name: &str| {
        let row = rows.iter().find(|row| row["mode"] == name).unwrap_or_else(|| panic!("{name} in {json}"));
        let number = |key: &str| row[key].as_u64().expect("a number");
        (number("bytes"), number("saved_bytes"), number("operators"), row["extra_time"].as_f64().expect("a number"))
    };
    let off = of("off");
    assert_eq!((off.1, off.2, off.3), (0, 0, 0.0));
    for mode in ["mirror", "sqrt", "chain"] {
        let (bytes, saved, operators, extra_time) = of(mode);
        assert!(saved > 0 && bytes + saved == off.0 && operators > 40, "{mode} in {json}");
        assert!(extra_time > 0.0 && extra_time <= 0.5, "{mode} in {json}");
    }
    let chosen: Vec<&Value> = rows.iter().filter(|row| row["chosen"] == true).collect();
    assert_eq!((chosen.len(), &chosen[0]["mode"]), (1, &"sqrt".into()));
    assert_eq!(bytes(&json, "arena"), of("sqrt").0);
    let text = plan(&["--compare", "--mode", "training"]).ok();
    assert!(text.contains("computed again") && text.contains("chosen: light"), "{text}");
    assert!(!plan(&["--compare"]).ok().contains("computed again"), "there is no backward pass");
    let refused = mxrs(args.iter().chain(&["--set", "MXRS_MEMORY_BUDGET=1MiB"])).failed(2);
    assert!(refused.contains("1048576") && refused.contains("at least"), "{refused}");
}

#[test]
fn variables_are_set_for_the_plan() {
    let json = plan(&["--set", "NNVM_EXEC_MATCH_RANGE=0", "--set", "MXNET_EXEC_ENABLE_INPLACE=0", "--format", "json"]);
    let json = json.json();
    assert_eq!((&json["algorithm"], &json["in_place"]), (&"pool, match range 0".into(), &0.into()));
    let err = plan(&["--set", "NNVM_EXEC_MATCH_RANGES=0"]).failed(2);
    assert!(err.contains("NNVM_EXEC_MATCH_RANGE"), "{err}");
    assert!(plan(&["--set", "NNVM_EXEC_MATCH_RANGE=x"]).failed(2).contains("NNVM_EXEC_MATCH_RANGE"));
    assert!(plan(&["--set", "NNVM_EXEC_MATCH_RANGE"]).failed(2).contains("NAME=VALUE"));
}

/// An attribute of an XML element as a number.
fn number(element: roxmltree::Node<'_, '_>, name: &str) -> f64 {
    element.attribute(name).and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("{name} of {element:?}"))
}

#[test]
fn the_picture_shows_every_tensor_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("plan.svg");
    let svg = path.display().to_string();
    plan(&["--mode", "training", "--svg", &svg]).ok();
    let text = std::fs::read_to_string(&path).unwrap();
    let document = roxmltree::Document::parse(&text).expect("well-formed XML");
    let size = (number(document.root_element(), "width"), number(document.root_element(), "height"));
    let with_title = |element: &roxmltree::Node<'_, '_>| {
        element.has_tag_name("rect") && element.children().any(|child| child.has_tag_name("title"))
    };
    let rectangles: Vec<_> = document.descendants().filter(with_title).collect();
    assert!(rectangles.len() > 10, "{}", rectangles.len());
    for (i, a) in rectangles.iter().enumerate() {
        let title = a.first_element_child().and_then(|title| title.text()).expect("a tooltip");
        assert!(title.contains(" bytes at ") && title.contains("steps "), "{title}");
        let edges = |r: &roxmltree::Node<'_, '_>| {
            let [x, y, w, h] = ["x", "y", "width", "height"].map(|name| number(*r, name));
            (x, x + w, y, y + h)
        };
        let a = edges(a);
        assert!(a.0 >= 0.0 && a.1 <= size.0 && a.2 >= 0.0 && a.3 <= size.1);
        for b in rectangles[i + 1..].iter().map(edges) {
            // Coordinates are rounded to hundredths, so a small overlap is allowed.
            let apart = a.1 <= b.0 + 0.03 || b.1 <= a.0 + 0.03 || a.3 <= b.2 + 0.03 || b.3 <= a.2 + 0.03;
            assert!(apart, "{a:?} {b:?}");
        }
    }
    for word in ["forward | backward", "address (bytes)", ">step<", "lower bound"] {
        assert!(text.contains(word), "{word}");
    }
    let failed = plan(&["--svg", &dir.path().join("none/plan.svg").display().to_string()]);
    assert!(failed.failed(1).contains("plan.svg"));
}

#[test]
fn mistakes_are_explained() {
    let symbol = digits("lenet-symbol.json");
    let err = mxrs(["plan", &symbol]).failed(2);
    assert!(err.contains("`data`") && err.contains("--shape data="), "{err}");
    let err = mxrs(["plan", "resnet-51"]).failed(2);
    assert!(err.contains("`resnet-51`") && err.contains("the nearest is `resnet-50`"), "{err}");
    assert!(mxrs(["plan", "none-symbol.json"]).failed(3).contains("none-symbol.json"));
    assert!(mxrs(["plan", &symbol, "--shape", "date=1,1,28,28"]).failed(2).contains("`date`"));
    assert!(mxrs(["plan", &symbol, "--shape", "data=1,1,3,3"]).failed(2).contains("conv1"));
    assert!(mxrs(["plan", "mlp", "--dtype", "int8"]).failed(2).contains("float32"));
    let dir = tempfile::tempdir().unwrap();
    let broken = dir.path().join("net-symbol.json");
    std::fs::write(&broken, "{").unwrap();
    assert!(mxrs(["plan", &broken.display().to_string()]).failed(3).contains("net-symbol.json"));
}

#[test]
fn passes_are_listed_in_the_order_in_which_binding_runs_them() {
    let names: Vec<&str> = ::mxrs::exec::pass_names().collect();
    for mode in ["inference", "training"] {
        let json = mxrs(["plan", "resnet-50", "--passes", "--format", "json", "--mode", mode]).json();
        let rows = json.as_array().expect("a list");
        let listed: Vec<&str> = rows.iter().filter_map(|row| row["pass"].as_str()).collect();
        assert_eq!(listed, names, "{mode}");
        let changed = |name: &str| rows.iter().any(|row| row["pass"] == name && row["result"] == "changed");
        assert_eq!((changed("gradient"), changed("partition")), (mode == "training", mode == "inference"));
        assert_eq!(changed("fuse-add"), mode == "training");
        let last = rows.last().expect("a row");
        assert!(last["kernels"].as_u64() > Some(50), "{json}");
        // The row of the last pass describes the finished program, so it has the same values as `mxrs plan` without
        // `--passes`.
        let plan = mxrs(["plan", "resnet-50", "--format", "json", "--mode", mode]).json();
        for (row, key) in [("arena_bytes", "arena"), ("packed_bytes", "packed_constants")] {
            assert_eq!(last[row].as_u64().unwrap_or(0), bytes(&plan, key), "{mode}: {row}");
        }
    }
    let text = mxrs(["plan", "resnet-50", "--passes"]).ok();
    let mut at = 0;
    for name in names {
        at += text[at..].find(name).unwrap_or_else(|| panic!("{name} is missing or out of order: {text}"));
    }
}

#[test]
fn the_graph_after_a_pass_is_a_symbol_file() {
    let heads = |pass: &str| {
        let json = plan(&["--mode", "training", "--dump", pass]).json();
        (json["heads"].as_array().expect("heads").len(), json["nodes"].as_array().expect("nodes").len())
    };
    let (before, after) = (heads("widen"), heads("gradient"));
    // Before the pass the graph has one output; after it, also the gradients of eight parameters.
    assert_eq!((before.0, after.0), (1, 9));
    assert!(after.1 > before.1);
    let error = plan(&["--dump", "fusing"]).failed(2);
    assert!(error.contains("fusing") && error.contains("eliminate-common"), "{error}");
}

#[test]
fn groups_are_planned_on_their_devices() {
    let text = std::fs::read_to_string(digits("lenet-symbol.json")).unwrap();
    let mut symbol: Value = serde_json::from_str(&text).unwrap();
    // Everything up to the second pooling is in one group, the dense layers are in another.
    let mut is_dense = false;
    for node in symbol["nodes"].as_array_mut().expect("nodes") {
        is_dense |= node["op"] == "Flatten";
        node["attrs"]["__ctx_group__"] = if is_dense { "dense" } else { "features" }.into();
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("grouped-symbol.json");
    std::fs::write(&path, symbol.to_string()).unwrap();
    let path = path.display().to_string();
    let run = |flags: &[&str]| mxrs(["plan", &path].iter().chain(&LENET).chain(flags));
    let groups = ["--group", "features=cpu(0)", "--group", "dense=cpu(1)"];
    let training = [&groups[..], &["--mode", "training"]].concat();
    let json = run(&[&training[..], &["--format", "json"]].concat()).json();
    let devices = json["devices"].as_array().expect("devices");
    assert_eq!([&devices[0]["device"], &devices[1]["device"]], ["cpu(0)", "cpu(1)"]);
    let sum = |key: &str| devices.iter().filter_map(|of| of[key].as_u64()).sum::<u64>();
    assert_eq!((sum("steps"), sum("arena")), (json["steps"].as_u64().unwrap(), bytes(&json, "arena")));
    // In the forward pass, the features of two images, with 50 channels of 4 x 4 pixels, are copied to the device of the
    // dense layers. In the backward pass, their gradient is copied back. Each copied tensor has memory on both devices.
    let copies = json["copies"].as_array().expect("copies");
    let ends: Vec<[&Value; 3]> = copies.iter().map(|copy| [&copy["from"], &copy["to"], &copy["half"]]).collect();
    assert_eq!(ends, [["cpu(0)", "cpu(1)", "forward"], ["cpu(1)", "cpu(0)", "backward"]]);
    // A tensor may cross in blocks of 16 channels, which round 50 up to 64.
    let [least, most] = [50, 64].map(|n_channels| 4 * 4 * 2 * n_channels * 4 * 4);
    assert!((least..=most).contains(&sum("copied")), "{devices:?}");
    for text in [run(&training).ok(), run(&[&training[..], &["--format", "markdown"]].concat()).ok()] {
        assert!(text.contains("cpu(1)") && text.contains("packed constants") && text.contains("backward"), "{text}");
    }
    // Without `--group`, the groups of the nodes are ignored.
    assert_eq!(run(&["--format", "json"]).json().get("devices"), None);
    assert!(run(&groups[..2]).failed(2).contains("`dense`"));
    assert!(run(&["--group", "dense"]).failed(2).contains("NAME=DEVICE"));
}

/// A command warns of every call that runs on the reference kernels, so without a warning there is none.
#[test]
fn without_onednn_no_call_of_a_network_runs_on_the_reference_kernels() {
    let networks =
        ["alexnet", "vgg-11", "resnet-18", "resnetv1-18", "inception-bn", "inception-v3", "mobilenet", "lenet", "mlp"];
    let networks = networks.into_iter().chain(["mobilenetv2", "squeezenet1.1"]);
    for (network, mode) in networks.flat_map(|network| ["inference", "training"].map(|mode| (network, mode))) {
        let flags = ["plan", network, "--mode", mode, "--batch", "4", "--format", "json"];
        let ran = mxrs_with(&[("MXNET_ONEDNN_ENABLED", "0")], flags);
        assert!(!ran.err.contains("runs on the reference kernels"), "{network} {mode}: {}", ran.err);
        ran.ok();
    }
}

/// Convolutions as in ResNeXt (32 groups, with both strides), with dilation, which no network of the command has, and three
/// kinds of pooling between them.
#[test]
fn without_onednn_grouped_and_dilated_convolutions_do_not_run_on_the_reference_kernels() {
    let layers = [
        ("Convolution", json!({"kernel": "(7, 7)", "stride": "(2, 2)", "pad": "(3, 3)", "num_filter": "128"})),
        ("Pooling", json!({"kernel": "(3, 3)", "stride": "(2, 2)", "pad": "(1, 1)", "pool_type": "max"})),
        ("Convolution", json!({"kernel": "(3, 3)", "pad": "(1, 1)", "num_filter": "128", "num_group": "32"})),
        ("Activation", json!({"act_type": "relu"})),
        ("Convolution", json!({"kernel": "(3, 3)", "pad": "(2, 2)", "dilate": "(2, 2)", "num_filter": "64"})),
        ("Pooling", json!({"kernel": "(3, 3)", "pad": "(1, 1)", "pool_type": "avg", "count_include_pad": "False"})),
        (
            "Convolution",
            json!({"kernel": "(3, 3)", "stride": "(2, 2)", "pad": "(1, 1)", "num_filter": "64", "num_group": "32"}),
        ),
        ("Pooling", json!({"kernel": "(1, 1)", "global_pool": "True", "pool_type": "avg"})),
        ("Flatten", json!({})),
        ("FullyConnected", json!({"num_hidden": "10"})),
        ("SoftmaxOutput", json!({})),
    ];
    let null = |name: String| json!({"op": "null", "name": name, "inputs": []});
    let (mut nodes, mut last) = (vec![null("data".into())], 0);
    for (i, (op, attrs)) in layers.into_iter().enumerate() {
        let more: &[&str] = match op {
            "Convolution" | "FullyConnected" => &["weight", "bias"],
            "SoftmaxOutput" => &["label"],
            _ => &[],
        };
        let mut inputs = vec![json!([last, 0, 0])];
        for name in more {
            inputs.push(json!([nodes.len(), 0, 0]));
            nodes.push(null(if op == "SoftmaxOutput" { "softmax_label".into() } else { format!("layer{i}_{name}") }));
        }
        last = nodes.len();
        let name = if op == "SoftmaxOutput" { "softmax".into() } else { format!("layer{i}") };
        nodes.push(json!({"op": op, "name": name, "attrs": attrs, "inputs": inputs}));
    }
    let args: Vec<usize> = (0..nodes.len()).filter(|i| nodes[*i]["op"] == "null").collect();
    let rows: Vec<usize> = (0..=nodes.len()).collect();
    let version = json!({"mxnet_version": ["int", 10900]});
    let heads = [[last, 0, 0]];
    let symbol = json!({"nodes": nodes, "arg_nodes": args, "node_row_ptr": rows, "heads": heads, "attrs": version});
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("resnext-symbol.json");
    std::fs::write(&path, symbol.to_string()).unwrap();
    let path = path.display().to_string();
    for mode in ["inference", "training"] {
        let flags = ["plan", &path, "--shape", "data=(2,3,64,64)", "--mode", mode, "--format", "json"];
        let ran = mxrs_with(&[("MXNET_ONEDNN_ENABLED", "0")], flags);
        assert!(!ran.err.contains("runs on the reference kernels"), "{mode}: {}", ran.err);
        assert_eq!(ran.json()["mode"], mode);
    }
}

/// On processors that multiply bfloat16 faster than float32, the calls stay in bfloat16; on others, they are widened.
#[test]
fn without_onednn_no_call_in_bfloat16_runs_on_the_reference_kernels() {
    for network in ["vgg-11", "resnet-18", "resnetv1-18", "resnet-50", "inception-bn", "inception-v3"] {
        let flags = ["plan", network, "--dtype", "bfloat16", "--batch", "4", "--format", "json"];
        let ran = mxrs_with(&[("MXNET_ONEDNN_ENABLED", "0")], flags);
        assert!(!ran.err.contains("runs on the reference kernels"), "{network}: {}", ran.err);
        ran.ok();
    }
}

/// The networks that `mxrs` knows by name and that differ in their calls. A residual network of more than 50 layers repeats
/// the units of one with 50 layers, so of these only those of the benchmark are in the list.
fn networks() -> Vec<String> {
    let is_in_benchmark = |name: &str| mxrs::models::BENCHMARK_NETWORKS.contains(&name);
    let n_layers = |name: &str| name.rsplit_once('-').and_then(|(_, layers)| layers.parse::<usize>().ok());
    let is_residual = |name: &str| name.starts_with("resnet") || name.starts_with("resnext");
    let repeats = |name: &str| is_residual(name) && n_layers(name).is_some_and(|layers| layers > 50);
    let all = mxrs::models::networks().into_iter().map(|(name, _)| name);
    all.filter(|name| !repeats(name) || is_in_benchmark(name)).collect()
}

#[test]
fn every_call_of_the_networks_has_a_fast_kernel() {
    let kernels = |network: &str, mode: &str, flags: &[&str]| {
        let run = mxrs(
            ["plan", network, "--batch", "2", "--mode", mode, "--format", "json", "--kernels"].iter().chain(flags),
        );
        run.json().as_array().expect("a list").clone()
    };
    let networks = networks();
    assert!(networks.len() > 15, "{networks:?}");
    for network in &networks {
        for mode in ["inference", "training"] {
            let slow = kernels(network, mode, &["reference"]);
            assert!(slow.is_empty(), "{network}, {mode}: {slow:#?}");
        }
    }
    let all = kernels("lenet", "training", &[]);
    assert!(all.len() > 20 && all.iter().all(|row| row["backend"] != "reference"), "{all:#?}");
    let slow = kernels("lenet", "training", &["reference", "--backend", "reference"]);
    assert!(slow.len() > 20 && slow.iter().all(|row| row["kernel"].is_string()), "{slow:#?}");
    let typo = mxrs(["plan", "lenet", "--kernels", "referense"]);
    assert!(typo.code == Some(2) && typo.err.contains("referense") && typo.err.contains("reference"), "{}", typo.err);
}
