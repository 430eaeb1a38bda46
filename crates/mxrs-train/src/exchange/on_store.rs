//! The updater of a store: the optimizer, applied to the stored weights.

use mxrs_exec::{Imperative, autograd};
use mxrs_kvstore::{Key, Update, UpdaterSettings, Value};
use mxrs_ndarray::NdArray;
use mxrs_optim::{Parameter, Updater};
use mxrs_sync::Mutex;
use mxrs_types::{Error, Result};
use std::collections::HashMap;
use std::sync::Arc;

/// The weights that the program has changed since the last update, by name, as the first device has them. The next update
/// first writes them to the store.
pub(super) type Changed = Arc<Mutex<HashMap<String, NdArray>>>;

/// Updates stored weights by an optimizer.
pub(super) struct OnStore {
    pub nd: Imperative,
    pub updater: Arc<Mutex<Updater>>,
    pub changed: Changed,
}

/// The name of the parameter that has this key.
pub(super) fn name_of(key: &Key) -> String {
    match key {
        Key::Text(name) => name.to_string(),
        Key::Int(number) => number.to_string(),
    }
}

/// The parameter for one update of a store: its name, the stored weight, and the sum of the gradients on the weight's
/// device.
pub(super) fn parameter(nd: &Imperative, update: &Update) -> Result<Parameter> {
    let name = name_of(&update.key);
    let Value::Dense(grad) = &update.sum else {
        return Err(Error::invalid(format!("gradient of `{name}`"), "row-sparse", "a dense array"));
    };
    let weight = update.stored.clone();
    // The sum may be on another device than the weight, for example if only some of the devices pushed a gradient.
    let grad = match weight.device().is_host() && grad.device().is_host() {
        true => grad.clone(),
        false => grad.as_in_context(nd.context(), weight.device())?,
    };
    Ok(Parameter { name, weight, grad })
}

impl mxrs_kvstore::Updater for OnStore {
    fn update(&mut self, updates: &[Update]) -> Result<()> {
        let mut params = Vec::with_capacity(updates.len());
        for update in updates {
            let name = name_of(&update.key);
            if let Some(mut weight) = self.changed.lock().remove(&name) {
                if let Some(part) = &update.part {
                    weight = weight.reshape([weight.shape().n_elements()])?.slice(part.start, part.end)?;
                }
                update.stored.copy_with_priority(&weight, update.priority)?;
            }
            params.push(parameter(&self.nd, update)?);
        }
        let _paused = autograd::pause();
        self.updater.lock().update_all(&self.nd, &params)
    }

    fn is_elementwise(&self) -> bool {
        self.updater.lock().optimizer().is_elementwise()
    }

    fn settings(&self) -> Result<Option<UpdaterSettings>> {
        let (name, settings) = self.updater.lock().describe()?;
        Ok(Some(UpdaterSettings { name, settings }))
    }
}
