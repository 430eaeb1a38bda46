//! Tests of symbol files with files of MXNet 1.9.1 and with broken files.

mod support;

use mxrs_format::{Limits, Options};
use mxrs_symbol::{Attrs, Entry, GraphAttr, OperatorKnowledge, SymbolFile, check_operators, upgrade};
use mxrs_types::FormatErrorKind as K;
use support::{data, golden, kind};

fn read(text: &str) -> mxrs_types::Result<SymbolFile> {
    SymbolFile::from_bytes(text.as_bytes(), &Options::strict()).map(|l| l.value)
}

#[test]
fn files_of_mxnet_come_back_byte_for_byte() {
    let names = ["heads", "ten", "eleven", "single", "foreach", "cond", "deps", "npshape", "old-upgraded"];
    let paths = names.iter().map(|n| golden(&format!("{n}-symbol.json")));
    for path in paths.chain([data("lenet-symbol.json"), data("resnet8-symbol.json")]) {
        let text = std::fs::read_to_string(&path).unwrap();
        let loaded = SymbolFile::open(&path, &Options::strict()).unwrap();
        assert!(loaded.warnings.is_empty(), "{path:?}: {:?}", loaded.warnings);
        assert_eq!(loaded.value.to_json(), text, "{path:?}");
        // The files have no references to later nodes, so lenient reading gives the same result.
        let lenient = SymbolFile::from_bytes(text.as_bytes(), &Options::lenient()).unwrap();
        assert_eq!(lenient, loaded);
    }
}

#[test]
fn contents() {
    let file = SymbolFile::open(golden("heads-symbol.json"), &Options::strict()).unwrap().value;
    let odd = &file.nodes[0];
    assert_eq!(odd.name, "we\"ird\\na\tme");
    assert_eq!(odd.attrs.get("note"), Some("line1\nline2\r\t\"q\" \\ é 中 / \u{1}"));
    assert!(odd.is_variable() && !file.nodes[5].is_variable());
    assert_eq!(file.nodes[5].inputs[3], Entry { node: 3, index: 0, version: 1 });
    assert_eq!(file.heads.len(), 6);
    assert_eq!(file.attrs["mxnet_version"], GraphAttr::Int(10901));
    assert_eq!((file.version(), file.is_np_shape()), (10901, false));
    assert!(SymbolFile::open(golden("npshape-symbol.json"), &Options::strict()).unwrap().value.is_np_shape());
    let foreach = SymbolFile::open(golden("foreach-symbol.json"), &Options::strict()).unwrap().value;
    assert_eq!(foreach.nodes[3].subgraphs[0].nodes[2].name, "_mul0");
    let deps = SymbolFile::open(golden("deps-symbol.json"), &Options::strict()).unwrap().value;
    assert_eq!(deps.nodes[4].control_deps, [2, 1]);
}

/// The facts about operators that the tests need, from MXNet's documentation.
struct Known;

impl OperatorKnowledge for Known {
    fn input_names(&self, op: &str, _: &Attrs) -> Option<Vec<String>> {
        let names: &[&str] = match op {
            "FullyConnected" => &["data", "weight", "bias"],
            "BatchNorm" => &["data", "gamma", "beta", "moving_mean", "moving_var"],
            "argmax" | "relu" => &["data"],
            _ => return None,
        };
        Some(names.iter().map(|n| n.to_string()).collect())
    }

    fn n_outputs(&self, op: &str, _: &Attrs) -> Option<usize> {
        Some(if op == "BatchNorm" { 3 } else { 1 })
    }

    fn default_init(&self, op: &str, input: &str) -> Option<String> {
        match (op, input) {
            ("BatchNorm", "moving_mean") => Some("[\"zero\", {}]".into()),
            ("BatchNorm", "moving_var") => Some("[\"one\", {}]".into()),
            _ => None,
        }
    }

    fn nearest(&self, op: &str) -> Vec<String> {
        if op == "relux" { vec!["relu".into()] } else { vec![] }
    }
}

#[test]
fn a_file_of_0_8_becomes_what_mxnet_makes_of_it() {
    let mut file = SymbolFile::open(golden("old-symbol.json"), &Options::strict()).unwrap().value;
    assert_eq!(file.version(), 800);
    assert_eq!(file.nodes[3].attrs.get("num_hidden"), Some("11"), "`attr` wins over `param`");
    assert!(upgrade(&mut file, &Known).unwrap().is_empty());
    let mut expected = SymbolFile::open(golden("old-upgraded-symbol.json"), &Options::strict()).unwrap().value;
    // The number of outputs per node is computed from the graph, so the upgraded file has no `node_row_ptr`.
    expected.node_row_ptr = None;
    assert_eq!(file, expected);
    check_operators(&file, &Known).unwrap();
    // A second upgrade changes nothing.
    let again = file.clone();
    upgrade(&mut file, &Known).unwrap();
    assert_eq!(file, again);
}

/// MXNet's `legacy_json_util.cc` applies each step to files before its version: missing inputs before 0.9.0, initial values
/// before 0.9.4, and the axis of argmax before 0.9.5. A file without a version counts as 0.8.0.
#[test]
fn each_step_applies_to_the_files_before_its_version() {
    let upgraded = |version: Option<u32>| {
        let attrs = version.map_or(String::new(), |v| format!(r#", "attrs": {{"mxnet_version": ["int", {v}]}}"#));
        // Files of versions before 0.9.0 do not contain auxiliary states.
        let aux = if version.is_some_and(|v| v >= 900) { ", [3, 0], [4, 0]" } else { "" };
        let text = format!(
            r#"{{"nodes": [
                {{"op": "null", "name": "x", "inputs": []}}, {{"op": "null", "name": "b_gamma", "inputs": []}},
                {{"op": "null", "name": "b_beta", "inputs": []}}, {{"op": "null", "name": "mean", "inputs": []}},
                {{"op": "null", "name": "var", "inputs": []}},
                {{"op": "BatchNorm", "name": "b", "inputs": [[0, 0], [1, 0], [2, 0]{aux}]}},
                {{"op": "argmax", "name": "a", "attrs": {{"axis": "-1"}}, "inputs": [[5, 0]]}}],
                "arg_nodes": [0, 1, 2, 3, 4], "heads": [[6, 0]]{attrs}}}"#
        );
        let mut file = read(&text).unwrap();
        upgrade(&mut file, &Known).unwrap();
        assert_eq!(file.version(), 10901);
        let norm = file.nodes.iter().find(|node| &*node.op == "BatchNorm").unwrap();
        let init = |input: &mxrs_symbol::Entry| file.nodes[input.node as usize].attrs.get("__init__");
        assert_eq!(norm.inputs.len(), 5, "{version:?}");
        let has_inits = norm.inputs.iter().map(init).collect::<Vec<_>>();
        let variables: Vec<&str> = norm.inputs[3..].iter().map(|e| file.nodes[e.node as usize].name.as_str()).collect();
        let has_axis = file.nodes.iter().any(|node| node.attrs.get("axis").is_some());
        assert!(has_inits[..3].iter().all(Option::is_none));
        let inits = [has_inits[3], has_inits[4]].map(|init| init.map(str::to_owned));
        (variables.join(" "), inits, has_axis)
    };
    let (zero, one) = (Some(r#"["zero", {}]"#.to_owned()), Some(r#"["one", {}]"#.to_owned()));
    for version in [None, Some(800), Some(899)] {
        let expected = ("b_moving_mean b_moving_var".to_owned(), [zero.clone(), one.clone()], false);
        assert_eq!(upgraded(version), expected, "{version:?}");
    }
    for version in 900..=903 {
        let expected = ("mean var".to_owned(), [zero.clone(), one.clone()], false);
        assert_eq!(upgraded(Some(version)), expected, "{version}");
    }
    assert_eq!(upgraded(Some(904)), ("mean var".to_owned(), [None, None], false));
    for version in [905, 1000, 10901] {
        assert_eq!(upgraded(Some(version)), ("mean var".to_owned(), [None, None], true), "{version}");
    }
}

#[test]
fn hidden_keys_without_a_home_stay() {
    let mut file = read(
        r#"{"nodes": [{"op": "null", "name": "x", "inputs": []},
            {"op": "other", "name": "o", "attr": {"weight_lr_mult": "2", "lr_mult_x": "3", "wd_mult": "4"},
             "inputs": [[0, 0]]}], "arg_nodes": [0], "heads": [[1, 0]]}"#,
    )
    .unwrap();
    upgrade(&mut file, &Known).unwrap();
    let attrs: Vec<_> = file.nodes[1].attrs.iter().collect();
    assert_eq!(attrs, [("__wd_mult__", "4"), ("lr_mult_x", "3"), ("weight_lr_mult", "2")]);
    assert_eq!(file.nodes[1].attrs.operator_keys().count(), 0);
}

#[test]
fn a_newer_file_is_read_with_a_warning() {
    let mut file =
        read(r#"{"nodes": [], "arg_nodes": [], "heads": [], "attrs": {"mxnet_version": ["int", 20000]}}"#).unwrap();
    assert_eq!(upgrade(&mut file, &Known).unwrap(), ["written by a newer MXNet (20000), read as 10901"]);
}

#[test]
fn text_that_is_not_the_expected_json() {
    let x = r#"{"op": "null", "name": "x", "inputs": []}"#;
    let graph = |nodes: &str| format!("{{\"nodes\": [{nodes}], \"arg_nodes\": [], \"heads\": []}}");
    let cases = [
        (String::new(), K::Syntax, "line 1, column 1: expected an object, found the end of the text"),
        ("not json".into(), K::Syntax, "line 1, column 1: expected an object"),
        ("{\"nodes\": [],\n \"heads\": []}".into(), K::Syntax, "graph without all of"),
        (graph("{\"op\": \"null\",\n \"name\": \"x\"}"), K::Syntax, "node without all of `op`, `name` and `inputs`"),
        (graph("\n\n  7"), K::Syntax, "line 3, column 3: expected an object, found a number"),
        (graph(&x.replace("\"x\"", "5")), K::Syntax, "expected a string, found a number"),
        (graph(&x.replace("[]", "[[0]]")), K::Syntax, "entry of 1 numbers"),
        (graph(&x.replace("[]", "[[0, 0, 0, 0]]")), K::Syntax, "entry of 4 numbers"),
        (graph(&x.replace("[]", "[[0, -1]]")), K::InvalidValue, "number `-1` out of range"),
        (graph(&x.replace("\"inputs\"", "\"attrs\": {\"a\": 1}, \"inputs\"")), K::Syntax, "found a number"),
        (graph(&x.replace("\"inputs\"", "\"attrs\": {\"a\": \"\", \"a\": \"\"}, \"inputs\"")), K::Duplicate, "`a`"),
        (graph(&x.replace("\"inputs\"", "\"name\": \"y\", \"inputs\"")), K::Duplicate, "key `name`"),
        (graph(x).replace("heads", "nodes"), K::Duplicate, "key `nodes`"),
        (graph(x) + "x", K::TrailingData { bytes: 1 }, "line 1"),
    ];
    for (text, expected, message) in cases {
        let e = read(&text).unwrap_err();
        assert_eq!(*kind(&e), expected, "{text}: {e}");
        assert!(e.to_string().contains("line ") && e.to_string().contains(message), "{text}: {e}");
    }
    let e = SymbolFile::from_bytes(b"{\"nodes\": \"\xff\"}", &Options::strict()).unwrap_err();
    assert_eq!(*kind(&e), K::InvalidValue);
    let loaded = SymbolFile::from_bytes((graph(x) + " x").as_bytes(), &Options::lenient()).unwrap();
    assert_eq!(loaded.warnings, ["1 bytes after the graph, ignored", "arg_nodes leaves out 1 variables"]);
}

#[test]
fn unknown_keys_and_attributes() {
    let text = r#"{"nodes": [{"op": "null", "name": "\u00e9\ud83d\ude00", "inputs": [], "new": {"a": [1, true, null]}}],
        "arg_nodes": [0], "heads": [], "other": -1.5e3, "attrs": {"s": ["str", "t"], "l": ["list_int", [1, 2]],
        "n": ["list_str", ["a"]]}}"#;
    let loaded = SymbolFile::from_bytes(text.as_bytes(), &Options::strict()).unwrap();
    assert_eq!(loaded.warnings, ["unknown key `new` of a node, ignored", "unknown key `other` of a graph, ignored"]);
    assert_eq!(loaded.value.nodes[0].name, "é😀");
    assert_eq!(loaded.value.attrs["l"], GraphAttr::ListInt(vec![1, 2]));
    assert_eq!(read(&loaded.value.to_json()).unwrap(), loaded.value);
    let odd = text.replace("\"str\"", "\"blob\"");
    assert_eq!(*kind(&read(&odd).unwrap_err()), K::InvalidValue);
    assert_eq!(SymbolFile::from_bytes(odd.as_bytes(), &Options::lenient()).unwrap().warnings.len(), 3);
}

/// The text of a graph whose nodes `n0`, `n1`, ... have these operators and inputs.
fn graph(nodes: &[(&str, &str)], rest: &str) -> String {
    let nodes: Vec<String> = nodes
        .iter()
        .enumerate()
        .map(|(i, (op, inputs))| format!(r#"{{"op": "{op}", "name": "n{i}", "inputs": {inputs}}}"#))
        .collect();
    format!(r#"{{"nodes": [{}], {rest}}}"#, nodes.join(", "))
}

#[test]
fn broken_graphs() {
    let ends = r#""arg_nodes": [0], "heads": [[1, 0]]"#;
    let two = |inputs: &str, ends: &str| graph(&[("null", "[]"), ("relu", inputs)], ends);
    let inconsistent = [
        two("[[9, 0]]", ends),
        two("[[4294967295, 0]]", ends),
        two("[[0, 0]]", r#""arg_nodes": [0], "heads": [[2, 0]]"#),
        two("[[0, 0]]", r#""arg_nodes": [7], "heads": []"#),
        two("[[0, 0]]", r#""arg_nodes": [1], "heads": []"#),
        two("[[0, 0]]", r#""arg_nodes": [0, 0], "heads": []"#),
        two("[[0, 1]]", ends),
        two("[[1, 0]]", ends),
        two(r#"[], "control_deps": [5]"#, ends),
        graph(&[("null", "[]"), ("null", "[[0, 0]]")], ends),
        graph(&[("null", "[]"), ("relu", "[[2, 0]]"), ("relu", "[[0, 0]]")], ends),
    ];
    for text in inconsistent {
        let e = read(&text).unwrap_err();
        assert_eq!(*kind(&e), K::Inconsistent, "{text}: {e}");
    }
    let twice = two("[]", r#""arg_nodes": [], "heads": []"#).replace("relu", "null").replace("n1", "n0");
    assert_eq!(*kind(&read(&twice).unwrap_err()), K::Duplicate);
    let odd_sums = two("[[0, 0]]", &format!(r#"{ends}, "node_row_ptr": [0, 2]"#));
    let loaded = SymbolFile::from_bytes(odd_sums.as_bytes(), &Options::strict()).unwrap();
    assert_eq!(loaded.warnings, ["node_row_ptr does not fit the nodes, ignored"]);
    assert_eq!(loaded.value.node_row_ptr, None);
}

#[test]
fn lenient_reading_sorts_nodes_and_refuses_cycles() {
    let ends = r#""arg_nodes": [3], "heads": [[0, 0]]"#;
    let forward = graph(&[("relu", "[[1, 0]]"), ("relu", "[[3, 0]]"), ("relu", "[[0, 0]]"), ("null", "[]")], ends);
    assert_eq!(*kind(&read(&forward).unwrap_err()), K::Inconsistent);
    let loaded = SymbolFile::from_bytes(forward.as_bytes(), &Options::lenient()).unwrap();
    assert_eq!(loaded.warnings, ["nodes refer to later nodes, sorted"]);
    let names: Vec<&str> = loaded.value.nodes.iter().map(|n| n.name.as_str()).collect();
    assert_eq!(names, ["n3", "n1", "n0", "n2"]);
    assert_eq!((loaded.value.arg_nodes[0], loaded.value.heads[0].node), (0, 2));
    assert_eq!(read(&loaded.value.to_json()).unwrap(), loaded.value);

    let cycle = graph(&[("relu", "[[1, 0]]"), ("relu", "[[0, 0]]")], r#""arg_nodes": [], "heads": []"#);
    let e = SymbolFile::from_bytes(cycle.as_bytes(), &Options::lenient()).unwrap_err();
    assert!(*kind(&e) == K::Inconsistent && e.to_string().contains("cycle"), "{e}");

    // Sorting a long chain does not overflow the stack.
    let n = 50_000;
    let chain: Vec<String> = (0..n).map(|i| format!("[[{}, 0]]", i + 1)).collect();
    let mut nodes: Vec<(&str, &str)> = chain.iter().map(|inputs| ("relu", inputs.as_str())).collect();
    nodes.push(("null", "[]"));
    let text = graph(&nodes, &format!(r#""arg_nodes": [{n}], "heads": [[0, 0]]"#));
    let loaded = SymbolFile::from_bytes(text.as_bytes(), &Options::lenient()).unwrap();
    assert_eq!(loaded.value.nodes[n].name, "n0");
}

#[test]
fn nesting_and_counts_are_limited() {
    let mut text = String::new();
    for _ in 0..100_000 {
        text.push_str(r#"{"nodes": [{"subgraphs": ["#);
    }
    assert_eq!(*kind(&read(&text).unwrap_err()), K::LimitExceeded { value: 65, max: 64 });
    let array = format!("{{\"x\": {}", "[".repeat(100_000));
    assert_eq!(*kind(&read(&array).unwrap_err()), K::LimitExceeded { value: 65, max: 64 });
    let limits = Limits { max_json_depth: u64::MAX, ..Limits::default() };
    let deepest = Options { limits, ..Options::lenient() };
    let e = SymbolFile::from_bytes(text.as_bytes(), &deepest).unwrap_err();
    assert_eq!(*kind(&e), K::LimitExceeded { value: 513, max: 512 });

    let file = std::fs::read(data("lenet-symbol.json")).unwrap();
    let with = |limits: Limits| {
        let options = Options { limits, ..Options::default() };
        kind(&SymbolFile::from_bytes(&file, &options).unwrap_err()).clone()
    };
    assert_eq!(with(Limits { max_nodes: 5, ..Limits::default() }), K::LimitExceeded { value: 6, max: 5 });
    let max = file.len() as u64 - 1;
    assert_eq!(with(Limits { max_json: max, ..Limits::default() }), K::LimitExceeded { value: max + 1, max });
}

#[test]
fn operators_are_checked_against_a_registry() {
    let ends = r#""arg_nodes": [0], "heads": [[1, 0]]"#;
    let check = |op: &str, inputs: &str, ends: &str| {
        let e = check_operators(&read(&graph(&[("null", "[]"), (op, inputs)], ends)).unwrap(), &Known).unwrap_err();
        (kind(&e).clone(), e.to_string())
    };
    let (unknown, text) = check("relux", "[[0, 0]]", ends);
    assert!(unknown == K::UnknownOperator && text.contains("nearest: relu"), "{text}");
    let (count, text) = check("relu", "[[0, 0], [0, 0]]", ends);
    assert!(count == K::Inconsistent && text.contains("has 2 inputs, expected 1 (data)"), "{text}");
    let (output, text) = check("relu", "[[0, 0]]", &ends.replace("[1, 0]", "[1, 1]"));
    assert!(output == K::Inconsistent && text.contains("output 1 of relu `n1` does not exist"), "{text}");
}

#[test]
fn saving_is_what_was_read() {
    let dir = tempfile::tempdir().unwrap();
    let file = SymbolFile::open(data("resnet8-symbol.json"), &Options::strict()).unwrap().value;
    let copy = mxrs_format::params::symbol_path(dir.path().join("copy"));
    file.save(&copy).unwrap();
    assert_eq!(std::fs::read(copy).unwrap(), std::fs::read(data("resnet8-symbol.json")).unwrap());
}
