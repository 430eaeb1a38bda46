//! The results of contests as tables: a row per case, a column per peer.

use super::contest::{Contest, Measured};
use super::peers::Peer;
use super::{Case, Dtype, Failure, exported};
use crate::report::{Cell, Column, Section};
use crate::summary::geometric_mean;

const MIB: f64 = (1 << 20) as f64;
/// The columns that describe the case. They come before the columns of the peers.
const CASE: [Column; 5] =
    [("network", "network"), ("mode", "mode"), ("batch", "batch"), ("dtype", "type"), ("threads", "threads")];

/// All tables of these contests. `peers` are the requested peers.
pub fn sections(contests: &[Contest], peers: &[Peer]) -> Vec<Section> {
    let speed = |measured: &Measured| Cell::summary(measured.speed(), 1.0, 2, "");
    let fastest = |measured: &Measured| Cell::number(measured.speed().map(|speed| speed.max), 2, "");
    let memory = |measured: &Measured| Cell::number(measured.peak_bytes.map(|bytes| bytes as f64 / MIB), 0, "unknown");
    let start = |measured: &Measured| Cell::Number(measured.load_s + measured.first_s, 2);
    let mut sections = vec![
        wide("speed", "Images per second, median of the rounds", contests, peers, speed),
        wide("best", "Images per second, fastest round", contests, peers, fastest),
        ratios(contests, peers),
        wide("memory", "Most MiB resident, everything included", contests, peers, memory),
        wide("start", "Seconds to load the network and run the first batch", contests, peers, start),
    ];
    sections.extend(scaling(contests, peers));
    sections.extend(agreement(contests, peers));
    sections
}

/// Explains empty cells: one line for every reason, with the cases that it applies to.
pub fn reasons(contests: &[Contest]) -> Vec<String> {
    let mut reasons: Vec<(Peer, &Failure, Vec<String>)> = Vec::new();
    let mut add = |peer: Peer, failure, case: &Case| match reasons.iter_mut().find(|r| (r.0, r.1) == (peer, failure)) {
        Some(reason) => reason.2.push(case.to_string()),
        None => reasons.push((peer, failure, vec![case.to_string()])),
    };
    for contest in contests {
        for (peer, outcome) in &contest.outcomes {
            match outcome {
                Err(failure) => add(*peer, failure, &contest.case),
                Ok(Measured { agreement: Some(Err(failure)), .. }) => add(*peer, failure, &contest.case),
                Ok(_) => {}
            }
        }
    }
    let line = |(peer, failure, cases): &(Peer, &Failure, Vec<String>)| {
        let cases = if cases.len() == contests.len() { "every case".to_owned() } else { cases.join("; ") };
        format!("{} ({cases}): {failure}", peer.heading())
    };
    reasons.iter().map(line).collect()
}

fn case_cells(case: &Case) -> Vec<Cell> {
    vec![
        Cell::text(&case.network),
        Cell::text(case.mode.word()),
        Cell::Number(case.batch as f64, 0),
        Cell::text(case.dtype.word()),
        Cell::Number(case.threads as f64, 0),
    ]
}

fn columns(peers: &[Peer]) -> Vec<Column> {
    CASE.into_iter().chain(peers.iter().map(|peer| (peer.key(), peer.heading()))).collect()
}

fn wide(
    key: &'static str,
    title: &str,
    contests: &[Contest],
    peers: &[Peer],
    cell: impl Fn(&Measured) -> Cell,
) -> Section {
    let mut section = Section::new(key, title, &columns(peers));
    for contest in contests {
        let mut cells = case_cells(&contest.case);
        cells.extend(contest.outcomes.iter().map(|(_, outcome)| match outcome {
            Ok(measured) => cell(measured),
            Err(failure) => Cell::Absent(failure.word.to_string()),
        }));
        section.row(cells);
    }
    section
}

/// Ratios of speeds in images per second: ours and that of each peer in neighboring rounds, ours and that of the fastest peer, and
/// our fastest round and the fastest round of any peer. The last rows are geometric means over the networks, one row for each
/// combination of the other settings.
fn ratios(contests: &[Contest], peers: &[Peer]) -> Section {
    let others: Vec<Peer> = peers.iter().copied().filter(|peer| *peer != Peer::Mxrs).collect();
    let mut columns = columns(&others);
    columns.extend([("best_peer", "fastest other"), ("best_ratio", "mxrs / fastest other")]);
    columns.push(("fastest_ratio", "fastest rounds"));
    let title = "mxrs / other, images per second of neighboring rounds; last the fastest round of mxrs / the fastest \
                 round of all others";
    let mut section = Section::new("ratio", title, &columns);
    for contest in contests {
        let mut cells = case_cells(&contest.case);
        cells.extend(others.iter().map(|peer| Cell::summary(contest.ratio(*peer), 1.0, 3, "")));
        let best = contest.best_peer();
        cells.push(best.map_or_else(|| Cell::Absent(String::new()), |best| Cell::text(best.heading())));
        cells.push(Cell::summary(best.and_then(|best| contest.ratio(best)), 1.0, 3, ""));
        cells.push(Cell::number(contest.fastest_ratio(), 3, ""));
        section.row(cells);
    }
    let mut groups: Vec<&Case> = Vec::new();
    for Contest { case, .. } in contests {
        if !groups.iter().any(|group| is_same_but_network(group, case)) {
            groups.push(case);
        }
    }
    for group in groups {
        let members = || contests.iter().filter(|contest| is_same_but_network(&contest.case, group));
        let mean = |ratio: &dyn Fn(&Contest) -> Option<f64>| {
            Cell::number(geometric_mean(&members().filter_map(ratio).collect::<Vec<_>>()), 3, "")
        };
        let of = |contest: &Contest, peer: Peer| contest.ratio(peer).map(|ratio| ratio.median);
        if members().all(|contest| contest.best_peer().and_then(|best| of(contest, best)).is_none()) {
            continue;
        }
        let mut cells = case_cells(group);
        cells[0] = Cell::text("geometric mean");
        cells.extend(others.iter().map(|peer| mean(&|contest| of(contest, *peer))));
        cells.push(Cell::Absent(String::new()));
        cells.push(mean(&|contest| of(contest, contest.best_peer()?)));
        cells.push(mean(&Contest::fastest_ratio));
        section.row(cells);
    }
    section
}

fn is_same_but_network(a: &Case, b: &Case) -> bool {
    (a.mode, a.batch, a.dtype, a.threads) == (b.mode, b.batch, b.dtype, b.threads)
}

/// Speed-up of each peer: its speed with more threads divided by its speed with the fewest threads measured. The speed is
/// that of the fastest round, because cases are not measured in alternation and other load on the machine can only slow a
/// round down. `None` if all cases have the same number of threads.
fn scaling(contests: &[Contest], peers: &[Peer]) -> Option<Section> {
    let fewest = contests.iter().map(|contest| contest.case.threads).min()?;
    let title = format!("Speed with more threads / speed with {fewest}, fastest rounds");
    let mut section = Section::new("scaling", title, &columns(peers));
    for contest in contests.iter().filter(|contest| contest.case.threads > fewest) {
        let base = Case { threads: fewest, ..contest.case.clone() };
        let Some(base) = contests.iter().find(|other| other.case == base) else { continue };
        let mut cells = case_cells(&contest.case);
        cells.extend(peers.iter().map(|peer| {
            let pair = contest.fastest(*peer).zip(base.fastest(*peer));
            Cell::number(pair.map(|(more, fewest)| more / fewest), 2, "")
        }));
        section.row(cells);
    }
    section.has_rows().then_some(section)
}

/// How far the outputs of all peers agree with ours; `None` if no outputs were compared.
fn agreement(contests: &[Contest], peers: &[Peer]) -> Option<Section> {
    let is_in_8_bits = contests.iter().any(|contest| contest.case.dtype == Dtype::Int8);
    let is_of_pytorch = contests.iter().any(|contest| exported::is_one(&contest.case.network));
    let has_ours = is_in_8_bits || is_of_pytorch;
    let others: Vec<Peer> = peers.iter().copied().filter(|peer| *peer != Peer::Mxrs || has_ours).collect();
    let whose = if is_of_pytorch { "PyTorch's outputs" } else { "ours" };
    let title = format!(
        "Agreement with {whose}: images with the same likeliest class, of how many; largest difference of an output"
    );
    let which = if is_in_8_bits { " (int8 against ours in float32)" } else { "" };
    let mut section = Section::new("agreement", format!("{title}{which}"), &columns(&others));
    let mut n_asked = 0;
    for contest in contests {
        let mut cells = case_cells(&contest.case);
        for peer in &others {
            let agreement = contest.measured(*peer).and_then(|measured| measured.agreement.as_ref());
            n_asked += usize::from(agreement.is_some());
            cells.push(match agreement {
                Some(Ok(a)) => Cell::text(format!("{}/{}, {:.1e}", a.n_same_class, a.n_images, a.max_difference)),
                Some(Err(failure)) => Cell::Absent(failure.word.to_string()),
                None => Cell::Absent(String::new()),
            });
        }
        section.row(cells);
    }
    (n_asked > 0).then_some(section)
}

#[cfg(test)]
mod tests;
