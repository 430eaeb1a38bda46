//! Reads and writes of arrays that do not block the caller: the engine runs them as tasks.

use crate::NdArray;
use mxrs_types::{Error, Result};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};

/// The result of a read that may not have run yet.
pub struct Reading<R> {
    receiver: Receiver<R>,
    arrays: Vec<NdArray>,
}

impl<R> Reading<R> {
    /// Waits for the result, which is available after all pending writes.
    ///
    /// # Errors
    /// Returns the deferred error of a task that should have written one of the arrays.
    pub fn wait(self) -> Result<R> {
        self.receiver.recv().map_err(|_| self.why_skipped())
    }

    /// The result, if it is available.
    ///
    /// # Errors
    /// Returns the errors of [`Self::wait`].
    pub fn take(&self) -> Result<Option<R>> {
        match self.receiver.try_recv() {
            Ok(result) => Ok(Some(result)),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => Err(self.why_skipped()),
        }
    }

    fn why_skipped(&self) -> Error {
        let failed = self.arrays.iter().find_map(|array| array.wait_to_read().err());
        failed.unwrap_or_else(|| Error::invalid("read", "a skipped task", "arrays whose producers succeeded"))
    }
}

impl NdArray {
    /// Runs `f` over the bytes of these arrays as one engine task that reads them; returns immediately. Later writes wait
    /// for this task. Arrays in host memory are read in place; those on a device are first copied to pinned memory.
    ///
    /// # Errors
    /// Fails if there is no array, and for the reasons of a copy.
    pub fn read_later<R: Send + 'static>(
        arrays: &[&Self],
        f: impl FnOnce(&[&[u8]]) -> R + Send + 'static,
    ) -> Result<Reading<R>> {
        let Some(first) = arrays.first() else {
            return Err(Error::invalid("arrays to read", "none", "at least one"));
        };
        let (sender, receiver) = sync_channel(1);
        let host = |array: &&Self| Ok(array.copy_for_host()?.unwrap_or_else(|| array.detach()));
        let held: Vec<Self> = arrays.iter().map(host).collect::<Result<_>>()?;
        let engine = first.engine().clone();
        let task = engine.task("read_later").reads(held.iter().map(|array| array.var())).device(first.host_worker());
        let views = held.clone();
        task.push(move |_| {
            // SAFETY: this task holds every array's variable for reading, so no writer runs. All are in host memory.
            let bytes: Vec<&[u8]> = views.iter().map(|view| unsafe { view.bytes() }).collect();
            // If the receiver is gone, the result is not needed.
            drop(sender.send(f(&bytes)));
            Ok(())
        })?;
        Ok(Reading { receiver, arrays: held })
    }

    /// Lets `write` overwrite the elements (row-major, native endian) in place, after all pending uses; returns
    /// immediately. If `write` fails, later reads of the array return its error. An array on a device is copied to pinned
    /// memory, changed there, and copied back.
    ///
    /// # Errors
    /// Fails for the reasons of a copy, and if a [recorder](crate::Recorded) refuses the write.
    #[track_caller]
    pub fn write_later(&self, write: impl FnOnce(&mut [u8]) -> Result<()> + Send + 'static) -> Result<()> {
        self.note_write()?;
        if let Some(copy) = self.copy_for_host()? {
            copy.write_on_host(write)?;
            return self.copy_from_host(&copy);
        }
        self.write_on_host(write)
    }

    fn write_on_host(&self, write: impl FnOnce(&mut [u8]) -> Result<()> + Send + 'static) -> Result<()> {
        let view = self.detach();
        self.engine().task("write_later").write(self.var()).device(self.host_worker()).push(move |_| {
            // SAFETY: this task holds the variable for writing, so no other code uses the memory. It is host memory.
            write(unsafe { view.bytes_mut() })
        })
    }

    /// Overwrites the elements with `bytes` (row-major, native endian), after all pending uses; returns immediately.
    /// The bytes are copied once and then dropped. For an array in host memory, a task copies them. For an array on a
    /// device, they are copied to pinned memory before this function returns.
    ///
    /// # Errors
    /// Fails for a wrong length, for the reasons of a copy, and if a [recorder](crate::Recorded) refuses the write.
    #[track_caller]
    pub fn copy_from_owned(&self, bytes: impl std::ops::Deref<Target = [u8]> + Send + 'static) -> Result<()> {
        self.check_len(bytes.len())?;
        if self.home().is_some() {
            return self.copy_from_bytes(&bytes);
        }
        self.note_write()?;
        let view = self.detach();
        self.engine().task("copy_from_owned").write(self.var()).device(self.host_worker()).push(move |_| {
            // SAFETY: this task holds the variable for writing, so no other code uses the memory. It is host memory.
            unsafe { view.bytes_mut() }.copy_from_slice(&bytes);
            Ok(())
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use crate::{ArrayContext, NdArray};
    use mxrs_engine::{Engine, EngineConfig, EngineKind};
    use mxrs_storage::{Storage, StorageConfig};
    use mxrs_types::Error;

    /// A context of this kind of engine, with the default storage.
    pub(crate) fn context(kind: EngineKind) -> ArrayContext {
        let engine = Engine::new(EngineConfig::of_kind(kind)).unwrap();
        ArrayContext::new(engine, Storage::new(StorageConfig::default()).unwrap())
    }

    #[test]
    fn reads_see_what_was_written_before_and_not_what_comes_after() {
        for kind in [EngineKind::Naive, EngineKind::Threaded, EngineKind::ThreadedPerDevice] {
            let context = context(kind);
            let array = NdArray::from_slice(&context, [2], &[1.0f32, 2.0]).unwrap();
            let sum = |bytes: &[&[u8]]| bytes.iter().flat_map(|b| bytemuck::cast_slice::<_, f32>(b)).sum::<f32>();
            let mut sums = Vec::new();
            for i in 0..20 {
                let values: Vec<u8> = bytemuck::cast_slice(&[i as f32, 1.0]).to_vec();
                array.copy_from_owned(values).unwrap();
                // An array that is listed twice counts as one reader.
                sums.push(NdArray::read_later(&[&array, &array], sum).unwrap());
            }
            for (i, sum) in sums.into_iter().enumerate() {
                assert_eq!(sum.wait().unwrap(), 2.0 * (i as f32 + 1.0));
            }
            assert!(array.copy_from_owned(vec![0; 7]).is_err());
            assert!(NdArray::read_later(&[], |_| ()).is_err());
        }
    }

    #[test]
    fn a_failed_writer_fails_the_read() {
        let context = context(EngineKind::ThreadedPerDevice);
        let array = NdArray::zeros(&context, [2], mxrs_types::DType::F32).unwrap();
        let fail = |_: &mxrs_engine::RunContext| Err(Error::invalid("kernel", "on purpose", "nothing"));
        context.engine().task("fails").write(array.var()).push(fail).unwrap();
        let reading = NdArray::read_later(&[&array], |_| ()).unwrap();
        assert!(reading.wait().unwrap_err().to_string().contains("on purpose"));
    }

    #[test]
    fn elements_are_written_in_place_or_the_failure_is_told() {
        for kind in [EngineKind::Naive, EngineKind::Threaded] {
            let context = context(kind);
            let array = NdArray::from_slice(&context, [2], &[1.0f32, 2.0]).unwrap();
            array
                .write_later(|bytes| {
                    bytes[4..].copy_from_slice(&5.0f32.to_ne_bytes());
                    Ok(())
                })
                .unwrap();
            assert_eq!(array.to_vec::<f32>().unwrap(), [1.0, 5.0]);
            let pushed = array.write_later(|_| Err(Error::invalid("file", "short", "long")));
            let told = pushed.and_then(|()| array.to_vec::<f32>().map(drop));
            assert!(told.unwrap_err().to_string().contains("short"));
        }
    }
}
