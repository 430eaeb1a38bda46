//! Tests of `mxrs im2rec`, `mxrs rec2idx` and `mxrs rec`.

use crate::mxrs::mxrs;
use std::fs;
use std::path::{Path, PathBuf};

/// Creates a folder with two classes of two images each, and one broken image.
fn images(folder: &Path) -> PathBuf {
    let root = folder.join("photos");
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mxrs-data/tests/golden");
    for class in ["cat", "dog"] {
        fs::create_dir_all(root.join(class)).unwrap();
        fs::copy(golden.join("s0b.jpg"), root.join(class).join("a.jpg")).unwrap();
        fs::copy(golden.join("RGB.png"), root.join(class).join("b.png")).unwrap();
    }
    fs::write(root.join("dog/broken.jpg"), b"\xff\xd8\xff no image").unwrap();
    root
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn from_a_folder_to_a_record_file() {
    let folder = tempfile::tempdir().unwrap();
    let root = images(folder.path());
    let at = |name: &str| folder.path().join(name);
    let (prefix, root) = (at("all"), text(&root).to_owned());
    let prefix = text(&prefix);
    let printed = mxrs(["im2rec", prefix, &root, "--list", "--recursive", "--no-shuffle"]).ok();
    assert_eq!(printed, "cat 0\ndog 1\n");
    let list = fs::read_to_string(at("all.lst")).unwrap();
    assert!(list.starts_with("0\t0.000000\tcat/a.jpg\n1\t0.000000\tcat/b.png\n2\t1.000000\tdog/a.jpg\n"), "{list}");
    mxrs(["im2rec", prefix, &root, "--resize", "20", "--center-crop", "--quality", "90", "--num-thread", "2"]).ok();
    assert!(fs::read_to_string(at("all.failed")).unwrap().contains("dog/broken.jpg"));
    let strict = mxrs(["im2rec", prefix, &root, "--strict", "--color", "-1", "--encoding", ".png"]).failed(3);
    assert!(strict.contains("dog/broken.jpg") && strict.contains("--strict"), "{strict}");

    let rec = at("all.rec");
    let lines = mxrs(["rec", "ls", text(&rec)]).ok();
    let cells: Vec<&str> = lines.lines().nth(3).unwrap().split('\t').collect();
    assert_eq!((cells[0], cells[2], cells[3], cells[5]), ("3", "3", "1", "png"));
    let index = fs::read(at("all.idx")).unwrap();
    fs::remove_file(at("all.idx")).unwrap();
    mxrs(["rec2idx", text(&rec), text(&at("all.idx"))]).ok();
    assert_eq!(fs::read(at("all.idx")).unwrap(), index);
    let good = mxrs(["rec", "verify", text(&rec), "--index", text(&at("all.idx"))]).ok();
    assert_eq!(good, "4 records, 0 bad\n");
    mxrs(["rec", "shuffle", text(&rec), text(&at("mixed.rec")), "--seed", "3"]).ok();
    mxrs(["rec", "split", text(&at("mixed.rec")), text(&at("part")), "--parts", "2"]).ok();
    let mut split = Vec::new();
    for part in ["part_0.rec", "part_1.rec"] {
        assert!(at(part).with_extension("idx").exists());
        let lines = mxrs(["rec", "ls", text(&at(part))]).ok();
        split.extend(lines.lines().map(|l| l.split('\t').nth(2).unwrap().to_owned()));
    }
    split.sort();
    assert_eq!(split, ["0", "1", "2", "3"]);
    let mut bytes = fs::read(&rec).unwrap();
    // A quarter of the file lies within the image of the first record, which takes about half of the file.
    let place = bytes.len() / 4;
    bytes[place] ^= 1;
    fs::write(&rec, bytes).unwrap();
    let ran = mxrs(["rec", "verify", text(&rec)]);
    assert!(ran.out.contains("1 bad") && ran.out.contains("offset"), "{}", ran.out);
    ran.failed(3);
}

#[test]
fn the_form_of_the_other_tool() {
    let folder = tempfile::tempdir().unwrap();
    let root = images(folder.path());
    let at = |name: &str| folder.path().join(name);
    fs::write(at("few.lst"), "7\t3\tcat/a.jpg\n8\t4\tdog/b.png\n").unwrap();
    let (list, out) = (at("few.lst"), at("out.rec"));
    let start = ["im2rec", text(&list), text(&root), text(&out)];
    let go = |more: &[&str]| mxrs([&start[..], more].concat());
    go(&["resize=20", "color=0", "quality=80"]).ok();
    assert!(at("out.idx").exists());
    let lines = mxrs(["rec", "ls", text(&out)]).ok();
    assert_eq!(lines.lines().next().unwrap().split('\t').nth(2), Some("7"));
    go(&["nsplit=2", "part=1", "unchanged=1"]).ok();
    let lines = mxrs(["rec", "ls", text(&at("out.rec.part001"))]).ok();
    assert!(lines.starts_with("0\t0\t8\t4\t") && lines.trim_end().ends_with("png"), "{lines}");
    assert!(go(&["rezise=20"]).failed(2).contains("`resize`"));
    assert!(go(&["quality=x"]).failed(2).contains("quality=x"));
    assert!(go(&["nsplit=2", "part=2"]).failed(2).contains("nsplit"));
}

#[test]
fn bad_input_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let root = images(folder.path());
    let prefix = folder.path().join("x");
    let (prefix, root) = (text(&prefix), text(&root));
    assert!(mxrs(["im2rec", prefix, "no/such/folder", "--list"]).failed(3).contains("no/such/folder"));
    assert!(mxrs(["im2rec", prefix, root]).failed(3).contains("--list makes them"));
    assert!(mxrs(["im2rec", prefix, root, "--list"]).failed(3).contains("--recursive"));
    assert!(mxrs(["im2rec", prefix, root, "--list", "--chunks", "0"]).failed(2).contains("chunks"));
    assert!(mxrs(["im2rec", prefix, root, "--rezise", "3"]).failed(2).contains("--resize"));
    assert!(mxrs(["rec2idx", "no.rec", "no.idx"]).failed(3).contains("no.rec"));
    assert!(mxrs(["rec", "ls", "no.rec"]).failed(3).contains("no.rec"));
}

/// A list may contain any path: `/dev/zero` has no end, and opening a pipe without a writer would block.
#[test]
#[cfg(unix)]
fn a_device_or_a_pipe_in_a_list_is_a_failed_image() {
    let folder = tempfile::tempdir().unwrap();
    let (root, list) = (folder.path().join("photos"), folder.path().join("train.lst"));
    std::fs::create_dir(&root).unwrap();
    std::fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/../mxrs-data/tests/golden/gray.jpg"), root.join("gray.jpg"))
        .unwrap();
    std::os::unix::fs::symlink("/dev/zero", root.join("zero.jpg")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(root.join("pipe.jpg")).status().unwrap().success());
    std::fs::write(&list, "0\t0\tgray.jpg\n1\t1\tzero.jpg\n2\t2\tpipe.jpg\n").unwrap();
    let (prefix, root) = (folder.path().join("train"), root.display().to_string());
    let ran = mxrs(["im2rec", prefix.to_str().unwrap(), &root]);
    for image in ["zero.jpg", "pipe.jpg"] {
        let line = ran.err.lines().find(|line| line.contains(image)).unwrap_or_else(|| panic!("{image}: {}", ran.err));
        assert!(line.contains("a device or a pipe"), "{line}");
    }
    assert!(mxrs(["rec", "verify", prefix.with_extension("rec").to_str().unwrap()]).ok().contains('1'));
}
