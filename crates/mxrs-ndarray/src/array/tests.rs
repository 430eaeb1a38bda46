//! Tests of handles, views and deferred errors.

use super::*;
use crate::{ArrayContext, ViewOf};
use mxrs_engine::EngineConfig;
use mxrs_storage::{Storage, StorageConfig};
use mxrs_sync::Mutex;
use mxrs_types::Error;

fn context() -> ArrayContext {
    ArrayContext::new(Engine::new(EngineConfig::default()).unwrap(), Storage::new(StorageConfig::default()).unwrap())
}

#[test]
fn content_round_trips_for_every_element_type() {
    let c = context();
    let a = NdArray::from_slice(&c, [3], &[1i64, -2, i64::MAX]).unwrap();
    assert_eq!(a.to_vec::<i64>().unwrap(), [1, -2, i64::MAX]);
    assert!(a.to_vec::<f32>().is_err(), "reading int64 as float32 must be refused");
    let h = NdArray::from_slice(&c, [1, 1], &[half::f16::from_f32(0.5)]).unwrap();
    assert_eq!(h.to_vec::<half::f16>().unwrap()[0].to_f32(), 0.5);
}

#[test]
fn views_share_storage_and_writes_go_through() {
    let c = context();
    let a = NdArray::zeros(&c, [4, 2], DType::F32).unwrap();
    let v = a.slice(1, 3).unwrap().reshape([4]).unwrap();
    assert!(v.shares_storage(&a));
    v.copy_from(&[1f32, 2.0, 3.0, 4.0]).unwrap();
    assert_eq!(a.to_vec::<f32>().unwrap(), [0.0, 0.0, 1.0, 2.0, 3.0, 4.0, 0.0, 0.0]);
    assert_eq!(a.at(2).unwrap().to_vec::<f32>().unwrap(), [3.0, 4.0]);
    assert_eq!(a.at(2).unwrap().shape(), &Shape::from([2]));
}

#[test]
fn views_outside_the_array_are_errors() {
    let c = context();
    let a = NdArray::zeros(&c, [4, 2], DType::F32).unwrap();
    assert!(a.slice(3, 5).is_err() && a.slice(3, 2).is_err() && a.at(4).is_err());
    assert!(a.at(usize::MAX).is_err());
    assert!(a.reshape([3, 3]).is_err());
    assert!(NdArray::zeros(&c, Shape::scalar(), DType::F32).unwrap().slice(0, 1).is_err());
}

#[test]
fn zero_sized_arrays_work() {
    let c = context();
    let a = NdArray::zeros(&c, [0, 7], DType::F64).unwrap();
    assert_eq!(a.to_vec::<f64>().unwrap(), Vec::<f64>::new());
    a.copy_from::<f64>(&[]).unwrap();
}

#[test]
fn a_failed_writer_surfaces_when_the_array_is_read() {
    let c = context();
    let a = NdArray::zeros(&c, [2], DType::F32).unwrap();
    c.engine().task("fails").write(a.var()).push(|_| Err(Error::invalid("test", "x", "y"))).unwrap();
    let error = a.to_vec::<f32>().unwrap_err();
    assert!(error.to_string().contains("test: got x"), "{error}");
    // The error is reported once; afterwards the array is usable again.
    a.copy_from(&[1f32, 2.0]).unwrap();
    assert_eq!(a.to_vec::<f32>().unwrap(), [1.0, 2.0]);
}

#[test]
fn storage_returns_after_the_last_handle_and_pending_use() {
    let c = context();
    let before = c.storage().stats(Device::cpu(0)).live_requested;
    let a = NdArray::zeros(&c, [1024], DType::F32).unwrap();
    let view = a.slice(0, 1).unwrap();
    drop(a);
    assert!(c.storage().stats(Device::cpu(0)).live_requested > before);
    drop(view);
    c.engine().wait_for_all().unwrap();
    assert_eq!(c.storage().stats(Device::cpu(0)).live_requested, before);
}

#[test]
fn too_large_is_an_error() {
    let c = context();
    assert!(NdArray::zeros(&c, [usize::MAX, 2], DType::F32).is_err());
    assert!(NdArray::from_slice(&c, [3], &[1f32]).is_err());
}

/// Records views, and refuses writes.
struct Recorder(Mutex<Vec<ViewOf>>);

impl Recorded for Recorder {
    fn on_view(&self, _: &NdArray, how: ViewOf, site: &'static Location<'static>) -> Result<()> {
        assert_eq!(site.file(), file!());
        self.0.lock().push(how);
        Ok(())
    }

    fn before_write(&self, site: &'static Location<'static>) -> Result<()> {
        Err(Error::invalid("write", site, "none"))
    }
}

#[test]
fn a_recorder_goes_with_clones_and_hears_of_views_and_writes() {
    let c = context();
    let a = NdArray::zeros(&c, [4, 2], DType::F32).unwrap();
    let clone = a.clone();
    let recorder = Arc::new(Recorder(Mutex::new(Vec::new())));
    a.set_recorded(Some(recorder.clone()));
    assert!(clone.recorded().is_some(), "a clone made before");
    let view = clone.slice(1, 3).unwrap();
    assert!(view.recorded().is_none() && a.detach().recorded().is_none());
    view.reshape([4]).unwrap();
    a.reshape([8]).unwrap();
    assert_eq!(*recorder.0.lock(), [ViewOf::Rows { begin: 1, end: 3 }, ViewOf::Reshape]);
    let error = clone.copy_from(&[1f32; 8]).unwrap_err().to_string();
    assert!(error.contains(file!()), "{error}");
    assert_eq!(a.to_vec::<f32>().unwrap(), [0.0; 8], "the write did not happen");
    a.set_recorded(None);
    clone.copy_from(&[1f32; 8]).unwrap();
}

#[test]
fn writes_are_counted_per_storage_with_the_place_of_the_last() {
    let c = context();
    let a = NdArray::zeros(&c, [2], DType::F32).unwrap();
    assert_eq!((a.n_writes(), a.last_write()), (0, None));
    let line = line!() + 1;
    a.reshape([1, 2]).unwrap().copy_from(&[1f32, 2.0]).unwrap();
    let last = a.last_write().unwrap();
    assert_eq!((a.n_writes(), last.line(), last.file()), (1, line, file!()));
    a.copy_from_array(&a.detach()).unwrap();
    a.note_write().unwrap();
    assert_eq!((a.n_writes(), a.last_write().unwrap().line()), (3, line + 4));
    assert!(a.copy_from(&[1f32]).is_err());
    assert_eq!(a.n_writes(), 3, "a refused write does not count");
}
