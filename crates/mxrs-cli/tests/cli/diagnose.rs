//! Tests of `mxrs diagnose`.

use crate::mxrs::mxrs_with;

#[test]
fn the_headings_are_those_of_mxnet() {
    let text = mxrs_with(&[("OMP_NUM_THREADS", "1")], ["diagnose"]).ok();
    for line in [
        "----------Python Info----------",
        "------------Pip Info-----------",
        "----------MXNet Info-----------",
        "----------System Info----------",
        "---------Storage Info----------",
        "----------Hardware Info----------",
        "----------Environment----------",
        "OMP_NUM_THREADS=\"1\"",
    ] {
        assert!(text.lines().any(|other| other == line), "{line}: {text}");
    }
    assert!(text.contains("\nPlatform     : ") && text.contains("team of 1 (OMP_NUM_THREADS: environment)"), "{text}");
    assert!(!text.contains("Network Test"), "nothing is looked up unless asked for");
}

#[test]
fn json_has_the_sections_that_were_asked_for() {
    let vars = [("MXNET_ONEDNN_ENABLED", "0"), ("UNRELATED", "1")];
    let json = mxrs_with(&vars, ["diagnose", "--json", "--os", "0", "--python=0", "--pip", "0"]).json();
    let sections: Vec<&str> = json.as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(sections, ["environment", "hardware", "mxrs", "storage"]);
    assert_eq!(json["environment"].as_object().map(|vars| vars.len()), Some(1));
    assert_eq!(json["mxrs"]["Version"], env!("CARGO_PKG_VERSION"));
    let absent = json["mxrs"]["No backend"][0].as_str().expect("a reason");
    assert!(absent.starts_with("onednn: "), "{absent}");
    assert!(json["mxrs"]["Storage"].as_str().is_some_and(|text| text.starts_with("2 allocations, 1 from the cache")));
}

#[test]
fn the_instructions_of_kernels_are_named() {
    let vars = [("MXRS_ISA", "portable")];
    let json = mxrs_with(&vars, ["diagnose", "--json", "--python=0", "--pip", "0"]).json();
    assert_eq!(json["mxrs"]["Instructions"], "portable (MXRS_ISA: environment)");
}

/// `diagnose` itself allocates and frees a block of 1 MiB, and then does the same again.
#[test]
fn the_pools_say_what_they_hold() {
    let statistics = |kind: &str| {
        let vars = [("MXNET_CPU_MEM_POOL_TYPE", kind)];
        let json = mxrs_with(&vars, ["diagnose", "--json", "--python=0", "--pip", "0"]).json();
        let pools = json["storage"].as_object().expect("an object").clone();
        assert_eq!(pools.keys().collect::<Vec<_>>(), ["cpu(0)"], "no other was used");
        let of = |name: &str| pools["cpu(0)"][name].as_u64().expect("a number");
        assert_eq!(of("reserved"), of("live") + of("cached"));
        ["live", "cached", "peak", "allocations", "hits", "system requests", "flushes"].map(of)
    };
    assert_eq!(statistics("Naive"), [0, 1 << 20, 1 << 20, 2, 1, 1, 0]);
    assert_eq!(statistics("Unpooled"), [0, 0, 1 << 20, 2, 0, 2, 0]);
    let text = mxrs_with(&[], ["diagnose", "--python=0", "--pip", "0"]).ok();
    assert!(text.contains("\ncpu(0)       : ") && text.contains("1048576 cached"), "{text}");
}

#[test]
fn a_pool_that_keeps_nothing_shows() {
    let json = mxrs_with(&[("MXNET_CPU_MEM_POOL_TYPE", "Unpooled")], ["diagnose", "--json", "--pip", "0"]).json();
    assert!(json["mxrs"]["Storage"].as_str().is_some_and(|text| text.starts_with("2 allocations, 0 from the cache")));
}
