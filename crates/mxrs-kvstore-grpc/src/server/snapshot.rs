//! Snapshots: files from which a server that was killed continues.
//!
//! A snapshot has the values, the states of the updater, and the last push of each worker to each key, all of one moment. It
//! is a safetensors file, which is either complete or absent: `value/<position>` is the value of a key, `updater` are the
//! bytes of the states, and the text `state` is JSON with everything else.

use super::Inner;
use super::metrics::count;
use super::state::{About, Kept, Session};
use mxrs_format::safetensors::SafeTensors;
use mxrs_format::{AlignedBytes, Options, Tensor};
use mxrs_kvstore::{Key, UpdaterSettings};
use mxrs_ndarray::NdArray;
use mxrs_types::{DType, Error, Result, ResultExt, Shape};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// The version of the format.
const FORMAT: &str = "mxrs.kvstore.v1";

/// The text `state` of a file.
#[derive(Debug, Serialize, Deserialize)]
struct Saved {
    server: usize,
    n_servers: usize,
    n_workers: usize,
    /// The number of the snapshot, from 1.
    number: u64,
    keys: Vec<SavedKey>,
    sessions: Vec<SavedSession>,
    updater: Option<(String, Vec<(String, String)>)>,
    /// Whether worker 0 has given states of the updater.
    #[serde(default)]
    are_states_given: bool,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum SavedName {
    Int(i64),
    Text(String),
}

#[derive(Debug, Serialize, Deserialize)]
struct SavedKey {
    key: SavedName,
    number: i64,
    shape: Vec<usize>,
    dtype: i32,
    part: (usize, usize),
    version: u64,
    clocks: Vec<u64>,
}

#[derive(Debug, Serialize, Deserialize)]
struct SavedSession {
    /// The number of the session in hexadecimal digits, because readers of JSON may round large numbers.
    number: String,
    rank: usize,
    left: bool,
    /// The position of the key, and the number of the last push.
    pushes: Vec<(usize, u64)>,
}

/// Writes snapshots at intervals, and when asked to.
pub async fn repeat(inner: Arc<Inner>) {
    loop {
        drop(tokio::time::timeout(inner.options.snapshot_interval, inner.snapshot_now.notified()).await);
        // The error is ignored here: it has already ended the training, and every worker gets it.
        drop(inner.blocking(|inner| inner.snapshot()).await);
    }
}

impl Inner {
    fn path(&self) -> Option<PathBuf> {
        let folder = self.options.snapshots.as_ref()?;
        Some(folder.join(format!("server-{}-of-{}.snapshot", self.options.server, self.options.n_servers)))
    }

    /// Writes a snapshot, unless nothing has changed since the last one. If writing fails, the training ends, because the
    /// user has asked for the protection of snapshots.
    pub fn snapshot(&self) -> Result<()> {
        let path = self.path();
        let path = path.ok_or_else(|| Error::invalid("folder of snapshots", "none", "MXRS_KVSTORE_SNAPSHOT_DIR"))?;
        let since = Instant::now();
        let result = self.write(&path);
        match &result {
            Ok(false) => {}
            Ok(true) => {
                count(&self.metrics.snapshots, 1);
                count(&self.metrics.snapshot_ns, u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX));
                tracing::debug!("wrote {} in {:?}", path.display(), since.elapsed());
            }
            Err(error) => {
                count(&self.metrics.failed_snapshots, 1);
                let what = format!("writing the snapshot of server {}", self.options.server);
                self.state.lock().fail(error.clone().context(what));
            }
        }
        result.map(drop)
    }

    /// Writes a snapshot. Returns whether there was something to write. The lock of the state is held only while tasks are
    /// pushed that copy the values and states of this moment. It is not held while they run.
    fn write(&self, path: &std::path::Path) -> Result<bool> {
        // Only one snapshot is written at a time, because all are written to the same file.
        let _writing = self.writing.lock();
        let (saved, values, states) = {
            let mut guard = self.state.lock();
            let state = &mut *guard;
            if state.n_saved == Some(state.n_changes) {
                return Ok(false);
            }
            state.n_begun += 1;
            let mut values = Vec::with_capacity(state.keys.len());
            for kept in state.keys.values() {
                let copy = |bytes: &[&[u8]]| AlignedBytes::copy_of(&bytes.concat());
                values.push((kept.value.shape().clone(), kept.about.dtype, NdArray::read_later(&[&kept.value], copy)?));
            }
            let states = state.updater.as_ref().map(|(_, updater)| updater.states()).transpose()?;
            (self.saved(state), values, states)
        };
        let n_changes = saved.1;
        let mut file = SafeTensors::default();
        for (position, (shape, dtype, value)) in values.into_iter().enumerate() {
            file.tensors.insert(format!("value/{position}"), Tensor::dense(dtype, shape, value.wait()?)?);
        }
        if let Some(read) = states {
            let states = read()?;
            let tensor = Tensor::dense(DType::U8, [states.len()], AlignedBytes::copy_of(&states))?;
            file.tensors.insert("updater".to_owned(), tensor);
        }
        let text = serde_json::to_string(&saved.0).map_err(|error| Error::invalid("snapshot", error, "JSON"))?;
        file.metadata.insert("format".to_owned(), FORMAT.to_owned());
        file.metadata.insert("state".to_owned(), text);
        file.save(path)?;
        let mut state = self.state.lock();
        (state.n_complete, state.n_saved) = (saved.0.number, Some(n_changes));
        Ok(true)
    }

    /// Everything that is saved except the arrays, and the number of changes that this includes.
    fn saved(&self, state: &super::state::State) -> (Saved, u64) {
        let key = |kept: &Kept| SavedKey {
            key: match &kept.about.key {
                Key::Int(number) => SavedName::Int(*number),
                Key::Text(text) => SavedName::Text(text.to_string()),
            },
            number: kept.about.number,
            shape: kept.about.shape.to_vec(),
            dtype: kept.about.dtype.flag(),
            part: (kept.about.part.start, kept.about.part.end),
            version: kept.version,
            clocks: kept.clocks.clone(),
        };
        let session = |(number, session): (&u64, &Session)| {
            let position = |(key, push): (&Key, &u64)| Some((state.keys.get_index_of(key)?, *push));
            let pushes = session.pushes.iter().filter_map(position).collect();
            SavedSession { number: format!("{number:016x}"), rank: session.rank, left: session.left, pushes }
        };
        let is_current =
            |(number, session): &(&u64, &Session)| state.by_rank.get(session.rank) == Some(&Some(**number));
        let saved = Saved {
            server: self.options.server,
            n_servers: self.options.n_servers,
            n_workers: self.options.n_workers,
            number: state.n_begun,
            keys: state.keys.values().map(key).collect(),
            sessions: state.sessions.iter().filter(is_current).map(session).collect(),
            updater: state.updater.as_ref().map(|(known, _)| (known.name.clone(), known.settings.clone())),
            are_states_given: state.are_states_given,
        };
        (saved, state.n_changes)
    }

    /// Continues from the snapshot, if there is one.
    pub fn restore(&self) -> Result<()> {
        let Some(path) = self.path().filter(|path| path.exists()) else { return Ok(()) };
        let what = || format!("restoring {}; to begin a new training, remove it", path.display());
        let file = SafeTensors::load(&path, &Options::default())?;
        self.take(file).context(what)?;
        tracing::info!("continued from {}", path.display());
        Ok(())
    }

    fn take(&self, file: SafeTensors) -> Result<()> {
        let text = |key: &str| file.metadata.get(key).map_or("", String::as_str);
        if text("format") != FORMAT {
            return Err(Error::invalid("format of a snapshot", format!("`{}`", text("format")), FORMAT));
        }
        let saved: Saved = serde_json::from_str(text("state"))
            .map_err(|error| Error::invalid("state of a snapshot", error, "JSON"))?;
        let got = (saved.server, saved.n_servers, saved.n_workers);
        let own = (self.options.server, self.options.n_servers, self.options.n_workers);
        if got != own {
            let words =
                |(server, n_servers, n_workers)| format!("server {server} of {n_servers} for {n_workers} workers");
            return Err(Error::invalid("snapshot", words(got), words(own)));
        }
        // If all workers had left, that training has ended. Its processes do not come back, and the processes of the next
        // training start new sessions.
        let n_left = saved.sessions.iter().filter(|session| session.left).count();
        let has_ended = n_left == self.options.n_workers;
        let mut state = self.state.lock();
        let mut tensors = file.tensors;
        for (position, key) in saved.keys.into_iter().enumerate() {
            let name = format!("value/{position}");
            let tensor = tensors.swap_remove(&name);
            let tensor =
                tensor.ok_or_else(|| Error::invalid("snapshot", format!("no {name}"), "all values"))?.into_dense()?;
            let mut kept = self.kept(key, &tensor).context(|| format!("tensor {name}"))?;
            if has_ended {
                kept.clocks.fill(0);
            }
            state.keys.insert(kept.about.key.clone(), kept);
        }
        for saved in saved.sessions.into_iter().filter(|_| !has_ended) {
            let number = u64::from_str_radix(&saved.number, 16).ok().filter(|_| saved.rank < self.options.n_workers);
            let number =
                number.ok_or_else(|| Error::invalid("session of a snapshot", &saved.number, "a known worker"))?;
            let mut session = Session::new(saved.rank);
            (session.joined, session.left) = (false, saved.left);
            for (position, push) in saved.pushes {
                let key = state.keys.get_index(position).map(|(key, _)| key.clone());
                let key = key.ok_or_else(|| Error::invalid("key of a snapshot", position, "a known key"))?;
                session.pushes.insert(key, push);
            }
            state.by_rank[saved.rank] = Some(number);
            state.sessions.insert(number, session);
        }
        if let Some((name, settings)) = saved.updater {
            let settings = UpdaterSettings { name, settings };
            let mut updater = (self.make_updater)(&settings)?;
            if let Some(states) = tensors.swap_remove("updater") {
                updater.set_states(&state.served(), states.stored_bytes())?;
            }
            state.updater = Some((settings, updater));
        }
        state.are_states_given = saved.are_states_given;
        (state.n_begun, state.n_complete) = (saved.number, saved.number);
        state.n_saved = Some(0);
        Ok(())
    }

    fn kept(&self, saved: SavedKey, tensor: &mxrs_format::Dense) -> Result<Kept> {
        let key = match saved.key {
            SavedName::Int(number) => Key::Int(number),
            SavedName::Text(text) => Key::from(text),
        };
        let dtype = DType::from_flag(saved.dtype);
        let dtype = dtype.ok_or_else(|| Error::invalid("type of a snapshot", saved.dtype, "a type of MXNet"))?;
        let shape = Shape::from(saved.shape.as_slice());
        shape.checked_size_bytes(dtype)?;
        let about = About { key, number: saved.number, shape, dtype, part: saved.part.0..saved.part.1 };
        let is_part = about.part.start <= about.part.end && about.part.end <= about.shape.n_elements();
        if !is_part || about.own_shape() != *tensor.shape() || tensor.dtype() != dtype {
            let got = format!("{} {}", tensor.dtype(), tensor.shape());
            return Err(Error::invalid(format!("value of key {}", about.key), got, about.words()));
        }
        if saved.clocks.len() != self.options.n_workers {
            return Err(Error::invalid("clocks of a snapshot", saved.clocks.len(), "one for each worker"));
        }
        let value = NdArray::from_bytes(&self.context, about.own_shape(), dtype, tensor.bytes())?;
        Ok(Kept { about, value, version: saved.version, clocks: saved.clocks })
    }
}
