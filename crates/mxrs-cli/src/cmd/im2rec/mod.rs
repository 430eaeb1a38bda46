//! `mxrs im2rec`: creates image lists from folders, and record files from image lists.
//!
//! The command line has two forms: that of MXNet's `im2rec.py`, and that of its C++ tool, which is recognized by its
//! `key=value` arguments.

mod key_value;

use crate::exit::{Failure, Outcome};
use crate::{interrupt, terminal};
use clap::ValueEnum;
use mxrs::data::Encoding;
use mxrs::data::im2rec::{ListSettings, PackReport, PackSettings, lists_of, make_lists, pack};
use mxrs::types::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Arguments of `im2rec`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  mxrs im2rec train photos --list --recursive     writes train.lst
  mxrs im2rec train photos --resize 256           packs train*.lst into train*.rec and train*.idx
  mxrs im2rec train.lst photos train.rec resize=256 quality=90     as MXNet's C++ tool")]
pub struct Args {
    /// Prefix of the input/output lst and rec files; in the C++ tool's form, the lst file
    prefix: PathBuf,
    /// Path to the folder that contains the images
    root: PathBuf,
    /// In the C++ tool's form: the rec file, and settings as KEY=VALUE
    #[arg(value_name = "OUT KEY=VALUE")]
    rest: Vec<String>,
    /// Create image list(s) by traversing ROOT and write them to PREFIX.lst, instead of packing PREFIX.lst into PREFIX.rec
    #[arg(long, help_heading = "Lists")]
    list: bool,
    /// List of acceptable image extensions; upper and lower case are not distinguished
    #[arg(long, num_args = 1.., default_values_t = [".jpeg", ".jpg", ".png"].map(String::from), help_heading = "Lists")]
    exts: Vec<String>,
    /// Number of chunks into which the list is divided: PREFIX_0.lst, ...
    #[arg(long, default_value_t = 1, help_heading = "Lists")]
    chunks: usize,
    /// Ratio of images to use for training; below 1 the lists are PREFIX_train.lst, ...
    #[arg(long, default_value_t = 1.0, help_heading = "Lists")]
    train_ratio: f64,
    /// Ratio of images to use for testing
    #[arg(long, default_value_t = 0.0, help_heading = "Lists")]
    test_ratio: f64,
    /// Recursively walk through subfolders and assign a unique label to the images in each folder; otherwise only images in
    /// ROOT are listed, with label 0
    #[arg(long, help_heading = "Lists")]
    recursive: bool,
    /// Do not randomize the image order in PREFIX.lst
    #[arg(long, help_heading = "Lists")]
    no_shuffle: bool,
    /// Skip transformations and save the images as they are
    #[arg(long, help_heading = "Record files")]
    pass_through: bool,
    /// Resize the shorter edge of images to this size; 0 packs the original size
    #[arg(long, default_value_t = 0, help_heading = "Record files")]
    resize: usize,
    /// Crop the center of the image to make it square
    #[arg(long, help_heading = "Record files")]
    center_crop: bool,
    /// JPEG quality for encoding, 1-100; or PNG compression for encoding, 1-9 [default: 95, PNG 3]
    #[arg(long, help_heading = "Record files")]
    quality: Option<u8>,
    /// Number of threads to use for encoding; the order of the images is always that of the list
    #[arg(long, default_value_t = 1, help_heading = "Record files")]
    num_thread: usize,
    /// Color mode of the loaded images: 1 color, 0 grayscale, -1 as stored, including an alpha channel
    #[arg(long, default_value_t = 1, allow_negative_numbers = true, value_parser = clap::value_parser!(i8).range(-1..=1), help_heading = "Record files")]
    color: i8,
    /// Encoding of the images in the record file
    #[arg(long, value_enum, default_value_t = Kind::Jpg, help_heading = "Record files")]
    encoding: Kind,
    /// Also pack multi-dimensional labels into the record file
    #[arg(long, help_heading = "Record files")]
    pack_label: bool,
    /// End with exit code 3 if an image could not be packed or a line was skipped
    #[arg(long, help_heading = "Record files")]
    strict: bool,
}

/// Image formats, named by their extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// JPEG
    #[value(name = ".jpg", alias = "jpg", alias = ".jpeg")]
    Jpg,
    /// PNG
    #[value(name = ".png", alias = "png")]
    Png,
}

impl Kind {
    /// The encoding with this quality. If it is `None`, the default is MXNet's quality of 95 for JPEG, and OpenCV's level 3
    /// for PNG.
    fn encoding(self, quality: Option<u8>) -> Encoding {
        match self {
            Self::Jpg => Encoding::Jpeg { quality: quality.unwrap_or(95) },
            Self::Png => Encoding::Png { level: quality.unwrap_or(3) },
        }
    }
}

/// Runs the command.
///
/// # Errors
/// Fails if settings contradict each other, if a file cannot be read or written, or, with `--strict`, if an image could not
/// be packed.
pub fn run(args: &Args, is_progress_wanted: bool) -> Outcome {
    if !args.rest.is_empty() {
        return key_value::run(args, is_progress_wanted);
    }
    check_root(&args.root)?;
    if args.list { write_lists(args) } else { pack_lists(args, is_progress_wanted) }
}

/// Checks that ROOT is a folder, because passing another path is the most common mistake.
fn check_root(root: &Path) -> Outcome {
    match std::fs::metadata(root) {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(_) => Err(Failure::Input(Error::invalid("ROOT", root.display(), "a folder"))),
        Err(e) => Err(Failure::Input(Error::io(root, &e).context("looking for the folder ROOT"))),
    }
}

fn write_lists(args: &Args) -> Outcome {
    let settings = ListSettings {
        exts: args.exts.clone(),
        chunks: args.chunks,
        train_ratio: args.train_ratio,
        test_ratio: args.test_ratio,
        recursive: args.recursive,
        shuffle: !args.no_shuffle,
    };
    let listed = make_lists(&args.prefix, &args.root, &settings).map_err(of_settings)?;
    for (label, folder) in listed.classes.iter().enumerate() {
        terminal::print_line(format!("{folder} {label}"))?;
    }
    for list in &listed.lists {
        tracing::info!("wrote {}", list.display());
    }
    Ok(())
}

/// Converts an error: values out of range are usage errors, except for a folder without images or lists, which is an input
/// error.
fn of_settings(error: Error) -> Failure {
    match error.kind() {
        ErrorKind::InvalidValue { what, .. } if what.starts_with("images in") || what.starts_with("lists ") => {
            Failure::Input(error)
        }
        ErrorKind::InvalidValue { .. } => Failure::Usage(error.to_string()),
        _ => Failure::input(error),
    }
}

fn pack_lists(args: &Args, is_progress_wanted: bool) -> Outcome {
    let settings = PackSettings {
        pass_through: args.pass_through,
        resize: (args.resize > 0).then_some(args.resize),
        center_crop: args.center_crop,
        channels: channels(args.color),
        encoding: args.encoding.encoding(args.quality),
        pack_label: args.pack_label,
        num_thread: args.num_thread,
        ..PackSettings::default()
    };
    for list in lists_of(&args.prefix).map_err(of_settings)? {
        tracing::info!("packing {}", list.display());
        let mut progress = Progress::new(is_progress_wanted);
        let report = pack(&list, &args.root, &settings, &mut |done| progress.tell(done)).map_err(of_settings);
        conclude(&list, report, args.strict)?;
    }
    Ok(())
}

fn channels(color: i8) -> Option<usize> {
    match color {
        0 => Some(1),
        1 => Some(3),
        _ => None,
    }
}

/// Prints a line every 1000 images as MXNet's tool does, and shows a progress bar on a terminal.
struct Progress {
    bar: indicatif::ProgressBar,
    last: Instant,
    next_line: u64,
}

impl Progress {
    fn new(is_wanted: bool) -> Self {
        Self { bar: terminal::progress(None, "images", is_wanted), last: Instant::now(), next_line: 1000 }
    }

    fn tell(&mut self, done: u64) -> mxrs::Result<()> {
        self.bar.set_position(done);
        while done >= self.next_line {
            let line = format!("time: {}  count: {}", self.last.elapsed().as_secs_f64(), self.next_line);
            // An error of printing is ignored: packing need not stop if the output is closed.
            self.bar.suspend(|| terminal::print_line(line)).ok();
            self.last = Instant::now();
            self.next_line += 1000;
        }
        match interrupt::check() {
            Ok(()) => Ok(()),
            Err(_) => Err(Error::invalid("interrupt", "one", "none")),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Logs how many images of a list were packed and which failed.
fn conclude(list: &Path, report: Outcome<PackReport>, strict: bool) -> Outcome {
    interrupt::check()?;
    let report = report?;
    for failed in &report.failed {
        tracing::warn!("{}: not packed: {}", failed.path, failed.reason);
    }
    if report.n_skipped_lines > 0 {
        tracing::warn!("{}: {} lines with fewer than 3 fields skipped", list.display(), report.n_skipped_lines);
    }
    tracing::info!("{}: {} images packed, {} failed", list.display(), report.n_packed, report.failed.len());
    let bad = report.failed.len() as u64 + report.n_skipped_lines;
    if strict && bad > 0 {
        let what = format!("lines of {} that could not be packed", list.display());
        return Err(Failure::Input(Error::invalid(what, bad, "0 (--strict); the .failed file has the reasons")));
    }
    Ok(())
}
