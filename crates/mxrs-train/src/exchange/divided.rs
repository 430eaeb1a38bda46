//! Reads and writes the states of an optimizer whose updates several workers or servers have divided among themselves. Each
//! then has the states of only those elements that it updates.
//!
//! A checkpoint holds the states of whole parameters, so a training can resume with another number of workers.

use super::Exchange;
use indexmap::IndexMap;
use mxrs_exec::Imperative;
use mxrs_format::safetensors::SafeTensors;
use mxrs_format::{AlignedBytes, Options, Tensor};
use mxrs_kvstore::{Family, Key, KvStore};
use mxrs_optim::{Parameter, SavedStates, Updater};
use mxrs_types::{Error, Result, ResultExt, Shape};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Key of the entry in the saved states that holds the number of updates of each parameter.
const COUNTS: &str = "index_update_count";
/// Key of the entry in the saved states that holds the number of updates of the optimizer.
const NUM_UPDATE: &str = "num_update";

/// For each parameter, by name: the elements that this worker or server updates, as a range of the flattened parameter.
/// `None` means all elements.
pub(super) type Parts = IndexMap<String, Option<Range<usize>>>;

impl Exchange {
    /// The states of the optimizer: those that servers have if servers update the weights, otherwise those of this process.
    /// If several workers have divided the updates, the first worker gets the states of all workers, and every other worker
    /// gets only its own. All workers must call this function.
    ///
    /// # Errors
    /// Fails as [`Updater::states`] does, or if a worker is lost.
    pub fn states(&self) -> Result<SavedStates> {
        let own = self.updater().states()?;
        if let Some(states) = self.states_of_servers()? {
            return Ok(states);
        }
        let Some(store) = self.dividing_store() else { return Ok(own) };
        let SavedStates { tensors, metadata } = own.clone();
        let Some(all) = store.gather(&SafeTensors { tensors, metadata }.to_bytes()?)? else { return Ok(own) };
        self.joined(&all).context(|| "reading states of workers".to_owned())
    }

    /// The states of whole parameters from those of all workers or servers.
    fn joined(&self, all: &[Vec<u8>]) -> Result<SavedStates> {
        let read = |bytes: &Vec<u8>| {
            let SafeTensors { tensors, metadata } = SafeTensors::from_bytes(bytes, &Options::default())?;
            Ok(SavedStates { tensors, metadata })
        };
        let all = all.iter().filter(|bytes| !bytes.is_empty()).map(read).collect::<Result<Vec<_>>>()?;
        let first = self.copies.first().map_or(&[][..], |first| first);
        let shapes = first.iter().map(|param| (param.name.as_str(), param.weight.shape())).collect();
        joined(all, &shapes)
    }

    /// The states that servers have. `None` if no server updates the weights, and on every worker but the first.
    fn states_of_servers(&self) -> Result<Option<SavedStates>> {
        let Some(store) = self.serving_store().filter(|store| store.rank() == 0) else { return Ok(None) };
        let all = store.updater_states()?.unwrap_or_default();
        self.joined(&all).context(|| "reading states of servers".to_owned()).map(Some)
    }

    /// The store, if servers keep and update its values.
    pub fn serving_store(&self) -> Option<&Arc<dyn KvStore>> {
        self.store().filter(|store| store.store_type().family() == Family::DistAsync)
    }

    /// The store, if its workers have divided the updates.
    fn dividing_store(&self) -> Option<&Arc<dyn KvStore>> {
        let is_dividing =
            |store: &&Arc<dyn KvStore>| store.num_workers() > 1 && store.store_type().family() != Family::DistAsync;
        self.store().filter(|_| self.is_on_store()).filter(is_dividing)
    }

    /// Whether servers have made updates. `None` if no server updates the weights, and on every worker but the first.
    ///
    /// # Errors
    /// Fails if a server is lost.
    pub fn have_servers_updated(&self) -> Result<Option<bool>> {
        self.states_of_servers()?.map(|states| Ok(!counts(&states)?.is_empty())).transpose()
    }

    /// Gives states to the servers, unless the servers have made updates already. Their states are then newer: if a worker
    /// restarts from an older checkpoint, the updates that the servers made since must not be lost. Only worker 0 gives states.
    /// The others wait for it, because a push that came before would make worker 0 find an update, and the states of the
    /// checkpoint would be left out.
    fn set_states_of_servers(&self, store: &dyn KvStore, states: &SavedStates) -> Result<()> {
        if store.rank() != 0 {
            return store.wait_for_updater_states();
        }
        let known = self.states_of_servers()?.unwrap_or_default();
        if !counts(&known)?.is_empty() {
            tracing::info!("the servers go on with the states that they have");
            return Ok(());
        }
        let SavedStates { tensors, metadata } = states.clone();
        store.set_updater_states(&SafeTensors { tensors, metadata }.to_bytes()?).map(drop)
    }

    /// Calls `set`, which replaces the states of the optimizer for the given parameters. The other devices take the same
    /// states at the next update.
    ///
    /// # Errors
    /// Returns the error of `set`. Fails if several workers have divided the updates.
    pub fn set_states(&self, set: impl FnOnce(&mut Updater, &Imperative, &[Parameter]) -> Result<()>) -> Result<()> {
        if self.dividing_store().or(self.serving_store()).is_some() {
            let reason = "resume with one worker, save a checkpoint, and resume from that";
            return Err(Error::not_built("states of MXNet's optimizers for several workers", reason));
        }
        set(&mut self.updater(), &self.nd, self.copies.first().map_or(&[][..], |first| first))
    }

    /// Replaces the states of the optimizer for the parameters of the first device. If several workers have divided the
    /// updates, each takes its part; all workers must call this function.
    ///
    /// # Errors
    /// Fails as [`Updater::set_states`] does, or if a worker is lost.
    pub fn set_saved_states(&self, states: &SavedStates) -> Result<()> {
        if let Some(store) = self.serving_store() {
            return self.set_states_of_servers(&**store, states);
        }
        let Some(store) = self.dividing_store() else {
            return self.set_states(|update, nd, params| update.set_states(nd, params, states));
        };
        let (mut parts, mut params) = (Parts::new(), Vec::new());
        for param in self.copies.first().into_iter().flatten() {
            let part = store.updated_part(&Key::from(param.name.as_str()))?;
            match &part {
                None => params.push(param.clone()),
                Some(part) if part.is_empty() => {}
                Some(part) => {
                    let of = |array: &mxrs_ndarray::NdArray| {
                        array.detach().reshape([array.shape().n_elements()])?.slice(part.start, part.end)
                    };
                    let (weight, grad) = (of(&param.weight)?, of(&param.grad)?);
                    params.push(Parameter { name: param.name.clone(), weight, grad });
                }
            }
            parts.insert(param.name.clone(), part);
        }
        let states = divided(states, &parts)?;
        self.updater().set_states(&self.nd, &params, &states)
    }
}

/// The name of the parameter to which a tensor of the saved states belongs. The tensor's name is `state/<parameter>/<slot>`.
fn parameter_of(name: &str) -> Option<&str> {
    Some(name.strip_prefix("state/")?.rsplit_once('/')?.0)
}

fn counts(states: &SavedStates) -> Result<BTreeMap<String, u64>> {
    let Some(text) = states.metadata.get(COUNTS) else { return Ok(BTreeMap::new()) };
    serde_json::from_str(text).map_err(|error| Error::invalid(format!("{COUNTS} of saved states"), error, "counts"))
}

/// The states of whole parameters, from the states of all workers in the order of their ranks. This is also the order of the
/// parts of a parameter.
fn joined(all: Vec<SavedStates>, shapes: &IndexMap<&str, &Shape>) -> Result<SavedStates> {
    let mut joined = SavedStates::default();
    let mut pieces: IndexMap<String, Vec<Tensor>> = IndexMap::new();
    let (mut n_updates, mut num_update) = (BTreeMap::new(), 0u64);
    for states in all {
        n_updates.extend(counts(&states)?);
        let own = states.metadata.get(NUM_UPDATE).and_then(|text| text.parse().ok());
        num_update = num_update.max(own.unwrap_or(0));
        for (key, text) in states.metadata {
            joined.metadata.entry(key).or_insert(text);
        }
        for (name, tensor) in states.tensors {
            pieces.entry(name).or_default().push(tensor);
        }
    }
    joined.metadata.insert(NUM_UPDATE.to_owned(), num_update.to_string());
    let text = serde_json::to_string(&n_updates).map_err(|error| Error::invalid(COUNTS, error, "counts"))?;
    joined.metadata.insert(COUNTS.to_owned(), text);
    // The tensors are sorted by the order of the parameters, so the result does not depend on which worker has which
    // parameter.
    let place = |name: &str| parameter_of(name).and_then(|name| shapes.get_index_of(name)).unwrap_or(usize::MAX);
    pieces.sort_by(|a, _, b, _| place(a).cmp(&place(b)));
    for (name, mut parts) in pieces {
        let shape = parameter_of(&name).and_then(|name| shapes.get(name));
        let tensor = match (parts.len(), shape) {
            (1, _) => parts.swap_remove(0),
            (_, Some(shape)) => {
                let bytes: Vec<u8> = parts.iter().flat_map(|part| part.stored_bytes()).copied().collect();
                let dtype = parts[0].as_dense()?.dtype();
                Tensor::dense(dtype, Shape::clone(shape), AlignedBytes::copy_of(&bytes))
                    .context(|| format!("joining the parts of `{name}`"))?
            }
            (n, None) => return Err(Error::invalid(format!("state `{name}`"), format!("{n} parts"), "a parameter")),
        };
        joined.tensors.insert(name, tensor);
    }
    Ok(joined)
}

/// The names of the parameters to which these states belong.
pub(super) fn named(states: &SavedStates) -> Result<Vec<String>> {
    let of_tensors = states.tensors.keys().filter_map(|name| parameter_of(name)).map(str::to_owned);
    Ok(counts(states)?.into_keys().chain(of_tensors).collect())
}

/// Cuts the states of whole parameters to the parts that one worker or server updates. A state that has as many elements as
/// the part already is copied unchanged.
pub(super) fn divided(states: &SavedStates, parts: &Parts) -> Result<SavedStates> {
    let mut own = SavedStates { tensors: IndexMap::new(), metadata: states.metadata.clone() };
    let mut n_updates = counts(states)?;
    n_updates.retain(|name, _| !matches!(parts.get(name), Some(Some(part)) if part.is_empty()));
    let text = serde_json::to_string(&n_updates).map_err(|error| Error::invalid(COUNTS, error, "counts"))?;
    own.metadata.insert(COUNTS.to_owned(), text);
    for (name, tensor) in &states.tensors {
        let part = match parameter_of(name).and_then(|name| parts.get(name)) {
            None | Some(None) => None,
            Some(Some(part)) if part.is_empty() => continue,
            Some(Some(part)) => Some(part),
        };
        let tensor = match part {
            None => tensor.clone(),
            Some(part) => {
                let dense = tensor.as_dense().context(|| format!("dividing `{name}`"))?;
                let size = dense.dtype().size_of();
                if dense.shape().n_elements() == part.len() {
                    own.tensors.insert(name.clone(), tensor.clone());
                    continue;
                }
                let bytes = dense.bytes().get(part.start * size..part.end * size).ok_or_else(|| {
                    let got = format!("shape {}", dense.shape());
                    Error::invalid(format!("`{name}` of saved states"), got, format!("at least {} elements", part.end))
                })?;
                Tensor::dense(dense.dtype(), [part.len()], AlignedBytes::copy_of(bytes))?
            }
        };
        own.tensors.insert(name.clone(), tensor);
    }
    Ok(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states(tensors: &[(&str, &[f32])], texts: [&str; 2]) -> SavedStates {
        let tensor = |(name, values): &(&str, &[f32])| {
            (format!("state/{name}"), Tensor::from_slice([values.len()], values).unwrap())
        };
        let metadata = [(NUM_UPDATE, texts[0]), (COUNTS, texts[1]), ("optimizer", "sgd")];
        SavedStates {
            tensors: tensors.iter().map(tensor).collect(),
            metadata: metadata.map(|(key, text)| (key.to_owned(), text.to_owned())).into(),
        }
    }

    #[test]
    fn parts_are_joined_and_divided_again() {
        let of = [
            states(&[("b/w/mom", &[1.0, 2.0])], ["0", r#"{"b/w":7}"#]),
            states(&[("b/w/mom", &[3.0, 4.0]), ("a/mom", &[5.0])], ["7", r#"{"a":7,"b/w":7}"#]),
        ];
        let (shape_a, shape_b) = (Shape::from([1]), Shape::from([2, 2]));
        let shapes = IndexMap::from([("a", &shape_a), ("b/w", &shape_b)]);
        let all = joined(of.to_vec(), &shapes).unwrap();
        assert_eq!(all.tensors.keys().collect::<Vec<_>>(), ["state/a/mom", "state/b/w/mom"]);
        assert_eq!(all.tensors["state/b/w/mom"], Tensor::from_slice([2, 2], &[1.0f32, 2.0, 3.0, 4.0]).unwrap());
        assert_eq!((&*all.metadata[NUM_UPDATE], &*all.metadata[COUNTS]), ("7", r#"{"a":7,"b/w":7}"#));
        let parts = [
            Parts::from([("a".into(), Some(0..0)), ("b/w".into(), Some(0..2))]),
            Parts::from([("a".into(), None), ("b/w".into(), Some(2..4))]),
        ];
        for (own, parts) in of.iter().zip(&parts) {
            let again = divided(&all, parts).unwrap();
            let sorted = |states: &SavedStates| states.tensors.clone().into_iter().collect::<BTreeMap<_, _>>().len();
            assert_eq!(sorted(&again), sorted(own));
            assert!(own.tensors.iter().all(|(name, tensor)| &again.tensors[name] == tensor));
            assert_eq!((&*again.metadata[COUNTS], &*again.metadata[NUM_UPDATE]), (&*own.metadata[COUNTS], "7"));
        }
        let error = divided(&all, &Parts::from([("b/w".into(), Some(2..5))])).unwrap_err().to_string();
        assert!(error.contains("b/w/mom") && error.contains("5 elements"), "{error}");
    }
}
