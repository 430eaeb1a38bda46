//! The states file: what it holds, and finding the newest whole checkpoint.

use super::{Position, split};
use indexmap::IndexMap;
use mxrs_format::safetensors::SafeTensors;
use mxrs_format::{Checkpoint, Options, write_atomically};
use mxrs_ndarray::RandomState;
use mxrs_optim::SavedStates;
use mxrs_types::{Error, Result};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const FORMAT: &str = "mxrs.states.v1";
const BEST: &str = "train.best";

/// Everything beside the parameters that training goes on from.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainingState {
    /// The batch that comes next.
    pub position: Position,
    /// States of the optimizer.
    pub optimizer: SavedStates,
    /// Where random operators are in their numbers.
    pub random: RandomState,
    /// The best epoch so far and its value.
    pub best: Option<(u64, f64)>,
}

/// Counts and checks what passes through.
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
    /// Writes the parameters, then the states that vouch for them.
    ///
    /// # Errors
    /// Those of writing.
    pub fn save(&self, prefix: &Path, params: Checkpoint) -> Result<()> {
        let path = self.position.path(prefix, ".params");
        let (mut len, mut checksum) = (0, 0);
        write_atomically(&path, |sink| {
            let mut checked = Checked { sink, checksum: crc32fast::Hasher::new(), len: 0 };
            mxrs_format::params::write_list(&mut checked, &params.into_arrays())?;
            (len, checksum) = (checked.len, checked.checksum.finalize());
            Ok(())
        })?;
        self.to_file(len, checksum).save(self.position.path(prefix, ".states"))
    }

    fn to_file(&self, params_len: u64, params_crc32: u32) -> SafeTensors {
        let mut metadata = self.optimizer.metadata.clone();
        let next: Vec<String> = self.random.next.iter().map(u64::to_string).collect();
        let mut put = |key: &str, text: String| metadata.insert(key.to_owned(), text);
        put("format", FORMAT.into());
        put("train.epoch", self.position.epoch.to_string());
        put("train.batch", self.position.batch.to_string());
        put("train.random.seed", self.random.seed.to_string());
        put("train.random.next", next.join(","));
        put("train.random.turn", self.random.turn.to_string());
        put("train.params.bytes", params_len.to_string());
        put("train.params.crc32", params_crc32.to_string());
        metadata.extend(self.best.map(best_entry));
        SafeTensors { tensors: self.optimizer.tensors.clone(), metadata }
    }

    /// The states, and length and checksum of their parameter file.
    fn from_file(file: SafeTensors) -> Result<(Self, u64, u32)> {
        let SafeTensors { tensors, mut metadata } = file;
        let format = metadata.get("format").map_or("none", String::as_str);
        if format != FORMAT {
            return Err(Error::invalid("format of a states file", format, FORMAT));
        }
        let text = |metadata: &mut IndexMap<String, String>, key: &str| {
            metadata
                .shift_remove(key)
                .ok_or_else(|| Error::invalid(format!("`{key}` of a states file"), "none", "text"))
        };
        let number = |metadata: &mut IndexMap<String, String>, key: &str| {
            let text = text(metadata, key)?;
            text.parse::<u64>().map_err(|_| Error::invalid(format!("`{key}` of a states file"), &text, "a number"))
        };
        let position =
            Position { epoch: number(&mut metadata, "train.epoch")?, batch: number(&mut metadata, "train.batch")? };
        let next = text(&mut metadata, "train.random.next")?;
        let next = next.split(',').filter(|n| !n.is_empty()).map(|n| {
            n.parse().map_err(|_| Error::invalid("`train.random.next` of a states file", n, "numbers with commas"))
        });
        let random = RandomState {
            next: next.collect::<Result<_>>()?,
            seed: number(&mut metadata, "train.random.seed")?,
            turn: number(&mut metadata, "train.random.turn")? as usize,
        };
        let len = number(&mut metadata, "train.params.bytes")?;
        let checksum = number(&mut metadata, "train.params.crc32")? as u32;
        let best = metadata.shift_remove(BEST);
        let best = best.and_then(|text| {
            let (epoch, value) = text.split_once(' ')?;
            Some((epoch.parse().ok()?, value.parse().ok()?))
        });
        Ok((Self { position, optimizer: SavedStates { tensors, metadata }, random, best }, len, checksum))
    }
}

/// What a states file tells of the best epoch.
fn best_entry((epoch, value): (u64, f64)) -> (String, String) {
    (BEST.to_owned(), format!("{epoch} {value:?}"))
}

/// Writes the states of this epoch again, to tell that it is the best so far; everything else in them stays as it is. Where
/// there are no states, nothing is written.
///
/// # Errors
/// Those of reading and writing.
pub(crate) fn set_best(prefix: &Path, best: (u64, f64)) -> Result<()> {
    let path = Position::epoch(best.0).path(prefix, ".states");
    if !path.exists() {
        return Ok(());
    }
    let mut file = SafeTensors::load(&path, &Options::default())?;
    file.metadata.extend([best_entry(best)]);
    file.save(path)
}

/// A states file in the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The place its name tells.
    pub position: Position,
    /// Beginning of its name.
    pub prefix: PathBuf,
}

impl Found {
    /// Reads it and its parameters.
    ///
    /// # Errors
    /// What is wrong with either file, and parameters that are not those the states were written for.
    pub fn read(&self) -> Result<(TrainingState, Checkpoint)> {
        let states = self.position.path(&self.prefix, ".states");
        let file = SafeTensors::load(&states, &Options::default())?;
        let (state, len, checksum) =
            TrainingState::from_file(file).map_err(|e| e.context(format!("reading {}", states.display())))?;
        let path = self.position.path(&self.prefix, ".params");
        let bytes = std::fs::read(&path).map_err(|e| Error::io(&path, &e))?;
        if (bytes.len() as u64, crc32fast::hash(&bytes)) != (len, checksum) || state.position != self.position {
            let expected = format!("the {len} bytes that {} was written for", states.display());
            return Err(Error::invalid(path.display().to_string(), "another file", expected));
        }
        let arrays = mxrs_format::ArrayFile::from_bytes(&bytes, &Options::default()).map_err(|e| e.with_path(&path))?;
        let params = Checkpoint::from_arrays(arrays.value, &Options::default()).map_err(|e| e.with_path(&path))?;
        Ok((state, params.value))
    }
}

/// Every states file of this prefix, newest first.
///
/// # Errors
/// Names that are not UTF-8; a folder that cannot be read; one that is not there has none.
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

/// The newest whole checkpoint of this prefix. Those that are not whole are told of and passed over.
///
/// # Errors
/// As [`find`].
pub fn newest(prefix: &Path) -> Result<Option<(TrainingState, Checkpoint)>> {
    for found in find(prefix)? {
        match found.read() {
            Ok(whole) => return Ok(Some(whole)),
            Err(error) => tracing::warn!("checkpoint {} is passed over: {error}", found.position),
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_format::Tensor;

    #[test]
    fn the_best_is_told_later_and_nothing_else_changes() {
        let dir = tempfile::tempdir().unwrap();
        let save = |name: &str, best: Option<(u64, f64)>| {
            let tensor = || Tensor::from_slice([2], &[0.1f32, f32::NAN]).unwrap();
            let mut optimizer = SavedStates::default();
            optimizer.metadata.insert("num_update".into(), "10".into());
            optimizer.tensors.insert("state/w/mom".into(), tensor());
            let random = RandomState { seed: 3, next: vec![4, 5], turn: 1 };
            let state = TrainingState { position: Position::epoch(2), optimizer, random, best };
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
        assert_eq!(state.best, Some((2, 0.9)));
        set_best(&dir.path().join("none"), (2, 0.9)).unwrap();
        assert!(find(&dir.path().join("none")).unwrap().is_empty());
    }
}
