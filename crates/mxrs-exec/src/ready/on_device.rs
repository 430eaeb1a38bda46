//! The work of a ready program on a device whose memory the host cannot access.
//!
//! A task ends when its work is enqueued. The arena and the packed constants must stay allocated until the work is done. So
//! each task records an event after its work. When the ready program is dropped, the last events are attached to the memory,
//! and the stream of the next owner waits for them. The host does not wait. Arrays need no events, because the engine orders
//! tasks by the variables of the arrays.

use super::memory::Home;
use super::step::Means;
use crate::packed::Packed;
use mxrs_engine::RunContext;
use mxrs_ndarray::DeviceCopies;
use mxrs_storage::Block;
use mxrs_sync::{Rank, RankedMutex, Team};
use mxrs_types::{DeviceEvent, DeviceStream, Error, Result};
use std::sync::Arc;

/// The memory of a ready program on a device, and the events that mark the end of the work that uses it.
pub struct OnDevice {
    copies: Arc<dyn DeviceCopies>,
    /// The last event on each stream.
    events: RankedMutex<Vec<Arc<dyn DeviceEvent>>>,
    arena: Option<Arc<Block>>,
    packed: Arc<Packed>,
}

impl OnDevice {
    /// The memory of a program on a device; `None` if it is host memory.
    pub fn new(home: &Home) -> Option<Self> {
        let copies = home.packed.copies()?.clone();
        let events = RankedMutex::new(Rank::Leaf, Vec::new());
        Some(Self { copies, events, arena: home.arena.clone(), packed: home.packed.clone() })
    }

    /// Runs `run` with the stream of the task, and records an event after the work that `run` enqueued.
    ///
    /// # Errors
    /// Returns the error of `run` or of the device.
    pub fn run(&self, task: &RunContext, team: &Team, run: impl FnOnce(&Means<'_>) -> Result<()>) -> Result<()> {
        let Some(stream) = task.stream() else {
            let what = format!("running steps on {}", task.device());
            return Err(Error::not_built(what, "the engine has no streams of it"));
        };
        let result = run(&Means { team, on_device: Some((&**stream, &*self.copies)) });
        // The event is recorded after an error too, because the steps before the failed step may be enqueued.
        self.note_end(&**stream).and(result)
    }

    fn note_end(&self, stream: &dyn DeviceStream) -> Result<()> {
        let event = match stream.record() {
            Ok(event) => event,
            Err(error) => {
                // Without an event the end of the work is unknown, so the work has to be over before the memory may be
                // freed. A failure of the work is less important than the error that is returned.
                let _ = stream.synchronize();
                return Err(error);
            }
        };
        let mut events = self.events.lock();
        match events.iter_mut().find(|known| known.stream() == event.stream()) {
            Some(known) if known.place() < event.place() => *known = event,
            Some(_) => {}
            None => events.push(event),
        }
        Ok(())
    }
}

impl Drop for OnDevice {
    fn drop(&mut self) {
        for event in self.events.get_mut().drain(..) {
            if let Some(arena) = &self.arena {
                arena.used_by(event.clone());
            }
            self.packed.used_by(&event);
        }
    }
}
