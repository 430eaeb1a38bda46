//! Guarantee S9: if a stream may still use a freed block, the next user of the block waits for that stream, and no other
//! user does.

use crate::{Bench, MIB};
use mxrs_simulated_gpu::{SimulatedCall, SimulatedMemory};
use mxrs_storage::{PoolConfig, PoolKind, Tag};
use mxrs_types::{Device, DeviceEvent, DeviceStream, Error, ErrorKind, Result, StreamId};
use std::any::Any;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

const GPU: Device = Device::gpu(0);

/// An event that is finished by `finish`, or when the host waits for it.
#[derive(Debug)]
pub(crate) struct Event {
    stream: StreamId,
    finished: AtomicBool,
    fails: bool,
    host_waits: AtomicUsize,
}

impl Event {
    pub(crate) fn new(stream: u32) -> Arc<Self> {
        Self::made(stream, false)
    }

    pub(crate) fn made(stream: u32, fails: bool) -> Arc<Self> {
        let stream = StreamId { device: GPU, number: stream };
        Arc::new(Self { stream, finished: AtomicBool::new(false), fails, host_waits: AtomicUsize::new(0) })
    }

    pub(crate) fn finish(&self) {
        self.finished.store(true, Ordering::SeqCst);
    }

    pub(crate) fn host_waits(&self) -> usize {
        self.host_waits.load(Ordering::SeqCst)
    }
}

impl DeviceEvent for Event {
    fn stream(&self) -> StreamId {
        self.stream
    }

    fn place(&self) -> u64 {
        0
    }

    fn is_finished(&self) -> bool {
        self.finished.load(Ordering::SeqCst)
    }

    fn wait(&self) -> Result<()> {
        self.host_waits.fetch_add(1, Ordering::SeqCst);
        if self.fails {
            return Err(Error::new(ErrorKind::Backend { backend: "fake", message: "the stream is gone".into() }));
        }
        self.finish();
        Ok(())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A stream that records the events it has to wait for.
#[derive(Debug)]
pub(crate) struct Stream {
    number: u32,
    fails: bool,
    waited_for: Mutex<Vec<*const ()>>,
}

// SAFETY: the pointers are compared and never dereferenced.
unsafe impl Send for Stream {}
// SAFETY: the pointers are compared and never dereferenced.
unsafe impl Sync for Stream {}

impl Stream {
    pub(crate) fn new(number: u32) -> Self {
        Self { number, fails: false, waited_for: Mutex::default() }
    }

    pub(crate) fn waited_for(&self, event: &Arc<Event>) -> bool {
        self.waited_for.lock().unwrap().contains(&Arc::as_ptr(event).cast())
    }
}

impl DeviceStream for Stream {
    fn id(&self) -> StreamId {
        StreamId { device: GPU, number: self.number }
    }

    fn record(&self) -> Result<Arc<dyn DeviceEvent>> {
        Ok(Event::new(self.number))
    }

    fn wait_for(&self, event: &dyn DeviceEvent) -> Result<()> {
        if self.fails {
            return Err(Error::new(ErrorKind::Backend { backend: "fake", message: "no more waits".into() }));
        }
        self.waited_for.lock().unwrap().push(std::ptr::from_ref(event).cast());
        Ok(())
    }

    fn synchronize(&self) -> Result<()> {
        Ok(())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn bench() -> Bench {
    Bench::uniform(PoolConfig::default(), 100 * MIB)
}

pub(crate) fn dynamic(event: &Arc<Event>) -> Arc<dyn DeviceEvent> {
    Arc::clone(event) as _
}

#[test]
fn s9_another_stream_waits_on_the_device_and_the_own_one_does_not() {
    for kind in [PoolKind::Naive, PoolKind::Round] {
        let bench = Bench::uniform(PoolConfig::of_kind(kind), 100 * MIB);
        let (own, other, done) = (Event::new(1), Event::new(2), Event::new(3));
        done.finish();
        let block = bench.allocate(GPU, 5000);
        let address = block.as_ptr();
        block.free_after([dynamic(&own), dynamic(&other), dynamic(&done)]);
        let stream = Stream::new(1);
        let again = bench.storage.allocate_on(GPU, 5000, Tag::default(), &stream).unwrap();
        assert_eq!(again.as_ptr(), address, "S5 holds with events: {kind}");
        assert!(stream.waited_for(&other), "S9");
        assert!(!stream.waited_for(&own), "a stream is in order with itself");
        assert!(!stream.waited_for(&done), "nothing to wait for");
        assert_eq!([&own, &other, &done].map(|event| event.host_waits()), [0, 0, 0], "never the host");
    }
}

/// A stream executes its wait later, so the events stay with the block until they are finished.
#[test]
fn s9_events_outlive_a_stream_that_did_nothing() {
    let bench = bench();
    let event = Event::new(1);
    bench.allocate(GPU, 5000).free_after([dynamic(&event)]);
    for number in [2, 1, 3] {
        let stream = Stream::new(number);
        drop(bench.storage.allocate_on(GPU, 5000, Tag::default(), &stream).unwrap());
        assert_eq!(stream.waited_for(&event), number != 1);
    }
    assert_eq!(event.host_waits(), 0);
    drop(bench.allocate(GPU, 5000));
    assert_eq!(event.host_waits(), 1, "the host waits once, and then it is known to be finished");
    drop(bench.allocate(GPU, 5000));
    assert_eq!(event.host_waits(), 1);
    assert_eq!(bench.storage.stats(GPU).system_requests, 1);
}

/// An owner who asks for the events waits by other means: it gets the unfinished ones, and neither the host nor a stream
/// waits. The block keeps them for the owner after it.
#[test]
fn s9_events_go_to_the_owner_who_asks_for_them() {
    let bench = bench();
    let (open, done) = (Event::new(1), Event::new(2));
    done.finish();
    bench.allocate(GPU, 5000).free_after([dynamic(&open), dynamic(&done)]);
    let (block, events) = bench.storage.allocate_with_events(GPU, 5000, Tag::default()).unwrap();
    let is_open = |event: &Arc<dyn DeviceEvent>| std::ptr::addr_eq(Arc::as_ptr(event), Arc::as_ptr(&open));
    assert!(events.len() == 1 && is_open(&events[0]), "{events:?}");
    assert_eq!([&open, &done].map(|event| event.host_waits()), [0, 0]);
    drop(block);
    drop(bench.allocate(GPU, 5000));
    assert_eq!(open.host_waits(), 1, "the next owner waits for it, too");
    let (_block, events) = bench.storage.allocate_with_events(GPU, 5000, Tag::default()).unwrap();
    assert!(events.is_empty());
}

/// `used_by` attaches events to a live block; they take effect when the block is dropped.
#[test]
fn s9_used_by_counts_when_the_block_is_dropped() {
    let bench = bench();
    let events: Vec<_> = (0..40).map(|_| Event::new(4)).collect();
    let block = bench.allocate(GPU, 5000);
    for (nth, event) in events.iter().enumerate() {
        block.used_by(dynamic(event));
        if nth < 30 {
            event.finish();
        }
    }
    assert!(events.iter().all(|event| event.host_waits() == 0));
    assert!(Arc::strong_count(&events[0]) == 1, "finished events are dropped when more are added");
    drop(block);
    let _block = bench.allocate(GPU, 5000);
    assert!(events[30..].iter().all(|event| event.host_waits() == 1));
}

/// S10: while a hit waits on the host, other threads use the pool.
#[test]
fn s10_no_lock_is_held_while_a_hit_waits() {
    #[derive(Debug)]
    struct Slow(Mutex<mpsc::Receiver<()>>, mpsc::SyncSender<()>);
    impl DeviceEvent for Slow {
        fn stream(&self) -> StreamId {
            StreamId { device: GPU, number: 1 }
        }

        fn place(&self) -> u64 {
            0
        }
        fn is_finished(&self) -> bool {
            false
        }
        fn wait(&self) -> Result<()> {
            self.1.send(()).unwrap();
            self.0.lock().unwrap().recv_timeout(Duration::from_secs(20)).expect("the other thread was locked out");
            Ok(())
        }
        fn as_any(&self) -> &dyn Any {
            self
        }
    }
    let bench = bench();
    let (go, proceed) = mpsc::sync_channel(1);
    let (begun, has_begun) = mpsc::sync_channel(1);
    bench.allocate(GPU, 5000).free_after([Arc::new(Slow(Mutex::new(proceed), begun)) as Arc<dyn DeviceEvent>]);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| drop(bench.allocate(GPU, 5000)));
        has_begun.recv().unwrap();
        drop(bench.allocate(GPU, 5000));
        drop(bench.allocate(GPU, 50_000));
        assert_eq!(bench.storage.stats(GPU).live_blocks, 1);
        bench.storage.release_all(GPU);
        go.send(()).unwrap();
        waiting.join().unwrap();
    });
}

/// Every way to return a block to the device first waits for its events.
#[test]
fn s9_the_device_gets_nothing_back_that_is_in_use() {
    let (live, cached, direct, late) = (Event::new(1), Event::new(2), Event::new(3), Event::new(4));
    let events = [&live, &cached, &direct, &late].map(Arc::clone);
    let memory = SimulatedMemory::new(GPU, 100 * MIB).unbacked().on_call(move |call| {
        if let SimulatedCall::Free { size_bytes, .. } = call {
            let event = &events[size_bytes / 8192 - 1];
            assert!(event.is_finished(), "{size_bytes} bytes were freed before their event");
        }
    });
    let bench = Bench::of(mxrs_storage::StorageConfig::default(), [memory]);
    bench.allocate(GPU, 2 * 8192).free_after([dynamic(&cached)]);
    bench.storage.release_all(GPU);
    assert_eq!(cached.host_waits(), 1);
    let block = bench.allocate(GPU, 3 * 8192);
    block.used_by(dynamic(&direct));
    block.free_directly();
    assert_eq!(direct.host_waits(), 1);
    bench.allocate(GPU, 4 * 8192).free_after([dynamic(&late)]);
    let block = bench.allocate(GPU, 8192);
    block.used_by(dynamic(&live));
    let Bench { storage, memories } = bench;
    drop(storage);
    assert_eq!((late.host_waits(), live.host_waits()), (1, 0));
    drop(block);
    assert_eq!(live.host_waits(), 1);
    assert_eq!(memories[0].counters().used_bytes, 0);
}

/// S11: if the wait for the events of a cached block fails, the allocation fails and changes nothing; the block is still
/// cached with its event.
#[test]
fn s11_a_wait_that_fails_takes_the_hit_back() {
    for on_stream in [false, true] {
        let bench = bench();
        let event = Event::made(1, !on_stream);
        drop(bench.allocate(GPU, 9000));
        bench.allocate(GPU, 5000).free_after([dynamic(&event)]);
        let before = bench.storage.stats(GPU);
        for _ in 0..2 {
            let failing = Stream { fails: true, ..Stream::new(2) };
            let outcome = match on_stream {
                true => bench.storage.allocate_on(GPU, 5000, Tag::from("t".to_owned()), &failing),
                false => bench.storage.allocate(GPU, 5000, Tag::from("t".to_owned())),
            };
            let error = outcome.unwrap_err().to_string();
            assert!(error.contains("fake") && error.contains("8192 bytes of gpu(0)"), "{error}");
            assert_eq!(bench.storage.stats(GPU), before);
        }
        event.finish();
        let working = Stream::new(2);
        drop(bench.storage.allocate_on(GPU, 5000, Tag::default(), &working).unwrap());
        assert!(!working.waited_for(&event));
        assert_eq!(bench.storage.stats(GPU).hits, before.hits + 1);
    }
}

/// Failed work that never ends may use its memory forever. This memory is not returned to the device, and the statistics
/// count it as abandoned.
#[test]
fn memory_of_work_without_an_end_is_abandoned() {
    let bench = bench();
    bench.allocate(GPU, 5000).free_after([dynamic(&Event::made(1, true))]);
    bench.storage.release_all(GPU);
    let stats = bench.storage.stats(GPU);
    assert_eq!((stats.reserved, stats.abandoned_bytes), (0, 8192));
    assert_eq!(bench.memory(GPU).counters().used_bytes, 8192);
}
