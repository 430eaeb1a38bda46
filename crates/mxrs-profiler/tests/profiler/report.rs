//! The report.

use crate::{Turn, operator};
use mxrs_profiler::{Config, MemoryPlan, Peaks, Rectangle};
use mxrs_storage::{Storage, StorageConfig, Tag};
use mxrs_types::Device;
use serde_json::Value;
use std::path::Path;

fn data(page: &Path) -> Value {
    let page = std::fs::read_to_string(page).unwrap();
    let start = page.find("<script id=\"data\" type=\"application/json\">").unwrap();
    let data = &page[start..];
    let data = &data[data.find('>').unwrap() + 1..data.find("</script>").unwrap()];
    serde_json::from_str(data).unwrap()
}

#[test]
fn the_report_has_the_figures() {
    let turn = Turn::take();
    let path = turn.path("r.html");
    let peaks = Some(Peaks { flops_per_s: 1e11, bytes_per_s: 1e10 });
    let profiler = turn.running(Config { report: Some(path.clone()), peaks, ..turn.config() });
    let storage = Storage::new(StorageConfig::default()).unwrap();
    let weight = storage.allocate(Device::cpu(0), 3_000_000, Tag::new("weight").scoped("net:")).unwrap();
    drop(storage.allocate(Device::cpu(0), 5_000_000, Tag::new("activation</script>")).unwrap());
    drop(weight);
    for _ in 0..10 {
        operator("conv", || operator("inner", || std::thread::sleep(std::time::Duration::from_micros(100))));
    }
    let rectangle =
        |name: &str, offset| Rectangle { name: name.into(), offset, bytes: 64, first_step: 1, last_step: 3 };
    let rectangles = vec![rectangle("a", 0), rectangle("b", 64)];
    profiler.add_memory_plan(MemoryPlan { name: "net".into(), arena_bytes: 128, n_steps: 5, rectangles });
    profiler.dump(true).unwrap();
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(page.len() < 200_000);
    for address in ["http://", "https://", "src=", "@import", "url("] {
        let allowed = ["http://www.w3.org/2000/svg", "url(#inside)"];
        let found = page.match_indices(address).filter(|(at, _)| !allowed.iter().any(|a| page[*at..].starts_with(a)));
        assert_eq!(found.count(), 0, "the page may request something by {address}");
    }
    let data = data(&path);
    let numbers = |value: &Value| value.as_array().unwrap().iter().map(|v| v.as_u64().unwrap()).collect::<Vec<_>>();
    let spans = numbers(&data["spans"]);
    assert_eq!(spans.len(), 20 * 6);
    let text = |at: u64| data["texts"][at as usize].as_str().unwrap();
    let convs: u64 = spans.chunks(6).filter(|span| text(span[1]) == "conv").map(|span| span[5]).sum();
    assert_eq!(convs, profiler.stats().get("operator", "conv").unwrap().total);

    let memory = &data["memory"][0];
    assert_eq!((&memory["device"], &memory["peak"]["live"]), (&"cpu/0".into(), &8_000_000.into()));
    let tags = serde_json::json!([["<unk>:activation</script>", 5_000_000], ["net:weight", 3_000_000]]);
    assert_eq!(memory["peak"]["tags"], tags);
    let most = numbers(&memory["points"]).chunks(3).map(|point| point[1]).max();
    assert_eq!(most, Some(8_000_000));

    let conv = data["roofline"].as_array().unwrap().iter().find(|op| op["name"] == "conv").unwrap();
    assert_eq!((&conv["calls"], &conv["flops"], &conv["bytes"]), (&10.into(), &1e7.into(), &2e4.into()));
    // At the peak speed, ten calls of a million operations each would take 10 µs each.
    let share = conv["share"].as_f64().unwrap();
    assert!((share - 1e5 / convs as f64).abs() < 1e-6, "{share}");
    assert_eq!(data["plans"][0]["rectangles"].as_array().unwrap().len(), 2);
    let entry = data["stats"].as_array().unwrap().iter().find(|entry| entry["name"] == "conv").unwrap();
    assert_eq!((&entry["category"], &entry["count"]), (&"operator".into(), &10.into()));
}
