//! Reads messages of workers from a stream, and headers from memory. Checks that nothing panics, that no memory is reserved for
//! bytes that do not arrive, and that messages are the same after writing and reading them again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mxrs_kvstore::dist::Packet;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(packet) = Packet::from_head(bytes) {
        assert_eq!(packet.head(), &bytes[..Packet::HEAD_BYTES]);
    }
    let mut stream = bytes;
    while let Ok(Some(packet)) = Packet::read_from(&mut stream) {
        let written = [packet.head(), packet.content()].concat();
        let again = Packet::read_from(&mut &written[..]).unwrap().unwrap();
        assert!(again == packet);
    }
});
