//! Converts the states of a training to tensors and texts, and stores these in a file. Another run can resume from them as
//! if the first run had not stopped.
//!
//! Tensors are called `state/<parameter>/<slot>`, master weights have the slot `master`. Texts: `format` (`mxrs.states.v1`),
//! `optimizer` (JSON: name and settings), `num_update`, `index_update_count` (JSON: updates by parameter), `lr_scheduler`
//! (JSON), and `scalars` if the optimizer has numbers in addition to arrays. A file is in the safetensors format. States are
//! stored by the names of parameters, so neither the order of parameters nor the devices matter.

use crate::{Parameter, State, Updater};
use indexmap::IndexMap;
use mxrs_format::safetensors::SafeTensors;
use mxrs_format::{AlignedBytes, Options, Tensor};
use mxrs_ndarray::{Invoke, NdArray, Reading};
use mxrs_types::{DType, Error, Result, ResultExt, Shape};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;

const FORMAT: &str = "mxrs.states.v1";

/// The states of an updater as tensors and texts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SavedStates {
    /// Arrays by name, `state/<parameter>/<slot>`.
    pub tensors: IndexMap<String, Tensor>,
    /// Texts by key, such as `optimizer`.
    pub metadata: IndexMap<String, String>,
}

impl SavedStates {
    /// Writes a file, which is either complete or absent.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        SafeTensors { tensors: self.tensors.clone(), metadata: self.metadata.clone() }.save(path)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// Fails if the file cannot be read, or is not a file of states.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let SafeTensors { tensors, metadata } = SafeTensors::load(path, &Options::default())?;
        let states = Self { tensors, metadata };
        states
            .text("format")
            .and_then(|format| states.expect("format", format, FORMAT))
            .context(|| format!("reading states from {}", path.display()))?;
        Ok(states)
    }

    fn text(&self, key: &str) -> Result<&str> {
        let text = self.metadata.get(key).map(String::as_str);
        text.ok_or_else(|| Error::invalid(format!("`{key}` of saved states"), "nothing", "a text"))
    }

    fn expect(&self, what: &str, got: &str, expected: &str) -> Result<()> {
        if got == expected {
            return Ok(());
        }
        Err(Error::invalid(format!("{what} of saved states"), got.chars().take(80).collect::<String>(), expected))
    }

    fn json(&self, key: &str) -> Result<Value> {
        serde_json::from_str(self.text(key)?)
            .map_err(|e| Error::invalid(format!("`{key}` of saved states"), e, "well-formed JSON"))
    }
}

/// The states of an updater at one moment, while their arrays are still being copied. Later updates do not change them.
pub struct StatesReading {
    tensors: Vec<(String, Shape, DType, Reading<AlignedBytes>)>,
    metadata: IndexMap<String, String>,
}

impl StatesReading {
    /// Waits until the states are computed and copied.
    ///
    /// # Errors
    /// Fails if computing a state failed.
    pub fn wait(self) -> Result<SavedStates> {
        let tensor = |(name, shape, dtype, reading): (String, Shape, DType, Reading<AlignedBytes>)| {
            Ok((name, Tensor::dense(dtype, shape, reading.wait()?)?))
        };
        Ok(SavedStates {
            tensors: self.tensors.into_iter().map(tensor).collect::<Result<_>>()?,
            metadata: self.metadata,
        })
    }
}

impl Updater {
    /// The states of all parameters that were updated. Waits until they are computed.
    ///
    /// # Errors
    /// Fails if computing a state failed.
    pub fn states(&self) -> Result<SavedStates> {
        self.read_states()?.wait()
    }

    /// The states of all parameters that were updated, as they are after the updates so far. Does not wait for them.
    ///
    /// # Errors
    /// Fails if memory for the copies is short.
    pub fn read_states(&self) -> Result<StatesReading> {
        let mut saved = StatesReading { tensors: Vec::new(), metadata: IndexMap::new() };
        for (name, state) in self.state_arrays() {
            for (slot, array) in state.saved() {
                let copy = |bytes: &[&[u8]]| AlignedBytes::copy_of(bytes.first().unwrap_or(&&[][..]));
                let reading = NdArray::read_later(&[array], copy)?;
                let name = format!("state/{name}/{slot}");
                saved.tensors.push((name, array.shape().clone(), array.dtype(), reading));
            }
        }
        let optimizer = self.optimizer();
        let common = optimizer.common();
        let mut settings: Map<String, Value> =
            optimizer.settings().into_iter().map(|(key, value)| (key.to_string(), value.into())).collect();
        let texts = [
            ("learning_rate", common.learning_rate.map_or("None".into(), |lr| lr.to_string())),
            ("wd", common.wd.to_string()),
            ("rescale_grad", self.rescale_grad().to_string()),
            ("clip_gradient", common.clip_gradient.map_or("None".into(), |bound| bound.to_string())),
            ("multi_precision", common.multi_precision.to_string()),
            ("begin_num_update", common.begin_num_update.to_string()),
        ];
        settings.extend(texts.map(|(key, text)| (key.to_string(), text.into())));
        let mut put = |key: &str, text: String| drop(saved.metadata.insert(key.into(), text));
        put("format", FORMAT.into());
        put("optimizer", json!({ "name": optimizer.name(), "settings": settings }).to_string());
        put("num_update", common.num_update.to_string());
        put("index_update_count", json!(common.counts().iter().collect::<BTreeMap<_, _>>()).to_string());
        if let Some(schedule) = common.scheduler() {
            let (name, settings) = schedule.describe();
            let settings: Map<String, Value> = settings.into_iter().map(|(k, v)| (k.to_string(), v.into())).collect();
            put("lr_scheduler", json!({ "name": name, "settings": settings }).to_string());
        }
        let scalars = optimizer.scalars();
        if !scalars.is_empty() {
            // Each number is written as the shortest text that is parsed to the same number again.
            let texts: Map<String, Value> =
                scalars.into_iter().map(|(k, v)| (k.into(), v.to_string().into())).collect();
            put("scalars", Value::from(texts).to_string());
        }
        Ok(saved)
    }

    /// Resumes from saved states, for these parameters (gradients are not read). On an error, nothing changes.
    ///
    /// # Errors
    /// Fails if the states are of another optimizer; if a state has an unknown parameter or slot, or another shape or type
    /// (the error names the first such parameter and both shapes); if a parameter has updates but no states; or if a text is
    /// not one that [`Self::states`] could have written.
    pub fn set_states(&mut self, nd: &dyn Invoke, params: &[Parameter], saved: &SavedStates) -> Result<()> {
        saved.expect("format", saved.text("format")?, FORMAT)?;
        let optimizer = saved.json("optimizer")?;
        let name = optimizer.get("name").and_then(Value::as_str).unwrap_or("nothing");
        saved.expect("optimizer", name, self.optimizer().name())?;
        let num_update = saved.text("num_update")?;
        let num_update: u64 =
            num_update.parse().map_err(|_| Error::invalid("num_update of saved states", num_update, "a count"))?;
        let counts: BTreeMap<String, u64> = serde_json::from_value(saved.json("index_update_count")?)
            .map_err(|e| Error::invalid("index_update_count of saved states", e, "counts by parameter"))?;
        let mut states: IndexMap<String, State> = IndexMap::new();
        for (index, param) in params.iter().enumerate().filter(|(_, param)| counts.contains_key(&param.name)) {
            states.insert(param.name.clone(), self.fresh_state(nd, index, &param.name, &param.weight)?);
        }
        if let Some(stray) = counts.keys().find(|name| !states.contains_key(*name)) {
            return Err(Error::invalid(
                "saved states",
                format!("states of `{stray}`"),
                "those of known parameters only",
            ));
        }
        let mut n_taken = 0;
        for (name, state) in &states {
            for (slot, array) in state.saved() {
                let key = format!("state/{name}/{slot}");
                let what = || format!("state {slot} of `{name}`");
                let Some(tensor) = saved.tensors.get(&key) else {
                    return Err(Error::invalid("saved states", format!("no {key}"), what()));
                };
                let dense = tensor.as_dense().context(what)?;
                if dense.shape() != array.shape() {
                    return Err(Error::shape("saved states", what(), array.shape().to_string(), dense.shape()));
                }
                if dense.dtype() != array.dtype() {
                    return Err(Error::dtype("saved states", what(), array.dtype().name(), dense.dtype().name()));
                }
                array.copy_from_bytes(dense.bytes()).context(what)?;
                n_taken += 1;
            }
        }
        if n_taken != saved.tensors.len() {
            let is_known = |key: &str| {
                states.iter().any(|(name, state)| state.saved().any(|(slot, _)| key == format!("state/{name}/{slot}")))
            };
            let stray = saved.tensors.keys().find(|key| !is_known(key)).map_or("", String::as_str);
            let stray: String = stray.chars().take(120).collect();
            return Err(Error::invalid("saved states", stray, "states of known parameters and slots only"));
        }
        let mut scalars: Vec<(String, f64)> = Vec::new();
        if saved.metadata.contains_key("scalars") {
            let wrong = |got: String| Error::invalid("scalars of saved states", got, "numbers by name");
            let texts: BTreeMap<String, String> =
                serde_json::from_value(saved.json("scalars")?).map_err(|e| wrong(e.to_string()))?;
            for (key, text) in texts {
                scalars.push((key, text.parse().map_err(|_| wrong(text))?));
            }
        }
        for (key, value) in scalars {
            self.optimizer_mut().set_scalar(&key, value)?;
        }
        self.optimizer_mut().common_mut().set_counts(num_update, counts.into_iter().collect());
        self.set_state_arrays(states);
        Ok(())
    }
}
