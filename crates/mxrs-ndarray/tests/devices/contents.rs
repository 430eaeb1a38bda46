//! What arrays hold after they were made, written, viewed and copied, wherever they are.

use crate::*;
use mxrs_storage::StorageConfig;
use mxrs_types::{DType, Error};

#[test]
fn arrays_are_made_and_read_everywhere() {
    for engine in ENGINES {
        let world = World::new(engine);
        for device in PLACES {
            let zeros = NdArray::zeros_on(&world.context, [3, 2], DType::F64, device).unwrap();
            assert_eq!((zeros.device(), zeros.to_vec::<f64>().unwrap()), (device, vec![0.0; 6]), "{engine:?}");
            let array = world.array(device, &numbers(1, 6));
            assert_eq!(array.to_vec::<f32>().unwrap(), numbers(1, 6));
            let bytes = NdArray::from_bytes_on(&world.context, [2], DType::U8, &[7, 9], device).unwrap();
            assert_eq!(bytes.read_bytes(<[u8]>::to_vec).unwrap(), [7, 9]);
            let empty = NdArray::empty(&world.context, [6], DType::F32, device, "empty").unwrap();
            empty.copy_from_array(&array).unwrap();
            assert_eq!(empty.to_vec::<f32>().unwrap(), numbers(1, 6));
            let none = NdArray::zeros_on(&world.context, [0, 4], DType::F32, device).unwrap();
            assert_eq!(none.to_vec::<f32>().unwrap(), Vec::<f32>::new());
            assert!(NdArray::from_slice_on(&world.context, [5], &numbers(0, 4), device).is_err());
            assert!(array.to_vec::<f64>().is_err());
        }
        world.gpus[0].checker().assert_clean();
        world.assert_empty();
    }
}

#[test]
fn views_and_writes_go_through_everywhere() {
    for engine in ENGINES {
        let world = World::new(engine);
        for device in PLACES {
            let array = NdArray::from_slice_on(&world.context, [4, 2], &numbers(0, 8), device).unwrap();
            let rows = array.slice(1, 3).unwrap().reshape([4]).unwrap();
            assert!(rows.shares_storage(&array));
            assert_eq!(rows.to_vec::<f32>().unwrap(), numbers(2, 4));
            rows.copy_from(&numbers(20, 4)).unwrap();
            array.at(0).unwrap().copy_from_owned(bytemuck_bytes(&[5.0, 6.0])).unwrap();
            array
                .slice(3, 4)
                .unwrap()
                .write_later(|bytes| {
                    bytes[4..].copy_from_slice(&9.0f32.to_ne_bytes());
                    Ok(())
                })
                .unwrap();
            assert_eq!(array.to_vec::<f32>().unwrap(), [5.0, 6.0, 20.0, 21.0, 22.0, 23.0, 6.0, 9.0], "{device}");
            let sum = |bytes: &[&[u8]]| bytes.iter().map(|b| b.len()).sum::<usize>();
            let host = world.array(CPU, &[1.0]);
            assert_eq!(NdArray::read_later(&[&rows, &host, &array], sum).unwrap().wait().unwrap(), 16 + 4 + 32);
        }
        world.gpus[0].checker().assert_clean();
        world.assert_empty();
    }
}

/// Copies between every pair of devices, with and without direct copies between the GPUs. Source and destination are views.
#[test]
fn copies_between_all_pairs() {
    for engine in ENGINES {
        for peers in [true, false] {
            let world = World::new(engine);
            world.gpus[0].set_peers(peers);
            for (i, from) in PLACES.into_iter().enumerate() {
                for (j, to) in PLACES.into_iter().enumerate() {
                    let first = 100 * i + 10 * j;
                    let source = world.array(from, &numbers(first, 6));
                    let target = world.array(to, &[-1.0; 6]);
                    target.slice(1, 5).unwrap().copy_from_array(&source.slice(2, 6).unwrap()).unwrap();
                    // The source may be overwritten immediately: the engine runs the copy before the write.
                    source.copy_from(&[0.0f32; 6]).unwrap();
                    let mut expected = numbers(first + 1, 6);
                    (expected[0], expected[5]) = (-1.0, -1.0);
                    assert_eq!(target.to_vec::<f32>().unwrap(), expected, "{from} to {to}, {engine:?}");
                }
            }
            let to_peers = world.gpus.iter().map(|gpu| gpu.copies().to_peers.n).sum::<u64>();
            assert_eq!(to_peers, if peers { 2 } else { 0 });
            world.gpus[0].checker().assert_clean();
            world.assert_empty();
        }
    }
}

#[test]
fn copies_between_devices_go_through_the_host_if_asked_to() {
    for are_direct in [true, false] {
        let world = World::with(ENGINES[3], StorageConfig::default(), are_direct);
        let source = world.array(GPU, &numbers(3, 6));
        let target = world.array(PEER, &[-1.0; 6]);
        let before = world.gpus[0].copies().downloads.n;
        target.copy_from_array(&source).unwrap();
        world.context.engine().wait_for_all().unwrap();
        let copies = world.gpus[0].copies();
        let expected = if are_direct { (1, 0) } else { (0, 1) };
        assert_eq!((copies.to_peers.n, copies.downloads.n - before), expected);
        assert_eq!(target.to_vec::<f32>().unwrap(), numbers(3, 6));
        assert_eq!(world.context.copies_directly(GPU, PEER), are_direct);
        for (from, to) in [(GPU, GPU), (GPU, CPU), (CPU, GPU), (GPU, Device::gpu(7)), (Device::gpu(7), GPU)] {
            assert!(!world.context.copies_directly(from, to), "{from} to {to}");
        }
        world.gpus[0].checker().assert_clean();
    }
}

/// Each case has a pair of devices and the numbers of copies that `gpu(0)` makes for it: uploads, downloads, copies within
/// the device, copies to the peer.
#[test]
fn the_copies_of_a_pair_are_the_documented_ones() {
    let cases = [
        ((CPU, GPU), [1, 0, 0, 0]),
        ((PINNED, GPU), [1, 0, 0, 0]),
        ((GPU, CPU), [0, 1, 0, 0]),
        ((GPU, PINNED), [0, 1, 0, 0]),
        ((GPU, GPU), [0, 0, 1, 0]),
        ((GPU, PEER), [0, 0, 0, 1]),
        ((CPU, PINNED), [0, 0, 0, 0]),
    ];
    for engine in ENGINES {
        for ((from, to), expected) in cases {
            let world = World::new(engine);
            let source = world.array(from, &numbers(0, 100));
            let target = NdArray::empty(&world.context, [100], DType::F32, to, "to").unwrap();
            world.context.engine().wait_for_all().unwrap();
            let count = || {
                let c = world.gpus[0].copies();
                [c.uploads, c.downloads, c.within, c.to_peers].map(|count| (count.n, count.n_bytes))
            };
            let before = count();
            source.copyto(&target).unwrap();
            world.context.engine().wait_for_all().unwrap();
            let after = count();
            for k in 0..4 {
                let difference = (after[k].0 - before[k].0, after[k].1 - before[k].1);
                assert_eq!(difference, (expected[k], 400 * expected[k]), "{from} to {to}: {k}");
            }
        }
    }
}

/// Copies between overlapping views of one array give the same elements as a copy through other memory.
#[test]
fn overlapping_views_are_copied_as_if_apart() {
    for engine in ENGINES {
        let world = World::new(engine);
        for device in PLACES {
            for (from, to) in [(0, 1), (1, 0), (2, 2)] {
                let array = world.array(device, &numbers(0, 6));
                array.slice(to, to + 4).unwrap().copy_from_array(&array.slice(from, from + 4).unwrap()).unwrap();
                let mut expected = numbers(0, 6);
                expected.copy_within(from..from + 4, to);
                assert_eq!(array.to_vec::<f32>().unwrap(), expected, "{device}: {from} to {to}");
            }
        }
        world.gpus[0].checker().assert_clean();
    }
}

#[test]
fn as_in_context_is_the_same_array_if_it_is_there() {
    let world = World::new(ENGINES[3]);
    for from in PLACES {
        let array = world.array(from, &numbers(3, 4));
        for to in PLACES {
            let there = array.as_in_context(&world.context, to).unwrap();
            assert_eq!((there.device(), there.shares_storage(&array)), (to, from == to));
            let copy = array.copy_to_device(&world.context, to).unwrap();
            assert!(!copy.shares_storage(&array) && copy.device() == to);
            assert_eq!(there.to_vec::<f32>().unwrap(), copy.to_vec::<f32>().unwrap());
            assert_eq!(copy.to_vec::<f32>().unwrap(), numbers(3, 4));
        }
    }
}

#[test]
fn bad_devices_and_bad_shapes_are_errors_that_say_so() {
    let world = World::new(ENGINES[3]);
    let array = world.array(GPU, &numbers(0, 4));
    let of = |result: mxrs_types::Result<NdArray>| result.map(drop).unwrap_err().to_string();
    let text = of(NdArray::zeros_on(&world.context, [2], DType::F32, Device::gpu(7)));
    assert!(text.contains("gpu(7)") && text.contains("gpu(0), gpu(1)"), "{text}");
    let text = of(array.as_in_context(&world.context, Device::gpu(7)));
    assert!(text.contains("copying gpu(0) to gpu(7)") && text.contains("gpu(0), gpu(1)"), "{text}");
    assert!(world.context.check_device(Device::gpu(7)).is_err() && world.context.check_device(PEER).is_ok());
    assert_eq!(world.context.devices().collect::<Vec<_>>(), [GPU, PEER]);
    assert!(array.copy_from_array(&world.array(CPU, &numbers(0, 5))).is_err());
    assert!(array.copy_from(&[1.0f64; 4]).is_err() && array.copy_from(&[1.0f32; 3]).is_err());
    let alone = ArrayContext::new(world.context.engine().clone(), world.context.storage().clone());
    let text = of(NdArray::zeros_on(&alone, [2], DType::F32, GPU));
    assert!(text.contains("no device is registered"), "{text}");

    let engine = || world.context.engine().clone();
    let storage = || world.context.storage().clone();
    let twice = ArrayContext::builder(engine(), storage()).device(world.gpus[0].clone()).device(world.gpus[0].clone());
    assert!(twice.build().map(drop).unwrap_err().to_string().contains("gpu(0) twice"));
    let stranger = SimulatedDevice::new(Device::gpu(5), 1 << 20);
    let text = ArrayContext::builder(engine(), storage()).device(stranger).build().map(drop).unwrap_err().to_string();
    assert!(text.contains("gpu(5)") && text.contains("gpu(1)"), "{text}");
}

/// If the task that should write an array fails, reading a copy of the array on any device returns the error of that task.
#[test]
fn failures_of_producers_go_with_copies() {
    for engine in ENGINES {
        let world = World::new(engine);
        let array = world.array(GPU, &numbers(0, 4));
        let copies = [CPU, PEER, PINNED].map(|device| world.array(device, &[0.0; 4]));
        let fail = |_: &mut [u8]| Err(Error::invalid("kernel", "on purpose", "nothing"));
        let pushed = array.write_later(fail);
        if engine.0 == EngineKind::Naive {
            assert!(pushed.unwrap_err().to_string().contains("on purpose"));
            continue;
        }
        copies.iter().for_each(|copy| copy.copy_from_array(&array).unwrap());
        let told = copies.iter().filter_map(|copy| copy.to_vec::<f32>().err()).map(|error| error.to_string());
        let texts: Vec<String> = told.collect();
        assert!(texts.len() == 1 && texts[0].contains("on purpose"), "reported once: {texts:?}");
        array.copy_from(&numbers(5, 4)).unwrap();
        copies.iter().for_each(|copy| copy.copy_from_array(&array).unwrap());
        copies.iter().for_each(|copy| assert_eq!(copy.to_vec::<f32>().unwrap(), numbers(5, 4)));
    }
}

fn bytemuck_bytes(elements: &[f32]) -> Vec<u8> {
    elements.iter().flat_map(|element| element.to_ne_bytes()).collect()
}
