//! Memory of messages. Each thread keeps the memory of some earlier messages for later ones: new memory costs a page fault
//! for every 4 KiB.

use std::cell::RefCell;

/// The most bytes that a thread keeps for later messages.
const MOST_SPARE_BYTES: usize = 32 << 20;
/// The most separate blocks of memory that a thread keeps.
const MOST_SPARE: usize = 256;

thread_local! {
    static SPARE: RefCell<Spare> = const { RefCell::new(Spare { kept: Vec::new(), n_bytes: 0 }) };
}

struct Spare {
    kept: Vec<Vec<u64>>,
    n_bytes: usize,
}

impl Spare {
    /// Takes a kept block of at least `n_words` words and of at most four times as many, so that small messages do not use
    /// up large blocks.
    fn take(&mut self, n_words: usize) -> Option<Vec<u64>> {
        let fits = |words: &Vec<u64>| (n_words..=n_words.saturating_mul(4)).contains(&words.len());
        let place = self.kept.iter().rposition(fits)?;
        let words = self.kept.swap_remove(place);
        self.n_bytes -= 8 * words.len();
        Some(words)
    }

    fn put(&mut self, words: Vec<u64>) {
        let n_bytes = 8 * words.len();
        if n_bytes > 0 && self.kept.len() < MOST_SPARE && self.n_bytes + n_bytes <= MOST_SPARE_BYTES {
            self.n_bytes += n_bytes;
            self.kept.push(words);
        }
    }
}

/// The bytes of a message, aligned to 8.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    /// The memory. It has more words than `n_bytes` needs if it was that of a larger message before.
    words: Vec<u64>,
    pub n_bytes: usize,
}

impl Buffer {
    /// A buffer of `n_bytes` bytes to be overwritten. Until then they are zero, or are those of an earlier message.
    pub fn new(n_bytes: usize) -> Self {
        let n_words = n_bytes.div_ceil(8);
        let spare = SPARE.try_with(|spare| spare.borrow_mut().take(n_words)).ok().flatten();
        Self { words: spare.unwrap_or_else(|| vec![0; n_words]), n_bytes }
    }

    /// A copy of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let mut buffer = Self::new(bytes.len());
        buffer.bytes_mut().copy_from_slice(bytes);
        buffer
    }

    /// Extends the buffer to `n_bytes` bytes.
    pub fn grow(&mut self, n_bytes: usize) {
        let n_words = n_bytes.div_ceil(8);
        if self.words.len() < n_words {
            self.words.resize(n_words, 0);
        }
        self.n_bytes = n_bytes;
    }

    pub fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.n_bytes]
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words)[..self.n_bytes]
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let words = std::mem::take(&mut self.words);
        // `SPARE` cannot be used any more if the thread is ending. Then the memory is freed instead.
        let _ = SPARE.try_with(|spare| spare.borrow_mut().put(words));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again_for_messages_of_similar_size() {
        let mut first = Buffer::new(1001);
        first.bytes_mut().fill(7);
        let place = first.bytes().as_ptr();
        drop(first);
        let others = [Buffer::new(1009), Buffer::new(8)];
        assert!(
            others.iter().all(|other| other.bytes().as_ptr() != place),
            "it has 1008 bytes, and is far too large for 8"
        );
        let again = Buffer::new(500);
        assert_eq!((again.bytes().as_ptr(), again.bytes()), (place, &[7u8; 500][..]));
    }

    #[test]
    fn a_thread_keeps_a_bounded_amount() {
        let all: Vec<Buffer> = (0..100).map(|_| Buffer::new(1 << 20)).collect();
        drop(all);
        SPARE.with(|spare| assert!(spare.borrow().n_bytes <= MOST_SPARE_BYTES && !spare.borrow().kept.is_empty()));
        let mut buffer = Buffer::of(b"abc");
        buffer.grow(20);
        assert_eq!((&buffer.bytes()[..3], buffer.bytes().len()), (&b"abc"[..], 20));
    }
}
