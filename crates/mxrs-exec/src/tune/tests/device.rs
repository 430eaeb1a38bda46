//! Tests choices for a simulated GPU. Its kernels take their time on a stream, after `run` has returned.

use super::*;
use mxrs_engine::{Engine, EngineConfig};
use mxrs_ndarray::ArrayContext;
use mxrs_simulated_gpu::{SimulatedBackend, SimulatedDevice};
use mxrs_storage::{Storage, StorageConfig};

const GPU: Device = Device::gpu(0);

/// The same kernels on the host and on a GPU.
struct Machine {
    world: World,
    gpu: Arc<SimulatedDevice>,
    on_gpu: Vec<Arc<dyn Backend>>,
    context: ArrayContext,
}

impl Machine {
    fn new(algorithms: &[(&'static str, f64, &[Timed])]) -> Self {
        let world = World::new(algorithms);
        let gpu = SimulatedDevice::new(GPU, 256 << 20);
        let storage = Storage::builder(StorageConfig::default()).device(gpu.device_memory()).build().unwrap();
        let engine = Engine::builder(EngineConfig::default()).gpu(gpu.gpu_device()).build().unwrap();
        let context = ArrayContext::builder(engine, storage).device(Arc::clone(&gpu) as _).build().unwrap();
        let on_gpu = world.backends.iter().map(|host| SimulatedBackend::new(Arc::clone(host), &gpu) as _).collect();
        Self { world, gpu, on_gpu, context }
    }

    /// The name of the kernel chosen for the GPU, and how it was chosen.
    fn choose(&self, tuning: &Tuning) -> (String, ChosenBy) {
        let choice = self.world.choose_on((&self.on_gpu, GPU), tuning, &[false, true], false).unwrap();
        (choice.planned.kernel.name().to_owned(), choice.chosen_by)
    }

    fn searching(&self) -> Tuning {
        searching(patient().on_devices(&self.context))
    }

    /// Asserts that timing has left nothing on the device: no failure, no memory, and no memory accesses whose order the
    /// engine did not fix.
    #[track_caller]
    fn assert_idle(&self) {
        self.context.engine().wait_for_all().unwrap();
        assert_eq!(self.context.storage().stats(GPU).live_blocks, 0);
        assert_eq!(self.gpu.checker().violations(), []);
    }
}

#[test]
fn kernels_of_a_device_are_timed_to_the_end_of_their_work() {
    let machine = Machine::new(&[("a", 0.5, &[algorithm("slow", 30), algorithm("fast", 2)])]);
    let tuning = machine.searching();
    assert_eq!(machine.choose(&tuning), ("fast".into(), ChosenBy::Search));
    let (call, kernel) = tuning.known.as_ref().unwrap().found().remove(0);
    assert!(call.ends_with(" on gpu"), "{call}");
    assert!(kernel.seconds >= 0.002 && kernel.seconds_of_estimate >= 0.03, "{kernel:?}");
    assert!(machine.gpu.gpu().counters().launches > 0);
    machine.assert_idle();
}

#[test]
fn a_result_of_one_kind_of_device_is_not_used_for_another() {
    let machine = Machine::new(&[("a", 0.5, &[algorithm("slow", 30), algorithm("fast", 2)])]);
    let estimate = ("slow".to_owned(), ChosenBy::Estimate);
    for is_on_gpu in [false, true] {
        let tuning = machine.searching();
        let found = if is_on_gpu { machine.choose(&tuning) } else { machine.world.choose(&tuning) };
        assert_eq!(found, ("fast".into(), ChosenBy::Search));
        // `is_new: false` makes the result look like the result of an earlier process.
        let kept = tuning.known.as_ref().unwrap().found().into_iter();
        let kept = kept.map(|(call, kernel)| (call, KnownKernel { is_new: false, ..kernel }));
        let known = Tuning { known: Some(Arc::new(KnownKernels::new(kept))), ..Tuning::default() };
        let of_cache = ("fast".to_owned(), ChosenBy::Cache);
        let (on_host, on_gpu) = (machine.world.choose(&known), machine.choose(&known));
        let expected = if is_on_gpu { (estimate.clone(), of_cache) } else { (of_cache, estimate.clone()) };
        assert_eq!((on_host, on_gpu), expected, "timed on the {}", if is_on_gpu { "gpu" } else { "host" });
    }
    // One collection holds the results for the host and for the GPU.
    let tuning = machine.searching();
    machine.choose(&tuning);
    machine.world.choose(&tuning);
    assert_eq!(tuning.known.unwrap().found().len(), 2);
    machine.assert_idle();
}

#[test]
fn without_memory_of_the_device_estimates_decide() {
    let machine = Machine::new(&[("a", 0.5, &[algorithm("slow", 3), algorithm("fast", 1)])]);
    assert_eq!(machine.choose(&searching(patient())), ("slow".into(), ChosenBy::Estimate));
    // The memory of this device is too small for timing.
    let small = SimulatedDevice::new(GPU, 1 << 20);
    let storage = Storage::builder(StorageConfig::default()).device(small.device_memory()).build().unwrap();
    let engine = Engine::builder(EngineConfig::default()).gpu(small.gpu_device()).build().unwrap();
    let context = ArrayContext::builder(engine, storage).device(small).build().unwrap();
    let search = patient().on_devices(&context);
    assert_eq!(machine.choose(&searching(search)), ("slow".into(), ChosenBy::Estimate));
    assert_eq!(machine.world.runs(), 0);
}

#[test]
fn a_kernel_whose_work_fails_is_no_candidate() {
    let broken = Timed { fails: true, ..algorithm("broken", 0) };
    let machine = Machine::new(&[("a", 0.5, &[broken]), ("b", 1.0, &[algorithm("works", 2), algorithm("slow", 30)])]);
    assert_eq!(machine.choose(&machine.searching()), ("works".into(), ChosenBy::Search));
    machine.assert_idle();
}
