//! Runs two processes at the same time, with batch 1 and one core each, and compares them with one process alone.
//!
//! Every library runs as two processes, which share nothing. mxrs also runs as two threads of one process, which share the
//! weights ([`shared`] sets that up). Each process may use one CPU; the two CPUs belong to different cores. The process with
//! two threads may use both CPUs, and the system distributes its threads.

use super::contest::Plan;
use super::contest::{loaded, number, run_order};
use super::files::Files;
use super::peers::{Peer, Tools};
use super::process::Process;
use super::serve::Load;
use super::{Case, Failure, converted, shared};
use crate::report::{Cell, Column, Section};
use crate::summary::Summary;
use mxrs_sync::Topology;
use serde_json::Value;
use std::time::Instant;

/// Images per second of a library, by round.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// One process alone.
    pub alone: Vec<f64>,
    /// Two processes at the same time; the sum of their speeds.
    pub together: Vec<f64>,
    /// Two threads of one process; the sum of their speeds. Only for mxrs.
    pub shared: Option<Vec<f64>>,
}

/// Two CPUs that belong to different cores.
fn two_cores(topology: Option<&Topology>) -> Result<[usize; 2], Failure> {
    let none = |why: &str| Failure::new("one core", why);
    let topology = topology.ok_or_else(|| none("the system does not tell which CPUs are of one core"))?;
    let mut cpus = topology.cpus.iter();
    let first = cpus.next();
    let second = cpus.find(|cpu| first.is_some_and(|first| (first.package, first.core) != (cpu.package, cpu.core)));
    let both = first.zip(second).map(|(first, second)| [first.id, second.id]);
    both.ok_or_else(|| none("this process may use one core only"))
}

/// Runs a case, which must use one thread.
///
/// # Errors
/// Fails if the process may not use two cores, or if one of the started processes fails.
pub fn pair(case: &Case, peer: Peer, tools: Tools<'_>, files: &Files, plan: Plan) -> Result<Pair, Failure> {
    let cpus = two_cores(Topology::read().as_ref())?;
    let load = converted::load(peer, case, files, tools, plan.limit)?;
    let start = |load: &Load, cpus: &[usize]| -> Result<Process, Failure> {
        let mut process = Process::start(peer.command(tools, case)?, Some(cpus))?;
        loaded(&mut process, &load.to_order(), plan.limit)?;
        Ok(process)
    };
    let (mut one, mut other) = (start(&load, &cpus[..1])?, start(&load, &cpus[1..])?);
    let two_threads = Load { mode: shared::MODE.to_owned(), ..load };
    let mut two_threads = if peer == Peer::Mxrs { Some(start(&two_threads, &cpus)?) } else { None };
    let order = run_order(plan.round_s, true);
    let images = case.batch as f64;
    let speed =
        |answer: &Value| -> Result<f64, Failure> { Ok(number(answer, "n")? * images / number(answer, "seconds")?) };
    let mut pair = Pair { alone: Vec::new(), together: Vec::new(), shared: two_threads.is_some().then(Vec::new) };
    for round in 0..=plan.rounds {
        let alone = speed(&one.ask(&order, plan.limit)?)?;
        one.send(&order)?;
        other.send(&order)?;
        let until = Instant::now() + plan.limit;
        let together = speed(&one.receive(until)?)? + speed(&other.receive(until)?)?;
        let ask = |process: &mut Process| speed(&process.ask(&order, plan.limit)?);
        let shared = two_threads.as_mut().map(ask).transpose()?;
        // The first round is a warm-up and does not count.
        if round > 0 {
            pair.alone.push(alone);
            pair.together.push(together);
            pair.shared.iter_mut().for_each(|all| all.extend(shared));
        }
    }
    Ok(pair)
}

const COLUMNS: [Column; 7] = [
    ("network", "network"),
    ("peer", "peer"),
    ("alone", "alone"),
    ("together", "two processes"),
    ("ratio", "/ alone"),
    ("shared", "one process"),
    ("shared_ratio", "/ alone"),
];

/// The report's table of concurrent runs, still without rows.
pub fn section() -> Section {
    let title = "Two at once, batch 1 and a core each: images per second of one process alone, of two processes, of \
                 two threads of one process with one set of weights (mxrs only)";
    Section::new("concurrent", title, &COLUMNS)
}

/// The row of one network and one peer in the table of concurrent runs.
pub fn row(network: &str, peer: Peer, pair: &Result<Pair, Failure>) -> Vec<Cell> {
    let mut cells = vec![Cell::text(network), Cell::text(peer.heading())];
    match pair {
        Ok(pair) => {
            let shared = pair.shared.as_deref().unwrap_or_default();
            let speed = |speeds: &[f64]| Cell::summary(Summary::of(speeds), 1.0, 2, "");
            let ratio = |speeds: &[f64]| Cell::summary(Summary::of_ratios(speeds, &pair.alone), 1.0, 2, "");
            cells.push(speed(&pair.alone));
            for speeds in [pair.together.as_slice(), shared] {
                cells.extend([speed(speeds), ratio(speeds)]);
            }
        }
        Err(failure) => {
            cells.push(Cell::Absent(failure.word.to_string()));
            cells.resize(COLUMNS.len(), Cell::Absent(String::new()));
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_sync::Cpu;

    #[test]
    fn every_row_fits_the_table() {
        let mut section = section();
        let pair = Pair { alone: vec![2.0, 4.0], together: vec![3.0, 6.0], shared: Some(vec![4.0, 8.0]) };
        let cells = row("alexnet", Peer::Mxrs, &Ok(pair.clone()));
        assert_eq!((&cells[4], &cells[6]), (&Cell::Spread(1.5, 0.0, 2), &Cell::Spread(2.0, 0.0, 2)));
        section.row(cells);
        let cells = row("alexnet", Peer::Tract, &Ok(Pair { shared: None, ..pair }));
        assert_eq!(cells[5..], [Cell::Absent(String::new()), Cell::Absent(String::new())]);
        section.row(cells);
        section.row(row("alexnet", Peer::Candle, &Err(Failure::new("died", "why"))));
    }

    #[test]
    fn the_second_cpu_is_of_another_core() {
        let cpu = |package, core, id| Cpu { package, core, id };
        let threads_of_one = [cpu(0, 0, 0), cpu(0, 0, 1)];
        let refused = two_cores(Some(&Topology::new(threads_of_one.to_vec()))).unwrap_err();
        assert!(refused.word == "one core" && refused.why.contains("one core only"), "{refused}");
        let two = |third| two_cores(Some(&Topology::new([&threads_of_one[..], &[third]].concat())));
        assert_eq!(two(cpu(0, 1, 2)), Ok([0, 2]));
        // Two CPUs may have the same core number and still be on different cores, because each socket numbers its cores from
        // 0.
        assert_eq!(two(cpu(1, 0, 7)), Ok([0, 7]));
        assert!(two_cores(Some(&Topology::default())).is_err() && two_cores(None).is_err());
    }
}
