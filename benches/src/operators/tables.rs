//! The results as tables: times and ratios of each call, geometric means of the families, and the slowest calls.

use super::Peer;
use super::contest::{Contest, Measured};
use crate::report::{Cell, Column, PeerStatus, Section};
use crate::score::Failure;
use crate::summary::{Summary, geometric_mean};

/// A call with a lower ratio is listed as slow.
pub const SLOW: f64 = 0.8;

const MICROSECOND: f64 = 1e-6;
const CALL: [Column; 3] = [("call", "call"), ("pass", "pass"), ("inputs", "inputs")];
const BEST: [Column; 2] = [("best_peer", "faster"), ("ratio", "faster / mxrs")];

/// All tables of these contests.
pub fn sections(contests: &[Contest], peers: &[Peer]) -> Vec<Section> {
    let fastest = |measured: &Measured| Cell::number(measured.fastest().map(|time| time / MICROSECOND), 1, "");
    let median = |measured: &Measured| Cell::summary(Summary::of(&measured.times), MICROSECOND, 1, "");
    let fastest_ratio = |contest: &Contest| Cell::number(contest.best().map(|(_, ratio)| ratio), 2, "");
    let median_ratio = |contest: &Contest| Cell::summary(contest.median_ratio(), 1.0, 2, "");
    let title = "Microseconds per call, fastest round; last the time of the faster other library / that of mxrs";
    let mut sections = vec![wide("fastest", title, contests, peers, fastest, fastest_ratio)];
    let title = "Microseconds per call, median of the rounds; last the median ratio of neighboring rounds";
    sections.push(wide("median", title, contests, peers, median, median_ratio));
    sections.push(families(contests));
    sections.extend(slow(contests));
    sections
}

/// A row for each call, a column for each library.
fn wide(
    key: &'static str,
    title: &str,
    contests: &[Contest],
    peers: &[Peer],
    cell: impl Fn(&Measured) -> Cell,
    ratio: impl Fn(&Contest) -> Cell,
) -> Section {
    let of_peers = peers.iter().map(|peer| (peer.key(), peer.heading()));
    let columns: Vec<Column> = CALL.into_iter().chain(of_peers).chain(BEST).collect();
    let mut section = Section::new(key, title, &columns);
    for contest in contests {
        let mut cells = head(contest).to_vec();
        cells.extend(peers.iter().map(|peer| match contest.outcomes.iter().find(|(other, _)| other == peer) {
            Some((_, Ok(measured))) => cell(measured),
            Some((_, Err(failure))) => Cell::Absent(failure.word.to_string()),
            None => Cell::Absent(String::new()),
        }));
        cells.extend([best_peer(contest), ratio(contest)]);
        section.row(cells);
    }
    section
}

fn head(contest: &Contest) -> [Cell; 3] {
    let Contest { row, pass, .. } = contest;
    [Cell::text(&row.name), Cell::text(pass.word()), Cell::text(row.sizes())]
}

fn best_peer(contest: &Contest) -> Cell {
    contest.best().map_or_else(|| Cell::Absent(String::new()), |(peer, _)| Cell::text(peer.heading()))
}

/// The geometric mean of the ratios of each family, and of all.
fn families(contests: &[Contest]) -> Section {
    let columns = [("family", "family"), ("calls", "calls"), ("ratio", "geometric mean"), ("worst", "worst")];
    let mut section = Section::new("families", "The faster other library / mxrs, fastest rounds", &columns);
    let mut names: Vec<&str> = contests.iter().map(|contest| contest.row.family.as_str()).collect();
    names.dedup();
    let mut add = |name: &str, ratios: &[f64]| {
        section.row(vec![
            Cell::text(name),
            Cell::Number(ratios.len() as f64, 0),
            Cell::number(geometric_mean(ratios), 2, ""),
            Cell::number(ratios.iter().copied().reduce(f64::min), 2, ""),
        ]);
    };
    let ratio = |contest: &Contest| contest.best().map(|(_, ratio)| ratio);
    for name in names {
        let members = contests.iter().filter(|contest| contest.row.family == name);
        add(name, &members.filter_map(ratio).collect::<Vec<_>>());
    }
    add("all", &contests.iter().filter_map(ratio).collect::<Vec<_>>());
    section
}

/// The calls with a ratio below [`SLOW`], the slowest first; `None` if there is none.
fn slow(contests: &[Contest]) -> Option<Section> {
    let ratio = |contest: &&Contest| contest.best().map_or(f64::INFINITY, |(_, ratio)| ratio);
    let mut slow: Vec<&Contest> = contests.iter().filter(|contest| ratio(contest) < SLOW).collect();
    slow.sort_by(|a, b| ratio(a).total_cmp(&ratio(b)));
    let columns: Vec<Column> = CALL.into_iter().chain(BEST).collect();
    let mut section = Section::new("slow", format!("Calls with a ratio below {SLOW}"), &columns);
    for contest in slow {
        let mut cells = head(contest).to_vec();
        cells.extend([best_peer(contest), Cell::number(Some(ratio(&contest)), 2, "")]);
        section.row(cells);
    }
    section.has_rows().then_some(section)
}

/// Why a library has no time: a line for each reason, with the calls that it applies to. Calls that PyTorch cannot do are not
/// named.
pub fn reasons(contests: &[Contest]) -> Vec<String> {
    let mut lines: Vec<(String, Vec<String>)> = Vec::new();
    for contest in contests {
        for (peer, outcome) in &contest.outcomes {
            let Err(Failure { word, why }) = outcome else { continue };
            if word.is_empty() {
                continue;
            }
            let text = format!("{}: {word}: {why}", peer.heading());
            match lines.iter_mut().find(|(other, _)| *other == text) {
                Some((_, names)) => names.push(contest.name()),
                None => lines.push((text, vec![contest.name()])),
            }
        }
    }
    let line = |(text, names): (String, Vec<String>)| {
        if names.len() == contests.len() { text } else { format!("{text} ({})", names.join(", ")) }
    };
    lines.into_iter().map(line).collect()
}

/// The calls with one round, because a call takes long.
pub fn with_one_round(contests: &[Contest]) -> Vec<String> {
    let n_rounds = |contest: &Contest| {
        let measured = contest.outcomes.iter().filter_map(|(_, outcome)| outcome.as_ref().ok());
        measured.map(|measured| measured.times.len()).max()
    };
    contests.iter().filter(|contest| n_rounds(contest) == Some(1)).map(Contest::name).collect()
}

/// Every other library: the name that it reports, or why it never took part.
pub fn statuses(contests: &[Contest], peers: &[Peer]) -> Vec<PeerStatus> {
    let status = |peer: &Peer| {
        if let Some(measured) = contests.iter().find_map(|contest| contest.measured(*peer)) {
            return PeerStatus { name: measured.name.clone(), missing: None };
        }
        let outcomes = contests.iter().flat_map(|contest| &contest.outcomes);
        let why = outcomes.filter(|(other, _)| other == peer).find_map(|(_, outcome)| outcome.as_ref().err());
        let missing = Some(why.map_or_else(String::new, |failure| failure.why.clone()));
        PeerStatus { name: peer.heading().into(), missing }
    };
    peers.iter().filter(|peer| **peer != Peer::Mxrs).map(status).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;
    use crate::operators::list::{Pass, all};
    use crate::report::{Format, Report};
    use serde_json::Value;

    fn contest(name: &str, ours: &[f64], mxnet: Option<&[f64]>, torch: Result<&[f64], Failure>) -> Contest {
        let measured = |times: &[f64]| Measured {
            name: "x".into(),
            times: times.to_vec(),
            call_s: 1.0,
            output: None,
            gradients: None,
        };
        Contest {
            row: all().unwrap().into_iter().find(|row| row.name == name).unwrap(),
            pass: Pass::Forward,
            outcomes: vec![
                (Peer::Mxrs, Ok(measured(ours))),
                (Peer::Mxnet, mxnet.map(measured).ok_or_else(|| Failure::new("died", "why"))),
                (Peer::Torch, torch.map(measured)),
            ],
        }
    }

    #[test]
    fn slow_calls_and_means_are_found() {
        let none = || Err(Failure::new("", "it has no such operator"));
        let contests = [
            contest("exp", &[2e-6, 4e-6], Some(&[4e-6, 4e-6]), Ok(&[8e-6, 8e-6])),
            contest("tanh", &[8e-6, 8e-6], Some(&[8e-6, 8e-6]), Ok(&[4e-6, 4e-6])),
            contest("dot", &[1e-6], None, none()),
        ];
        let report = Report {
            title: "Operators".into(),
            machine: Machine { cpu: "a CPU".into(), n_cpus: 2 },
            peers: statuses(&contests, &Peer::ALL),
            sections: sections(&contests, &Peer::ALL),
            notes: reasons(&contests),
        };
        let json: Value = serde_json::from_str(&report.render(Format::Json)).unwrap();
        let rows = |section: &str| json["sections"][section]["rows"].as_array().unwrap().clone();
        let close = |value: &Value, want: f64| (value.as_f64().unwrap() - want).abs() < 1e-9;
        let fastest = rows("fastest");
        assert!(close(&fastest[0]["mxrs"], 2.0) && close(&fastest[0]["ratio"], 2.0), "{json:#}");
        assert_eq!((&fastest[0]["best_peer"], &fastest[1]["best_peer"]), (&"MXNet".into(), &"PyTorch".into()));
        assert!(fastest[2]["ratio"].is_null() && fastest[2]["torch"].is_null());
        // The ratios of the two rounds are 2 and 1.
        assert!(close(&rows("median")[0]["ratio"]["median"], 1.5));
        // The ratios are 2 and 0.5. Nothing is compared with `dot`.
        let families = rows("families");
        let names: Vec<&str> = families.iter().filter_map(|row| row["family"].as_str()).collect();
        assert_eq!(names, ["unary", "product", "all"]);
        assert!(close(&families[0]["ratio"], 1.0) && families[1]["ratio"].is_null() && families[2]["calls"] == 2.0);
        let slow = rows("slow");
        assert!(slow.len() == 1 && slow[0]["call"] == "tanh" && close(&slow[0]["ratio"], 0.5), "{slow:?}");
        assert_eq!(report.notes, ["MXNet: died: why (dot (forward))"]);
        assert_eq!(with_one_round(&contests), ["dot (forward)"]);
        assert!(report.peers.len() == 2 && report.peers.iter().all(|peer| peer.missing.is_none()));
        assert!(super::slow(&contests[..1]).is_none());
    }
}
