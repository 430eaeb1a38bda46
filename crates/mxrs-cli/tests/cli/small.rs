//! A minimal training: the perceptron on the first 60 digits of the validation set, with six batches of ten per epoch.

use crate::mxrs::{Ran, mxrs};
use std::path::PathBuf;
use tempfile::TempDir;

const START: [&str; 12] = [
    "train",
    "imagenet",
    "--network",
    "mlp",
    "--num-classes",
    "10",
    "--rgb-mean",
    "0",
    "--rgb-std",
    "255",
    "--disp-batches",
    "2",
];
/// Shape flags for images with one channel, as in the record file.
pub const GRAY: [&str; 2] = ["--image-shape", "1,28,28"];
/// Shape flags for images with three equal channels.
pub const COLOR: [&str; 2] = ["--image-shape", "3,28,28"];
/// Flags for batches of ten, which are six per epoch.
pub const TEN: [&str; 2] = ["--batch-size", "10"];

/// A temporary folder with the record file and the files that trainings write.
pub struct Small {
    folder: TempDir,
    /// Path of the record file.
    pub records: String,
}

impl Small {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let records = crate::predict::first_records(folder.path(), 60);
        Self { folder, records }
    }

    /// Path of a file in the folder.
    pub fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Path of a file in the folder, as text.
    pub fn path(&self, name: &str) -> String {
        self.at(name).display().to_string()
    }

    /// The command line of a training, without shape and batch size.
    pub fn line<'a>(&'a self, flags: &[&'a str]) -> Vec<&'a str> {
        [&START[..], &["--data-train", &self.records], flags].concat()
    }

    /// Runs a training with these flags.
    pub fn run(&self, flags: &[&str]) -> Ran {
        mxrs(self.line(flags))
    }

    /// Runs a training on gray images in batches of ten, with these flags in addition.
    pub fn train(&self, more: &[&str]) -> Ran {
        self.run(&[&GRAY[..], &TEN, more].concat())
    }

    /// The log of [`Self::train`], which must succeed.
    #[track_caller]
    pub fn log(&self, more: &[&str]) -> String {
        let ran = self.train(more);
        let log = ran.err.clone();
        ran.ok();
        log
    }

    /// The parameter file after one epoch with these flags, which also give shape and batch size.
    #[track_caller]
    pub fn weights(&self, flags: &[&str]) -> Vec<u8> {
        let prefix = self.path("weights");
        self.run(&[flags, &["--num-epochs", "1", "--model-prefix", &prefix]].concat()).ok();
        std::fs::read(self.at("weights-0001.params")).unwrap()
    }

    /// Positions of this prefix's parameter files: the epoch, or epoch and batch, as in their names.
    pub fn checkpoints(&self, prefix: &str) -> Vec<String> {
        let names = std::fs::read_dir(self.folder.path()).unwrap().map(|file| file.unwrap().file_name());
        let place =
            |name: &str| Some(name.strip_prefix(prefix)?.strip_prefix('-')?.strip_suffix(".params")?.to_owned());
        let mut places: Vec<String> = names.filter_map(|name| place(name.to_str()?)).collect();
        places.sort();
        places
    }
}
