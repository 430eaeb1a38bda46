//! Tests that callers wait for a device only when they read values.

use crate::*;
use mxrs_types::DType;

/// The engines that order device work by events.
fn by_events() -> impl Iterator<Item = (EngineKind, GpuSync)> {
    ENGINES.into_iter().filter(|(_, sync)| *sync == GpuSync::Event)
}

/// While the devices do not start any work, a program of copies, fills, writes and deletions is pushed to its end and
/// every task completes. The host has waited for no stream and no event.
#[test]
fn a_program_is_enqueued_while_the_devices_stand_still() {
    for engine in by_events() {
        for peers in [true, false] {
            let world = World::new(engine);
            world.gpus[0].set_peers(peers);
            let holds = world.gpus.each_ref().map(|gpu| gpu.gpu().hold());
            let mut last = None;
            for round in 0..20 {
                let a = world.array(GPU, &numbers(round, 64));
                let b = NdArray::zeros_on(&world.context, [64], DType::F32, PEER).unwrap();
                b.slice(0, 32).unwrap().copy_from_array(&a.slice(32, 64).unwrap()).unwrap();
                a.copy_from_array(&world.array(CPU, &numbers(round + 1, 64))).unwrap();
                a.copy_from(&numbers(round + 2, 64)).unwrap();
                let c = b.as_in_context(&world.context, GPU).unwrap();
                a.slice(0, 10).unwrap().copy_from_array(&a.slice(5, 15).unwrap()).unwrap();
                last = Some((a, b, c));
            }
            let engine_now = || world.context.engine().counters();
            let (a, b, c) = last.unwrap();
            assert!(eventually(|| engine_now().pushed == engine_now().completed), "{engine:?}: {:?}", engine_now());
            assert_eq!(world.host_waits(), 0, "{engine:?}");
            drop(holds);
            let mut expected = numbers(21, 64);
            expected.copy_within(5..15, 0);
            assert_eq!(a.to_vec::<f32>().unwrap(), expected);
            let half: Vec<f32> = numbers(19 + 32, 32).into_iter().chain([0.0; 32]).collect();
            assert_eq!((b.to_vec::<f32>().unwrap(), c.to_vec::<f32>().unwrap()), (half.clone(), half));
            world.gpus[0].checker().assert_clean();
            drop((a, b, c));
            world.assert_empty();
        }
    }
}

/// A copy to host memory that is not pinned does not block the caller, and neither does a copy to pinned memory.
#[test]
fn downloads_do_not_block_the_caller() {
    for engine in by_events().filter(|(kind, _)| *kind != EngineKind::Naive) {
        let world = World::new(engine);
        let array = world.array(GPU, &numbers(0, 16));
        let [plain, pinned] = [CPU, PINNED].map(|device| world.array(device, &[0.0; 16]));
        let hold = world.gpus[0].gpu().hold();
        plain.copy_from_array(&array).unwrap();
        pinned.copy_from_array(&array).unwrap();
        // Other tasks of the host go on meanwhile.
        world.array(CPU, &[1.0]).copy_from(&[2.0f32]).unwrap();
        drop(hold);
        assert_eq!(plain.to_vec::<f32>().unwrap(), numbers(0, 16));
        assert_eq!(pinned.to_vec::<f32>().unwrap(), numbers(0, 16));
    }
}

/// One read of a value on a device is at most one wait of the host.
#[test]
fn a_read_waits_once() {
    for engine in by_events() {
        let world = World::new(engine);
        let array = world.array(GPU, &numbers(0, 16));
        let hold = world.gpus[0].gpu().hold();
        let copy = NdArray::empty(&world.context, [16], DType::F32, GPU, "copy").unwrap();
        copy.copy_from_array(&array).unwrap();
        let release = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            drop(hold);
        });
        assert_eq!(copy.to_vec::<f32>().unwrap(), numbers(0, 16));
        release.join().unwrap();
        assert_eq!(world.host_waits(), 1, "{engine:?}");
    }
}

/// The tasks of copies run on the device's copy workers, whose streams are made for copies only.
#[test]
fn copies_use_the_copy_workers() {
    use mxrs_engine::PoolId;
    use mxrs_engine::gpu::StreamUse;
    let world = World::new((EngineKind::ThreadedPerDevice, GpuSync::Event));
    let array = world.array(GPU, &numbers(0, 16));
    array.copy_to_device(&world.context, CPU).unwrap().wait_to_read().unwrap();
    assert!(world.gpus[0].gpu().streams().iter().all(|(_, stream_use)| *stream_use == StreamUse::Copy));
    let pools = world.context.engine().counters().pools;
    assert!(pools.iter().any(|pool| pool.id == PoolId::GpuCopy(0)), "{pools:?}");
}

/// Staging comes from the pinned pool of the device and goes back to it.
#[test]
fn staging_comes_from_the_pinned_pools() {
    let world = World::new(ENGINES[3]);
    for (id, device) in [(0, GPU), (1, PEER)] {
        let pinned = Device::cpu_pinned(id);
        for _ in 0..10 {
            let array = world.array(device, &numbers(0, 1024));
            assert_eq!(array.to_vec::<f32>().unwrap(), numbers(0, 1024));
            world.context.engine().wait_for_all().unwrap();
        }
        let stats = world.context.storage().stats(pinned);
        assert_eq!(stats.live_blocks, 0);
        assert!((1..=2).contains(&stats.system_requests), "memory is reused: {stats:?}");
    }
}
