//! Tests of the tables, with made-up contests.

use super::*;
use crate::machine::Machine;
use crate::memory::Mode;
use crate::report::{Format, Report};
use crate::score::Dtype;
use crate::score::agreement::Agreement;
use serde_json::Value;

const PEERS: [Peer; 3] = [Peer::Mxrs, Peer::Mxnet, Peer::Tract];

fn measured(speeds: &[f64]) -> Measured {
    let agreement = Some(Ok(Agreement { n_images: 4, n_same_class: 3, max_difference: 0.25 }));
    let speeds = speeds.to_vec();
    Measured { name: "x 1".into(), speeds, load_s: 1.0, first_s: 0.5, peak_bytes: Some(3 << 20), agreement }
}

fn contest(network: &str, threads: usize, ours: &[f64], theirs: &[f64]) -> Contest {
    let died = Err(Failure::new("died", "exit status: 7: out of memory"));
    Contest {
        case: Case { network: network.into(), batch: 1, dtype: Dtype::Float32, threads, mode: Mode::Inference },
        outcomes: vec![(Peer::Mxrs, Ok(measured(ours))), (Peer::Mxnet, Ok(measured(theirs))), (Peer::Tract, died)],
        others: None,
    }
}

fn report(contests: &[Contest]) -> Report {
    Report {
        title: "Score".into(),
        machine: Machine { cpu: "a CPU".into(), n_cpus: 2 },
        peers: Vec::new(),
        sections: sections(contests, &PEERS),
        notes: reasons(contests),
    }
}

#[test]
fn figures_ratios_and_reasons_have_their_places() {
    let contests = [
        contest("alexnet", 2, &[8.0, 8.0, 16.0], &[4.0, 4.0, 8.0]),
        contest("vgg-16", 2, &[8.0, 8.0, 8.0], &[1.0, 1.0, 1.0]),
    ];
    let text = report(&contests).render(Format::Json);
    let json: Value = serde_json::from_str(&text).unwrap();
    let row = |section: &str, at: usize| json["sections"][section]["rows"][at].clone();
    assert_eq!(row("speed", 0)["mxrs"]["median"], 8.0);
    assert_eq!(row("best", 0)["mxrs"], 16.0);
    assert!(row("speed", 0)["tract"].is_null());
    assert_eq!(row("ratio", 0)["mxnet"]["median"], 2.0);
    assert_eq!(row("ratio", 1)["best_peer"], "MXNet");
    // The geometric mean of 2 and 8 is 4.
    let mean = row("ratio", 2);
    assert_eq!(mean["network"], "geometric mean");
    assert!((mean["mxnet"].as_f64().unwrap() - 4.0).abs() < 1e-12 && mean["tract"].is_null(), "{mean}");
    assert!((mean["best_ratio"].as_f64().unwrap() - 4.0).abs() < 1e-12, "{mean}");
    // The fastest round of mxrs divided by that of the fastest peer: 16 / 8 in the first case and 8 / 1 in the second.
    assert_eq!((&row("ratio", 0)["fastest_ratio"], &row("ratio", 1)["fastest_ratio"]), (&2.0.into(), &8.0.into()));
    assert!((mean["fastest_ratio"].as_f64().unwrap() - 4.0).abs() < 1e-12, "{mean}");
    assert_eq!((&row("memory", 1)["mxnet"], &row("start", 1)["mxrs"]), (&3.0.into(), &1.5.into()));
    assert_eq!(row("agreement", 0)["mxnet"], "3/4, 2.5e-1");
    assert!(json["sections"]["scaling"].is_null());
    let table = report(&contests).render(Format::Table);
    assert!(table.contains("┆ died"), "{table}");
    assert!(table.ends_with("- tract (every case): died: exit status: 7: out of memory\n"), "{table}");
}

#[test]
fn more_threads_are_beside_fewer() {
    let contests = [contest("alexnet", 1, &[2.0], &[2.0]), contest("alexnet", 2, &[3.0], &[4.0])];
    let json: Value = serde_json::from_str(&report(&contests).render(Format::Json)).unwrap();
    let rows = json["sections"]["scaling"]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!((&rows[0]["mxrs"], &rows[0]["mxnet"], &rows[0]["threads"]), (&1.5.into(), &2.0.into(), &2.0.into()));
    // The two numbers of threads form two groups, each with a row for its mean.
    assert_eq!(json["sections"]["ratio"]["rows"].as_array().unwrap().len(), 4);
}

#[test]
fn the_fastest_round_need_not_be_of_the_highest_median() {
    let mut contest = contest("alexnet", 2, &[6.0, 6.0, 9.0], &[5.0, 5.0, 5.0]);
    contest.outcomes[2].1 = Ok(measured(&[1.0, 1.0, 6.0]));
    let json: Value = serde_json::from_str(&report(&[contest]).render(Format::Json)).unwrap();
    let row = &json["sections"]["ratio"]["rows"][0];
    assert_eq!((&row["best_peer"], &row["best_ratio"]["median"]), (&"MXNet".into(), &1.2.into()));
    assert_eq!(row["fastest_ratio"], 1.5);
}

#[test]
fn ours_in_8_bits_is_beside_ours_in_float32() {
    let mut in_8_bits = contest("alexnet", 2, &[2.0], &[1.0]);
    in_8_bits.case.dtype = Dtype::Int8;
    let json: Value = serde_json::from_str(&report(&[in_8_bits]).render(Format::Json)).unwrap();
    assert_eq!(json["sections"]["agreement"]["rows"][0]["mxrs"], "3/4, 2.5e-1");
}

#[test]
fn a_contest_without_anybody_has_its_row_all_the_same() {
    let case = Case { network: "alexnet".into(), batch: 1, dtype: Dtype::Bfloat16, threads: 2, mode: Mode::Inference };
    let contests = [Contest::of_failure(&case, &PEERS, &Failure::new("no file", "no exporter"))];
    let table = report(&contests).render(Format::Markdown);
    assert!(table.contains("| alexnet | inference | 1 | bfloat16 | 2 | no file | no file | no file |"), "{table}");
    assert_eq!(geometric_mean(&[]), None);
}
