//! Everything that was measured, round by round, as JSON.

use super::Failure;
use super::concurrent::Pair;
use super::contest::{Contest, Measured};
use super::peers::Peer;
use crate::machine::Machine;
use serde_json::{Map, Value, json};

/// What a comparison measured.
pub fn json(machine: &Machine, contests: &[Contest], pairs: &[(String, Peer, Result<Pair, Failure>)]) -> Value {
    json!({
        "machine": { "cpu": machine.cpu, "n_cpus": machine.n_cpus },
        "contests": contests.iter().map(contest).collect::<Vec<_>>(),
        "concurrent": pairs.iter().map(|(network, peer, outcome)| pair(network, *peer, outcome)).collect::<Vec<_>>(),
    })
}

fn contest(contest: &Contest) -> Value {
    let peer = |(peer, outcome): &(Peer, Result<Measured, Failure>)| {
        let value = match outcome {
            Ok(measured) => of_measured(measured),
            Err(failure) => of_failure(failure),
        };
        (peer.key().to_owned(), value)
    };
    json!({
        "network": contest.case.network,
        "batch": contest.case.batch,
        "dtype": contest.case.dtype.word(),
        "threads": contest.case.threads,
        "mode": contest.case.mode.word(),
        "cpus_busy_with_others": contest.others,
        "peers": Value::Object(contest.outcomes.iter().map(peer).collect::<Map<_, _>>()),
    })
}

fn of_measured(measured: &Measured) -> Value {
    let agreement = measured.agreement.as_ref().map(|agreement| match agreement {
        Ok(a) => json!({
            "images": a.n_images,
            "same_class": a.n_same_class,
            "max_difference": a.max_difference,
        }),
        Err(failure) => of_failure(failure),
    });
    json!({
        "name": measured.name,
        "images_per_second": measured.speeds,
        "load_s": measured.load_s,
        "first_s": measured.first_s,
        "peak_bytes": measured.peak_bytes,
        "agreement": agreement,
    })
}

fn of_failure(failure: &Failure) -> Value {
    json!({ "failed": failure.word, "why": failure.why })
}

fn pair(network: &str, peer: Peer, outcome: &Result<Pair, Failure>) -> Value {
    let mut value = match outcome {
        Ok(pair) => json!({ "alone": pair.alone, "together": pair.together }),
        Err(failure) => of_failure(failure),
    };
    value["network"] = json!(network);
    value["peer"] = json!(peer.key());
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Mode;
    use crate::score::{Case, Dtype};

    #[test]
    fn every_round_is_kept_and_every_reason() {
        let measured = Measured {
            name: "mxrs 1".into(),
            speeds: vec![1.0, 2.0],
            load_s: 0.25,
            first_s: 0.5,
            peak_bytes: None,
            agreement: Some(Err(Failure::new("other size", "why"))),
        };
        let contest = Contest {
            case: Case {
                network: "alexnet".into(),
                batch: 32,
                dtype: Dtype::Float32,
                threads: 2,
                mode: Mode::Inference,
            },
            outcomes: vec![(Peer::Mxrs, Ok(measured)), (Peer::Tract, Err(Failure::new("died", "of thirst")))],
            others: Some(0.5),
        };
        let machine = Machine { cpu: "a CPU".into(), n_cpus: 2 };
        let pairs = [("alexnet".to_owned(), Peer::Mxrs, Err(Failure::new("one CPU", "so")))];
        let value = json(&machine, &[contest], &pairs);
        let contest = &value["contests"][0];
        assert_eq!((&contest["batch"], &contest["cpus_busy_with_others"]), (&32.into(), &0.5.into()));
        assert_eq!(contest["peers"]["mxrs"]["images_per_second"], json!([1.0, 2.0]));
        assert_eq!(contest["peers"]["mxrs"]["agreement"]["failed"], "other size");
        assert_eq!(contest["peers"]["tract"], json!({ "failed": "died", "why": "of thirst" }));
        assert_eq!(
            value["concurrent"][0],
            json!({ "network": "alexnet", "peer": "mxrs", "failed": "one CPU", "why": "so" })
        );
    }
}
