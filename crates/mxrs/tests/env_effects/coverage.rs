//! Checks the states that `mxrs env` prints: for each variable that is in effect in some build, the code must read it, and a
//! test in this folder must test its effect. The code reads no other variable.

use crate::runtime;
use mxrs_env::{Capability, Registered, field_paths, registry};
use std::path::Path;

/// The test files that observe effects, without `variables.rs`, which names all variables.
const SOURCES: [&str; 24] = [
    include_str!("threads.rs"),
    include_str!("device.rs"),
    include_str!("distributed.rs"),
    include_str!("engine.rs"),
    include_str!("fusion.rs"),
    include_str!("gpu.rs"),
    include_str!("kvstore.rs"),
    include_str!("kvstore_gpus.rs"),
    include_str!("reports.rs"),
    include_str!("resources.rs"),
    include_str!("servers.rs"),
    include_str!("planner.rs"),
    include_str!("pools.rs"),
    include_str!("quantization.rs"),
    include_str!("onednn.rs"),
    include_str!("optimizers.rs"),
    include_str!("partitioning.rs"),
    include_str!("training.rs"),
    include_str!("tuning.rs"),
    include_str!("workers.rs"),
    // The tests of variables that only the command `mxrs` uses.
    include_str!("../../../mxrs-cli/tests/cli/env.rs"),
    include_str!("../../../mxrs-cli/tests/cli/launch.rs"),
    include_str!("../../../mxrs-cli/tests/cli/profile.rs"),
    include_str!("../../../mxrs-cli/tests/cli/train.rs"),
];

#[test]
fn every_variable_in_effect_is_tested() {
    let mut n_names = 0;
    let runtime = runtime(&[]);
    for entry in registry().iter().filter(|entry| runtime.capabilities().is_written(entry.needs())) {
        let names = match entry {
            Registered::Variable(_, row) => vec![row.name],
            Registered::OldNames(_, aliases) => aliases.iter().map(|alias| alias.name).collect(),
        };
        for name in names {
            n_names += 1;
            let quoted = format!("\"{name}\"");
            assert!(
                SOURCES.iter().any(|source| source.contains(&quoted)),
                "{} {name} has an effect in some build and no test here",
                entry.id()
            );
        }
    }
    assert!(n_names > 30, "{n_names} names are few: is the registry read?");
}

/// A source file without its unit tests.
fn without_tests(path: &Path) -> String {
    let text = std::fs::read_to_string(path).expect("a source file");
    text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default().to_owned()
}

/// Collects the source files of all crates except `mxrs-env`, without tests.
fn sources(folder: &Path, found: &mut Vec<String>) {
    for path in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        let is = |name: &str| path.file_name().is_some_and(|found| found == name);
        if path.is_dir() && !is("mxrs-env") && !is("tests") && !is("target") {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") && !is("tests.rs") {
            found.push(without_tests(&path));
        }
    }
}

/// Whether `text` contains `word` with no letter, digit or `_` after it.
fn has_word(text: &str, word: &str) -> bool {
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    text.match_indices(word).any(|(at, _)| ends(&text[at + word.len()..]))
}

/// Whether `text` reads the field `group.field`, directly or after `let name = &…group;`.
fn is_read(text: &str, group: &str, field: &str) -> bool {
    let names = text.lines().filter_map(|line| {
        let (name, value) = line.trim().strip_prefix("let ")?.split_once(" = &")?;
        value.ends_with(&format!(".{group};")).then_some(name)
    });
    names.chain([group]).any(|name| has_word(text, &format!("{name}.{field}")))
}

/// The methods of settings in `mxrs-env`. For each: the code that calls it, such as `pools.method(`, and its body, in
/// which `self` is replaced by the name of the group of settings.
fn methods() -> Vec<(String, String)> {
    let groups = ["threads.", "bulk.", "pools.", "onednn.", "tuning.", ""];
    let files = ["areas/threads", "areas/bulking", "areas/pools", "areas/onednn", "areas/tuning", "settings"];
    let mut found = Vec::new();
    for (group, file) in groups.into_iter().zip(files) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mxrs-env/src").join(file).with_extension("rs");
        let text = without_tests(&path).replace("self.", group);
        for method in text.split("    pub fn ").chain(text.split("    pub(crate) fn ")).skip(1) {
            let name = method.split('(').next().unwrap_or_default();
            found.push((format!("{group}{name}("), method.split("\n    }\n").next().unwrap_or_default().to_owned()));
        }
    }
    found
}

#[test]
fn a_variable_has_an_effect_somewhere_if_and_only_if_its_field_is_read() {
    let mut texts = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut texts);
    // A method that is called counts as a reader of the fields that its body reads. Methods may call each other.
    let mut methods = methods();
    loop {
        let is_called = |(call, _): &(String, String)| texts.iter().any(|text| text.contains(call.as_str()));
        let (called, rest): (Vec<_>, Vec<_>) = methods.into_iter().partition(is_called);
        methods = rest;
        if called.is_empty() {
            break;
        }
        texts.extend(called.into_iter().map(|(_, body)| body));
    }
    let runtime = runtime(&[]);
    let mut wrong = Vec::new();
    for (path, row) in field_paths() {
        let (group, field) = path.split_once('.').expect("a group and a field");
        let is_read = texts.iter().any(|text| is_read(text, group, field));
        if is_read != runtime.capabilities().is_written(row.needs) {
            wrong.push(format!("{}: `{path}` is read: {is_read}; its row needs: {:?}", row.name, row.needs));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(!runtime.capabilities().is_written(Capability::Reader), "it stands for fields without a reader");
}
