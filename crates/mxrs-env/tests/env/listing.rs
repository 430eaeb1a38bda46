//! Tests the list that `mxrs env` prints, and the page `docs/env.md`, which is generated from the same rows.

use crate::documented::n_variables;
use crate::read;
use mxrs_env::{
    Area, COLUMNS, Capabilities, Capability, Group, MapSource, Origin, Settings, Snapshot, State, docs_markdown,
    registry,
};

mxrs_env::settings! {
    /// Variables of a crate outside mxrs.
    struct TurboSettings {
        /// Boost stages of the turbo backend.
        stages: u8 = 2, "MXNET_TURBO_STAGES", mxrs_env::Kind::int(1, 9);
    }
}

/// The capabilities of a build that has oneDNN and no GPU.
fn capabilities() -> Capabilities {
    let no_gpu = Err(", which this build has none of".to_owned());
    Capabilities::new([(Capability::OneDnnFeature, Ok(())), (Capability::Gpu, no_gpu)])
}

#[test]
fn every_documented_row_is_listed_once() {
    let listing = read(&[]).0.listing(None, &capabilities());
    let listed: Vec<_> = listing.rows.iter().map(|row| (row.id, row.name.clone())).collect();
    let known: Vec<_> = registry().iter().map(|entry| (entry.id(), entry.name())).collect();
    assert_eq!(listed, known);
    assert_eq!(listed.len(), n_variables());
    for row in &listing.rows {
        assert_eq!(row.origin, Origin::Default, "{}", row.name);
        assert!(row.value == row.default || row.id.starts_with('O'), "{}: {} / {}", row.name, row.value, row.default);
    }
}

#[test]
fn values_and_origins_are_the_effective_ones() {
    let source = MapSource::new([("MXNET_MKLDNN_ENABLED", "FALSE"), ("MXNET_CPU_WORKER_NTHREADS", "+4")]);
    let snapshot = Snapshot::take(&source).with_api("MXNET_ENGINE_TYPE", "NaiveEngine");
    let listing = Settings::from_snapshot(&snapshot).unwrap().0.listing(None, &capabilities());
    let view = |name: &str| {
        let row = listing.rows.iter().find(|row| row.name == name).unwrap();
        (row.value.as_str(), row.origin, row.default.as_str(), row.state == State::InEffect)
    };
    assert_eq!(view("MXNET_CPU_WORKER_NTHREADS"), ("4", Origin::Environment, "1", true));
    assert_eq!(view("MXNET_ONEDNN_ENABLED"), ("0", Origin::Alias, "1", true));
    assert_eq!(view("MXNET_MKLDNN_ENABLED"), ("0", Origin::Environment, "that of MXNET_ONEDNN_ENABLED", true));
    assert_eq!(view("MXNET_ENGINE_TYPE"), ("NaiveEngine", Origin::Api, "ThreadedEnginePerDevice", true));
    assert_eq!(view("MXNET_TEST_COUNT"), ("1", Origin::Default, "1", false));
    assert_eq!(view("MXNET_HOME").0, "$HOME/.mxnet, on Windows mxnet in %APPDATA%");
}

#[test]
fn ignored_and_grouped_older_names_say_so() {
    let value = |vars: &[(&str, &str)], name: &str| {
        let listing = read(vars).0.listing(None, &capabilities());
        listing.rows.into_iter().find(|row| row.name == name).unwrap().value
    };
    let both = [("MXNET_MKLDNN_ENABLED", "0"), ("MXNET_ONEDNN_ENABLED", "1")];
    assert_eq!(value(&both, "MXNET_MKLDNN_ENABLED"), "0 (not used)");
    let grouped = [("MXNET_DISABLE_MKLDNN_FC_OPT", "1"), ("MXNET_DISABLE_MKLDNN_FC_SUM", "0")];
    assert_eq!(
        value(&grouped, "MXNET_DISABLE_MKLDNN_*"),
        "MXNET_DISABLE_MKLDNN_FC_OPT=1, MXNET_DISABLE_MKLDNN_FC_SUM=0"
    );
}

#[test]
fn areas_partition_the_list() {
    let settings = read(&[]).0;
    let parts: usize = Area::ALL.iter().map(|&area| settings.listing(Some(area), &capabilities()).rows.len()).sum();
    assert_eq!(parts, n_variables());
    let threads = settings.listing(Some("threads".parse().unwrap()), &capabilities());
    let ids: Vec<_> = threads.rows.iter().map(|row| row.id).collect();
    assert_eq!(ids, ["D2", "D3", "D4", "D5", "D6", "D7", "D8", "D9", "B26", "O1"]);
    assert!(
        settings.listing(Some(Area::Memory), &capabilities()).rows.iter().any(|row| row.id == "O6"),
        "an alias is in its area"
    );
}

#[test]
fn json_is_an_array_of_objects_with_eight_keys() {
    let json = read(&[("MXNET_CPU_WORKER_NTHREADS", "4")]).0.listing(Some(Area::Threads), &capabilities()).to_json();
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    let rows = value.as_array().unwrap();
    assert_eq!(rows.len(), 10);
    let mut keys: Vec<_> = rows[2].as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    assert_eq!(keys, ["default", "in_effect", "meaning", "name", "origin", "state", "value", "why"]);
    assert_eq!(rows[2]["name"], "MXNET_CPU_WORKER_NTHREADS");
    assert_eq!(
        (&rows[2]["value"], &rows[2]["origin"], &rows[2]["default"]),
        (&"4".into(), &"environment".into(), &"1".into())
    );
    assert_eq!(
        (&rows[2]["in_effect"], &rows[2]["state"], &rows[2]["why"]),
        (&true.into(), &"in effect".into(), &().into())
    );
    let of_gpu = rows.iter().find(|row| row["name"] == "MXNET_GPU_COPY_NTHREADS").unwrap();
    assert_eq!((&of_gpu["in_effect"], &of_gpu["state"]), (&false.into(), &"needs".into()));
    assert_eq!(of_gpu["why"], "a GPU device, which this build has none of");
    let tuning: serde_json::Value =
        serde_json::from_str(&read(&[]).0.listing(Some(Area::Tuning), &capabilities()).to_json()).unwrap();
    assert!(tuning.as_array().unwrap().iter().any(|row| row["in_effect"] == false), "{tuning}");
}

/// The number of table cells in a line: parts between unescaped bars.
fn n_cells(line: &str) -> usize {
    line.replace("\\|", "").matches('|').count() - 1
}

#[test]
fn markdown_rows_have_as_many_cells_as_the_heading() {
    let listing =
        read(&[("KMP_AFFINITY", "scatter"), ("MXNET_CUDA_GRAPHS_DBG_FILE", "a|b\nc")]).0.listing(None, &capabilities());
    let markdown = listing.to_markdown();
    assert!(markdown.lines().all(|line| n_cells(line) == COLUMNS.len()), "{markdown}");
    assert_eq!(markdown.lines().count(), 2 + n_variables());
    assert!(markdown.contains(
        "| `MXNET_CUDA_GRAPHS_DBG_FILE` | a\\|b c | environment | empty | not yet: it needs the CUDA backend |"
    ));
    assert_eq!(listing.cells().len(), n_variables());
}

#[test]
fn the_page_has_every_row_under_its_area() {
    let page = docs_markdown(&capabilities());
    for entry in registry() {
        let start = format!("| {} | `{}` |", entry.id(), entry.name());
        assert_eq!(page.lines().filter(|line| line.starts_with(&start)).count(), 1, "{start}");
    }
    let rows =
        page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| row") && !line.starts_with("| ---"));
    assert_eq!(rows.clone().count(), n_variables());
    assert!(rows.clone().all(|line| n_cells(line) == 7));
    let titles: Vec<_> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let expected: Vec<_> = Area::ALL.iter().filter(|&&area| area != Area::Extension).map(|area| area.title()).collect();
    assert_eq!(titles, expected);
    assert!(
        page.contains("| process start | needs the feature onednn |")
            || page.contains("| first use | needs the feature onednn |")
    );
    assert!(
        page.contains("| D4 | `MXNET_CPU_WORKER_NTHREADS` | int: an integer >= 1 | 1 | process start | in effect |")
    );
}

#[test]
fn rows_of_another_crate_are_known_checked_and_listed() {
    let snapshot = Snapshot::take(&MapSource::new([("MXNET_TURBO_STAGES", "3")]));
    assert_eq!(Settings::from_snapshot(&snapshot).unwrap().1.len(), 1, "unknown without the declaration");
    let (settings, warnings) = Settings::from_snapshot_with(&snapshot, &[TurboSettings::ROWS]).unwrap();
    assert_eq!(warnings, []);
    let listing = settings.listing(Some(Area::Extension), &capabilities());
    assert_eq!(listing.rows.len(), 1);
    assert_eq!((listing.rows[0].value.as_str(), listing.rows[0].state.clone()), ("3", State::InEffect));
    assert_eq!(settings.listing(None, &capabilities()).rows.len(), n_variables() + 1);
    assert_eq!(TurboSettings::from_snapshot(&snapshot).unwrap().0.stages, 3);
    let bad = Snapshot::take(&MapSource::new([("MXNET_TURBO_STAGES", "10")]));
    assert!(Settings::from_snapshot_with(&bad, &[TurboSettings::ROWS]).is_err());
    assert!(TurboSettings::from_snapshot(&bad).is_err());
    assert_eq!(TurboSettings::default().stages, 2);
}

#[test]
fn one_variable_is_found_by_any_of_its_names() {
    let settings = read(&[("MXNET_MKLDNN_ENABLED", "0")]).0;
    for name in ["MXNET_ONEDNN_ENABLED", "MXNET_MKLDNN_ENABLED"] {
        let view = settings.view_of(name, &capabilities()).unwrap();
        assert_eq!(
            (view.name.as_str(), view.value.as_str(), view.origin),
            ("MXNET_ONEDNN_ENABLED", "0", Origin::Alias)
        );
        assert_eq!((view.accepted.as_str(), view.read), ("bool: 0, 1, true or false", "first use"));
    }
    assert_eq!(
        settings.view_of("MXNET_ONEDNN_ENABLE", &capabilities()).unwrap_err().to_string(),
        "variable: got `MXNET_ONEDNN_ENABLE`, expected the name of a variable; the nearest is MXNET_ONEDNN_ENABLED"
    );
}
