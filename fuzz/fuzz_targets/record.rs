//! Reads record files. Checks that nothing panics, and that the records are the same after writing and reading them again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mxrs_format::Options;
use mxrs_format::reader::Reader;
use mxrs_format::recordio::{Detection, ImageRecord, RecordReader, RecordWriter, part_range};
use std::io::Cursor;

fuzz_target!(|bytes: &[u8]| {
    for options in [Options::strict(), Options::lenient()] {
        let mut reader = RecordReader::from_slice(bytes, &options);
        let mut streamed = RecordReader::new(Reader::from_stream(bytes), &options);
        let mut writer = RecordWriter::new(Vec::new());
        let mut records = Vec::new();
        while let Ok(Some(record)) = reader.next_record() {
            if !options.lenient {
                assert!(streamed.next_record().unwrap().as_deref() == Some(&record[..]));
            }
            if let Ok(image) = ImageRecord::unpack(&record) {
                let _ = Detection::from_labels(image.all_labels());
            }
            writer.write(&record).unwrap();
            records.push(record);
        }
        let written = writer.into_inner();
        let mut again = RecordReader::from_slice(&written, &Options::strict());
        for record in &records {
            assert!(again.next_record().unwrap().as_ref() == Some(record));
        }
        assert!(again.next_record().unwrap().is_none());
        // Three readers, each of one part of the written file, together read every record once.
        let mut seen = 0;
        for part in 0..3 {
            let len = written.len() as u64;
            let range = part_range(Cursor::new(&written), len, part, 3).unwrap();
            let mut reader = RecordReader::new(Reader::bounded(Cursor::new(&written), 0, len), &Options::strict());
            reader.set_range(range).unwrap();
            while reader.next_record().unwrap().is_some() {
                seen += 1;
            }
        }
        assert_eq!(seen, records.len());
    }
});
