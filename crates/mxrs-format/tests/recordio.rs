//! Tests of record files, indices and image records with files of MXNet 1.9.1 and with broken files.

mod support;

use mxrs_format::reader::Reader;
use mxrs_format::recordio::{
    ImageRecord, Index, IndexedReader, IndexedWriter, MAGIC, RecordReader, RecordWriter, part_range,
};
use mxrs_format::{Limits, Options};
use mxrs_types::FormatErrorKind as K;
use std::fs;
use std::io::Cursor;
use support::{data, golden, kind};

fn all(bytes: &[u8], options: &Options) -> mxrs_types::Result<Vec<Vec<u8>>> {
    let mut reader = RecordReader::from_slice(bytes, options);
    let mut records = Vec::new();
    while let Some(record) = reader.next_record()? {
        records.push(record);
    }
    Ok(records)
}

fn write(records: &[Vec<u8>]) -> Vec<u8> {
    let mut writer = RecordWriter::new(Vec::new());
    for record in records {
        writer.write(record).unwrap();
    }
    writer.into_inner()
}

#[test]
fn files_of_mxnet_come_back_byte_for_byte() {
    for rec in [data("digits_train.rec"), data("digits_val.rec"), golden("escape.rec")] {
        let bytes = fs::read(&rec).unwrap();
        let records = all(&bytes, &Options::strict()).unwrap();
        assert!(write(&records) == bytes, "{rec:?}");
        let idx = rec.with_extension("idx");
        let index = Index::open(&idx, Some(bytes.len() as u64)).unwrap();
        assert_eq!(index.to_text().into_bytes(), fs::read(&idx).unwrap());
        assert_eq!(index.len(), records.len());
        index.verify(&mut Reader::open(&rec).unwrap()).unwrap();
        let mut reader = IndexedReader::open(&rec, &idx, &Options::strict()).unwrap();
        for (&(key, _), record) in index.entries().iter().zip(&records).rev() {
            assert_eq!(reader.read(key).unwrap(), *record);
        }
        assert!(reader.read(1 << 40).is_err());
    }
}

#[test]
fn digits_are_labeled_png_images() {
    let rec = data("digits_val.rec");
    let mut reader = RecordReader::open(&rec, &Options::strict()).unwrap();
    let mut count = 0;
    while let Some(record) = reader.next_record().unwrap() {
        let image = ImageRecord::unpack(&record).unwrap();
        assert_eq!((image.id, image.id2, image.labels.len()), (count, 0, 0));
        assert!((0.0..10.0).contains(&image.label));
        assert!(image.image.starts_with(b"\x89PNG"));
        assert_eq!(image.pack(), record);
        count += 1;
    }
    assert_eq!(count, 297);
    // The ids are the keys of the index.
    let mut reader = RecordReader::open(&rec, &Options::strict()).unwrap();
    let built = Index::build(&mut reader, false).unwrap();
    assert_eq!(built.to_text(), fs::read_to_string(data("digits_val.idx")).unwrap());
}

/// The file contains the payloads that `generate.py` wrote.
#[test]
fn escaped_payloads_and_image_headers() {
    let records = all(&fs::read(golden("escape.rec")).unwrap(), &Options::strict()).unwrap();
    let m = MAGIC.to_le_bytes();
    let cat = |parts: &[&[u8]]| parts.concat();
    let plain = [
        vec![],
        m.to_vec(),
        cat(&[b"abcd", &m, b"efg"]),
        cat(&[&m, &m]),
        cat(&[b"ab", &m, b"cd"]),
        cat(&[b"abcd", &m]),
        b"abcde".to_vec(),
    ];
    assert_eq!(records[..7], plain);
    let images: Vec<ImageRecord<'_>> = records[7..].iter().map(|r| ImageRecord::unpack(r).unwrap()).collect();
    assert_eq!(images.iter().map(|i| i.id).collect::<Vec<_>>(), [7, 8, 9]);
    assert_eq!((images[0].label, images[0].labels.len(), images[0].all_labels()), (4.0, 0, &[4.0][..]));
    assert_eq!((images[1].label, &images[1].labels[..]), (0.0, &[4.0][..]));
    assert_eq!(images[2].labels_of_width(3).unwrap(), [1.0, 2.0, 3.0]);
    for (image, record) in images.iter().zip(&records[7..]) {
        assert_eq!((image.image, image.pack()), (&b"img"[..], record.clone()));
    }
    let mut file = RecordReader::open(golden("escape.rec"), &Options::strict()).unwrap();
    let index = Index::build(&mut file, true).unwrap();
    assert_eq!((index.len(), index.offset(9)), (10, Some(200)));
}

fn part(flag: u32, payload: &[u8]) -> Vec<u8> {
    let pad = vec![0; (4 - payload.len() % 4) % 4];
    [&MAGIC.to_le_bytes()[..], &(flag << 29 | payload.len() as u32).to_le_bytes(), payload, &pad].concat()
}

#[test]
fn broken_records() {
    let good = part(0, b"abcd");
    let cat = |parts: &[&[u8]]| parts.concat();
    let claim = |len: u32| [MAGIC.to_le_bytes(), len.to_le_bytes()].concat();
    type Case = (&'static str, Vec<u8>, u64, fn(&K) -> bool);
    let cases: [Case; 14] = [
        ("wrong magic", cat(&[&good, b"wrongmagic.."]), 12, |k| matches!(k, K::BadMagic { .. })),
        ("1 byte", cat(&[&good, &good[..1]]), 12, |k| matches!(k, K::Truncated { need: 8, have: 1 })),
        ("7 bytes", cat(&[&good, &good[..7]]), 12, |k| matches!(k, K::Truncated { need: 8, have: 7 })),
        ("length beyond the end", claim((1 << 29) - 1), 8, |k| matches!(k, K::Truncated { have: 0, .. })),
        ("cut in the data", part(0, b"abcdefgh")[..12].to_vec(), 8, |k| matches!(k, K::Truncated { need: 8, have: 4 })),
        ("ends in a record", part(1, b"abcd"), 12, |k| matches!(k, K::Truncated { .. })),
        ("ends in a record", cat(&[&part(1, b""), &part(2, b"")]), 16, |k| matches!(k, K::Truncated { .. })),
        ("part 2 first", part(2, b"abcd"), 0, |k| *k == K::Inconsistent),
        ("part 3 first", cat(&[&good, &part(3, b"abcd")]), 12, |k| *k == K::Inconsistent),
        ("0 inside", cat(&[&part(1, b"abcd"), &good]), 12, |k| *k == K::Inconsistent),
        ("1 inside", cat(&[&part(1, b"abcd"), &part(1, b"")]), 12, |k| *k == K::Inconsistent),
        ("odd first part", cat(&[&part(1, b"abc"), &part(3, b"")]), 0, |k| *k == K::Inconsistent),
        ("flag 4", part(4, b"abcd"), 4, |k| *k == K::InvalidValue),
        ("flag 7", part(7, b"abcd"), 4, |k| *k == K::InvalidValue),
    ];
    for (what, bytes, offset, expected) in cases {
        let e = all(&bytes, &Options::strict()).unwrap_err();
        assert!(expected(kind(&e)), "{what}: {e}");
        assert!(e.to_string().contains(&format!("at offset {offset}: ")), "{what}: {e}");
        // Lenient reading finds the good record that follows, unless the length of the broken record covers the head of the
        // good one.
        if bytes.len() % 4 == 0 && what != "cut in the data" {
            let records = all(&cat(&[&bytes, &good]), &Options::lenient()).unwrap();
            assert_eq!(records.last().unwrap(), b"abcd", "{what}");
        }
    }
    let limits = Limits { max_record: 7, ..Limits::default() };
    let joined = cat(&[&part(1, b"abcd"), &part(3, b"")]);
    let e = all(&joined, &Options { limits: limits.clone(), ..Options::default() }).unwrap_err();
    assert_eq!(*kind(&e), K::LimitExceeded { value: 8, max: 7 });
    let e = all(&part(0, b"abcdefgh"), &Options { limits, ..Options::default() }).unwrap_err();
    assert_eq!(*kind(&e), K::LimitExceeded { value: 8, max: 7 });
}

#[test]
fn padding() {
    let bare = [&part(0, b"abcd")[..], &part(0, b"xyz")[..11]].concat();
    let e = all(&bare, &Options::strict()).unwrap_err();
    assert!(matches!(kind(&e), K::Truncated { need: 1, have: 0 }), "{e}");
    assert_eq!(all(&bare, &Options::lenient()).unwrap(), [b"abcd".to_vec(), b"xyz".to_vec()]);
    let mut odd = part(0, b"xyz");
    odd[11] = 9;
    let mut reader = RecordReader::from_slice(&odd, &Options::strict());
    assert_eq!(reader.next_record().unwrap().as_deref(), Some(&b"xyz"[..]));
    assert_eq!(reader.take_warnings(), ["padding after the record at 0 is not zero"]);
}

#[test]
fn lenient_reading_counts_what_it_passes_over() {
    let good = fs::read(data("digits_val.rec")).unwrap();
    let records = all(&good, &Options::strict()).unwrap();
    let index = Index::open(data("digits_val.idx"), None).unwrap();
    let (start, end) = (index.offset(100).unwrap() as usize, index.offset(101).unwrap() as usize);
    let mut bytes = good.clone();
    bytes[start] ^= 0xff;
    assert!(matches!(kind(&all(&bytes, &Options::strict()).unwrap_err()), K::BadMagic { .. }));
    let mut reader = RecordReader::from_slice(&bytes, &Options::lenient());
    let mut found = Vec::new();
    while let Some(record) = reader.next_record().unwrap() {
        found.push(record);
    }
    let expected: Vec<_> = records[..100].iter().chain(&records[101..]).cloned().collect();
    assert!(found == expected);
    assert_eq!(reader.skipped_bytes(), (end - start) as u64);
    assert_eq!(reader.take_warnings().len(), 1);
    // The same is tested with a pipe, whose length is not known.
    let mut reader = RecordReader::new(Reader::from_stream(&bytes[..]), &Options::lenient());
    let mut count = 0;
    while reader.next_record().unwrap().is_some() {
        count += 1;
    }
    assert_eq!((count, reader.skipped_bytes()), (296, (end - start) as u64));
}

#[test]
fn parts_of_a_file_are_the_whole_file() {
    for rec in [data("digits_train.rec"), golden("escape.rec")] {
        let bytes = fs::read(rec).unwrap();
        let records = all(&bytes, &Options::strict()).unwrap();
        for n_parts in [1, 2, 3, 7, 50, 400] {
            let mut found = Vec::new();
            let mut last = 0;
            for part in 0..n_parts {
                let range = part_range(Cursor::new(&bytes), bytes.len() as u64, part, n_parts).unwrap();
                assert_eq!(range.start, last);
                last = range.end;
                let source = Reader::bounded(Cursor::new(&bytes), 0, bytes.len() as u64);
                let mut reader = RecordReader::new(source, &Options::strict());
                reader.set_range(range).unwrap();
                while let Some(record) = reader.next_record().unwrap() {
                    found.push(record);
                }
            }
            assert_eq!(last, bytes.len() as u64);
            assert!(found == records, "{n_parts} parts");
        }
    }
    assert!(part_range(Cursor::new(b""), 0, 1, 1).is_err());
}

#[test]
fn an_index_that_does_not_fit_the_records() {
    let rec = data("digits_val.rec");
    let mut source = Reader::open(&rec).unwrap();
    let e = Index::from_bytes(b"0\t4\n", None).unwrap().verify(&mut source).unwrap_err();
    assert!(matches!(kind(&e), K::BadMagic { .. }), "{e}");
    let len = fs::metadata(&rec).unwrap().len();
    let e =
        Index::from_bytes(format!("0\t{}\n", len / 4 * 4).as_bytes(), None).unwrap().verify(&mut source).unwrap_err();
    assert!(matches!(kind(&e), K::Truncated { .. }), "{e}");
    let mut reader = RecordReader::open(&rec, &Options::strict()).unwrap();
    let e = reader.read_at(4).unwrap_err();
    assert!(e.to_string().contains("digits_val.rec at offset 4: not this format"), "{e}");
    assert_eq!(*kind(&reader.read_at(2).unwrap_err()), K::InvalidValue);
    assert!(matches!(kind(&reader.read_at(len).unwrap_err()), K::Truncated { .. }));
    assert!(reader.read_at(0).is_ok());
}

#[test]
fn writing_both_files() {
    let dir = tempfile::tempdir().unwrap();
    let (rec, idx) = (dir.path().join("a.rec"), dir.path().join("a.idx"));
    let mut writer = IndexedWriter::create(&rec, &idx).unwrap();
    writer.write(7, b"seven").unwrap();
    writer.write(3, b"three!").unwrap();
    assert_eq!(*kind(&writer.write(7, b"again").unwrap_err()), K::Duplicate);
    assert!(!rec.exists() && !idx.exists());
    writer.finish().unwrap();
    assert_eq!(fs::read_to_string(&idx).unwrap(), "7\t0\n3\t16\n");
    let mut reader = IndexedReader::open(&rec, &idx, &Options::strict()).unwrap();
    assert_eq!((reader.read(3).unwrap(), reader.read(7).unwrap()), (b"three!".to_vec(), b"seven".to_vec()));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
}

/// Offsets read from the heads alone equal those of reading whole records, for any payloads; damage is noticed or skipped.
#[test]
fn offsets_without_payloads() {
    let magic = mxrs_format::recordio::MAGIC.to_le_bytes();
    let records: Vec<Vec<u8>> = (0..40_usize)
        .map(|i| (0..i * 7 % 61).map(|b| if i % 3 == 0 { magic[b % 4] } else { (b * i) as u8 }).collect())
        .collect();
    let bytes = write(&records);
    let offsets = |bytes: &[u8], options: &Options, start: u64| {
        let mut reader =
            RecordReader::new(Reader::bounded(std::io::Cursor::new(bytes), 0, bytes.len() as u64), options);
        reader.set_range(start..bytes.len() as u64).unwrap();
        reader.offsets()
    };
    let mut reader = RecordReader::from_slice(&bytes, &Options::strict());
    let mut record = Vec::new();
    let mut read = Vec::new();
    while let Some(offset) = reader.read_into(&mut record).unwrap() {
        read.push(offset);
    }
    assert_eq!(offsets(&bytes, &Options::strict(), 0).unwrap(), read);
    assert_eq!(offsets(&bytes, &Options::strict(), read[7]).unwrap(), read[7..]);
    for len in (1..bytes.len()).step_by(3).filter(|len| !read.contains(&(*len as u64))) {
        assert!(offsets(&bytes[..len], &Options::strict(), 0).is_err(), "cut to {len}");
    }
    let mut damaged = bytes.clone();
    damaged[read[5] as usize] ^= 1;
    assert!(offsets(&damaged, &Options::strict(), 0).is_err());
    let found = offsets(&damaged, &Options::lenient(), 0).unwrap();
    assert_eq!(found, read.iter().copied().filter(|at| *at != read[5]).collect::<Vec<_>>());
}
