//! LeNet on the device: the same bits as on the host, computed from the bytes of the file.

use mxrs::Runtime;
use mxrs::env::MapSource;
use mxrs::exec::{BindOptions, Executor};
use mxrs::models::{Initializer, ModelOptions, model};
use mxrs::ndarray::NdArray;
use mxrs::types::Device;
use mxrs_example_device::FileDevice;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const BATCH: usize = 3;
const FILE: Device = Device::gpu(0);

/// A runtime with the device, whose memory is a file in a folder that is removed at the end.
struct World {
    runtime: Runtime,
    dir: tempfile::TempDir,
}

impl World {
    fn new(engine: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let device = FileDevice::create(FILE, &dir.path().join("memory"), 64 << 20).unwrap();
        let variables = MapSource::new([("MXNET_ENGINE_TYPE", engine), ("OMP_NUM_THREADS", "1")]);
        let runtime = Runtime::builder().env(&variables).device(Arc::new(device)).build().unwrap();
        Self { runtime, dir }
    }

    fn file(&self) -> PathBuf {
        self.dir.path().join("memory")
    }

    /// LeNet with initial values from a fixed seed.
    fn lenet(&self, device: Device) -> Executor {
        let graph = model("lenet", &ModelOptions::default()).unwrap().symbol.graph().unwrap();
        let options = BindOptions { device, ..self.runtime.bind_options() };
        let data = [("data", [BATCH, 1, 28, 28].into())];
        let executor = Executor::simple_bind(&graph, self.runtime.arrays(), &data, &options).unwrap();
        for (name, array) in executor.arrays().iter().filter(|(name, _)| name.ends_with("weight")) {
            array.copy_from(&Initializer::xavier(2.0).values(name, None, array.shape(), 1).unwrap()).unwrap();
        }
        executor
    }
}

/// Images of numbers that look random; each seed gives other images.
fn images(seed: usize) -> Vec<f32> {
    (0..BATCH * 28 * 28).map(|i| ((i + seed) * 7919 % 1009) as f32 / 1009.0).collect()
}

fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_ne_bytes()).collect()
}

fn bits(array: &NdArray) -> Vec<u32> {
    array.to_vec::<f32>().unwrap().into_iter().map(f32::to_bits).collect()
}

/// The probabilities of these images.
fn classify(lenet: &Executor, images: &[f32]) -> Vec<u32> {
    lenet.argument("data").unwrap().copy_from(images).unwrap();
    lenet.forward().unwrap();
    bits(&lenet.outputs()[0])
}

/// Offsets at which the file has these bytes.
fn offsets(file: &Path, bytes: &[u8]) -> Vec<usize> {
    let content = std::fs::read(file).unwrap();
    let at = |start: &usize| content[*start..].starts_with(bytes);
    (0..content.len() - bytes.len()).step_by(mxrs::storage::ALIGNMENT).filter(at).collect()
}

#[test]
fn lenet_has_the_bits_of_the_host() {
    for engine in ["ThreadedEnginePerDevice", "ThreadedEngine", "NaiveEngine"] {
        let world = World::new(engine);
        let (host, device) = (world.lenet(Device::cpu(0)), world.lenet(FILE));
        let want = classify(&host, &images(0));
        assert_eq!(classify(&device, &images(0)), want, "{engine}");
        assert_ne!(classify(&device, &images(1)), want, "other images have other probabilities");
        assert!(device.arrays().iter().all(|(_, array)| array.device() == FILE));
    }
}

/// A program that writes the file changes what the device computes with.
#[test]
fn the_file_is_the_memory() {
    let world = World::new("ThreadedEnginePerDevice");
    let (host, device) = (world.lenet(Device::cpu(0)), world.lenet(FILE));
    let first = classify(&device, &images(0));
    assert!(!offsets(&world.file(), &bytes(&device.outputs()[0].to_vec::<f32>().unwrap())).is_empty());
    let weight = device.argument("convolution1_weight").unwrap().to_vec::<f32>().unwrap();
    assert!(!offsets(&world.file(), &bytes(&weight)).is_empty());

    let places = offsets(&world.file(), &bytes(&images(0)));
    assert_eq!(places.len(), 1, "the images are in the file once");
    let file = File::options().write(true).open(world.file()).unwrap();
    file.write_all_at(&bytes(&images(1)), places[0] as u64).unwrap();
    assert_eq!(device.argument("data").unwrap().to_vec::<f32>().unwrap(), images(1));
    device.forward().unwrap();
    let second = bits(&device.outputs()[0]);
    assert_eq!(second, classify(&host, &images(1)));
    assert_ne!(second, first);
}

#[test]
fn a_failing_allocation_names_the_device() {
    let world = World::new("ThreadedEnginePerDevice");
    let error = NdArray::zeros_on(world.runtime.arrays(), [1 << 30], mxrs::types::DType::F32, FILE).err().unwrap();
    assert!(error.to_string().contains("gpu(0)"), "{error}");
    assert_eq!(classify(&world.lenet(FILE), &images(0)), classify(&world.lenet(Device::cpu(0)), &images(0)));
}
