//! What one worker has sent: frames, the messages in them, and the long contents that follow the frames.

use super::{CONTENTS, FRAMES, SHORT_BYTES};
use crate::library::{Handle, Mpi};
use mxrs_kvstore::dist::Packet;
use mxrs_types::{Error, Result};
use std::collections::VecDeque;

/// A frame that is being received.
struct Frame {
    request: Handle,
    bytes: Vec<u8>,
}

/// A message, whose content may still be received.
struct Arriving {
    request: Option<Handle>,
    packet: Packet,
}

/// What one worker has sent.
#[derive(Default)]
pub(super) struct Incoming {
    frames: VecDeque<Frame>,
    messages: VecDeque<Arriving>,
}

impl Incoming {
    /// Starts to receive a frame of `n_bytes` into this memory.
    ///
    /// # Errors
    /// Fails if the library fails.
    pub fn start(&mut self, mpi: &Mpi, from: usize, mut bytes: Vec<u8>, n_bytes: usize) -> Result<()> {
        bytes.resize(n_bytes, 0);
        // SAFETY: the bytes are on the heap, so they do not move with `bytes`. They are not used until the request is done,
        // and `forget` leaks them if it is not.
        let request = unsafe { mpi.receive(&mut bytes, from, FRAMES)? };
        self.frames.push_back(Frame { request, bytes });
        Ok(())
    }

    /// Reads the next frame, if it has arrived, and starts to receive its long contents. `room` may give a message memory for
    /// its content. Returns the memory of the frame.
    ///
    /// # Errors
    /// Fails if the library fails, or if the frame is not valid.
    pub fn read(&mut self, mpi: &Mpi, from: usize, room: &mut dyn FnMut(&mut Packet)) -> Result<Option<Vec<u8>>> {
        let Some(frame) = self.frames.front_mut() else { return Ok(None) };
        if !mpi.is_done(&mut frame.request)? {
            return Ok(None);
        }
        let Some(Frame { bytes, .. }) = self.frames.pop_front() else { return Ok(None) };
        for mut packet in messages(&bytes).map_err(|error| error.context(format!("reading from worker {from}")))? {
            let mut request = None;
            if packet.content().len() != packet.n_bytes() {
                room(&mut packet);
                packet.make_room();
                // SAFETY: the content is on the heap or in an array that the packet keeps, so it does not move with the
                // packet, which is not used until the request is done. `forget` leaks the packet if the request is not done.
                request = Some(unsafe { mpi.receive(packet.content_mut(), from, CONTENTS)? });
            }
            self.messages.push_back(Arriving { request, packet });
        }
        Ok(Some(bytes))
    }

    /// The next message, if it has arrived completely.
    ///
    /// # Errors
    /// Fails if the library fails.
    pub fn next(&mut self, mpi: &Mpi) -> Result<Option<Packet>> {
        let Some(front) = self.messages.front_mut() else { return Ok(None) };
        if let Some(request) = &mut front.request {
            if !mpi.is_done(request)? {
                return Ok(None);
            }
            front.request = None;
        }
        Ok(self.messages.pop_front().map(|arrived| arrived.packet))
    }

    pub fn is_empty(&self) -> bool {
        self.frames.is_empty() && self.messages.is_empty()
    }

    /// Leaks the memory into which the library may still write.
    pub fn forget(self) {
        self.frames.into_iter().for_each(std::mem::forget);
        self.messages.into_iter().filter(|arriving| arriving.request.is_some()).for_each(std::mem::forget);
    }
}

/// The messages of a frame. Long contents are not in it.
///
/// # Errors
/// Fails if the frame does not consist of whole messages.
fn messages(mut frame: &[u8]) -> Result<Vec<Packet>> {
    let mut messages = Vec::new();
    while !frame.is_empty() {
        let mut packet = Packet::from_head(frame)?;
        frame = &frame[Packet::HEAD_BYTES..];
        if packet.n_bytes() <= SHORT_BYTES {
            let Some((content, rest)) = frame.split_at_checked(packet.n_bytes()) else {
                let expected = format!("{} bytes of content", packet.n_bytes());
                return Err(Error::invalid("frame", format!("{} bytes", frame.len()), expected));
            };
            packet.make_room();
            packet.content_mut().copy_from_slice(content);
            frame = rest;
        }
        messages.push(packet);
    }
    Ok(messages)
}

#[cfg(test)]
mod tests {
    use super::super::append;
    use super::*;

    /// The bytes of a message of kind 2, of key 1, with this content.
    fn packet(content: &[u8]) -> Packet {
        let words = [0x0001_0000_766b_786d_u64, 2, 1, 0, content.len() as u64];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).chain(content.iter().copied()).collect();
        Packet::read_from(&mut &bytes[..]).unwrap().unwrap()
    }

    #[test]
    fn frames_are_read_as_written() {
        let contents = [vec![], vec![1; 7], vec![2; SHORT_BYTES], vec![3; SHORT_BYTES + 1], vec![4; 9]];
        let mut frame = Vec::new();
        contents.iter().for_each(|content| append(&mut frame, &packet(content)));
        let read = messages(&frame).unwrap();
        for (read, content) in read.iter().zip(&contents) {
            assert_eq!((read.head(), read.n_bytes()), (packet(content).head(), content.len()));
            let is_short = content.len() <= SHORT_BYTES;
            assert_eq!(read.content(), if is_short { &content[..] } else { &[] }, "a long content follows the frame");
        }
        assert_eq!(read.len(), 5);
    }

    #[test]
    fn damaged_frames_are_refused() {
        let mut frame = Vec::new();
        append(&mut frame, &packet(&[1; 100]));
        for n in 1..frame.len() {
            assert!(messages(&frame[..n]).is_err(), "{n} bytes");
        }
        for (at, words) in [(0, "the same mxrs"), (8, "kind"), (33, "bytes of content"), (38, "at most")] {
            let mut damaged = frame.clone();
            damaged[at] ^= 0x10;
            let error = messages(&damaged).map(drop).unwrap_err().to_string();
            assert!(error.contains(words), "{at}: {error}");
        }
    }
}
