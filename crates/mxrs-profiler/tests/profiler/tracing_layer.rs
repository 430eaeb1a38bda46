//! Spans of `tracing` in the timeline.

use crate::{Turn, operator, records};
use mxrs_profiler::ProfilerLayer;
use tracing_subscriber::prelude::*;

#[test]
fn spans_of_tracing_are_in_the_timeline_around_operators() {
    let turn = Turn::take();
    let profiler = turn.running(turn.config());
    tracing::subscriber::with_default(tracing_subscriber::registry().with(ProfilerLayer), || {
        let early = tracing::info_span!(target: "app", "early");
        let outer = tracing::info_span!(target: "app", "load", n = 3);
        for _ in 0..2 {
            let _in_outer = outer.enter();
            tracing::info_span!("decode").in_scope(|| operator("inside", || ()));
        }
        profiler.pause();
        let in_early = early.enter();
        profiler.resume();
        drop(in_early);
    });
    profiler.dump(true).unwrap();
    let records = records(&turn.path("t.json"));
    let begins: Vec<_> = records.iter().filter(|event| event["ph"] == "B").collect();
    let of = |name: &str| begins.iter().filter(|event| event["name"] == name).collect::<Vec<_>>();
    assert_eq!((of("load").len(), of("decode").len(), of("inside").len(), of("early").len()), (2, 2, 2, 0));
    assert_eq!(of("load")[0]["cat"], "app");
    assert_eq!(of("decode")[0]["cat"], "profiler::tracing_layer");
    assert_eq!(of("load")[0]["tid"], of("inside")[0]["tid"]);
}
