//! Bad records in `mxrs train` and `mxrs evaluate`: they are skipped and counted, or end the command with `--strict`.

use crate::mxrs::{Ran, mxrs};
use crate::small::Small;
use mxrs_format::Options;
use mxrs_format::recordio::{RecordReader, RecordWriter};

/// Number of bytes before the image in a record with one label.
const HEADER: usize = 24;

/// Writes a record file in which a text replaces the image of one record.
fn with_a_bad_one(small: &Small) -> String {
    let bytes = std::fs::read(&small.records).unwrap();
    let mut reader = RecordReader::from_slice(&bytes, &Options::default());
    let mut writer = RecordWriter::new(Vec::new());
    for i in 0.. {
        let Some(mut record) = reader.next_record().unwrap() else { break };
        if i == 33 {
            record.truncate(HEADER);
            record.extend(b"no image");
        }
        writer.write(&record).unwrap();
    }
    std::fs::write(small.at("bad.rec"), writer.into_inner()).unwrap();
    small.path("bad.rec")
}

#[test]
fn a_training_counts_bad_records_or_stops() {
    let small = Small::new();
    let bad = with_a_bad_one(&small);
    let flags = ["train", "imagenet", "--network", "mlp", "--num-classes", "10", "--image-shape", "1,28,28"];
    let data = ["--data-train", &bad, "--data-val", &bad, "--rgb-mean", "0", "--rgb-std", "255", "--batch-size", "10"];
    let train = |more: &[&str]| mxrs(flags.into_iter().chain(data).chain(more.iter().copied()));
    let ran = train(&["--num-epochs", "2"]);
    let log = ran.err.clone();
    ran.ok();
    for epoch in [0, 1] {
        for what in ["Train", "Validation"] {
            let words = format!("WARNING:root:Epoch[{epoch}] {what}: bad records left out so far: 1");
            assert!(log.contains(&words), "{words}: {log}");
        }
    }
    assert!(log.contains("bad.rec") && log.contains("offset"), "{log}");
    let ran = train(&["--test-io", "1"]);
    assert!(ran.err.contains("59 samples in 6 batches") && ran.err.contains("bad records left out: 1"), "{}", ran.err);
    let error = train(&["--num-epochs", "2", "--strict"]).failed(3);
    assert!(error.contains("bad.rec") && !error.contains("left out"), "{error}");
    let good = small.log(&["--num-epochs", "1", "--data-val", &small.records]);
    assert!(!good.contains("left out"), "{good}");
}

#[test]
fn an_evaluation_counts_bad_records_or_stops() {
    let small = Small::new();
    let bad = with_a_bad_one(&small);
    let prefix = small.path("net");
    small.train(&["--num-epochs", "1", "--model-prefix", &prefix]).ok();
    let evaluate = |data: &str, more: &[&str]| -> Ran {
        let start = ["evaluate", "--model", &prefix, "--load-epoch", "1", "--data-val", data, "--json"];
        let size = ["--image-shape", "1,28,28", "--rgb-std", "255", "--batch-size", "10"];
        mxrs(start.into_iter().chain(size).chain(more.iter().copied()))
    };
    let ran = evaluate(&bad, &[]);
    assert!(ran.err.contains("WARNING:root:bad records left out: 1"), "{}", ran.err);
    let json = ran.json();
    assert_eq!((json["images"].as_u64(), json["bad_records"].as_u64()), (Some(59), Some(1)), "{json}");
    let error = evaluate(&bad, &["--strict"]).failed(3);
    assert!(error.contains("bad.rec"), "{error}");
    let whole = evaluate(&small.records, &["--strict"]).json();
    assert_eq!((whole["images"].as_u64(), whole["bad_records"].as_u64()), (Some(60), Some(0)), "{whole}");
}
