//! The updater of a server. The server creates its optimizer from a name and settings in text, which a worker sends.

use super::divided::{Parts, divided, named};
use super::on_store::{name_of, parameter};
use mxrs_exec::{Imperative, autograd};
use mxrs_format::Options;
use mxrs_format::safetensors::SafeTensors;
use mxrs_kvstore::{MakeUpdater, ReadStates, ServedValue, ServerUpdater, Update, UpdaterSettings};
use mxrs_optim::{Parameter, SavedStates, Updater};
use mxrs_types::Result;
use std::sync::Arc;

/// Returns the function with which a server of an asynchronous store creates its updater from the optimizer's name and
/// settings. The updaters run operators by `nd`.
pub fn server_updater(nd: &Imperative) -> MakeUpdater {
    let nd = nd.clone();
    Arc::new(move |settings: &UpdaterSettings| {
        let updater = Updater::from_description(&settings.name, &settings.settings)?;
        Ok(Box::new(OnServer { nd: nd.clone(), updater }) as Box<dyn ServerUpdater>)
    })
}

/// The updater of one server: an optimizer with the states of the weights that this server keeps.
struct OnServer {
    nd: Imperative,
    updater: Updater,
}

impl mxrs_kvstore::Updater for OnServer {
    fn update(&mut self, updates: &[Update]) -> Result<()> {
        let params = updates.iter().map(|update| parameter(&self.nd, update)).collect::<Result<Vec<_>>>()?;
        let _paused = autograd::pause();
        self.updater.update_all(&self.nd, &params)
    }

    fn is_elementwise(&self) -> bool {
        self.updater.optimizer().is_elementwise()
    }
}

impl ServerUpdater for OnServer {
    fn set_settings(&mut self, settings: &UpdaterSettings) -> Result<()> {
        self.updater.set_description(&settings.name, &settings.settings)
    }

    fn states(&self) -> Result<ReadStates> {
        let reading = self.updater.read_states()?;
        Ok(Box::new(move || {
            let SavedStates { tensors, metadata } = reading.wait()?;
            SafeTensors { tensors, metadata }.to_bytes()
        }))
    }

    fn set_states(&mut self, values: &[ServedValue], states: &[u8]) -> Result<()> {
        let SafeTensors { tensors, metadata } = SafeTensors::from_bytes(states, &Options::default())?;
        let states = SavedStates { tensors, metadata };
        // Every parameter first gets an empty part, so the states of weights that other servers keep are left out.
        let mut parts: Parts = named(&states)?.into_iter().map(|name| (name, Some(0..0))).collect();
        parts.extend(values.iter().map(|value| (name_of(&value.key), value.part.clone())));
        let params: Vec<Parameter> = values
            .iter()
            .map(|value| Parameter {
                name: name_of(&value.key),
                weight: value.value.clone(),
                // A placeholder that is not read: setting states needs the weights only.
                grad: value.value.clone(),
            })
            .collect();
        self.updater.set_states(&self.nd, &params, &divided(&states, &parts)?)
    }
}
