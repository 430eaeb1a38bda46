//! Messages between workers: a header of fixed size, then bytes whose meaning depends on the kind.

use super::buffer::Buffer;
use super::lease::Lent;
use mxrs_types::{Error, Result};
use std::io::{self, Read};

/// Number of bytes of a header, a multiple of 8, so that what follows is aligned for elements of every type.
pub(super) const HEADER_BYTES: usize = 40;

/// The first bytes of every message: "mxkv" and the version of the format.
const MAGIC: u64 = 0x0001_0000_766b_786d;

/// The size of the steps in which memory for a message is reserved while its bytes arrive. So a wrong length in a header
/// cannot reserve much memory.
const STEP_BYTES: usize = 4 << 20;

/// A bound that the content of no valid message reaches: pieces and chunks have at most 2 MiB, reports of failures a few
/// lines.
const MOST_BYTES: u64 = 16 << 20;

/// What a message is for. The fields of [`Header`] that a kind does not name are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub(super) enum Kind {
    /// Part `piece` of the first value of a key, from worker 0.
    First = 1,
    /// The sender's value of a piece in a round, for the owner of the piece.
    Value = 2,
    /// The sum of a piece in a round, or the weights after the update, from its owner.
    Outcome = 3,
    /// Chunk number `piece` of the bytes that the sender gives to collection number `round`. The field `key` is the number
    /// of chunks.
    Collect = 4,
    /// The sender is alive.
    Heartbeat = 5,
    /// The sender sends nothing after this message.
    Bye = 6,
    /// The sender has failed; the reason follows as text.
    Failure = 7,
}

impl Kind {
    const ALL: [Self; 7] =
        [Self::First, Self::Value, Self::Outcome, Self::Collect, Self::Heartbeat, Self::Bye, Self::Failure];
}

/// The header of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub kind: Kind,
    /// The number of the store, in the order in which a process makes its stores.
    pub store: u32,
    /// The number of the key, in the order of `init`.
    pub key: u32,
    pub piece: u32,
    /// The round of the key: the number of pushes of the key before this one.
    pub round: u64,
}

impl Header {
    /// A header of this kind whose other fields are 0.
    pub fn of(kind: Kind) -> Self {
        Self { kind, store: 0, key: 0, piece: 0, round: 0 }
    }
}

/// A message: its header and its content. The content is aligned to 8 bytes, or is part of an array.
#[derive(Debug)]
pub struct Packet {
    head: [u64; HEADER_BYTES / 8],
    content: Content,
}

#[derive(Debug)]
enum Content {
    Own(Buffer),
    /// Part of an array, to be sent.
    Read(Lent),
    /// Part of an array, to be received.
    Write(Lent),
}

impl Packet {
    /// A message with a header and `n_bytes` bytes of content, which are to be overwritten.
    pub(super) fn new(header: Header, n_bytes: usize) -> Self {
        let mut packet = Self { head: [MAGIC, 0, 0, 0, n_bytes as u64], content: Content::Own(Buffer::new(n_bytes)) };
        packet.set_header(header);
        packet
    }

    /// A message whose content is part of an array.
    ///
    /// # Safety
    /// No code writes this part of the array while the message exists and its lease has not failed.
    pub(super) unsafe fn lent(header: Header, content: Lent) -> Self {
        let mut packet = Self { head: [MAGIC, 0, 0, 0, content.len() as u64], content: Content::Read(content) };
        packet.set_header(header);
        packet
    }

    /// Replaces the header of a message. The length of the content stays.
    pub(super) fn set_header(&mut self, header: Header) {
        self.head[1] = header.kind as u64 | u64::from(header.store) << 32;
        self.head[2] = u64::from(header.key) | u64::from(header.piece) << 32;
        self.head[3] = header.round;
    }

    /// A message with this content.
    pub(super) fn with(header: Header, content: &[u8]) -> Self {
        let mut packet = Self::new(header, content.len());
        packet.content_mut().copy_from_slice(content);
        packet
    }

    /// A message that begins with these bytes, of which the first [`HEAD_BYTES`](Self::HEAD_BYTES) count. It has no room for its
    /// content: see [`Self::make_room`].
    ///
    /// # Errors
    /// Fails if these are not the first bytes of a message of this version, or if its content is longer than any is.
    pub fn from_head(bytes: &[u8]) -> Result<Self> {
        let refused = |got: String, expected: String| Err(Error::invalid("message from a worker", got, expected));
        let Some(bytes) = bytes.get(..HEADER_BYTES) else {
            return refused(format!("{} bytes", bytes.len()), format!("at least {HEADER_BYTES} bytes"));
        };
        let mut packet = Self { head: [0; HEADER_BYTES / 8], content: Content::Own(Buffer::default()) };
        bytemuck::cast_slice_mut(&mut packet.head).copy_from_slice(bytes);
        packet.header()?;
        if packet.head[4] > MOST_BYTES {
            return refused(format!("{} bytes of content", packet.head[4]), format!("at most {MOST_BYTES}"));
        }
        Ok(packet)
    }

    /// Number of bytes of a header.
    pub const HEAD_BYTES: usize = HEADER_BYTES;

    /// The bytes of the header.
    pub fn head(&self) -> &[u8] {
        bytemuck::cast_slice(&self.head)
    }

    /// Number of bytes of the content, as the header says.
    pub fn n_bytes(&self) -> usize {
        self.head[4] as usize
    }

    /// Gives a message memory for its content, unless it has some.
    pub fn make_room(&mut self) {
        if self.content().len() != self.n_bytes() {
            self.content = Content::Own(Buffer::new(self.n_bytes()));
        }
    }

    /// Makes the message receive its content into part of an array, if this part has the size of the content. Returns
    /// whether it has.
    ///
    /// # Safety
    /// No other code uses this part of the array while the message exists and its lease has not failed.
    pub(super) unsafe fn receive_into(&mut self, place: Lent) -> bool {
        let fits = place.len() == self.n_bytes();
        if fits {
            self.content = Content::Write(place);
        }
        fits
    }

    /// Whether the content was received into an array.
    pub(super) fn is_in_place(&self) -> bool {
        matches!(self.content, Content::Write(_))
    }

    /// The header.
    ///
    /// # Errors
    /// Fails if the message does not begin with the header of a message of this version.
    pub(super) fn header(&self) -> Result<Header> {
        let refused = |got: String, expected: String| Err(Error::invalid("message from a worker", got, expected));
        if self.head[0] != MAGIC {
            return refused(format!("{:#018x} at its begin", self.head[0]), format!("{MAGIC:#018x}: the same mxrs"));
        }
        let low = |word: u64| word as u32;
        let high = |word: u64| (word >> 32) as u32;
        let number = low(self.head[1]);
        let Some(kind) = Kind::ALL.into_iter().find(|kind| *kind as u32 == number) else {
            return refused(format!("kind {number}"), "a kind from 1 to 7".to_owned());
        };
        let (store, key, piece) = (high(self.head[1]), low(self.head[2]), high(self.head[2]));
        Ok(Header { kind, store, key, piece, round: self.head[3] })
    }

    /// Reads a message from a stream; `None` at the end of the stream. Memory is reserved as bytes arrive, so a wrong length
    /// cannot exhaust it.
    ///
    /// # Errors
    /// Fails if reading fails, if the stream ends within a message, or if the bytes do not begin with a header.
    pub fn read_from(stream: &mut impl Read) -> io::Result<Option<Self>> {
        let mut head = [0; HEADER_BYTES];
        let mut n_read = 0;
        while n_read < HEADER_BYTES {
            match stream.read(&mut head[n_read..]) {
                Ok(0) if n_read == 0 => return Ok(None),
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(n) => n_read += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let packet = Self::from_head(&head);
        let mut packet = packet.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))?;
        let mut buffer = Buffer::new(packet.n_bytes().min(STEP_BYTES));
        stream.read_exact(buffer.bytes_mut())?;
        while buffer.n_bytes < packet.n_bytes() {
            let begin = buffer.n_bytes;
            buffer.grow(packet.n_bytes().min(begin + STEP_BYTES));
            stream.read_exact(&mut buffer.bytes_mut()[begin..])?;
        }
        packet.content = Content::Own(buffer);
        Ok(Some(packet))
    }

    /// The bytes after the header.
    pub fn content(&self) -> &[u8] {
        match &self.content {
            Content::Own(buffer) => buffer.bytes(),
            // SAFETY: `lent` and `receive_into` have the promise that no other code writes these bytes. This message writes
            // them by a unique reference only.
            Content::Read(lent) | Content::Write(lent) => unsafe { lent.slice() },
        }
    }

    /// The bytes after the header, to be overwritten. A message whose content is sent from an array gets a copy of it.
    pub fn content_mut(&mut self) -> &mut [u8] {
        if let Content::Read(_) = self.content {
            self.content = Content::Own(Buffer::of(self.content()));
        }
        match &mut self.content {
            Content::Own(buffer) => buffer.bytes_mut(),
            // SAFETY: `receive_into` has the promise that no other code uses these bytes.
            Content::Write(lent) => unsafe { lent.slice_mut() },
            // Cannot happen: a message that is sent from an array got a copy of its content above.
            Content::Read(_) => &mut [],
        }
    }
}

/// A copy has memory of its own.
impl Clone for Packet {
    fn clone(&self) -> Self {
        Self { head: self.head, content: Content::Own(Buffer::of(self.content())) }
    }
}

impl PartialEq for Packet {
    fn eq(&self, other: &Self) -> bool {
        self.head == other.head && self.content() == other.content()
    }
}

#[cfg(test)]
mod tests;
