//! The states file: its contents, and the search for the states files of a prefix.

use super::contexts::{DeviceCopies, number, put_random, take_random};
use super::run::Head;
use super::{Position, Run, split};
use crate::LossScaler;
use mxrs_format::pickle::PickledStates;
use mxrs_format::safetensors::SafeTensors;
use mxrs_format::{Checkpoint, Options, write_atomically};
use mxrs_ndarray::RandomState;
use mxrs_optim::SavedStates;
use mxrs_types::{Error, Result};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

const FORMAT: &str = "mxrs.states.v1";
const BEST: &str = "train.best";
const LOSS_SCALE: &str = "train.loss_scale";

/// States of the optimizer as they were read from a file.
#[derive(Clone, Debug, PartialEq)]
pub enum OptimizerStates {
    /// States that this crate wrote.
    Own(SavedStates),
    /// States that MXNet wrote. The key of a parameter is its name, or its index among the arguments that are not inputs.
    Pickled(PickledStates),
}

/// Everything besides the parameters that resuming a training needs.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainingState {
    /// The batch that comes next.
    pub position: Position,
    /// States of the optimizer.
    pub optimizer: OptimizerStates,
    /// State of the random number generators of each context. Empty for MXNet's files, which do not contain it; then the
    /// generators keep their current state.
    pub random: Vec<RandomState>,
    /// Parameters and auxiliary states of the contexts, where they differ from the parameter file.
    pub copies: DeviceCopies,
    /// The best epoch so far and its metric value.
    pub best: Option<(u64, f64)>,
    /// The loss scale, if losses were scaled.
    pub loss_scaler: Option<LossScaler>,
    /// The training that wrote the file.
    pub run: Run,
}

/// A writer that counts the bytes that it passes on and computes their checksum.
struct Checked<'a> {
    sink: &'a mut dyn Write,
    checksum: crc32fast::Hasher,
    len: u64,
}

impl Write for Checked<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.sink.write(bytes)?;
        self.checksum.update(&bytes[..n]);
        self.len += n as u64;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

impl TrainingState {
    /// Writes the parameters, then the states, which contain the length and checksum of the parameter file.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written, or if the states are MXNet's, which can only be read. For a training
    /// with a number, also fails as [`find`] does.
    pub fn save(&self, prefix: &Path, params: Checkpoint) -> Result<()> {
        let (OptimizerStates::Own(optimizer), false) = (&self.optimizer, self.random.is_empty()) else {
            return Err(Error::invalid("states to save", "those of a file of MXNet's", "those of a training"));
        };
        let path = self.position.path(prefix, ".params");
        let (mut len, mut checksum) = (0, 0);
        write_atomically(&path, |sink| {
            let mut checked = Checked { sink, checksum: crc32fast::Hasher::new(), len: 0 };
            mxrs_format::params::write_list(&mut checked, &params.into_arrays())?;
            (len, checksum) = (checked.len, checked.checksum.finalize());
            Ok(())
        })?;
        let mut file = self.to_file(optimizer, (len, checksum));
        if self.run.number > 0 {
            file.metadata.extend(Head::behind_entry(prefix, self.position)?);
        }
        file.save(self.position.path(prefix, ".states"))
    }

    fn to_file(&self, optimizer: &SavedStates, params: (u64, u32)) -> SafeTensors {
        let (mut tensors, mut metadata) = (optimizer.tensors.clone(), optimizer.metadata.clone());
        let mut put = |key: &str, text: String| metadata.insert(key.to_owned(), text);
        put("format", FORMAT.into());
        put("train.epoch", self.position.epoch.to_string());
        put("train.batch", self.position.batch.to_string());
        put_random(&self.random, &mut metadata);
        metadata.insert("train.params.bytes".to_owned(), params.0.to_string());
        metadata.insert("train.params.crc32".to_owned(), params.1.to_string());
        self.copies.put(&mut tensors, &mut metadata);
        metadata.extend(self.best.map(best_entry));
        metadata.extend(self.loss_scaler.iter().map(|scaler| (LOSS_SCALE.to_owned(), scaler.to_text())));
        metadata.extend(self.run.entries());
        SafeTensors { tensors, metadata }
    }

    /// The states, and the length and checksum of their parameter file.
    fn from_file(file: SafeTensors) -> Result<(Self, u64, u32)> {
        let SafeTensors { mut tensors, mut metadata } = file;
        let format = metadata.get("format").map_or("none", String::as_str);
        if format != FORMAT {
            return Err(Error::invalid("format of a states file", format, FORMAT));
        }
        let position =
            Position { epoch: number(&mut metadata, "train.epoch")?, batch: number(&mut metadata, "train.batch")? };
        let random = take_random(&mut metadata)?;
        let copies = DeviceCopies::take(&mut tensors, &mut metadata)?;
        let len = number(&mut metadata, "train.params.bytes")?;
        let checksum = number(&mut metadata, "train.params.crc32")? as u32;
        let best = metadata.shift_remove(BEST);
        let best = best.and_then(|text| {
            let (epoch, value) = text.split_once(' ')?;
            Some((epoch.parse().ok()?, value.parse().ok()?))
        });
        let loss_scaler = metadata.shift_remove(LOSS_SCALE);
        let loss_scaler = loss_scaler.map(|text| LossScaler::from_text(&text)).transpose()?;
        let run = Run::take(&mut metadata)?;
        let optimizer = OptimizerStates::Own(SavedStates { tensors, metadata });
        Ok((Self { position, optimizer, random, copies, best, loss_scaler, run }, len, checksum))
    }

    /// The state of a training that MXNet saved at this position.
    fn pickled(position: Position, path: &Path) -> Result<Self> {
        let optimizer = OptimizerStates::Pickled(PickledStates::load(path, &Options::default())?);
        let (random, copies) = (Vec::new(), DeviceCopies::default());
        Ok(Self { position, optimizer, random, copies, best: None, loss_scaler: None, run: Run::default() })
    }
}

/// Whether a states file is MXNet's, decided by its first bytes: the protocol number of a pickle, or the mark with which a
/// pickle of protocol 0 begins.
///
/// # Errors
/// Returns an error if the file was written neither by MXNet nor by this crate, or cannot be read.
fn is_pickled(path: &Path) -> Result<bool> {
    let refused = |e: io::Error| Error::io(path, &e);
    let mut head = Vec::with_capacity(9);
    File::open(path).map_err(refused)?.take(9).read_to_end(&mut head).map_err(refused)?;
    match head.as_slice() {
        // A safetensors file: 64 bits with the length of the header, then the header. The first bytes may equal those of a
        // pickle.
        [_, _, _, _, 0, 0, 0, 0, b'{'] => Ok(false),
        [0x80, 1..=5, ..] | [b'(', ..] => Ok(true),
        _ => {
            let expected = "states that mxrs saved (safetensors), or MXNet (a pickle)";
            Err(Error::invalid(path.display().to_string(), "a file that is neither", expected))
        }
    }
}

/// The entry of a states file that names the best epoch and its value.
fn best_entry((epoch, value): (u64, f64)) -> (String, String) {
    (BEST.to_owned(), format!("{epoch} {value:?}"))
}

/// Rewrites the states of epoch `best.0` to record that it is the best so far; everything else in the file stays as it is.
/// Does nothing if the file does not exist or was written by MXNet.
///
/// # Errors
/// Returns an error if the file cannot be read or written.
pub(crate) fn set_best(prefix: &Path, best: (u64, f64)) -> Result<()> {
    let path = Position::epoch(best.0).path(prefix, ".states");
    if !path.exists() || is_pickled(&path)? {
        return Ok(());
    }
    let mut file = SafeTensors::load(&path, &Options::default())?;
    file.metadata.extend([best_entry(best)]);
    file.save(path)
}

/// A states file that was found in the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The position in the file's name.
    pub position: Position,
    /// The prefix of the file's name, with the folder.
    pub prefix: PathBuf,
}

impl Found {
    /// Path of the states file.
    pub fn states(&self) -> PathBuf {
        self.position.path(&self.prefix, ".states")
    }

    /// What the file's header says about the training that wrote it; `None` if the header is damaged.
    pub(super) fn head(&self) -> Option<Head> {
        Head::read(&self.states())
    }

    /// Reads the states and their parameters. For MXNet's states it is not checked whether the parameters belong to them.
    ///
    /// # Errors
    /// Returns an error if either file cannot be read, or if the parameter file is not the one that the states were written
    /// for.
    pub fn read(&self) -> Result<(TrainingState, Checkpoint)> {
        let states = self.states();
        let (state, written) = if is_pickled(&states)? {
            (TrainingState::pickled(self.position, &states)?, None)
        } else {
            let file = SafeTensors::load(&states, &Options::default())?;
            let (state, len, checksum) =
                TrainingState::from_file(file).map_err(|e| e.context(format!("reading {}", states.display())))?;
            (state, Some((len, checksum)))
        };
        let path = self.position.path(&self.prefix, ".params");
        let bytes = std::fs::read(&path).map_err(|e| Error::io(&path, &e))?;
        if let Some((len, checksum)) = written
            && ((bytes.len() as u64, crc32fast::hash(&bytes)) != (len, checksum) || state.position != self.position)
        {
            let expected = format!("the {len} bytes that {} was written for", states.display());
            return Err(Error::invalid(path.display().to_string(), "another file", expected));
        }
        let arrays = mxrs_format::ArrayFile::from_bytes(&bytes, &Options::default()).map_err(|e| e.with_path(&path))?;
        let params = Checkpoint::from_arrays(arrays.value, &Options::default()).map_err(|e| e.with_path(&path))?;
        Ok((state, params.value))
    }
}

/// All states files of this prefix, newest first. A folder that does not exist has none.
///
/// # Errors
/// Returns an error if the name is not UTF-8 or the folder cannot be read.
pub fn find(prefix: &Path) -> Result<Vec<Found>> {
    let (folder, name) = split(prefix)?;
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(Error::io(&folder, &e)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let file = entry.map_err(|e| Error::io(&folder, &e))?.file_name();
        if let Some(position) = file.to_str().and_then(|file| Position::parse(file, &name, ".states")) {
            found.push(Found { position, prefix: prefix.to_path_buf() });
        }
    }
    found.sort_by_key(|found| std::cmp::Reverse(found.position));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resume::newest;
    use indexmap::IndexMap;
    use mxrs_format::Tensor;

    #[test]
    fn the_best_is_told_later_and_nothing_else_changes() {
        let dir = tempfile::tempdir().unwrap();
        let save = |name: &str, best: Option<(u64, f64)>| {
            let tensor = || Tensor::from_slice([2], &[0.1f32, f32::NAN]).unwrap();
            let mut optimizer = SavedStates::default();
            optimizer.metadata.insert("num_update".into(), "10".into());
            optimizer.tensors.insert("state/w/mom".into(), tensor());
            let random = vec![RandomState { seed: 3, next: vec![4, 5], turn: 1 }];
            let optimizer = OptimizerStates::Own(optimizer);
            let run = Run { number: 1, batch_size: Some(8), epoch_size: Some(5), data_seed: Some(0) };
            let state = TrainingState {
                position: Position::epoch(2),
                optimizer,
                random,
                copies: DeviceCopies::default(),
                best,
                loss_scaler: None,
                run,
            };
            let params = Checkpoint::new(IndexMap::from([("w".to_owned(), tensor())]), IndexMap::new());
            let prefix = dir.path().join(name);
            state.save(&prefix, params).unwrap();
            prefix
        };
        let bytes = |prefix: &Path| std::fs::read(Position::epoch(2).path(prefix, ".states")).unwrap();
        let (later, at_once) = (save("later", Some((1, 0.5))), save("at-once", Some((2, 0.9))));
        assert!(bytes(&later) != bytes(&at_once));
        set_best(&later, (2, 0.9)).unwrap();
        assert!(bytes(&later) == bytes(&at_once));
        let (state, _) = newest(&later).unwrap().expect("it is whole still");
        assert_eq!((state.best, state.run.number), (Some((2, 0.9)), 1));
        set_best(&dir.path().join("none"), (2, 0.9)).unwrap();
        assert!(find(&dir.path().join("none")).unwrap().is_empty());
    }

    #[test]
    fn a_file_tells_by_its_beginning_whose_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("net-0001.states");
        let is_pickled = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            is_pickled(&path)
        };
        // Files with headers of 640 and of 0x7d0280 bytes begin with the same bytes as a pickle of protocol 2.
        for len in [8_u64, 640, 0x7d_0280] {
            let file = [&len.to_le_bytes()[..], &b"{\"__metadata__\":{"[..]].concat();
            assert!(!is_pickled(&file).unwrap(), "{len}");
        }
        // `pickle.dumps({0: None}, protocol)` for protocols 0, 2, 3 and 4.
        for pickle in [
            &b"(dp0\nI0\nNs."[..],
            &b"\x80\x02}q\x00K\x00Ns."[..],
            &b"\x80\x03}q\x00K\x00Ns."[..],
            &b"\x80\x04\x95\x07\x00\x00\x00\x00\x00\x00\x00}\x94K\x00Ns."[..],
        ] {
            assert!(is_pickled(pickle).unwrap(), "{pickle:?}");
        }
        for neither in [&b""[..], &b"\x80"[..], &b"PK\x03\x04"[..]] {
            assert!(is_pickled(neither).is_err(), "{neither:?}");
        }
    }
}
