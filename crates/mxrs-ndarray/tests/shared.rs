//! Arrays that two processes share. The ignored test plays the second process: the other test starts this program again,
//! with the array's descriptor as standard input.
#![cfg(all(target_os = "linux", not(miri), not(loom)))]

use mxrs_engine::{Engine, EngineConfig};
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_storage::{SharedHandle, Storage, StorageConfig};
use mxrs_types::{DType, Device};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Command, Stdio};

fn context() -> ArrayContext {
    let engine = Engine::new(EngineConfig::default()).unwrap();
    ArrayContext::new(engine, Storage::new(StorageConfig::default()).unwrap())
}

#[test]
#[ignore = "the second process of an_array_goes_to_another_process"]
fn doubles() {
    let Ok(fd) = std::io::stdin().as_fd().try_clone_to_owned() else { return };
    let context = context();
    let Ok(array) = NdArray::open_shared(&context, [2, 3], DType::F32, SharedHandle::from(fd)) else { return };
    let doubled: Vec<f32> = array.to_vec::<f32>().unwrap().iter().map(|value| 2.0 * value).collect();
    array.copy_from(&doubled).unwrap();
}

#[test]
fn an_array_goes_to_another_process() {
    let context = context();
    let values = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0];
    let array = NdArray::from_slice_on(&context, [2, 3], &values, Device::cpu_shared(0)).unwrap();
    let fd: OwnedFd = array.shared_handle().unwrap().into();
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["doubles", "--exact", "--ignored", "--test-threads", "1"])
        .stdin(Stdio::from(fd))
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    assert_eq!(array.to_vec::<f32>().unwrap(), values.map(|value| 2.0 * value));
}
