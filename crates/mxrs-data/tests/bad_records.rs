//! Tests of bad records and of files that change: what is left out, what is an error, and what seeking counts.

mod golden;

use golden::{epoch_of, epochs, ids, image, write_records};
use mxrs_data::{Augment, DataBatch, DataIter, ImageRecordIter, ResizeIter, create};
use mxrs_types::{Error, ErrorKind};
use std::io::Write;
use std::path::Path;

fn rows(epoch: &[DataBatch]) -> Vec<(Vec<u64>, usize)> {
    epoch.iter().map(|b| (b.index.clone(), b.pad)).collect()
}

fn good() -> Vec<u8> {
    image("RGB.png")
}

fn cut() -> Vec<u8> {
    good()[..60].to_vec()
}

/// Whether the error contains the path of the record file.
fn blames(error: &Error, rec: &Path) -> bool {
    matches!(error.kind(), ErrorKind::Format { path: Some(path), .. } if path == rec)
}

/// Up to the limit, bad records are left out, counted once, and replaced by other records. The division into batches does
/// not change.
#[test]
fn bad_records_are_left_out_up_to_a_limit() {
    let folder = tempfile::tempdir().unwrap();
    let rec = folder.path().join("bad.rec");
    let offsets = write_records(&rec, &[good(), cut(), good(), good(), b"GIF89a".to_vec(), cut(), good()]);
    let builder = |most| ImageRecordIter::builder(&rec, [3, 13, 17], 3).preprocess_threads(2).max_bad_records(most);
    let mut iter = builder(3).build().unwrap();
    for _ in 0..2 {
        let epoch = epoch_of(&mut iter);
        // The last batch has record 106 and, from the start of the epoch, records 100 and 101; the latter is bad.
        let want = [(vec![100, 102, 100], 1), (vec![103, 103, 103], 2), (vec![106, 100, 106], 2)];
        assert_eq!(rows(&epoch), want);
        assert_eq!(epoch[0].labels[0].as_slice::<f32>().unwrap(), [0.0, 2.0, 0.0]);
        assert_eq!(iter.bad_records(), [offsets[1], offsets[4], offsets[5]]);
        DataIter::reset(&mut iter).unwrap();
    }
    let mut iter = builder(1).build().unwrap();
    assert!(iter.next_batch().is_ok());
    let text = iter.next_batch().unwrap_err().to_string();
    assert!(text.contains("max_bad_records") && text.contains("record 4 "), "{text}");
    assert_eq!(iter.next_batch().unwrap(), None, "an error ends the epoch");
    let mut iter = builder(0).build().unwrap();
    let text = iter.next_batch().unwrap_err().to_string();
    assert!(text.contains(&format!("offset {}", offsets[1])) && text.contains("record 1 "), "{text}");
    // Damage between records is skipped.
    let mut bytes = std::fs::read(&rec).unwrap();
    bytes[offsets[3] as usize] ^= 1;
    std::fs::write(&rec, &bytes).unwrap();
    let mut iter = builder(5).build().unwrap();
    assert_eq!(iter.count_records().unwrap(), 6);
    assert!(iter.skipped_bytes() > 0);
    assert_eq!(ids(&epoch_of(&mut iter)), [100, 102, 106], "104 and 105 are bad");
}

/// A batch of bad records is left out at any position; records that only fill up the last batch are ignored.
#[test]
fn a_batch_of_bad_records_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let rec = folder.path().join("bad.rec");
    write_records(&rec, &[cut(), cut(), good(), cut(), cut(), cut(), good(), good(), cut()]);
    for round_batch in [true, false] {
        let builder = ImageRecordIter::builder(&rec, [3, 13, 17], 2).round_batch(round_batch).max_bad_records(6);
        let want = [(vec![102, 102], 1), (vec![106, 107], 0)];
        assert_eq!(rows(&epochs(builder.clone(), 2)[1]), want);
        let plain: Vec<_> = builder.clone().build().unwrap().map(|batch| batch.unwrap().index).collect();
        assert_eq!(plain, [vec![102, 102], vec![106, 107]]);
        let limited = builder.max_bad_records(5).build().unwrap().map(|batch| batch.is_ok());
        assert_eq!(limited.collect::<Vec<_>>(), [true, true, false], "the last record is one too many");
    }
}

/// Every batch has bad records, some batches have no good record, and each epoch has another order. Still the batches do not
/// depend on the number of threads, and seeking gives the same batches.
#[test]
fn places_count_the_batches_that_are_delivered() {
    let folder = tempfile::tempdir().unwrap();
    let rec = folder.path().join("bad.rec");
    let images: Vec<Vec<u8>> = (0..40).map(|i| if i % 4 == 0 { good() } else { cut() }).collect();
    write_records(&rec, &images);
    let augment = Augment { rand_mirror: true, brightness: 0.3, ..Augment::default() };
    let builder = |threads| {
        let builder = ImageRecordIter::builder(&rec, [3, 13, 17], 3).shuffle(2).augment(augment.clone());
        builder.preprocess_threads(threads).max_bad_records(30)
    };
    let reference = epochs(builder(1), 3);
    for epoch in &reference {
        assert!((4..=10).contains(&epoch.len()), "10 good records in 14 batches: {}", epoch.len());
        let mut ids = ids(epoch);
        ids.sort_unstable();
        assert_eq!(ids, (100..140).step_by(4).collect::<Vec<u64>>());
    }
    for threads in [2, 8] {
        assert_eq!(epochs(builder(threads), 3), reference, "{threads} threads");
    }
    let mut ahead = builder(2).build_prefetching().unwrap();
    assert_eq!((ahead.n_examples(), ahead.n_batches()), (Some(40), None));
    for (epoch, batches) in reference.iter().enumerate() {
        for batch in 0..batches.len() + 2 {
            // A new iterator does not know any bad record yet.
            let mut fresh = builder(2).build().unwrap();
            for iter in [&mut fresh as &mut dyn DataIter, &mut ahead] {
                iter.seek(epoch as u64, batch as u64).unwrap();
                let got: Vec<DataBatch> = std::iter::from_fn(|| iter.next_batch().unwrap()).collect();
                assert_eq!(got, batches[batch.min(batches.len())..], "epoch {epoch} batch {batch}");
            }
        }
    }
    let mut resized = ResizeIter::new(builder(2).build().unwrap(), 4, false).unwrap();
    for (epoch, batches) in reference.concat().chunks_exact(4).enumerate() {
        assert_eq!(epoch_of(&mut resized), batches);
        resized.seek(epoch as u64, 2).unwrap();
        assert_eq!(epoch_of(&mut resized), batches[2..]);
        resized.reset().unwrap();
    }
}

#[test]
fn an_epoch_of_bad_records_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let rec = folder.path().join("bad.rec");
    for n in [1, 2, 5] {
        write_records(&rec, &vec![cut(); n]);
        let mut iter = ImageRecordIter::builder(&rec, [3, 13, 17], 2).max_bad_records(5).build().unwrap();
        for batch in [0, 0, 1, 9] {
            DataIter::seek(&mut iter, 0, batch).unwrap();
            let error = iter.next_batch().unwrap_err();
            assert!(blames(&error, &rec) && error.to_string().contains("only bad ones"), "{error}");
            assert_eq!(iter.next_batch().unwrap(), None, "an error ends the epoch");
        }
    }
}

/// The count of bad records covers the batches returned so far, regardless of how many are read ahead.
#[test]
fn bad_records_are_counted_through_other_iterators() {
    let folder = tempfile::tempdir().unwrap();
    let rec = folder.path().join("bad.rec");
    write_records(&rec, &[good(), cut(), good(), good(), b"GIF89a".to_vec(), cut(), good()]);
    let rec = rec.to_str().unwrap();
    let params = [("path_imgrec", rec), ("data_shape", "(3,13,17)"), ("batch_size", "3"), ("max_bad_records", "3")];
    let mut iter = ResizeIter::new(create("ImageRecordIter", &params).unwrap(), 3, true).unwrap();
    assert_eq!(iter.n_bad_records(), 0);
    for counts in [[1, 3, 3], [3, 3, 3]] {
        for count in counts {
            iter.next_batch().unwrap().unwrap();
            assert_eq!(iter.n_bad_records(), count);
        }
        assert_eq!((iter.next_batch().unwrap(), iter.n_bad_records()), (None, 3));
        iter.reset().unwrap();
        assert_eq!(iter.n_bad_records(), 3);
    }
}

/// Bad records that were read ahead before a reset may be counted; each is counted once.
#[test]
fn bad_records_are_counted_once_where_an_epoch_ends_early() {
    let folder = tempfile::tempdir().unwrap();
    let rec = folder.path().join("bad.rec");
    write_records(&rec, &[cut(), good(), cut(), good(), good(), cut(), good(), good()]);
    let builder = ImageRecordIter::builder(&rec, [3, 13, 17], 2).max_bad_records(3);
    for n_taken in 0..4_usize {
        let mut iter = builder.clone().build_prefetching().unwrap();
        for found in [1, 2, 3].into_iter().take(n_taken) {
            iter.next_batch().unwrap().unwrap();
            assert_eq!(iter.n_bad_records(), found);
        }
        let before = iter.n_bad_records();
        iter.reset().unwrap();
        let mut after = iter.n_bad_records();
        assert!((before..=3).contains(&after), "{before}, then {after}");
        while iter.next_batch().unwrap().is_some() {
            assert!((after..=3).contains(&iter.n_bad_records()), "{after}, then {}", iter.n_bad_records());
            after = iter.n_bad_records();
        }
        assert_eq!(after, 3);
    }
}

/// The next epoch does not depend on how much of an epoch was read, even if the number of batches per epoch is not known.
#[test]
fn an_epoch_of_another_length_does_not_depend_on_how_far_the_last_was_read() {
    let folder = tempfile::tempdir().unwrap();
    let rec = folder.path().join("bad.rec");
    write_records(&rec, &[good(), cut(), good(), good(), good(), good(), good()]);
    for reset_internal in [false, true] {
        let resized = || {
            let inner = ImageRecordIter::builder(&rec, [3, 13, 17], 2).shuffle(1).max_bad_records(1).build().unwrap();
            assert_eq!(inner.n_batches(), None);
            ResizeIter::new(inner, 6, reset_internal).unwrap()
        };
        let mut whole = resized();
        epoch_of(&mut whole);
        whole.reset().unwrap();
        let want = epoch_of(&mut whole);
        for n_read in 0..=6 {
            let mut part = resized();
            for _ in 0..n_read {
                part.next_batch().unwrap().unwrap();
            }
            part.reset().unwrap();
            assert_eq!(part.epoch(), 1);
            assert!(epoch_of(&mut part) == want, "{n_read} batches read, reset_internal {reset_internal}");
        }
    }
}

#[test]
fn a_file_that_grows_is_read_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let rec = folder.path().join("grows.rec");
    write_records(&rec, &[image("L.png"), image("L.png"), image("L.png")]);
    let more = std::fs::read(&rec).unwrap();
    let builder = || ImageRecordIter::builder(&rec, [1, 13, 17], 2).round_batch(false);
    for builder in [builder(), builder().shuffle(1)] {
        let mut iter = builder.build().unwrap();
        std::fs::OpenOptions::new().append(true).open(&rec).unwrap().write_all(&more).unwrap();
        for _ in 0..2 {
            assert_eq!(ids(&epoch_of(&mut iter)).len(), 3);
            DataIter::reset(&mut iter).unwrap();
        }
        std::fs::write(&rec, &more).unwrap();
    }
}

/// Reading fails whether the file is cut inside a record or between two records, also if the last batch is filled up from
/// the start.
#[test]
fn a_file_that_shrinks_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let rec = folder.path().join("shrinks.rec");
    let shrink = |len| std::fs::OpenOptions::new().write(true).open(&rec).unwrap().set_len(len).unwrap();
    for (shuffle, more) in [(false, 20), (true, 20), (false, 0), (true, 0)] {
        let offsets = write_records(&rec, &[image("L.png"), image("L.png"), image("L.png")]);
        let builder = ImageRecordIter::builder(&rec, [1, 13, 17], 3);
        let mut iter = if shuffle { builder.shuffle(0) } else { builder }.build().unwrap();
        shrink(offsets[2] + more);
        let error = iter.next_batch().unwrap_err();
        assert!(blames(&error, &rec), "{error}");
    }
    // With `max_bad_records`, records missing from the shortened file count as bad.
    write_records(&rec, &[image("L.png"), image("L.png"), image("L.png")]);
    let mut iter = ImageRecordIter::builder(&rec, [1, 13, 17], 3).max_bad_records(u64::MAX).build().unwrap();
    shrink(0);
    let error = iter.next_batch().unwrap_err();
    assert!(blames(&error, &rec) && iter.bad_records().len() == 3, "{error}");
    write_records(&rec, &[image("L.png"), image("L.png"), image("L.png")]);
    let mut iter = ImageRecordIter::builder(&rec, [1, 13, 17], 2).build().unwrap();
    iter.next_batch().unwrap().unwrap();
    shrink(0);
    let error = iter.next_batch().unwrap_err();
    assert!(blames(&error, &rec) && error.to_string().contains("shorter"), "{error}");
}
