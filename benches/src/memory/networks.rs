//! Compares mxrs with MXNet: planned bytes, and resident bytes of one process each.

use super::mxnet::Peer;
use super::subject::Subject;
use super::{Case, Footprint, child, resident};
use crate::report::{Cell, Section};
use crate::rounds::Progress;
use anyhow::Result;
use mxrs::exec::BindOptions;
use std::path::Path;

const MIB: f64 = (1 << 20) as f64;

/// Memory of one case in mxrs and in MXNet.
pub struct Pair {
    /// Bytes that our planner needs for the tensors of the graph, the only memory that MXNet's planner counts.
    pub tensors: Result<u64>,
    /// Footprint of mxrs.
    pub ours: Result<Footprint>,
    /// Footprint of MXNet; `None` if MXNet is not installed.
    pub theirs: Option<Result<Footprint>>,
}

/// Runs a case in mxrs, then in MXNet.
pub fn pair(case: &Case, peer: Option<(&Peer, &Path)>, options: BindOptions, n_steps: usize) -> Pair {
    let room = |share: f64| has_room(case, options.clone(), share);
    let ours = room(1.0).and_then(|()| child::footprint(case, &[], n_steps));
    let theirs = peer.map(|(peer, folder)| room(1.5).and_then(|()| peer.footprint(case, n_steps, folder)));
    let tensors = Subject::new(&case.network).and_then(|subject| subject.tensor_bytes(case, options));
    Pair { tensors, ours, theirs }
}

/// Checks that the memory available on the machine is at least `share` times the bytes planned for the case, plus 768
/// MiB.
///
/// # Errors
/// Fails if less memory is available, or if the case cannot be planned.
pub fn has_room(case: &Case, options: BindOptions, share: f64) -> Result<()> {
    room_for(total_bytes(case, options)? * share)
}

/// Bytes planned for a case in total.
///
/// # Errors
/// Fails if the case cannot be planned.
pub fn total_bytes(case: &Case, options: BindOptions) -> Result<f64> {
    Ok(Subject::new(&case.network)?.plan(case, options)?.total_bytes() as f64)
}

/// Checks that the machine has `bytes` of memory available, plus 768 MiB for everything else.
///
/// # Errors
/// Fails if less memory is available, or if the system does not report how much is.
pub fn room_for(bytes: f64) -> Result<()> {
    const SPARE: f64 = 768.0 * MIB;
    let needed = bytes + SPARE;
    let available = resident::available()? as f64;
    anyhow::ensure!(needed <= available, "needs {:.1} GiB, there are {:.1}", gib(needed), gib(available));
    Ok(())
}

fn gib(bytes: f64) -> f64 {
    bytes / MIB / 1024.0
}

/// The report's table of networks, still without rows.
pub fn section() -> Section {
    Section::new(
        "networks",
        "Networks: MiB planned in all and for the graph's tensors, MiB resident at most, and MiB of those that binding and running added; ratio ours / MXNet",
        &[
            ("network", "network"),
            ("mode", "mode"),
            ("batch", "batch"),
            ("planned_mib", "planned"),
            ("tensors_mib", "tensors"),
            ("mxnet_planned_mib", "MXNet"),
            ("planned_ratio", "ratio"),
            ("peak_mib", "peak"),
            ("mxnet_peak_mib", "MXNet"),
            ("peak_ratio", "ratio"),
            ("added_mib", "added"),
            ("mxnet_added_mib", "MXNet"),
            ("added_ratio", "ratio"),
            ("packed_mib", "packed"),
        ],
    )
}

/// The row of one case in the table of networks.
pub fn row(case: &Case, pair: &Pair, progress: &Progress) -> Vec<Cell> {
    let mut cells = vec![Cell::text(&case.network), Cell::text(case.mode.word()), Cell::Number(case.batch as f64, 0)];
    let why = |result: &Result<Footprint>| match result {
        Ok(_) => String::new(),
        Err(error) => {
            progress.note(&format!("{case}: {error:#}"));
            format!("{error}")
        }
    };
    let absent = |result: Option<&Result<Footprint>>| result.map_or_else(|| "not found".to_owned(), why);
    let (no_ours, no_theirs) = (absent(Some(&pair.ours)), absent(pair.theirs.as_ref()));
    let (ours, theirs) = (pair.ours.as_ref().ok(), pair.theirs.as_ref().and_then(|theirs| theirs.as_ref().ok()));
    cells.push(Cell::number(ours.map(|f| f.planned_bytes as f64 / MIB), 0, &no_ours));
    let tensors = pair.tensors.as_ref().ok().filter(|_| ours.is_some()).copied();
    let figures: [fn(&Footprint) -> u64; 3] = [|f| f.planned_bytes, |f| f.peak_bytes, Footprint::grown_bytes];
    for (figure, of) in figures.into_iter().enumerate() {
        // MXNet plans memory for tensors only, so its planned bytes are compared with those that our planner needs for
        // tensors.
        let ours = if figure == 0 { tensors } else { ours.map(of) };
        let (a, b) = (ours.map(|bytes| bytes as f64), theirs.map(|f| of(f) as f64));
        cells.push(Cell::number(a.map(|a| a / MIB), 0, &no_ours));
        cells.push(Cell::number(b.map(|b| b / MIB), 0, &no_theirs));
        let ratio = a.zip(b).filter(|(_, b)| *b > 0.0).map(|(a, b)| a / b);
        cells.push(Cell::number(ratio, 2, ""));
    }
    let packed = ours.and_then(|f| f.packed_bytes).map(|bytes| bytes as f64 / MIB);
    cells.push(Cell::number(packed, 0, ""));
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Mode;

    fn footprint(planned_bytes: u64, peak_bytes: u64) -> Footprint {
        Footprint { planned_bytes, packed_bytes: Some(0), started_bytes: 1 << 20, peak_bytes, step_seconds: Vec::new() }
    }

    #[test]
    fn a_row_has_ratios_where_both_were_run() {
        let case = Case { network: "mlp".into(), batch: 2, mode: Mode::Training };
        let progress = Progress::new(1);
        let ours = footprint(3 << 20, 5 << 20);
        let pair = Pair { tensors: Ok(2 << 20), ours: Ok(ours.clone()), theirs: Some(Ok(footprint(8 << 20, 9 << 20))) };
        let cells = row(&case, &pair, &progress);
        assert_eq!((&cells[3], &cells[4]), (&Cell::Number(3.0, 0), &Cell::Number(2.0, 0)));
        assert_eq!((&cells[6], &cells[12]), (&Cell::Number(0.25, 2), &Cell::Number(0.5, 2)));
        let alone = Pair { tensors: Ok(2 << 20), ours: Ok(ours), theirs: None };
        assert_eq!(row(&case, &alone, &progress)[5], Cell::Absent("not found".into()));
        section().row(row(&case, &alone, &progress));
        let failed = Pair { tensors: Ok(0), ours: Err(anyhow::anyhow!("needs more")), theirs: None };
        assert_eq!(row(&case, &failed, &progress)[3], Cell::Absent("needs more".into()));
    }

    #[test]
    fn what_needs_more_than_there_is_is_not_run() {
        let case = Case { network: "lenet".into(), batch: 1, mode: Mode::Inference };
        let options = super::super::run::runtime(&[]).unwrap().bind_options();
        let refused = has_room(&case, options.clone(), 1e12).unwrap_err().to_string();
        assert!(refused.starts_with("needs "), "{refused}");
        assert!(Subject::new("lenet").unwrap().plan(&case, options).unwrap().arena_bytes > 0);
    }
}
