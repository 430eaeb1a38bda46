//! Two at once: images per second of two processes with a core each, beside one of them alone.

use super::contest::Plan;
use super::contest::{loaded, number, run_order};
use super::files::Files;
use super::peers::{Peer, Places};
use super::process::Process;
use super::{Case, Failure};
use crate::report::{Cell, Section};
use crate::summary::Summary;
use serde_json::Value;
use std::path::Path;
use std::time::Instant;

/// What a peer did.
#[derive(Clone, Debug)]
pub struct Pair {
    /// Who.
    pub peer: Peer,
    /// Images per second of one process alone, by round.
    pub alone: Vec<f64>,
    /// Images per second of both together, by round.
    pub together: Vec<f64>,
}

/// Runs a case, which is for one thread.
///
/// # Errors
/// There are no two CPUs; one of the processes fails.
pub fn pair(
    case: &Case,
    peer: Peer,
    places: &Places,
    scripts: &Path,
    files: &Files,
    plan: Plan,
) -> Result<Pair, Failure> {
    let cpus = mxrs_sync::affinity::current().unwrap_or_default();
    let &[first, second, ..] = cpus.as_slice() else {
        return Err(Failure::new("one CPU", "this process may use one CPU only"));
    };
    let load = files.load(case).map_err(|error| Failure::new("failed", format!("{error:#}")))?.to_order();
    let start = |cpu: usize| {
        let mut process = Process::start(peer.command(places, scripts, case)?, Some(&[cpu]))?;
        loaded(&mut process, &load, plan.limit)?;
        Ok(process)
    };
    let (mut one, mut other) = (start(first)?, start(second)?);
    let order = run_order(plan.round_s, true);
    let images = case.batch as f64;
    let speed = |answer: &Value| Ok(number(answer, "n")? * images / number(answer, "seconds")?);
    let mut pair = Pair { peer, alone: Vec::new(), together: Vec::new() };
    for round in 0..=plan.rounds {
        let alone = speed(&one.ask(&order, plan.limit)?)?;
        one.send(&order)?;
        other.send(&order)?;
        let until = Instant::now() + plan.limit;
        let together = speed(&one.receive(until)?)? + speed(&other.receive(until)?)?;
        // The first does not count.
        if round > 0 {
            pair.alone.push(alone);
            pair.together.push(together);
        }
    }
    Ok(pair)
}

/// The table, without rows.
pub fn section() -> Section {
    Section::new(
        "concurrent",
        "Two processes at once, batch 1 and a core each: images per second of one alone, of both; ratio both / alone",
        &[("network", "network"), ("peer", "peer"), ("alone", "alone"), ("together", "both"), ("ratio", "ratio")],
    )
}

/// One row of it.
pub fn row(network: &str, peer: Peer, pair: &Result<Pair, Failure>) -> Vec<Cell> {
    let mut cells = vec![Cell::text(network), Cell::text(peer.heading())];
    match pair {
        Ok(pair) => cells.extend([
            Cell::summary(Summary::of(&pair.alone), 1.0, 2, ""),
            Cell::summary(Summary::of(&pair.together), 1.0, 2, ""),
            Cell::summary(Summary::of_ratios(&pair.together, &pair.alone), 1.0, 2, ""),
        ]),
        Err(failure) => {
            cells.push(Cell::Absent(failure.word.to_owned()));
            cells.resize(5, Cell::Absent(String::new()));
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_fits_the_table() {
        let mut section = section();
        let pair = Pair { peer: Peer::Tract, alone: vec![2.0, 4.0], together: vec![3.0, 6.0] };
        let cells = row("alexnet", Peer::Tract, &Ok(pair));
        assert_eq!(cells[4], Cell::Spread(1.5, 0.0, 2));
        section.row(cells);
        section.row(row("alexnet", Peer::Candle, &Err(Failure::new("died", "why"))));
    }
}
