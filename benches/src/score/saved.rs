//! Writes all results of `compare score` as JSON, round by round, and reads them again.

use super::agreement::Agreement;
use super::concurrent::Pair;
use super::contest::{Contest, Measured};
use super::found::{Found, Together};
use super::peers::Peer;
use super::{Case, Dtype, Failure};
use crate::machine::Machine;
use crate::memory::Mode;
use anyhow::{Context, Result, anyhow};
use clap::ValueEnum;
use serde_json::{Map, Value, json};

/// All results as JSON.
pub fn json(found: &Found) -> Value {
    json!({
        "title": found.title,
        "machine": { "cpu": found.machine.cpu, "n_cpus": found.machine.n_cpus },
        "peers": found.peers.iter().map(|peer| peer.key()).collect::<Vec<_>>(),
        "contests": found.contests.iter().map(contest).collect::<Vec<_>>(),
        "concurrent": found.pairs.iter().map(together).collect::<Vec<_>>(),
        "notes": found.notes,
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

fn together((network, peer, outcome): &Together) -> Value {
    let mut value = match outcome {
        Ok(pair) => json!({ "alone": pair.alone, "together": pair.together, "shared": pair.shared }),
        Err(failure) => of_failure(failure),
    };
    value["network"] = json!(network);
    value["peer"] = json!(peer.key());
    value
}

/// Reads results from JSON that [`json()`] wrote.
///
/// # Errors
/// Fails if the text is not JSON in this form; the message says what is missing.
pub fn read(text: &str) -> Result<Found> {
    let value: Value = serde_json::from_str(text)?;
    let machine = &value["machine"];
    let peers: Vec<Peer> = array(&value, "peers")?.iter().map(peer).collect::<Result<_>>()?;
    let contest = |value: &Value| to_contest(value, &peers);
    Ok(Found {
        title: string(&value, "title")?,
        machine: Machine { cpu: string(machine, "cpu")?, n_cpus: count(machine, "n_cpus")? },
        contests: array(&value, "contests")?.iter().map(contest).collect::<Result<_>>()?,
        pairs: array(&value, "concurrent")?.iter().map(to_together).collect::<Result<_>>()?,
        notes: array(&value, "notes")?.iter().filter_map(|note| note.as_str().map(str::to_owned)).collect(),
        peers,
    })
}

fn to_contest(value: &Value, peers: &[Peer]) -> Result<Contest> {
    let word = |key: &str| string(value, key);
    let case = Case {
        network: word("network")?,
        batch: count(value, "batch")?,
        dtype: Dtype::from_str(&word("dtype")?, false).map_err(|error| anyhow!("`dtype`: {error}"))?,
        threads: count(value, "threads")?,
        mode: Mode::from_str(&word("mode")?, false).map_err(|error| anyhow!("`mode`: {error}"))?,
    };
    let outcome = |peer: &Peer| {
        let outcome = value["peers"].get(peer.key()).with_context(|| format!("no `{}`", peer.key()))?;
        Ok((*peer, or_failure(outcome, to_measured)?))
    };
    let outcomes = peers.iter().map(outcome).collect::<Result<_>>().with_context(|| case.to_string())?;
    Ok(Contest { case, outcomes, others: value["cpus_busy_with_others"].as_f64() })
}

fn to_measured(value: &Value) -> Result<Measured> {
    let agreement = |value: &Value| {
        Ok(Agreement {
            n_images: count(value, "images")?,
            n_same_class: count(value, "same_class")?,
            // Infinity was written as null, because JSON has no infinity.
            max_difference: value["max_difference"].as_f64().unwrap_or(f64::INFINITY),
        })
    };
    let compared = Some(&value["agreement"]).filter(|agreement| !agreement.is_null());
    Ok(Measured {
        name: string(value, "name")?,
        speeds: numbers(value, "images_per_second")?,
        load_s: number(value, "load_s")?,
        first_s: number(value, "first_s")?,
        peak_bytes: value["peak_bytes"].as_u64(),
        agreement: compared.map(|value| or_failure(value, agreement)).transpose()?,
    })
}

fn to_together(value: &Value) -> Result<Together> {
    let pair = |value: &Value| {
        let shared = if value["shared"].is_null() { None } else { Some(numbers(value, "shared")?) };
        Ok(Pair { alone: numbers(value, "alone")?, together: numbers(value, "together")?, shared })
    };
    Ok((string(value, "network")?, peer(&value["peer"])?, or_failure(value, pair)?))
}

/// The failure in `value` if it holds one, otherwise the result of `read`.
fn or_failure<T>(value: &Value, read: impl FnOnce(&Value) -> Result<T>) -> Result<Result<T, Failure>> {
    match value["failed"].as_str() {
        Some(word) => Ok(Err(Failure::new(word.to_owned(), string(value, "why")?))),
        None => Ok(Ok(read(value)?)),
    }
}

fn peer(value: &Value) -> Result<Peer> {
    value.as_str().and_then(Peer::of_key).with_context(|| format!("no peer is called {value}"))
}

fn string(value: &Value, key: &str) -> Result<String> {
    value[key].as_str().map(str::to_owned).with_context(|| format!("no `{key}`"))
}

fn number(value: &Value, key: &str) -> Result<f64> {
    value[key].as_f64().with_context(|| format!("no `{key}`"))
}

fn count(value: &Value, key: &str) -> Result<usize> {
    value[key].as_u64().and_then(|n| n.try_into().ok()).with_context(|| format!("no `{key}`"))
}

fn array<'a>(value: &'a Value, key: &str) -> Result<&'a [Value]> {
    value[key].as_array().map(Vec::as_slice).with_context(|| format!("no `{key}`"))
}

fn numbers(value: &Value, key: &str) -> Result<Vec<f64>> {
    let numbers = array(value, key)?.iter().map(Value::as_f64).collect::<Option<_>>();
    numbers.with_context(|| format!("`{key}` is not of numbers"))
}

#[cfg(test)]
mod tests {
    use super::super::found::sample;
    use super::*;
    use crate::report::Format;

    const PEERS: [Peer; 4] = [Peer::Mxrs, Peer::Tract, Peer::Candle, Peer::Openvino];

    #[test]
    fn every_round_is_kept_and_every_reason() {
        let value = json(&sample(&PEERS));
        let contest = &value["contests"][0];
        assert_eq!((&contest["batch"], &contest["cpus_busy_with_others"]), (&32.into(), &0.5.into()));
        assert_eq!(contest["peers"]["mxrs"]["images_per_second"], json!([2.0, 4.0]));
        assert_eq!(contest["peers"]["candle"]["agreement"]["failed"], "other size");
        assert_eq!(contest["peers"]["openvino"], json!({ "failed": "died", "why": "of thirst" }));
        assert_eq!(value["concurrent"][0]["shared"], json!([2.0, 4.0]));
        assert_eq!(
            value["concurrent"][2],
            json!({ "network": "vgg-16", "peer": "mxrs", "failed": "one core", "why": "so" })
        );
    }

    #[test]
    fn what_was_saved_gives_the_same_report() {
        let found = sample(&PEERS);
        let again = read(&format!("{:#}\n", json(&found))).unwrap();
        assert_eq!((&again.contests[0].outcomes, &again.pairs), (&found.contests[0].outcomes, &found.pairs));
        for format in Format::value_variants() {
            assert_eq!(again.report().render(*format), found.report().render(*format));
        }
        assert_eq!(again.chart().unwrap(), found.chart().unwrap());
    }

    #[test]
    fn what_is_missing_is_named() {
        let whole = json(&sample(&PEERS));
        for key in ["title", "machine", "peers", "contests", "concurrent", "notes"] {
            let mut value = whole.clone();
            value[key] = Value::Null;
            let error = format!("{:#}", read(&value.to_string()).unwrap_err());
            assert!(error.contains(if key == "machine" { "cpu" } else { key }), "{key}: {error}");
        }
        let mut value = whole.clone();
        value["contests"][0]["dtype"] = json!("int4");
        assert!(read(&value.to_string()).unwrap_err().to_string().contains("int4"));
        value = whole;
        value["contests"][0]["peers"]["tract"] = Value::Null;
        let error = format!("{:#}", read(&value.to_string()).unwrap_err());
        assert!(error.contains("alexnet, inference, batch 32") && error.contains("no `name`"), "{error}");
        assert!(read("score").is_err());
    }
}
