//! Messages between workers: a header of fixed size, then bytes whose meaning depends on the kind.

use mxrs_types::{Error, Result};
use std::io::{self, Read};

/// Number of bytes of a header, a multiple of 8, so that what follows is aligned for elements of every type.
pub(super) const HEADER_BYTES: usize = 40;

/// The first bytes of every message: "mxkv" and the version of the format.
const MAGIC: u64 = 0x0001_0000_766b_786d;

/// The most bytes that are reserved before they arrive.
const STEP_BYTES: usize = 4 << 20;

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
    /// Chunk `piece` of `key` chunks of what the sender gives to collection `round`.
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
    /// A header without a store.
    pub fn of(kind: Kind) -> Self {
        Self { kind, store: 0, key: 0, piece: 0, round: 0 }
    }
}

/// A message: its header and its content, aligned to 8 bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Packet {
    words: Vec<u64>,
    n_bytes: usize,
}

impl Packet {
    /// A message of this number of bytes, all zero, to be filled with received bytes.
    pub fn zeroed(n_bytes: usize) -> Self {
        Self { words: vec![0; n_bytes.div_ceil(8)], n_bytes }
    }

    /// A message with a header and `n_bytes` bytes of content, which are zero.
    pub(super) fn new(header: Header, n_bytes: usize) -> Self {
        let mut packet = Self::zeroed(HEADER_BYTES + n_bytes);
        packet.words[0] = MAGIC;
        packet.words[4] = n_bytes as u64;
        packet.set_header(header);
        packet
    }

    /// Replaces the header of a message that has one.
    pub(super) fn set_header(&mut self, header: Header) {
        self.words[1] = header.kind as u64 | u64::from(header.store) << 32;
        self.words[2] = u64::from(header.key) | u64::from(header.piece) << 32;
        self.words[3] = header.round;
    }

    /// A message with this content.
    pub(super) fn with(header: Header, content: &[u8]) -> Self {
        let mut packet = Self::new(header, content.len());
        packet.content_mut().copy_from_slice(content);
        packet
    }

    /// All bytes of the message.
    pub fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.n_bytes]
    }

    /// All bytes of the message, to be overwritten with received bytes.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words)[..self.n_bytes]
    }

    /// The header.
    ///
    /// # Errors
    /// Fails if the message does not begin with the header of a message of this version, of this length.
    pub(super) fn header(&self) -> Result<Header> {
        let refused = |got: String, expected: String| Err(Error::invalid("message from a worker", got, expected));
        if self.n_bytes < HEADER_BYTES {
            return refused(format!("{} bytes", self.n_bytes), format!("at least {HEADER_BYTES} bytes"));
        }
        if self.words[0] != MAGIC {
            return refused(format!("{:#018x} at its begin", self.words[0]), format!("{MAGIC:#018x}: the same mxrs"));
        }
        let low = |word: u64| word as u32;
        let high = |word: u64| (word >> 32) as u32;
        let number = low(self.words[1]);
        let Some(kind) = Kind::ALL.into_iter().find(|kind| *kind as u32 == number) else {
            return refused(format!("kind {number}"), "a kind from 1 to 7".to_owned());
        };
        if self.words[4] != (self.n_bytes - HEADER_BYTES) as u64 {
            let got = format!("{} bytes after the header", self.n_bytes - HEADER_BYTES);
            return refused(got, format!("{}, as the header says", self.words[4]));
        }
        let (store, key, piece) = (high(self.words[1]), low(self.words[2]), high(self.words[2]));
        Ok(Header { kind, store, key, piece, round: self.words[3] })
    }

    /// Reads a message from a stream; `None` at the end of the stream. Memory is reserved as bytes arrive, so a wrong length
    /// cannot exhaust it.
    ///
    /// # Errors
    /// Fails if reading fails, if the stream ends within a message, or if the bytes do not begin with a header.
    pub fn read_from(stream: &mut impl Read) -> io::Result<Option<Self>> {
        let mut packet = Self::zeroed(HEADER_BYTES);
        let mut n_read = 0;
        while n_read < HEADER_BYTES {
            match stream.read(&mut packet.bytes_mut()[n_read..]) {
                Ok(0) if n_read == 0 => return Ok(None),
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(n) => n_read += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let n_bytes = usize::try_from(packet.words[4]).ok().and_then(|n| n.checked_add(HEADER_BYTES));
        let Some(n_bytes) = n_bytes.filter(|_| packet.words[0] == MAGIC) else {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "these bytes are not a message of this version"));
        };
        while packet.n_bytes < n_bytes {
            let begin = packet.n_bytes;
            packet.n_bytes = n_bytes.min(begin + STEP_BYTES);
            packet.words.resize(packet.n_bytes.div_ceil(8), 0);
            stream.read_exact(&mut packet.bytes_mut()[begin..])?;
        }
        Ok(Some(packet))
    }

    /// The bytes after the header.
    pub(super) fn content(&self) -> &[u8] {
        self.bytes().get(HEADER_BYTES..).unwrap_or_default()
    }

    /// The bytes after the header.
    pub(super) fn content_mut(&mut self) -> &mut [u8] {
        self.bytes_mut().get_mut(HEADER_BYTES..).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_as_written() {
        for kind in Kind::ALL {
            let header = Header { kind, store: 7, key: u32::MAX, piece: 3, round: u64::MAX - 1 };
            let packet = Packet::with(header, b"hello");
            assert_eq!((packet.header().unwrap(), packet.content()), (header, &b"hello"[..]));
            let mut received = Packet::zeroed(packet.bytes().len());
            received.bytes_mut().copy_from_slice(packet.bytes());
            assert_eq!(received, packet);
        }
    }

    #[test]
    fn streams_are_read_message_by_message() {
        let long = vec![3u8; STEP_BYTES + 11];
        let packets = [Packet::with(Header::of(Kind::Bye), b""), Packet::with(Header::of(Kind::Collect), &long)];
        let bytes = packets.iter().flat_map(|packet| packet.bytes().to_vec()).collect::<Vec<u8>>();
        let mut stream = &bytes[..];
        for packet in &packets {
            assert_eq!(Packet::read_from(&mut stream).unwrap().as_ref(), Some(packet));
        }
        assert_eq!(Packet::read_from(&mut stream).unwrap(), None);
        let kind = |mut bytes: &[u8]| Packet::read_from(&mut bytes).unwrap_err().kind();
        assert_eq!(kind(&bytes[..HEADER_BYTES - 1]), io::ErrorKind::UnexpectedEof);
        assert_eq!(kind(&bytes[HEADER_BYTES..bytes.len() - 1]), io::ErrorKind::UnexpectedEof);
        assert_eq!(kind(&[0; HEADER_BYTES]), io::ErrorKind::InvalidData);
        // A length of almost the whole address space, of which nothing arrives.
        let mut huge = packets[0].bytes().to_vec();
        huge[32..40].copy_from_slice(&(u64::MAX / 2).to_le_bytes());
        assert_eq!(kind(&huge), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn other_bytes_are_refused() {
        let good = Packet::with(Header::of(Kind::Bye), b"12345678");
        let refused = |change: &dyn Fn(&mut Vec<u8>), words: &str| {
            let mut bytes = good.bytes().to_vec();
            change(&mut bytes);
            let mut packet = Packet::zeroed(bytes.len());
            packet.bytes_mut().copy_from_slice(&bytes);
            let error = packet.header().unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        };
        refused(&|bytes| bytes.truncate(39), "39 bytes");
        refused(&|bytes| bytes.clear(), "0 bytes");
        refused(&|bytes| bytes[0] ^= 1, "the same mxrs");
        refused(&|bytes| bytes[6] += 1, "the same mxrs");
        refused(&|bytes| bytes[8] = 0, "kind 0");
        refused(&|bytes| bytes[8] = 8, "kind 8");
        refused(&|bytes| bytes.push(0), "9 bytes after the header");
    }
}
