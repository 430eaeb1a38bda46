//! Tests of image lists, packing and tools for record files: their output, their errors, and that no partial files remain.

mod golden;

use golden::{bytes, image, write_records};
use mxrs_data::im2rec::{ListSettings, PackSettings, lists_of, make_lists, pack, pack_part};
use mxrs_data::record_tools::{index_records, shuffle_records, split_records, survey_records, verify_records};
use mxrs_data::{DecodeLimits, Encoding, ImageRecordIter, decode};
use mxrs_format::Options;
use mxrs_format::recordio::{ImageList, ImageRecord, Index, IndexedReader};
use mxrs_types::{Error, Result};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A tree of two class folders, each with three images and one other file.
fn tree(folder: &Path) -> PathBuf {
    let root = folder.join("images");
    for class in ["cat", "dog/small"] {
        fs::create_dir_all(root.join(class)).unwrap();
        fs::write(root.join(class).join("a.jpg"), image("s0b.jpg")).unwrap();
        fs::write(root.join(class).join("b.PNG"), image("RGBA.png")).unwrap();
        fs::write(root.join(class).join("c.jpeg"), image("gray.jpg")).unwrap();
        fs::write(root.join(class).join("notes.txt"), "no image").unwrap();
    }
    root
}

fn list(path: &Path) -> Vec<(u64, Vec<f32>, String)> {
    let list = ImageList::open(path, &Options::strict()).unwrap().value;
    list.entries.into_iter().map(|e| (e.index, e.labels, e.path)).collect()
}

fn quiet(_: u64) -> Result<()> {
    Ok(())
}

#[test]
fn lists_of_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let root = tree(folder.path());
    let prefix = folder.path().join("all");
    let settings = ListSettings { recursive: true, shuffle: false, ..ListSettings::default() };
    let listed = make_lists(&prefix, &root, &settings).unwrap();
    assert_eq!((listed.classes, listed.n_images), (vec!["cat".into(), "dog/small".into()], 6));
    let plain = list(&prefix.with_extension("lst"));
    assert_eq!(plain[1], (1, vec![0.0], "cat/b.PNG".into()));
    assert_eq!(plain[3], (3, vec![1.0], "dog/small/a.jpg".into()));
    make_lists(&prefix, &root, &ListSettings { shuffle: true, ..settings.clone() }).unwrap();
    let mut shuffled = list(&prefix.with_extension("lst"));
    assert_ne!(shuffled, plain);
    shuffled.sort_by_key(|e| e.0);
    assert_eq!(shuffled, plain);
    let parts = ListSettings { chunks: 2, train_ratio: 0.34, test_ratio: 0.34, ..settings.clone() };
    let names: Vec<String> = make_lists(&prefix, &root, &parts)
        .unwrap()
        .lists
        .iter()
        .map(|p| p.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    let wanted =
        ["all_0_test.lst", "all_0_val.lst", "all_0_train.lst", "all_1_test.lst", "all_1_val.lst", "all_1_train.lst"];
    assert_eq!(names, wanted);
    let together: Vec<_> = names.iter().flat_map(|n| list(&folder.path().join(n))).collect();
    assert_eq!(together.len(), 6);
    assert_eq!(lists_of(&prefix).unwrap().len(), 7);
    let message = |root: &Path, settings: &ListSettings| make_lists(&prefix, root, settings).unwrap_err().to_string();
    let flat = ListSettings { recursive: false, ..settings.clone() };
    let text = message(&root, &flat);
    assert!(text.contains("--recursive") && text.contains("2 folders"), "{text}");
    assert!(message(&root.join("no-such"), &settings).contains("no-such"));
    assert!(message(&root, &ListSettings { chunks: 0, ..settings.clone() }).contains("chunks"));
    assert!(message(&root, &ListSettings { train_ratio: 0.9, test_ratio: 0.2, ..settings }).contains("train-ratio"));
    assert!(lists_of(&folder.path().join("none")).unwrap_err().to_string().contains("--list"));
}

/// Images reachable through several links are listed once per path, but no path contains a folder twice.
#[cfg(unix)]
#[test]
fn links_to_folders_above_come_to_an_end() {
    let folder = tempfile::tempdir().unwrap();
    let root = tree(folder.path());
    for link in ["cat/up", "dog/up", "again"] {
        std::os::unix::fs::symlink(&root, root.join(link)).unwrap();
    }
    std::os::unix::fs::symlink(root.join("dog/small"), root.join("more")).unwrap();
    let deep = ["d"; 70].join("/");
    fs::create_dir_all(root.join(&deep)).unwrap();
    fs::write(root.join(&deep).join("a.jpg"), image("s0b.jpg")).unwrap();
    let settings = ListSettings { recursive: true, ..ListSettings::default() };
    let listed = make_lists(&folder.path().join("all"), &root, &settings).unwrap();
    assert_eq!(listed.classes, ["cat", deep.as_str(), "dog/small", "more"]);
    assert_eq!(listed.n_images, 10);
}

/// Python's tool uses a path that begins with a slash as it is; the C++ tool appends it to the root.
#[test]
fn paths_are_joined_or_concatenated() {
    let folder = tempfile::tempdir().unwrap();
    let root = tree(folder.path());
    let (lst, rec) = (folder.path().join("all.lst"), folder.path().join("all.rec"));
    let absolute = root.join("cat/a.jpg");
    fs::write(&lst, format!("0\t0\tcat/a.jpg\n1\t0\t/cat/a.jpg\n2\t0\t{}\n", absolute.display())).unwrap();
    let failed = |root: &Path, concatenates: bool| {
        let settings = PackSettings::default();
        let report = if concatenates {
            pack_part(&lst, root, &rec, (0, 1), &settings, &mut quiet)
        } else {
            pack(&lst, root, &settings, &mut quiet)
        };
        report.unwrap().failed.iter().map(|failed| failed.index).collect::<Vec<_>>()
    };
    let with_slash = PathBuf::from(format!("{}/", root.display()));
    for root in [&root, &with_slash] {
        assert_eq!(failed(root, false), [1], "{}", root.display());
        assert_eq!(failed(root, true), [2], "{}", root.display());
    }
    assert_eq!(failed(Path::new("/"), true), [0, 1]);
}

#[test]
fn packing_keeps_the_order_and_lists_failures() {
    let folder = tempfile::tempdir().unwrap();
    let root = tree(folder.path());
    let lst = folder.path().join("all.lst");
    fs::write(root.join("cat/broken.jpg"), &image("s0b.jpg")[..400]).unwrap();
    let lines = "5\t1\t2\tcat/a.jpg\n3\t7\t8\tcat/broken.jpg\n9\t3\t4\tdog/small/b.PNG\n1\t0\t0\tno/such.png\n2\t5\t6\tcat/c.jpeg\nshort\n";
    fs::write(&lst, lines).unwrap();
    let settings = PackSettings { resize: Some(20), center_crop: true, ..PackSettings::default() };
    let report = pack(&lst, &root, &settings, &mut quiet).unwrap();
    assert_eq!((report.n_packed, report.n_skipped_lines), (3, 1));
    assert_eq!(report.failed.iter().map(|f| f.index).collect::<Vec<_>>(), [3, 1]);
    let failed = fs::read_to_string(folder.path().join("all.failed")).unwrap();
    assert!(failed.starts_with("3\tcat/broken.jpg\t") && failed.contains("\n1\tno/such.png\t"), "{failed}");
    let rec = fs::read(folder.path().join("all.rec")).unwrap();
    for num_thread in [2, 5] {
        pack(&lst, &root, &PackSettings { num_thread, ..settings.clone() }, &mut quiet).unwrap();
        assert_eq!(fs::read(folder.path().join("all.rec")).unwrap(), rec, "{num_thread} threads");
    }
    let (rec, idx) = (folder.path().join("all.rec"), folder.path().join("all.idx"));
    let mut reader = IndexedReader::open(&rec, &idx, &Options::strict()).unwrap();
    for (key, label) in [(5, 1.0), (9, 3.0), (2, 5.0)] {
        let payload = reader.read(key).unwrap();
        let record = ImageRecord::unpack(&payload).unwrap();
        assert_eq!((record.id, record.all_labels()), (key, &[label][..]));
        let image = decode(record.image, 3, &DecodeLimits::default()).unwrap();
        assert_eq!((image.height(), image.width()), (20, 20));
    }
    pack(&lst, &root, &PackSettings { pack_label: true, pass_through: true, ..settings.clone() }, &mut quiet).unwrap();
    let mut reader = IndexedReader::open(&rec, &idx, &Options::strict()).unwrap();
    let payload = reader.read(5).unwrap();
    let record = ImageRecord::unpack(&payload).unwrap();
    assert_eq!((record.all_labels(), record.image), (&[1.0, 2.0][..], &image("s0b.jpg")[..]));
    let payload = reader.read(3).unwrap();
    assert_eq!(ImageRecord::unpack(&payload).unwrap().image.len(), 400, "passed through, whatever it is");
    // With `channels: None` and PNG, alpha is kept and gray images stay gray.
    let as_stored = PackSettings { channels: None, encoding: Encoding::Png { level: 9 }, ..PackSettings::default() };
    pack(&lst, &root, &as_stored, &mut quiet).unwrap();
    let mut reader = IndexedReader::open(&rec, &idx, &Options::strict()).unwrap();
    for (key, color_type) in [(9, 6), (2, 0), (5, 2)] {
        assert_eq!(ImageRecord::unpack(&reader.read(key).unwrap()).unwrap().image[25], color_type);
    }
    fs::write(&lst, "5\t1\tcat/a.jpg\n").unwrap();
    pack(&lst, &root, &settings, &mut quiet).unwrap();
    assert!(!folder.path().join("all.failed").exists(), "an old list of failures goes");
    let before = fs::read(&rec).unwrap();
    let stop = &mut |_| Err(Error::invalid("interrupt", "yes", "no"));
    assert!(pack(&lst, &root, &settings, stop).is_err());
    assert_eq!(fs::read(&rec).unwrap(), before);
    assert!(fs::read_dir(folder.path()).unwrap().all(|f| !f.unwrap().file_name().to_string_lossy().contains(".tmp.")));
    let message = |root: &Path, s: &PackSettings| pack(&lst, root, s, &mut quiet).unwrap_err().to_string();
    assert!(message(Path::new("no/root"), &settings).contains("no/root"));
    assert!(message(&lst, &settings).contains("a folder"));
    assert!(message(&root, &PackSettings { num_thread: 0, ..settings.clone() }).contains("num-thread"));
    assert!(message(&root, &PackSettings { encoding: Encoding::Png { level: 95 }, ..settings }).contains("1 to 9"));
}

#[test]
fn whole_files() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let (rec, idx) = (at("all.rec"), at("all.idx"));
    let photo = bytes("tests/fixtures/flower.jpg");
    let offsets = write_records(&rec, &[image("L.png"), photo, image("s1p.jpg"), image("P.png"), image("RGB.png")]);
    assert_eq!(index_records(&rec, &idx, false).unwrap(), 5);
    let index = Index::open(&idx, None).unwrap();
    assert_eq!(index.entries(), (100..105).zip(offsets.iter().copied()).collect::<Vec<_>>());
    index_records(&rec, &at("seq.idx"), true).unwrap();
    assert_eq!(Index::open(at("seq.idx"), None).unwrap().entries()[4], (4, offsets[4]));
    let mut seen = Vec::new();
    survey_records(&rec, &mut |info| {
        seen.push((info.number, info.offset, info.id, info.format));
        Ok(())
    })
    .unwrap();
    assert_eq!(seen[2], (2, offsets[2], Some(102), "jpeg"));
    assert_eq!(seen[3], (3, offsets[3], Some(103), "png"));

    assert_eq!(shuffle_records(&rec, &at("mixed.rec"), 1, &mut quiet).unwrap(), 5);
    let ids = |path: &Path| {
        let mut ids = Vec::new();
        survey_records(path, &mut |info| {
            ids.push(info.id.unwrap());
            Ok(())
        })
        .unwrap();
        ids
    };
    let mixed = ids(&at("mixed.rec"));
    assert_ne!(mixed, [100, 101, 102, 103, 104]);
    assert_eq!(mixed.iter().collect::<BTreeSet<_>>().len(), 5);
    assert_eq!(Index::open(at("mixed.idx"), None).unwrap().len(), 5);
    assert!(shuffle_records(&rec, &rec, 1, &mut quiet).unwrap_err().to_string().contains("another file"));
    let parts = split_records(&rec, &at("part"), 2, &mut quiet).unwrap();
    assert_eq!(parts.iter().map(|p| ids(p)).collect::<Vec<_>>(), [vec![100, 101], vec![102, 103, 104]]);
    assert!(split_records(&rec, &at("part"), 0, &mut quiet).is_err());

    let two = 2.try_into().unwrap();
    let good = verify_records(&rec, Some(&idx), two, &mut quiet).unwrap();
    assert!(good.is_good() && good.n_records == 5, "{good:?}");
    let partial = Index::from_entries(vec![(100, 0)]).unwrap();
    partial.save(&idx).unwrap();
    let report = verify_records(&rec, Some(&idx), two, &mut quiet).unwrap();
    assert!(report.index.unwrap().to_string().contains("leaves out: got 4"));
    let mut damaged = fs::read(&rec).unwrap();
    damaged[offsets[2] as usize + 300] ^= 0xff;
    damaged[offsets[3] as usize] ^= 1;
    damaged[offsets[4] as usize + 60] ^= 0x10;
    fs::write(&rec, damaged).unwrap();
    let report = verify_records(&rec, None, two, &mut quiet).unwrap();
    assert_eq!(report.n_records, 4);
    assert!(
        report.skipped_bytes > 0 && report.bad.iter().any(|b| b.offset == offsets[4] && b.id == Some(104)),
        "{report:?}"
    );
}

/// An iterator can read the packed images.
#[test]
fn packed_images_can_be_trained_on() {
    let folder = tempfile::tempdir().unwrap();
    let root = tree(folder.path());
    let prefix = folder.path().join("train");
    make_lists(&prefix, &root, &ListSettings { recursive: true, ..ListSettings::default() }).unwrap();
    for list in lists_of(&prefix).unwrap() {
        pack(&list, &root, &PackSettings { num_thread: 2, ..PackSettings::default() }, &mut quiet).unwrap();
    }
    let rec = prefix.with_extension("rec");
    let iter = ImageRecordIter::builder(&rec, [3, 16, 16], 6).path_imgidx(prefix.with_extension("idx")).shuffle(0);
    let batch = iter.build().unwrap().next().unwrap().unwrap();
    assert_eq!(batch.index.iter().collect::<BTreeSet<_>>().len(), 6);
    for (id, label) in batch.index.iter().zip(&batch.labels) {
        assert_eq!(*label, if *id < 3 { 0.0 } else { 1.0 });
    }
}
