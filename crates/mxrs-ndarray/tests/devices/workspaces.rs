//! Workspaces on a device: their memory is reused while the device is behind, without a wait of the host and in order.

use crate::*;
use mxrs_engine::Engine;
use mxrs_ndarray::{TempSpaceCounts, TempSpaces};
use mxrs_simulated_gpu::{SimulatedStream, Touch};
use std::num::NonZeroUsize;

/// Pushes a task that writes a workspace of `n_bytes` on the device, as a call with scratch memory does. Returns the
/// address of the workspace.
fn use_workspace(engine: &Engine, spaces: &TempSpaces, n_bytes: usize) -> u64 {
    let space = spaces.take(GPU, n_bytes).unwrap();
    let (var, start) = (space.var().clone(), space.block().as_ptr().addr() as u64);
    let pushed = engine.task("workspace").device(GPU).write(&var).push(move |task| {
        let stream = task.stream().expect("a task of a device has a stream");
        let touch = Touch::write(start..start + n_bytes as u64);
        SimulatedStream::of(&**stream)?.launch_on("workspace", &[touch], || {})?;
        space.block().used_by(stream.record()?);
        Ok(())
    });
    pushed.unwrap();
    start
}

/// Two workspaces take turns. The first one grows and gives its memory up, and the second one gets it, while the device has
/// not begun to use it.
#[test]
fn memory_that_is_in_use_goes_to_another_workspace() {
    for engine in ENGINES {
        let world = World::new(engine);
        let counts = TempSpaceCounts { gpu: NonZeroUsize::new(2).unwrap(), ..TempSpaceCounts::default() };
        let spaces = TempSpaces::new(world.context.engine(), world.context.storage(), counts);
        let engine_now = || world.context.engine().counters();
        let by_events = engine.1 == GpuSync::Event;
        let hold = by_events.then(|| world.gpus[0].gpu().hold());
        let starts = [32 << 10, 4 << 10, 64 << 10, 32 << 10].map(|n_bytes| {
            let start = use_workspace(world.context.engine(), &spaces, n_bytes);
            assert!(eventually(|| engine_now().pushed == engine_now().completed), "{engine:?}: {:?}", engine_now());
            start
        });
        assert_eq!(starts[3], starts[0], "{engine:?}: the memory is reused");
        if by_events {
            assert_eq!(world.host_waits(), 0, "{engine:?}");
        }
        drop(hold);
        world.context.engine().wait_for_all().unwrap();
        world.gpus[0].checker().assert_clean();
        drop(spaces);
        world.assert_empty();
    }
}
