//! Texts as numbers: names, categories, shapes and tags of records.

use crate::leaked::Leaked;
use rustc_hash::FxHasher;
use std::fmt;
use std::hash::Hasher;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of places in the table; a power of two.
const PLACES: usize = 1 << 16;
/// The number of different texts that the table takes. A quarter of the places stays empty, so that searches are short.
const MOST: usize = PLACES / 4 * 3;
/// The longest text in bytes; longer texts are cut.
const LONGEST: usize = 1024;

struct Entry {
    hash: u64,
    text: Box<str>,
}

/// Open addressing with linear probing; entries are never removed.
static TABLE: [Leaked<Entry>; PLACES] = [const { Leaked::empty() }; PLACES];
static FILLED: AtomicUsize = AtomicUsize::new(0);

/// A text in the table of the process. Equal texts have equal labels.
///
/// The table takes 49,152 different texts and never frees one. Later texts get the label [`Label::MORE`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Label(u32);

impl Label {
    /// The empty text.
    pub const NONE: Self = Self(0);
    /// Stands for every text that the full table could not take.
    pub const MORE: Self = Self(u32::MAX);

    /// The label of a text. Texts longer than 1024 bytes are cut. Allocates if the text is new, and never locks.
    #[must_use]
    pub fn of(text: &str) -> Self {
        if text.is_empty() {
            return Self::NONE;
        }
        let text = cut(text, LONGEST);
        let mut hasher = FxHasher::default();
        hasher.write(text.as_bytes());
        let hash = hasher.finish();
        let mut at = hash as usize % PLACES;
        loop {
            let entry = match TABLE[at].get() {
                Some(entry) => entry,
                None if FILLED.load(Ordering::Relaxed) >= MOST => return Self::MORE,
                None => match TABLE[at].fill(Entry { hash, text: text.into() }) {
                    Ok(entry) => {
                        FILLED.fetch_add(1, Ordering::Relaxed);
                        entry
                    }
                    Err(entry) => entry,
                },
            };
            if entry.hash == hash && *entry.text == *text {
                return Self(at as u32 + 1);
            }
            at = (at + 1) % PLACES;
        }
    }

    /// The text.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Self::NONE => "",
            Self::MORE => "(more names than the table takes)",
            Self(number) => TABLE.get(number as usize - 1).and_then(Leaked::get).map_or("", |entry| &entry.text),
        }
    }

    /// The number that a record stores.
    pub(crate) fn number(self) -> u32 {
        self.0
    }

    /// The label with this number.
    pub(crate) fn of_number(number: u32) -> Self {
        Self(number)
    }
}

impl fmt::Debug for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Label({:?})", self.text())
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text())
    }
}

/// At most `longest` bytes of a text, whole characters.
fn cut(text: &str, longest: usize) -> &str {
    &text[..text.floor_char_boundary(longest)]
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_have_equal_labels_on_all_threads() {
        let texts: Vec<String> = (0..300).map(|i| format!("conv{i}")).collect();
        let of_all = || texts.iter().map(|t| Label::of(t)).collect::<Vec<_>>();
        let labels: Vec<Vec<Label>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(of_all)).collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        });
        assert!(labels.iter().all(|l| *l == labels[0]));
        assert!(labels[0].iter().zip(&texts).all(|(label, text)| label.text() == text));
        assert_eq!(Label::of(""), Label::NONE);
        assert_eq!(Label::NONE.text(), "");
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let long = format!("{}é", "x".repeat(LONGEST - 1));
        assert_eq!(Label::of(&long).text(), "x".repeat(LONGEST - 1));
    }
}
