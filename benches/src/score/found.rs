//! The results of one run, and the report made from them.

use super::Failure;
use super::concurrent::{self, Pair};
use super::contest::Contest;
use super::peers::{NO_PEERS, Peer};
use super::{plot, tables};
use crate::machine::Machine;
use crate::report::{PeerStatus, Report};
use anyhow::Result;
use clap::ValueEnum;

/// Results of running two instances of a library at the same time: network, peer and speeds.
pub type Together = (String, Peer, Result<Pair, Failure>);

/// The results of one run.
#[derive(Clone, Debug)]
pub struct Found {
    /// What was compared.
    pub title: String,
    /// The machine that it ran on.
    pub machine: Machine,
    /// The requested peers.
    pub peers: Vec<Peer>,
    /// Results by case.
    pub contests: Vec<Contest>,
    /// Results of two instances at the same time; empty if that was not requested.
    pub pairs: Vec<Together>,
    /// Notes on how the run was measured.
    pub notes: Vec<String>,
}

impl Found {
    /// Makes the report.
    pub fn report(&self) -> Report {
        let mut sections = tables::sections(&self.contests, &self.peers);
        let mut notes = tables::reasons(&self.contests);
        if !self.pairs.is_empty() {
            let mut section = concurrent::section();
            for (network, peer, pair) in &self.pairs {
                section.row(concurrent::row(network, *peer, pair));
                if let Err(failure) = pair {
                    notes.push(format!("{} ({network}, two at once): {failure}", peer.heading()));
                }
            }
            sections.push(section);
        }
        notes.extend(self.notes.iter().cloned());
        Report { title: self.title.clone(), machine: self.machine.clone(), peers: self.statuses(), sections, notes }
    }

    /// Draws the results as a bar chart in SVG.
    ///
    /// # Errors
    /// Fails if [`plot::svg`] does.
    pub fn chart(&self) -> Result<String> {
        plot::svg(&self.contests, &self.peers, &self.machine.to_string())
    }

    /// The status of every other library: the name that it reports, or why it never took part.
    fn statuses(&self) -> Vec<PeerStatus> {
        let status = |peer: &Peer| {
            let measured = self.contests.iter().find_map(|contest| contest.measured(*peer));
            let outcomes = self.contests.iter().flat_map(|contest| &contest.outcomes);
            let why = outcomes.filter(|(other, _)| other == peer).find_map(|(_, outcome)| outcome.as_ref().err());
            match measured {
                Some(measured) => PeerStatus { name: measured.name.clone(), missing: None },
                None => PeerStatus {
                    name: peer.heading().into(),
                    missing: Some(why.map_or_else(String::new, |why| why.why.clone())),
                },
            }
        };
        let mut statuses: Vec<PeerStatus> = self.peers.iter().filter(|peer| **peer != Peer::Mxrs).map(status).collect();
        // Libraries that this program cannot measure are listed only if all peers were requested. A request for some peers
        // asks only about those.
        if self.peers.len() == Peer::value_variants().len() {
            let missing = |(name, why): (&str, &str)| PeerStatus { name: name.into(), missing: Some(why.into()) };
            statuses.extend(NO_PEERS.map(missing));
        }
        statuses
    }
}

/// Results of a made-up run: one case in which mxrs, tract and Candle took part, and runs of two instances, one of which
/// failed.
#[cfg(test)]
pub(super) fn sample(peers: &[Peer]) -> Found {
    use super::agreement::Agreement;
    use super::contest::Measured;
    use super::{Case, Dtype};
    use crate::memory::Mode;
    let measured = |name: &str, speeds: &[f64]| Measured {
        name: name.into(),
        speeds: speeds.to_vec(),
        load_s: 0.25,
        first_s: 0.5,
        peak_bytes: (name == "mxrs 1").then_some(3 << 20),
        agreement: None,
    };
    let agreement = Agreement { n_images: 4, n_same_class: 3, max_difference: f64::INFINITY };
    let outcome = |peer: &Peer| {
        let outcome = match peer {
            Peer::Mxrs => Ok(measured("mxrs 1", &[2.0, 4.0])),
            Peer::Tract => Ok(Measured { agreement: Some(Ok(agreement)), ..measured("tract 2", &[1.0, 2.0]) }),
            Peer::Candle => {
                let agreement = Some(Err(Failure::new("other size", "why")));
                Ok(Measured { agreement, ..measured("Candle 3", &[1.0, 1.0]) })
            }
            _ => Err(Failure::new("died", "of thirst")),
        };
        (*peer, outcome)
    };
    let case = Case { network: "alexnet".into(), batch: 32, dtype: Dtype::Int8, threads: 2, mode: Mode::Inference };
    let contest = Contest { case, outcomes: peers.iter().map(outcome).collect(), others: Some(0.5) };
    let pair = Pair { alone: vec![1.0, 2.0], together: vec![2.0, 3.0], shared: Some(vec![2.0, 4.0]) };
    Found {
        title: "Images per second".into(),
        machine: Machine { cpu: "a CPU".into(), n_cpus: 2 },
        peers: peers.to_vec(),
        contests: vec![contest],
        pairs: vec![
            ("alexnet".into(), Peer::Mxrs, Ok(pair.clone())),
            ("alexnet".into(), Peer::Tract, Ok(Pair { shared: None, ..pair })),
            ("vgg-16".into(), Peer::Mxrs, Err(Failure::new("one core", "so"))),
        ],
        notes: vec!["2 rounds".into()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Format;

    #[test]
    fn who_took_part_and_who_did_not_is_told_first() {
        let text = sample(Peer::value_variants()).report().render(Format::Table);
        let head: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).collect();
        assert_eq!(head[0], "Images per second, on a CPU, 2 CPUs");
        assert!(head.contains(&"measured: tract 2") && head.contains(&"not measured: MXNet: of thirst"), "{text}");
        assert!(head.iter().any(|line| line.starts_with("not measured: burn: it runs no ONNX file")), "{text}");
        assert!(text.contains("- mxrs (vgg-16, two at once): one core: so\n"), "{text}");
        assert!(text.ends_with("- 2 rounds\n"), "{text}");
        let text = sample(&[Peer::Mxrs, Peer::Tract]).report().render(Format::Table);
        assert!(!text.contains("burn") && !text.contains("Candle"), "{text}");
    }
}
