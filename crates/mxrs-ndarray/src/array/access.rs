//! Reading and writing the elements of arrays.

use super::NdArray;
use crate::Element;
use mxrs_trace::api_call;
use mxrs_types::{Error, Result};

impl NdArray {
    fn check_dtype<T: Element>(&self) -> Result<()> {
        if T::DTYPE == self.0.dtype {
            return Ok(());
        }
        Err(Error::invalid("element type", T::DTYPE, format!("{} of the array", self.0.dtype)))
    }

    /// Runs `f` over the bytes of this array in an engine task that reads the array, and waits for the result. An array
    /// that the host cannot access is first copied to pinned memory.
    ///
    /// # Errors
    /// Returns the deferred error of the task that should have written the array, and the errors of the copy.
    pub fn read_bytes<R: Send + 'static>(&self, f: impl FnOnce(&[u8]) -> R + Send + 'static) -> Result<R> {
        let _call = api_call("NdArray::read_bytes");
        match self.copy_for_host()? {
            Some(copy) => copy.read_on_host(f),
            None => self.read_on_host(f),
        }
    }

    fn read_on_host<R: Send + 'static>(&self, f: impl FnOnce(&[u8]) -> R + Send + 'static) -> Result<R> {
        self.0.chunk.engine.wait_to_read(&self.0.chunk.var)?;
        // The read is a task, because another thread could start a writer after the wait above.
        let (sender, receiver) = std::sync::mpsc::sync_channel(1);
        let view = self.clone();
        self.0.chunk.engine.task("read_bytes").read(&self.0.chunk.var).device(self.host_worker()).push(move |_| {
            // SAFETY: this task holds the variable for reading, so no writer runs. The array is in host memory.
            let result = f(unsafe { view.bytes() });
            // The receiver waits below; if it is gone, the result is not needed.
            drop(sender.send(result));
            Ok(())
        })?;
        receiver.recv().or_else(|_| {
            // The task was skipped, because a writer that was pushed after the wait above has failed.
            self.0.chunk.engine.wait_to_read(&self.0.chunk.var)?;
            Err(Error::invalid("read", "a skipped task", "an array whose producer succeeded"))
        })
    }

    /// Copies the elements to the host, after pending writes.
    ///
    /// # Errors
    /// Returns the errors of [`Self::read_bytes`]. Fails for a wrong element type.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        self.check_dtype::<T>()?;
        self.read_bytes(|bytes| bytemuck::pod_collect_to_vec(bytes))
    }

    /// Overwrites the elements, after every pending use. For host memory it returns once they are stored. For a device it
    /// returns once they are in pinned memory, and a task copies them to the device.
    ///
    /// # Errors
    /// Returns the deferred error of an earlier task. Fails for a wrong length or element type, and if a
    /// [recorder](crate::Recorded) refuses the write.
    #[track_caller]
    pub fn copy_from<T: Element>(&self, elements: &[T]) -> Result<()> {
        self.check_dtype::<T>()?;
        self.copy_from_bytes(bytemuck::cast_slice(elements))
    }

    /// Like [`Self::copy_from`], but from row-major bytes.
    ///
    /// # Errors
    /// Returns the errors of [`Self::copy_from`].
    #[track_caller]
    pub fn copy_from_bytes(&self, bytes: &[u8]) -> Result<()> {
        let _call = api_call("NdArray::copy_from_bytes");
        self.check_len(bytes.len())?;
        self.note_write()?;
        if self.home().is_some() {
            return self.upload_bytes(bytes);
        }
        let owned: Box<[u8]> = bytes.into();
        let view = self.clone();
        self.0.chunk.engine.task("copy_from").write(&self.0.chunk.var).device(self.host_worker()).push(move |_| {
            // SAFETY: this task holds the variable for writing, so no other code uses the memory. It is host memory.
            unsafe { view.bytes_mut() }.copy_from_slice(&owned);
            Ok(())
        })?;
        self.0.chunk.engine.wait_to_read(&self.0.chunk.var)
    }

    /// Waits for pending writes.
    ///
    /// # Errors
    /// Returns the deferred error of a failed writer.
    pub fn wait_to_read(&self) -> Result<()> {
        let _call = api_call("NdArray::wait_to_read");
        self.0.chunk.engine.wait_to_read(&self.0.chunk.var)
    }
}
