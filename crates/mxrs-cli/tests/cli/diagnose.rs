//! `mxrs diagnose`.

use crate::mxrs::mxrs_with;

#[test]
fn the_headings_are_those_of_mxnet() {
    let text = mxrs_with(&[("OMP_NUM_THREADS", "1")], ["diagnose"]).ok();
    for line in [
        "----------Python Info----------",
        "------------Pip Info-----------",
        "----------MXNet Info-----------",
        "----------System Info----------",
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
    assert_eq!(sections, ["environment", "hardware", "mxrs"]);
    assert_eq!(json["environment"].as_object().map(|vars| vars.len()), Some(1));
    assert_eq!(json["mxrs"]["Version"], env!("CARGO_PKG_VERSION"));
    let absent = json["mxrs"]["No backend"][0].as_str().expect("a reason");
    assert!(absent.starts_with("onednn: "), "{absent}");
    assert!(json["mxrs"]["Storage"].as_str().is_some_and(|text| text.starts_with("2 allocations, 1 from the cache")));
}

#[test]
fn a_pool_that_keeps_nothing_shows() {
    let json = mxrs_with(&[("MXNET_CPU_MEM_POOL_TYPE", "Unpooled")], ["diagnose", "--json", "--pip", "0"]).json();
    assert!(json["mxrs"]["Storage"].as_str().is_some_and(|text| text.starts_with("2 allocations, 0 from the cache")));
}
