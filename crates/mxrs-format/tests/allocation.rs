//! Hostile lengths do not make readers allocate much: peak memory stays below twice the input plus 16 MiB.

mod support;

use mxrs_format::recordio::{ImageRecord, Index, RecordReader};
use mxrs_format::{ArrayFile, Options};
use peak_alloc::PeakAlloc;
use std::sync::Mutex;
use support::{data, golden};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Locked by each test while it runs, so that only one test runs at a time: the memory counter is per process.
static TURN: Mutex<()> = Mutex::new(());

const SLACK: usize = 16 << 20;

/// Runs `read` on `input` and checks its peak memory, not counting `input` itself.
fn bounded(what: &str, input: &[u8], read: impl FnOnce(&[u8])) {
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    read(input);
    let peak = MEMORY.peak_usage().saturating_sub(before);
    let bound = input.len() * 2 + SLACK;
    assert!(peak <= bound, "{what}: {peak} bytes for an input of {} (at most {bound})", input.len());
}

fn arrays(what: &str, input: &[u8]) {
    for options in [Options::strict(), Options::lenient()] {
        bounded(what, input, |bytes| drop(ArrayFile::from_bytes(bytes, &options)));
    }
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

#[test]
fn parameter_lists() {
    let _turn = TURN.lock();
    let list = |rest: &[u32]| words(&[&[0x112, 0, 0, 0][..], rest].concat());
    arrays("count 2^45", &list(&[0, 1 << 13, 0xF993_FAC9, 0]));
    arrays("count 2^32", &list(&[0, 1]));
    arrays("axes 2^28", &list(&[1, 0, 0xF993_FAC9, 0, 1 << 28]));
    arrays("old axes", &list(&[1, 0, 0x3fff_ffff, 1]));
    arrays("axis 2^33", &list(&[1, 0, 0xF993_FAC9, 0, 1, 0, 2, 1, 0, 0, 1, 2, 3, 4]));
    arrays("2^40 x 2^40", &list(&[1, 0, 0xF993_FAC9, 0, 2, 0, 256, 0, 256, 1, 0, 0]));
    arrays(
        "csr of 2^40 rows",
        &list(&[1, 0, 0xF993_FAC9, 2, 1, 0, 1, 2, 0, 256, 4, 0, 1, 0, 0, 6, 1, 1, 256, 6, 1, 0, 1]),
    );
    arrays("name 2^50", &list(&[1, 0, 0, 1, 0, 0, 1 << 18]));
    // A million "none" arrays of four bytes each, the largest number that the limit allows.
    let mut zeros = list(&[1 << 20, 0]);
    zeros.resize(zeros.len() + (4 << 20) + 8, 0);
    arrays("none arrays", &zeros);
    assert_eq!(ArrayFile::from_bytes(&zeros, &Options::strict()).unwrap().value.arrays.len(), 1 << 20);
    arrays("a real file", &std::fs::read(data("lenet-0010.params")).unwrap());
}

#[test]
fn safetensors() {
    let _turn = TURN.lock();
    let hostile = |what: &str, header: String| {
        let file = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes()].concat();
        bounded(what, &file, |bytes| {
            assert!(mxrs_format::safetensors::SafeTensors::from_bytes(bytes, &Options::default()).is_err());
        });
    };
    // As general JSON values these lists would take ten times the memory of their text.
    hostile("lists in a header", format!(r#"{{"w":[{}[]]}}"#, "[],".repeat(4 << 20)));
    hostile("values in the texts", format!(r#"{{"__metadata__":{{"a":[{}0]}}}}"#, "0,".repeat(8 << 20)));
    hostile("length of the header", String::new());
}

#[test]
fn streams_of_unknown_length() {
    let _turn = TURN.lock();
    let claim = words(&[0x112, 0, 0, 0, 1, 0, 0xF993_FAC9, 0, 1, 0, 1 << 10, 1, 0, 0]);
    bounded("stream", &claim, |bytes| drop(mxrs_format::params::read_stream(bytes, &Options::strict())));
}

#[test]
fn npy_and_npz() {
    let _turn = TURN.lock();
    let npy = |shape: &str| {
        let dict = format!("{{'descr': '<f8', 'fortran_order': True, 'shape': {shape}}}\n");
        [b"\x93NUMPY\x01\0", &(dict.len() as u16).to_le_bytes()[..], dict.as_bytes()].concat()
    };
    arrays("npy 2^40", &npy("(1099511627776,)"));
    arrays("npy 2^20 x 2^20", &npy("(1048576, 1048576)"));
    arrays("npy header of 4 GiB", b"\x93NUMPY\x02\0\xff\xff\xff\xff{");
    let npz = std::fs::read(golden("list.npz")).unwrap();
    arrays("npz", &npz);
    // The end record claims as many members and bytes as its fields can hold.
    let end = npz.len() - 22;
    for at in [8, 10, 12, 14, 16, 18] {
        let mut hostile = npz.clone();
        hostile[end + at] = 0xff;
        hostile[end + at + 1] = 0x7f;
        arrays("npz directory", &hostile);
    }
    // A member claims to unpack to 1 GiB.
    let entry = npz.windows(4).position(|w| w == b"PK\x01\x02").unwrap();
    let mut bomb = npz.clone();
    bomb[entry + 24..entry + 28].copy_from_slice(&(1u32 << 30).to_le_bytes());
    arrays("npz member", &bomb);
}

#[test]
fn records_and_indices() {
    let _turn = TURN.lock();
    let claim = words(&[0xced7_230a, (1 << 29) - 1, 0, 0]);
    for options in [Options::strict(), Options::lenient()] {
        bounded("record", &claim, |bytes| drop(RecordReader::from_slice(bytes, &options).next_record()));
    }
    bounded("labels", &[0xff; 32], |bytes| drop(ImageRecord::unpack(bytes)));
    let index: String = (0..200_000).map(|i| format!("{i}\t{}\n", i * 4)).collect();
    bounded("index", index.as_bytes(), |bytes| drop(Index::from_bytes(bytes, None).unwrap()));
}
