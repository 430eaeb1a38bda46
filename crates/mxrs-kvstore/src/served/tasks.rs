//! The engine tasks of a store with servers. A task reads the gradient, makes a request, and ends when the reply has arrived.

use super::{Request, ServedKey, Servers};
use crate::Compression;
use mxrs_engine::Property;
use mxrs_ndarray::NdArray;
use mxrs_types::{Error, Result};
use std::sync::Arc;

/// A request for one key.
pub(super) struct Exchange<'a> {
    pub servers: &'a Arc<dyn Servers>,
    pub key: &'a Arc<ServedKey>,
    pub compression: Option<Compression>,
    pub priority: i32,
}

impl Exchange<'_> {
    /// Pushes `gradient` or its codes, if there is one, and overwrites `stored` by the value, if `wants_value`. The task
    /// writes the variable of `stored` in any case: requests for one key are made one after another, and a reader of
    /// `stored` after a failed push gets the error.
    pub fn run(&self, gradient: Option<&NdArray>, stored: &NdArray, wants_value: bool) -> Result<()> {
        let (servers, key) = (Arc::clone(self.servers), Arc::clone(self.key));
        let (compression, priority) = (self.compression, self.priority);
        if wants_value {
            stored.note_write()?;
        }
        let (source, target) = (gradient.map(NdArray::detach), stored.detach());
        let name = if gradient.is_some() { "kvstore_push" } else { "kvstore_pull" };
        let task = stored.engine().task(name).write(stored.var()).reads(gradient.map(NdArray::var));
        let task = task.device(stored.device()).priority(priority).property(Property::CpuPrioritized);
        task.push_async(move |_, completion| {
            let gradient = source.as_ref().map(|source| {
                // SAFETY: this task reads the variable of `source`, an array in host memory.
                gradient_parts(unsafe { bytes_of(source) }, &key, compression)
            });
            let request = Request { key: Arc::clone(&key), gradient, compression, wants_value, priority };
            servers.exchange(
                request,
                Box::new(move |reply| {
                    let result =
                        reply.and_then(|parts| if wants_value { write(&target, &key, &parts) } else { Ok(()) });
                    if let Err(error) = completion.complete(result) {
                        tracing::error!("a reply of a server came twice: {error}");
                    }
                }),
            );
        })
    }
}

/// The bytes of an array that a task reads.
///
/// # Safety
/// The array is in host memory, and a running task holds its variable.
unsafe fn bytes_of(array: &NdArray) -> &[u8] {
    match array.size_bytes() {
        0 => &[],
        // SAFETY: the array has this number of bytes of host memory, and the caller excludes writers.
        n => unsafe { std::slice::from_raw_parts(array.as_ptr(), n) },
    }
}

/// The bytes or codes of each part.
fn gradient_parts(bytes: &[u8], key: &ServedKey, compression: Option<Compression>) -> Vec<Vec<u8>> {
    let size = key.dtype.size_of();
    let of_part = |part: &super::Part| {
        let range = match compression {
            None => part.elements.start * size..part.elements.end * size,
            Some(compression) => {
                let begin = part.elements.start / compression.per_byte();
                begin..begin + compression.code_bytes(part.elements.len())
            }
        };
        bytes[range].to_vec()
    };
    key.parts.iter().map(of_part).collect()
}

/// Overwrites an array by the parts of a reply.
fn write(target: &NdArray, key: &ServedKey, parts: &[Vec<u8>]) -> Result<()> {
    let fits = parts.len() == key.parts.len()
        && key.parts.iter().zip(parts).all(|(p, bytes)| key.part_bytes(p) == bytes.len());
    if !fits || target.size_bytes() != key.shape.n_elements() * key.dtype.size_of() {
        let got = format!("{} bytes", parts.iter().map(Vec::len).sum::<usize>());
        return Err(Error::invalid(format!("value of key {}", key.key), got, format!("{} bytes", target.size_bytes())));
    }
    for (part, bytes) in key.parts.iter().zip(parts) {
        let begin = part.elements.start * key.dtype.size_of();
        debug_assert!(begin + bytes.len() <= target.size_bytes());
        // SAFETY: the task that waits for this reply writes the variable of `target` and ends after this call, so no other code
        // uses the memory. It is host memory. The part has the size of `bytes`, which was checked above, and lies within the
        // array: the store made the parts from the number of elements of the array, whose size was checked too.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), target.as_ptr().add(begin), bytes.len()) };
    }
    Ok(())
}
