//! Tests a program in which an allocation or a copy fails, or a device is lost. Each allocation and each copy of the program
//! fails in turn.

use crate::*;
use mxrs_types::{DType, Result};
use std::sync::atomic::{AtomicBool, Ordering};

/// A program over the host and both GPUs, with every kind of copy. Returns what it computes.
fn program(world: &World) -> Result<[Vec<f32>; 3]> {
    let context = &world.context;
    let a = NdArray::from_slice_on(context, [64], &numbers(0, 64), GPU)?;
    let b = NdArray::zeros_on(context, [64], DType::F32, PEER)?;
    b.slice(0, 32)?.copy_from_array(&a.slice(32, 64)?)?;
    let host = NdArray::from_slice(context, [64], &numbers(100, 64))?;
    host.slice(32, 64)?.copy_from_array(&b.slice(0, 32)?)?;
    let c = host.as_in_context(context, GPU)?;
    c.slice(0, 16)?.copy_from_array(&c.slice(8, 24)?)?;
    a.write_later(|bytes| {
        bytes.reverse();
        bytes.reverse();
        Ok(())
    })?;
    let d = c.copy_to_device(context, PINNED)?;
    Ok([a.to_vec()?, host.to_vec()?, d.to_vec()?])
}

fn expected() -> [Vec<f32>; 3] {
    let host: Vec<f32> = numbers(100, 32).into_iter().chain(numbers(32, 32)).collect();
    let mut c = host.clone();
    c.copy_within(8..24, 0);
    [numbers(0, 64), host, c]
}

/// Asserts that a program has left no memory in use, and that the host still works. With `devices_too`, the devices must
/// still work too.
fn assert_goes_on(world: &World, devices_too: bool) {
    // Failures that the program did not wait for are reported here.
    for _ in 0..3 {
        let _ = world.context.engine().wait_for_all();
    }
    world.assert_empty();
    assert_eq!(world.array(CPU, &[1.0]).to_vec::<f32>().unwrap(), [1.0]);
    if devices_too {
        assert_eq!(program(world).unwrap(), expected());
        world.assert_empty();
    }
}

fn names_a_device(text: &str) -> bool {
    ["gpu(0)", "gpu(1)", "cpu_pinned(0)", "cpu_pinned(1)"].iter().any(|name| text.contains(name))
}

/// Each allocation of the program is refused in turn, on each GPU and in pinned memory. The pool repeats a refused request,
/// so the next requests are refused too. The error names the device, nothing leaks, and afterwards the program runs.
#[test]
fn memory_is_short_at_every_allocation() {
    for engine in ENGINES {
        for place in 0..4 {
            let mut n_failed = 0;
            for nth in 1..40 {
                let world = World::new(engine);
                let memory = if place < 2 { world.gpus[place].memory() } else { &world.pinned[place - 2] };
                [nth, nth + 1, nth + 2].iter().for_each(|&request| memory.fail_on_request(request));
                let result = program(&world);
                let was_refused = memory.counters().refusals > 0;
                if let Err(error) = result {
                    let (text, device) =
                        (error.to_string(), ["gpu(0)", "gpu(1)", "cpu_pinned(0)", "cpu_pinned(1)"][place]);
                    assert!(text.contains(device) && text.contains("memory"), "{engine:?}: {text}");
                    n_failed += 1;
                }
                // Requests that are still marked to fail are used up, so that the program can run again.
                while memory.n_requests() < nth + 2 {
                    let _ = world.context.storage().allocate(device_of(place), 64, mxrs_storage::Tag::default());
                    world.context.storage().release_all(device_of(place));
                }
                assert_goes_on(&world, true);
                if !was_refused {
                    break;
                }
            }
            assert!(n_failed > 0 || place == 3, "{engine:?}: nothing failed on {}", device_of(place));
        }
    }
}

fn device_of(place: usize) -> Device {
    [GPU, PEER, PINNED, Device::cpu_pinned(1)][place]
}

/// Each copy of the program fails in turn. A read or the wait for all tasks returns an error that names the copy and a
/// device; nothing leaks, and afterwards the program runs.
#[test]
fn every_copy_fails_in_turn() {
    for engine in ENGINES {
        for gpu in 0..2 {
            let n_copies = {
                let world = World::new(engine);
                assert_eq!(program(&world).unwrap(), expected());
                world.gpus[gpu].n_copies()
            };
            assert!(n_copies > 1);
            for nth in 1..=n_copies {
                let world = World::new(engine);
                world.gpus[gpu].fail_copy(nth);
                let mut errors: Vec<String> = program(&world).err().iter().map(ToString::to_string).collect();
                errors
                    .extend((0..3).filter_map(|_| world.context.engine().wait_for_all().err()).map(|e| e.to_string()));
                let is_named = |text: &String| text.contains(&format!("copy {nth}, `")) && names_a_device(text);
                assert!(errors.iter().any(is_named), "{engine:?}, copy {nth}: {errors:?}");
                assert_goes_on(&world, true);
            }
        }
    }
}

/// The device is lost at the start of each copy in turn. Every later use of the device is an error, nothing panics or hangs,
/// the memory is freed, and the host still works.
#[test]
fn a_device_is_lost_at_every_copy() {
    for engine in ENGINES {
        for gpu in 0..2 {
            for after in 0..8 {
                let world = World::new(engine);
                let is_over = Arc::new(AtomicBool::new(false));
                let (device, over) = (Arc::clone(&world.gpus[gpu]), Arc::clone(&is_over));
                let loser = std::thread::spawn(move || {
                    while device.n_copies() < after && !over.load(Ordering::Relaxed) {
                        std::thread::yield_now();
                    }
                    device.lose();
                });
                let result = program(&world);
                is_over.store(true, Ordering::Relaxed);
                loser.join().unwrap();
                if let Err(error) = result {
                    assert!(names_a_device(&error.to_string()), "{error}");
                }
                let again = program(&world).unwrap_err().to_string();
                assert!(again.contains("is lost") && names_a_device(&again), "{again}");
                assert_goes_on(&world, false);
            }
        }
    }
}

/// Device work that is held back when the device is lost ends, with an error.
#[test]
fn pending_work_of_a_lost_device_ends() {
    for engine in ENGINES.into_iter().filter(|(_, sync)| *sync == GpuSync::Event) {
        let world = World::new(engine);
        let hold = world.gpus[0].gpu().hold();
        let array = world.array(GPU, &numbers(0, 16));
        let copy = array.copy_to_device(&world.context, PEER).unwrap();
        world.gpus[0].lose();
        drop(hold);
        let text = copy.to_vec::<f32>().unwrap_err().to_string();
        assert!(text.contains("gpu(0) is lost"), "{text}");
        drop((array, copy));
        assert_goes_on(&world, false);
    }
}
