//! Measures the memory that recomputation saves in a real process, and the time that it costs: runs the same network with and
//! without an environment variable that turns it on.

use super::networks::{room_for, total_bytes};
use super::run::{Bound, runtime};
use super::{Case, Footprint, Mode, Variable, child};
use crate::report::{Cell, Section};
use crate::rounds::{Budget, Contestant, Progress, interleave};
use crate::summary::Summary;
use anyhow::Result;
use std::str::FromStr;

const MIB: f64 = (1 << 20) as f64;

/// A network, and the environment variable that makes its training use less memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saving {
    /// The network in training.
    pub case: Case,
    /// The environment variable and its value.
    pub variable: Variable,
}

/// Reads NETWORK:BATCH:VARIABLE=VALUE.
impl FromStr for Saving {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str = "expected NETWORK:BATCH:VARIABLE=VALUE";
        let mut parts = text.splitn(3, ':');
        let mut next = || parts.next().ok_or(EXPECTED);
        let (network, batch, variable) = (next()?, next()?, next()?);
        let case = Case { network: network.into(), batch: batch.parse().map_err(|_| EXPECTED)?, mode: Mode::Training };
        let (name, value) = variable.split_once('=').ok_or(EXPECTED)?;
        Ok(Self { case, variable: (name.into(), value.into()) })
    }
}

/// Results without (`off`) and with (`on`) the variable. Memory is that of one process each. Times are from this process, in
/// which both networks are bound and run in alternating rounds.
pub struct Measured {
    off: Footprint,
    on: Footprint,
    /// Seconds per step and round: first without the variable, then with it.
    seconds: [Vec<f64>; 2],
}

/// Measures one network with and without its variable.
///
/// # Errors
/// Fails if there is too little memory, or if binding or a kernel fails.
pub fn measure(saving: &Saving, budget: Budget, n_steps: usize, progress: &Progress) -> Result<Measured> {
    let Saving { case, variable } = saving;
    let set = [std::slice::from_ref(variable), &[]];
    let [on_runtime, off_runtime] = set.map(runtime);
    let (on_runtime, off_runtime) = (on_runtime?, off_runtime?);
    // Both networks are bound at the same time while steps are timed, so there must be memory for both.
    room_for(total_bytes(case, off_runtime.bind_options())? + total_bytes(case, on_runtime.bind_options())?)?;
    let off = child::footprint(case, &[], n_steps)?;
    progress.tick();
    let on = child::footprint(case, set[0], n_steps)?;
    progress.tick();
    let (off_bound, on_bound) = (Bound::new(&off_runtime, case)?, Bound::new(&on_runtime, case)?);
    let mut turns = [Contestant::new("off", || off_bound.step()), Contestant::new(&variable.0, || on_bound.step())];
    let mut seconds = interleave(&mut turns, budget, progress)?.into_iter();
    let mut next = || seconds.next().unwrap_or_default();
    Ok(Measured { off, on, seconds: [next(), next()] })
}

/// The report's table of recomputation, still without rows.
pub fn section() -> Section {
    Section::new(
        "recompute",
        "Computing again: MiB planned and MiB resident that binding and running added, seconds per step; ratio with / without",
        &[
            ("network", "network"),
            ("batch", "batch"),
            ("variable", "variable"),
            ("off_planned_mib", "planned, off"),
            ("planned_mib", "on"),
            ("planned_ratio", "ratio"),
            ("off_added_mib", "added, off"),
            ("added_mib", "on"),
            ("added_ratio", "ratio"),
            ("off_step_s", "step, off"),
            ("step_s", "on"),
            ("step_ratio", "ratio"),
            ("rounds", "rounds"),
        ],
    )
}

/// The row of one network in the table of recomputation.
pub fn row(saving: &Saving, measured: &Result<Measured>, progress: &Progress) -> Vec<Cell> {
    let (name, value) = &saving.variable;
    let case = &saving.case;
    let mut cells =
        vec![Cell::text(&case.network), Cell::Number(case.batch as f64, 0), Cell::text(format!("{name}={value}"))];
    let Measured { off, on, seconds: [off_seconds, on_seconds] } = match measured {
        Ok(measured) => measured,
        Err(error) => {
            progress.note(&format!("{case}: {error:#}"));
            cells.push(Cell::Absent(error.to_string()));
            cells.resize(13, Cell::Absent(String::new()));
            return cells;
        }
    };
    let figures: [fn(&Footprint) -> u64; 2] = [|f| f.planned_bytes, Footprint::grown_bytes];
    for of in figures {
        let (off, on) = (of(off) as f64, of(on) as f64);
        cells.extend([Cell::Number(off / MIB, 0), Cell::Number(on / MIB, 0), Cell::Number(on / off.max(1.0), 3)]);
    }
    cells.push(Cell::summary(Summary::of(off_seconds), 1.0, 3, ""));
    cells.push(Cell::summary(Summary::of(on_seconds), 1.0, 3, ""));
    cells.push(Cell::summary(Summary::of_ratios(on_seconds, off_seconds), 1.0, 3, ""));
    cells.push(Cell::Number(on_seconds.len() as f64, 0));
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_may_have_colons() {
        let saving: Saving = "resnet-50:32:MXRS_REMAT=budget:1GiB".parse().unwrap();
        assert_eq!(saving.case, Case { network: "resnet-50".into(), batch: 32, mode: Mode::Training });
        assert_eq!(saving.variable, ("MXRS_REMAT".into(), "budget:1GiB".into()));
        for text in ["", "resnet-50", "resnet-50:32", "resnet-50:x:A=1", "resnet-50:1:A"] {
            assert!(text.parse::<Saving>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn every_row_fits_the_table() {
        let progress = Progress::new(1);
        let saving: Saving = "mlp:2:MXRS_REMAT=sqrt".parse().unwrap();
        let of = |planned_bytes| Footprint {
            planned_bytes,
            packed_bytes: None,
            started_bytes: 0,
            peak_bytes: 2 * planned_bytes,
            step_seconds: Vec::new(),
        };
        let seconds = [vec![1.0, 2.0], vec![1.5, 3.0]];
        let measured = Ok(Measured { off: of(100 << 20), on: of(25 << 20), seconds });
        let cells = row(&saving, &measured, &progress);
        assert_eq!((&cells[5], &cells[8]), (&Cell::Number(0.25, 3), &Cell::Number(0.25, 3)));
        assert_eq!(cells[11], Cell::Spread(1.5, 0.0, 3));
        section().row(cells);
        section().row(row(&saving, &Err(anyhow::anyhow!("needs more")), &progress));
    }
}
