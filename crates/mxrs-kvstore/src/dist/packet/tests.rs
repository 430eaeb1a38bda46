//! Messages that are written and read, damaged and cut.

use super::*;
use proptest::prelude::*;

fn bytes_of(packet: &Packet) -> Vec<u8> {
    [packet.head(), packet.content()].concat()
}

#[test]
fn headers_are_read_as_written() {
    for kind in Kind::ALL {
        let header = Header { kind, store: 7, key: u32::MAX, piece: 3, round: u64::MAX - 1 };
        let packet = Packet::with(header, b"hello");
        assert_eq!((packet.header().unwrap(), packet.content()), (header, &b"hello"[..]));
        let mut received = Packet::from_head(packet.head()).unwrap();
        assert_eq!((received.n_bytes(), received.content().len()), (5, 0));
        received.make_room();
        received.content_mut().copy_from_slice(b"hello");
        assert_eq!(received, packet);
    }
}

#[test]
fn streams_are_read_message_by_message() {
    let long = vec![3u8; STEP_BYTES + 11];
    let packets = [Packet::with(Header::of(Kind::Bye), b""), Packet::with(Header::of(Kind::Collect), &long)];
    let bytes = packets.iter().flat_map(bytes_of).collect::<Vec<u8>>();
    let mut stream = &bytes[..];
    for packet in &packets {
        assert_eq!(Packet::read_from(&mut stream).unwrap().as_ref(), Some(packet));
    }
    assert_eq!(Packet::read_from(&mut stream).unwrap(), None);
    let kind = |mut bytes: &[u8]| Packet::read_from(&mut bytes).unwrap_err().kind();
    assert_eq!(kind(&bytes[..HEADER_BYTES - 1]), io::ErrorKind::UnexpectedEof);
    assert_eq!(kind(&bytes[HEADER_BYTES..bytes.len() - 1]), io::ErrorKind::UnexpectedEof);
    assert_eq!(kind(&[0; HEADER_BYTES]), io::ErrorKind::InvalidData);
    // Headers that claim more content than follows: first almost the whole address space, then the longest content that is
    // allowed.
    let mut huge = bytes_of(&packets[0]);
    huge[32..40].copy_from_slice(&(u64::MAX / 2).to_le_bytes());
    assert_eq!(kind(&huge), io::ErrorKind::InvalidData);
    huge[32..40].copy_from_slice(&MOST_BYTES.to_le_bytes());
    assert_eq!(kind(&huge), io::ErrorKind::UnexpectedEof);
}

#[test]
fn other_bytes_are_refused() {
    let good = Packet::with(Header::of(Kind::Bye), b"12345678");
    let refused = |change: &dyn Fn(&mut Vec<u8>), words: &str| {
        let mut bytes = bytes_of(&good);
        change(&mut bytes);
        let error = Packet::from_head(&bytes).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    refused(&|bytes| bytes.truncate(39), "39 bytes");
    refused(&|bytes| bytes.clear(), "0 bytes");
    refused(&|bytes| bytes[0] ^= 1, "the same mxrs");
    refused(&|bytes| bytes[6] += 1, "the same mxrs");
    refused(&|bytes| bytes[8] = 0, "kind 0");
    refused(&|bytes| bytes[8] = 8, "kind 8");
    refused(&|bytes| bytes[36] = 1, "bytes of content");
}

/// A stream that gives a few bytes at a time.
struct Drops<'a>(&'a [u8], usize);

impl Read for Drops<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = buffer.len().min(self.1);
        self.0.read(&mut buffer[..n])
    }
}

proptest! {
    #[test]
    fn any_messages_are_read_as_written(
        all in prop::collection::vec((0usize..7, any::<u32>(), any::<u32>(), any::<u32>(), any::<u64>(), prop::collection::vec(any::<u8>(), 0..300)), 0..6),
        drop in 1usize..64,
    ) {
        let packet = |(kind, store, key, piece, round, content): &(usize, u32, u32, u32, u64, Vec<u8>)| {
            let header = Header { kind: Kind::ALL[*kind], store: *store, key: *key, piece: *piece, round: *round };
            (header, Packet::with(header, content))
        };
        let packets: Vec<(Header, Packet)> = all.iter().map(packet).collect();
        let bytes: Vec<u8> = packets.iter().flat_map(|(_, packet)| bytes_of(packet)).collect();
        let mut stream = Drops(&bytes, drop);
        for (header, packet) in &packets {
            let read = Packet::read_from(&mut stream).unwrap().unwrap();
            prop_assert_eq!(&read, packet);
            prop_assert_eq!(read.header().unwrap(), *header);
        }
        prop_assert!(Packet::read_from(&mut stream).unwrap().is_none());
    }

    #[test]
    fn damaged_messages_are_refused_or_read(content in prop::collection::vec(any::<u8>(), 0..100), at in 0usize..140, bit in 0u8..8) {
        let mut bytes = bytes_of(&Packet::with(Header { key: 3, ..Header::of(Kind::Value) }, &content));
        let at = at % bytes.len();
        bytes[at] ^= 1 << bit;
        // Damage is detected, or the message that is read has exactly the damaged bytes. Reading fails only if the header is
        // damaged.
        match Packet::read_from(&mut &bytes[..]) {
            Ok(Some(packet)) => prop_assert_eq!(&bytes_of(&packet)[..], &bytes[..HEADER_BYTES + packet.n_bytes()]),
            Ok(None) => prop_assert!(false, "there are bytes"),
            Err(error) => prop_assert!(at < HEADER_BYTES, "{error}"),
        }
    }
}
