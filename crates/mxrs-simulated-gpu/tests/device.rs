//! Tests of a whole simulated device: its copies, what they report and cost, faults, and its timeline.
#![cfg(not(loom))]
#![allow(unsafe_code)]
// Unsafe code: the tests call the copies of a device, whose addresses are raw.

use mxrs_engine::gpu::{GpuDevice, StreamUse};
use mxrs_simulated_gpu::{CopyCount, SimulatedDevice, SimulatedGpu, SimulatedMemory, SimulatedStream, Timeline, Touch};
use mxrs_storage::{DeviceCopies, DeviceMemory};
use mxrs_types::{Device, DeviceStream, Result};
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

const N: usize = 10_000;

/// Memory of a device, freed when dropped.
struct Piece(Arc<SimulatedDevice>, NonNull<u8>);

impl Piece {
    fn new(device: &Arc<SimulatedDevice>) -> Self {
        Self(Arc::clone(device), device.memory().allocate(N).unwrap())
    }

    fn ptr(&self) -> *mut u8 {
        self.1.as_ptr()
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        // SAFETY: `new` allocated it with this size, and the tests synchronize their streams before they drop it.
        unsafe { self.0.memory().free(self.1, N) };
    }
}

fn stream(device: &SimulatedDevice) -> Arc<dyn DeviceStream> {
    device.gpu().create_stream(StreamUse::Copy).unwrap()
}

fn upload(device: &SimulatedDevice, stream: &Arc<dyn DeviceStream>, from: &[u8], to: &Piece) -> Result<()> {
    // SAFETY: both have `from.len() <= N` bytes, and the tests synchronize the stream before they use or drop them.
    unsafe { device.upload(&**stream, from.as_ptr(), to.ptr(), from.len()) }
}

fn download(device: &SimulatedDevice, stream: &Arc<dyn DeviceStream>, from: &Piece) -> Result<Vec<u8>> {
    let mut to = vec![0xee; N];
    // SAFETY: both have `N` bytes, and the stream is synchronized before `to` is used.
    unsafe { device.download(&**stream, from.ptr(), to.as_mut_ptr(), N)? };
    stream.synchronize()?;
    Ok(to)
}

fn bytes(first: u8) -> Vec<u8> {
    (0..N).map(|i| first.wrapping_add(i as u8)).collect()
}

#[test]
fn bytes_go_everywhere_and_are_counted() {
    let a = SimulatedDevice::new(Device::gpu(0), 1 << 20);
    let b = a.beside(Device::gpu(1), 1 << 20);
    let (on_a, other, on_b) = (Piece::new(&a), Piece::new(&a), Piece::new(&b));
    let (of_a, of_b) = (stream(&a), stream(&b));
    let source = bytes(3);
    upload(&a, &of_a, &source, &on_a).unwrap();
    // SAFETY: the pieces have `N` bytes and live until the streams are synchronized below; `of_b` waits for `of_a`.
    unsafe {
        a.copy(&*of_a, on_a.ptr(), other.ptr(), N).unwrap();
        a.copy_to_peer(&*of_a, other.ptr(), Device::gpu(1), on_b.ptr(), N).unwrap();
        a.fill_zero(&*of_a, on_a.ptr(), N / 2).unwrap();
    }
    of_b.wait_for(&*of_a.record().unwrap()).unwrap();
    assert_eq!(download(&b, &of_b, &on_b).unwrap(), source);
    let half = download(&a, &of_a, &on_a).unwrap();
    assert!(half[..N / 2].iter().all(|&byte| byte == 0) && half[N / 2..] == source[N / 2..]);
    let count = |n_bytes| CopyCount { n: 1, n_bytes };
    let (copies, whole) = (a.copies(), N as u64);
    assert_eq!((copies.uploads, copies.downloads, copies.within), (count(whole), count(whole), count(whole)));
    assert_eq!((copies.to_peers, copies.fills, a.n_copies()), (count(whole), count(whole / 2), 5));
    assert_eq!((b.copies().downloads, b.n_copies()), (count(whole), 1));
    a.checker().assert_clean();
}

/// A copy that nothing orders after the kernel that writes its source is reported, with both names.
#[test]
fn unordered_copies_are_reported() {
    let device = SimulatedDevice::new(Device::gpu(0), 1 << 20);
    let (piece, copy, kernel) = (Piece::new(&device), stream(&device), stream(&device));
    let start = piece.ptr().addr() as u64;
    let touch = Touch::write(start + 100..start + 200);
    SimulatedStream::of(&*kernel).unwrap().launch_on("kernel", &[touch], || {}).unwrap();
    download(&device, &copy, &piece).unwrap();
    let found = device.checker().violations();
    let text = found[0].to_string();
    assert!(found.len() == 1 && text.contains("`copy from gpu(0) to the host` on stream 0 of gpu(0) reads"), "{text}");
    assert!(text.contains("`kernel` on stream 1 of gpu(0) writes"), "{text}");
}

#[test]
fn copies_take_the_time_of_their_bytes() {
    let memory = SimulatedMemory::new(Device::gpu(0), 1 << 20).hidden();
    let device = SimulatedDevice::of(SimulatedGpu::new(Device::gpu(0)), memory, 1_000_000);
    let (piece, of) = (Piece::new(&device), stream(&device));
    upload(&device, &of, &bytes(0), &piece).unwrap();
    of.synchronize().unwrap();
    let timeline = device.gpu().timeline();
    let [span] = timeline.spans() else { panic!("one launch: {timeline:?}") };
    assert!(span.end - span.start >= Duration::from_millis(10), "10 000 bytes at 1 MB/s: {span:?}");
    assert_eq!((&*span.name, span.stream, span.is_failed), ("copy from the host to gpu(0)", of.id(), false));
}

/// The nth copy fails and no other; its bytes do not arrive.
#[test]
fn the_nth_copy_fails() {
    let device = SimulatedDevice::new(Device::gpu(0), 1 << 20);
    device.fail_copy(2);
    let (piece, of) = (Piece::new(&device), stream(&device));
    let (first, second) = (bytes(1), bytes(2));
    upload(&device, &of, &first, &piece).unwrap();
    of.synchronize().unwrap();
    upload(&device, &of, &second, &piece).unwrap();
    let text = of.synchronize().unwrap_err().to_string();
    assert_eq!(text, "simulated GPU: copy 2, `copy from the host to gpu(0)`, failed on stream 0 of gpu(0)");
    assert_eq!(download(&device, &of, &piece).unwrap(), first);
    assert!(device.gpu().timeline().spans()[1].is_failed);
}

#[test]
fn a_lost_device_refuses_everything_but_frees() {
    let device = SimulatedDevice::new(Device::gpu(0), 1 << 20);
    let (piece, of, source) = (Piece::new(&device), stream(&device), bytes(0));
    let hold = device.gpu().hold();
    upload(&device, &of, &source, &piece).unwrap();
    let event = of.record().unwrap();
    device.lose();
    drop(hold);
    let results = [
        event.wait(),
        of.synchronize(),
        of.wait_for(&*event),
        of.record().map(drop),
        upload(&device, &of, &source, &piece),
        device.gpu().create_stream(StreamUse::Copy).map(drop),
        device.memory().allocate(1).map(drop),
    ];
    for result in results {
        assert_eq!(result.unwrap_err().to_string(), "simulated GPU: gpu(0) is lost");
    }
    assert!(event.is_finished());
    let memory = Arc::clone(device.memory());
    drop(piece);
    assert_eq!(memory.counters().used_bytes, 0);
}

#[test]
fn a_device_is_lost_at_a_launch() {
    let device = SimulatedDevice::new(Device::gpu(0), 1 << 20);
    let (piece, of, source) = (Piece::new(&device), stream(&device), bytes(0));
    device.lose_at_launch(2);
    upload(&device, &of, &source, &piece).unwrap();
    of.synchronize().unwrap();
    upload(&device, &of, &bytes(1), &piece).unwrap();
    let results = [of.synchronize(), upload(&device, &of, &source, &piece), device.memory().allocate(1).map(drop)];
    for result in results {
        assert_eq!(result.unwrap_err().to_string(), "simulated GPU: gpu(0) is lost");
    }
    assert_eq!(device.copies().uploads.n, 2, "the second one was accepted");
}

#[test]
fn strangers_are_refused() {
    let (a, b) = (SimulatedDevice::new(Device::gpu(0), 1 << 20), SimulatedDevice::new(Device::gpu(1), 1 << 20));
    let (piece, of_b, of_a) = (Piece::new(&a), stream(&b), stream(&a));
    let text = upload(&a, &of_b, &[1], &piece).unwrap_err().to_string();
    assert!(text.contains("stream 0 of gpu(1)") && text.contains("gpu(0)"), "{text}");
    assert!(!a.reaches(Device::gpu(1)), "another machine");
    // SAFETY: the copy is refused.
    let refused = unsafe { a.copy_to_peer(&*of_a, piece.ptr(), Device::gpu(1), piece.ptr(), 1) };
    assert!(refused.unwrap_err().to_string().contains("gpu(1)"));
    let c = a.beside(Device::gpu(2), 1 << 20);
    assert!(a.reaches(Device::gpu(2)) && c.reaches(Device::gpu(0)));
    let d = a.beside(Device::gpu(3), 1 << 20);
    d.cut_link(Device::gpu(0));
    assert!(!a.reaches(Device::gpu(3)) && !d.reaches(Device::gpu(0)) && c.reaches(Device::gpu(3)));
    c.set_peers(false);
    assert!(!a.reaches(Device::gpu(2)));
}

/// Copies of two devices overlap in time, and one timeline shows both.
#[test]
fn a_timeline_shows_devices_side_by_side() {
    let memory = SimulatedMemory::new(Device::gpu(0), 1 << 20).hidden();
    let a = SimulatedDevice::of(SimulatedGpu::new(Device::gpu(0)), memory, 500_000);
    let b = a.beside(Device::gpu(1), 1 << 20);
    let (on_a, on_b, of_a, of_b, source) = (Piece::new(&a), Piece::new(&b), stream(&a), stream(&b), bytes(0));
    upload(&a, &of_a, &source, &on_a).unwrap();
    upload(&b, &of_b, &source, &on_b).unwrap();
    of_a.synchronize().unwrap();
    of_b.synchronize().unwrap();
    let timeline = Timeline::merged([a.gpu().timeline(), b.gpu().timeline()]);
    assert!(timeline.overlap("copy from the host to gpu(0)", "copy from the host to gpu(1)"), "{}", timeline.draw(60));
    let drawing = timeline.draw(60);
    assert!(drawing.contains("stream 0 of gpu(0)") && drawing.contains("stream 0 of gpu(1)"), "{drawing}");
    assert_eq!(timeline.to_chrome_trace().matches(r#""ph":"X""#).count(), 2);
}

#[cfg(all(target_os = "linux", not(miri)))]
mod faults {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Command, Stdio};

    #[test]
    #[ignore = "the process that the_host_gets_a_fault starts; it ends by a signal"]
    fn touches_a_device_address() {
        let device = SimulatedDevice::new(Device::gpu(0), 1 << 20);
        let piece = Piece::new(&device);
        // SAFETY: none; the address has no access, and the read ends this process.
        let byte = unsafe { piece.ptr().read_volatile() };
        println!("{byte}");
    }

    /// A host access to a device address ends the process by a fault, and the copies reach the same bytes.
    #[test]
    fn the_host_gets_a_fault() {
        const SIGSEGV: i32 = 11;
        let status = Command::new(std::env::current_exe().unwrap())
            .args(["faults::touches_a_device_address", "--exact", "--ignored", "--test-threads", "1"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert_eq!(status.signal(), Some(SIGSEGV), "{status}");
        let device = SimulatedDevice::new(Device::gpu(0), 1 << 20);
        assert!(device.memory().is_hidden());
        let piece = Piece::new(&device);
        assert_ne!(device.reach(piece.ptr()), piece.ptr());
    }
}
