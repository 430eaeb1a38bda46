//! Dropping arrays while devices still use them, and the reuse of their memory.

use crate::*;
use mxrs_types::DType;

/// Arrays are dropped before the device has begun to use them. The drop does not wait, the memory is allocated again
/// immediately, and its new users run after the old ones, on whatever stream they run.
#[test]
fn memory_of_pending_work_is_reused_in_order() {
    for engine in ENGINES.into_iter().filter(|(_, sync)| *sync == GpuSync::Event) {
        let world = World::new(engine);
        let result = NdArray::zeros_on(&world.context, [8, 256], DType::F32, GPU).unwrap();
        let host = world.array(PINNED, &[0.0; 256]);
        world.context.engine().wait_for_all().unwrap();
        let (requests, waits) = (world.gpus[0].memory().n_requests(), world.host_waits());
        let hold = world.gpus[0].gpu().hold();
        for row in 0..8 {
            let temporary = NdArray::empty(&world.context, [256], DType::F32, GPU, "temporary").unwrap();
            temporary.copy_from(&numbers(row, 256)).unwrap();
            // Alternates between the device's compute streams and its copy streams.
            result.at(row).unwrap().copy_from_array(&temporary).unwrap();
            host.copy_from_array(&temporary).unwrap();
            drop(temporary);
            assert!(eventually(|| world.context.storage().stats(GPU).live_blocks == 1));
        }
        assert_eq!(world.gpus[0].memory().n_requests() - requests, 1, "{engine:?}: one block serves all");
        assert_eq!(world.host_waits(), waits);
        drop(hold);
        let expected: Vec<f32> = (0..8).flat_map(|row| numbers(row, 256)).collect();
        assert_eq!(result.to_vec::<f32>().unwrap(), expected);
        assert_eq!(host.to_vec::<f32>().unwrap(), numbers(7, 256));
        world.gpus[0].checker().assert_clean();
        drop((result, host));
        world.assert_empty();
    }
}

/// The last handle of an array may be dropped by a task, before or after the device is done, and after the engine stopped.
#[test]
fn arrays_may_outlive_their_engines_work() {
    for engine in ENGINES {
        let world = World::new(engine);
        let array = world.array(GPU, &numbers(0, 16));
        let other = array.copy_to_device(&world.context, PEER).unwrap();
        let held = other.clone();
        world
            .context
            .engine()
            .task("holds")
            .push(move |_| {
                drop(held);
                Ok(())
            })
            .unwrap();
        world.context.engine().stop();
        drop((array, other));
        world.context.engine().start().unwrap();
        world.assert_empty();
    }
}

/// Pending work does not keep a device's memory after engine and storage are gone.
#[test]
fn everything_returns_when_all_handles_go() {
    for engine in ENGINES {
        let World { gpus, pinned, context } = World::new(engine);
        let array = NdArray::from_slice_on(&context, [16], &numbers(0, 16), GPU).unwrap();
        let copy = array.copy_to_device(&context, PEER).unwrap();
        drop(context);
        drop(array);
        assert_eq!(copy.to_vec::<f32>().unwrap(), numbers(0, 16));
        drop(copy);
        let memories = || gpus.iter().map(|gpu| gpu.memory()).chain(&pinned);
        assert!(eventually(|| memories().all(|memory| memory.counters().used_bytes == 0)), "{engine:?}");
    }
}
