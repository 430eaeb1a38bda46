//! Reads the Perfetto trace as protobuf bytes, and checks it against the field numbers of Perfetto's schema.

use crate::{Turn, of_kind, operator};
use mxrs_profiler::{Config, Domain, MarkScope};
use mxrs_trace::SpanKind;
use std::collections::BTreeMap;

/// A value of the wire format.
#[derive(Clone, Debug, PartialEq)]
enum Field {
    Number(u64),
    Bytes(Vec<u8>),
}

impl Field {
    fn number(&self) -> u64 {
        match self {
            Self::Number(number) => *number,
            Self::Bytes(_) => panic!("{self:?} is not a number"),
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Bytes(bytes) => String::from_utf8(bytes.clone()).unwrap(),
            Self::Number(_) => panic!("{self:?} is not a text"),
        }
    }

    fn message(&self) -> Message {
        match self {
            Self::Bytes(bytes) => message(bytes),
            Self::Number(_) => panic!("{self:?} is not a message"),
        }
    }
}

/// The fields of a message by number.
type Message = BTreeMap<u64, Vec<Field>>;

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..70).step_by(7) {
        let (byte, rest) = bytes.split_first().unwrap();
        *bytes = rest;
        value |= u64::from(byte & 127) << shift;
        if byte & 128 == 0 {
            return value;
        }
    }
    panic!("a number is too long");
}

fn message(mut bytes: &[u8]) -> Message {
    let mut fields = Message::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let field = match key & 7 {
            0 => Field::Number(varint(&mut bytes)),
            1 => {
                let (number, rest) = bytes.split_at(8);
                bytes = rest;
                Field::Number(u64::from_le_bytes(number.try_into().unwrap()))
            }
            2 => {
                let n_bytes = varint(&mut bytes) as usize;
                let (inner, rest) = bytes.split_at(n_bytes);
                bytes = rest;
                Field::Bytes(inner.to_vec())
            }
            other => panic!("wire type {other}"),
        };
        fields.entry(key >> 3).or_default().push(field);
    }
    fields
}

fn one(message: &Message, field: u64) -> &Field {
    let values = message.get(&field).unwrap_or_else(|| panic!("no field {field} in {message:?}"));
    assert_eq!(values.len(), 1);
    &values[0]
}

/// A track event: time, track, type, name, and the whole message.
struct Event {
    at_ns: u64,
    track: u64,
    kind: u64,
    name: String,
    fields: Message,
}

const BEGIN: u64 = 1;
const END: u64 = 2;
const INSTANT: u64 = 3;
const COUNTER: u64 = 4;

fn read(path: &std::path::Path) -> (BTreeMap<u64, Message>, Vec<Event>) {
    let trace = message(&std::fs::read(path).unwrap());
    let (mut tracks, mut events) = (BTreeMap::new(), Vec::new());
    for packet in &trace[&1] {
        let packet = packet.message();
        assert_eq!(one(&packet, 10).number(), 1, "the sequence");
        if packet.contains_key(&60) {
            let track = one(&packet, 60).message();
            assert!(tracks.insert(one(&track, 1).number(), track).is_none(), "a track was described twice");
        } else {
            let fields = one(&packet, 11).message();
            let name = fields.get(&23).map(|name| name[0].text()).unwrap_or_default();
            let (track, kind) = (one(&fields, 11).number(), one(&fields, 9).number());
            assert!(tracks.contains_key(&track), "an event comes before its track");
            events.push(Event { at_ns: one(&packet, 8).number(), track, kind, name, fields });
        }
    }
    (tracks, events)
}

#[test]
fn packets_have_the_numbers_of_perfettos_schema() {
    let turn = Turn::take();
    let path = turn.path("t.perfetto-trace");
    let profiler = turn.running(Config { perfetto: Some(path.clone()), profile_engine: true, ..turn.config() });
    let body = || {
        operator("outer", || operator("inner", || ()));
        of_kind(SpanKind::Push, "a task", || ());
        of_kind(SpanKind::Complete, "a task", || ());
    };
    std::thread::Builder::new().name("worker".into()).spawn(body).unwrap().join().unwrap();
    profiler.dump(false).unwrap();
    Domain::new("d").counter("c").set(1 << 40);
    Domain::new("d").marker("m").mark(MarkScope::Process);
    drop(Domain::new("d").task("t").started());
    profiler.dump(true).unwrap();
    let (tracks, mut events) = read(&path);
    events.sort_by_key(|event| event.at_ns);

    // Spans nest by time on the track of their thread.
    let of = |name: &str| events.iter().find(|event| event.name == name).unwrap();
    let thread = of("outer").track;
    let on_thread: Vec<_> = events.iter().filter(|event| event.track == thread).collect();
    let kinds: Vec<u64> = on_thread.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [BEGIN, BEGIN, END, END, BEGIN, END, BEGIN, END]);
    assert_eq!(on_thread[1].name, "inner");
    let row = one(&tracks[&thread], 4).message();
    assert_eq!(one(&row, 5).text(), "worker");
    assert_eq!(one(&row, 1).number(), u64::from(std::process::id()));
    let process = one(&tracks[&thread], 5).number();
    assert_eq!(one(&one(&tracks[&process], 3).message(), 1).number(), u64::from(std::process::id()));

    // Details are written as annotations, and details that are numbers as numbers.
    let details: BTreeMap<String, Field> = of("inner").fields[&4]
        .iter()
        .map(Field::message)
        .map(|note| (one(&note, 10).text(), note.get(&3).or(note.get(&6)).unwrap()[0].clone()))
        .collect();
    assert_eq!(details["flops"], Field::Number(1_000_000));
    assert_eq!(details["kernel"], Field::Bytes(b"winograd".to_vec()));
    assert_eq!(of("inner").fields[&22][0].text(), "operator");

    // The push is part of the flow of its task, and the completion ends it.
    let tasks: Vec<_> = on_thread.iter().filter(|event| event.name == "a task").collect();
    assert!(tasks[0].fields.contains_key(&47) && tasks[1].fields.contains_key(&48));

    let counter = events.iter().find(|e| e.kind == COUNTER && one(&e.fields, 30).number() == 1 << 40).unwrap();
    assert_eq!(one(&tracks[&counter.track], 2).text(), "d c");
    assert!(tracks[&counter.track].contains_key(&8));
    assert_eq!((of("m").kind, of("m").track), (INSTANT, process));
    assert_ne!(of("t").track, thread);
}
