//! The results as tables: a row for each product, then the geometric mean and the worst product.

use super::Peer;
use super::contest::Contest;
use crate::report::{Cell, Column, Section};
use crate::score::Failure;
use crate::summary::{Summary, geometric_mean};

const SHAPE: [Column; 2] = [("shape", "product"), ("sizes", "rows x columns x steps")];

/// Speeds and ratios.
pub fn sections(contests: &[Contest], peers: &[Peer]) -> Vec<Section> {
    let columns: Vec<Column> = SHAPE.into_iter().chain(peers.iter().map(|peer| (peer.key(), peer.heading()))).collect();
    let mut fastest = Section::new("fastest", "GFLOP/s, fastest round", &columns);
    let mut median = Section::new("median", "GFLOP/s, median of the rounds", &columns);
    for contest in contests {
        let row = |cell: &dyn Fn(&[f64]) -> Cell| {
            let of = |peer: &Peer| match &contest.outcomes.iter().find(|(other, _)| other == peer) {
                Some((_, Ok(measured))) => cell(&measured.speeds),
                Some((_, Err(failure))) => Cell::Absent(failure.word.to_string()),
                None => Cell::Absent(String::new()),
            };
            head(contest).into_iter().chain(peers.iter().map(of)).collect()
        };
        fastest.row(row(&|speeds| Cell::number(Summary::of(speeds).map(|speed| speed.max / 1e9), 1, "")));
        median.row(row(&|speeds| Cell::summary(Summary::of(speeds), 1e9, 1, "")));
    }
    vec![fastest, median, ratios(contests, peers)]
}

fn head(contest: &Contest) -> [Cell; 2] {
    [Cell::text(&contest.shape.name), Cell::text(contest.shape.sizes())]
}

/// Our speed divided by that of each other library, and by that of the fastest.
fn ratios(contests: &[Contest], peers: &[Peer]) -> Section {
    let others: Vec<Peer> = peers.iter().copied().filter(|peer| *peer != Peer::Mxrs).collect();
    let mut columns: Vec<Column> =
        SHAPE.into_iter().chain(others.iter().map(|peer| (peer.key(), peer.heading()))).collect();
    columns.extend([("best_peer", "fastest other"), ("fastest_ratio", "mxrs / fastest other")]);
    let title = "mxrs / other: median of neighboring rounds; last our fastest round / the fastest round of all others";
    let mut section = Section::new("ratio", title, &columns);
    for contest in contests {
        let mut cells = head(contest).to_vec();
        cells.extend(others.iter().map(|peer| Cell::summary(contest.ratio(*peer), 1.0, 3, "")));
        let best = contest.best();
        cells.push(best.map_or_else(|| Cell::Absent(String::new()), |(peer, _)| Cell::text(peer.heading())));
        cells.push(Cell::number(best.map(|(_, ratio)| ratio), 3, ""));
        section.row(cells);
    }
    type Summarize = fn(&[f64]) -> Option<f64>;
    let worst: Summarize = |ratios| ratios.iter().copied().reduce(f64::min);
    for (name, summarize) in [("geometric mean", geometric_mean as Summarize), ("worst", worst)] {
        let cell = |ratio: &dyn Fn(&Contest) -> Option<f64>| {
            Cell::number(summarize(&contests.iter().filter_map(ratio).collect::<Vec<_>>()), 3, "")
        };
        let mut cells = vec![Cell::text(name), Cell::Absent(String::new())];
        cells.extend(others.iter().map(|peer| cell(&|contest| Some(contest.ratio(*peer)?.median))));
        cells.push(Cell::Absent(String::new()));
        cells.push(cell(&|contest| Some(contest.best()?.1)));
        section.row(cells);
    }
    section
}

/// What each library called, and why a library has no speed: a line for each text, with the products that it applies to.
pub fn notes(contests: &[Contest]) -> Vec<String> {
    let mut lines: Vec<(String, Vec<&str>)> = Vec::new();
    for peer in Peer::ALL {
        for contest in contests {
            let Some((_, outcome)) = contest.outcomes.iter().find(|(other, _)| *other == peer) else { continue };
            let text = match outcome {
                Ok(measured) => format!("{} called {}", peer.heading(), measured.call),
                Err(Failure { word, why }) => format!("{}: {word}: {why}", peer.heading()),
            };
            match lines.iter_mut().find(|(other, _)| *other == text) {
                Some((_, names)) => names.push(&contest.shape.name),
                None => lines.push((text, vec![&contest.shape.name])),
            }
        }
    }
    let line = |(text, names): (String, Vec<&str>)| {
        if names.len() == contests.len() { text } else { format!("{text} ({})", names.join(", ")) }
    };
    lines.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::super::contest::Measured;
    use super::super::shapes::all;
    use super::*;
    use crate::machine::Machine;
    use crate::report::{Format, Report};
    use serde_json::Value;

    fn contest(at: usize, ours: &[f64], openblas: &[f64], onednn: Option<&[f64]>) -> Contest {
        let measured =
            |call: &str, speeds: &[f64]| Measured { name: "x".into(), call: call.into(), speeds: speeds.to_vec() };
        let missing = || Failure::new("not run", "no file");
        Contest {
            shape: all().unwrap().swap_remove(at),
            outcomes: vec![
                (Peer::Mxrs, Ok(measured("ours", ours))),
                (Peer::Openblas, Ok(measured("sgemm", openblas))),
                (Peer::Onednn, onednn.map(|speeds| measured("matmul", speeds)).ok_or_else(missing)),
            ],
        }
    }

    #[test]
    fn ratios_have_their_mean_and_their_worst() {
        let contests =
            [contest(0, &[2e9, 4e9], &[1e9, 2e9], Some(&[1e9, 8e9])), contest(1, &[8e9, 8e9], &[1e9, 1e9], None)];
        let report = Report {
            title: "Products".into(),
            machine: Machine { cpu: "a CPU".into(), n_cpus: 2 },
            peers: Vec::new(),
            sections: sections(&contests, &Peer::ALL),
            notes: notes(&contests),
        };
        let json: Value = serde_json::from_str(&report.render(Format::Json)).unwrap();
        let row = |section: &str, at: usize| json["sections"][section]["rows"][at].clone();
        assert_eq!((&row("fastest", 0)["mxrs"], &row("fastest", 0)["onednn"]), (&4.0.into(), &8.0.into()));
        assert_eq!(row("median", 0)["mxrs"]["median"], 3.0);
        assert_eq!((&row("ratio", 0)["best_peer"], &row("ratio", 0)["fastest_ratio"]), (&"oneDNN".into(), &0.5.into()));
        assert_eq!(row("ratio", 1)["fastest_ratio"], 8.0);
        // The ratios to OpenBLAS are 2 and 8, those to the fastest 0.5 and 8.
        let close = |value: &Value, want: f64| (value.as_f64().unwrap() - want).abs() < 1e-12;
        assert!(close(&row("ratio", 2)["openblas"], 4.0) && close(&row("ratio", 2)["fastest_ratio"], 2.0));
        assert!(close(&row("ratio", 3)["openblas"], 2.0) && close(&row("ratio", 3)["fastest_ratio"], 0.5));
        let table = report.render(Format::Table);
        assert!(table.contains("┆ not run"), "{table}");
        assert!(table.contains("- mxrs called ours\n"), "{table}");
        assert!(table.contains("- oneDNN: not run: no file (square-96)\n"), "{table}");
    }
}
