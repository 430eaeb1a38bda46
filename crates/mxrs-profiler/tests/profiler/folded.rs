//! Stacks for flame graphs.

use crate::{Turn, operator};
use mxrs_profiler::Config;
use std::time::Duration;

#[test]
fn stacks_add_up_to_the_time_of_the_outer_span() {
    let turn = Turn::take();
    let profiler = turn.running(Config { folded: Some(turn.path("f.txt")), ..turn.config() });
    let pause = || std::thread::sleep(Duration::from_millis(2));
    let body = move || {
        for _ in 0..3 {
            operator("segment", || {
                operator("conv", pause);
                pause();
            });
        }
    };
    std::thread::Builder::new().name("worker".into()).spawn(body).unwrap().join().unwrap();
    profiler.dump(true).unwrap();
    let text = std::fs::read_to_string(turn.path("f.txt")).unwrap();
    let lines: Vec<(&str, u64)> =
        text.lines().map(|line| line.rsplit_once(' ').unwrap()).map(|(s, ns)| (s, ns.parse().unwrap())).collect();
    assert_eq!(lines.iter().map(|l| l.0).collect::<Vec<_>>(), ["worker;segment", "worker;segment;conv"]);
    assert!(lines.iter().all(|(_, ns)| *ns >= 6_000_000));
    let outer = profiler.stats().get("operator", "segment").unwrap().total;
    assert_eq!(lines[0].1 + lines[1].1, outer);
}
