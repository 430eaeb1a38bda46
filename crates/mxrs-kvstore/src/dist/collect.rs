//! Collections: every worker gives some bytes, and all workers or the first one get the bytes of all.

use super::job::workers;
use super::packet::{Header, Kind, Packet};
use mxrs_types::{Error, Result};
use std::collections::BTreeMap;
use std::sync::mpsc::Sender;
use std::time::Instant;

/// The most bytes of one chunk.
const CHUNK_BYTES: usize = 1 << 20;

/// The bytes of every worker, by rank. `None` on a worker that does not get them because only the first worker does.
pub(super) type Collected = Option<Vec<Vec<u8>>>;

/// A collection that a caller on this worker waits for: where to send the result, and since when it waits.
pub(super) struct Wanted {
    pub reply: Sender<Result<Collected>>,
    pub since: Instant,
}

/// One collection.
#[derive(Default)]
struct Collection {
    /// For each rank that has sent something: the number of its chunks, and the chunks that have arrived.
    parts: BTreeMap<usize, (u32, Vec<Packet>)>,
    wanted: Option<Wanted>,
}

/// The collections that are under way, by number.
#[derive(Default)]
pub(super) struct Collections(BTreeMap<u64, Collection>);

/// Splits `bytes` into the messages that this worker sends. There is at least one message, even if `bytes` is empty.
pub(super) fn chunks(number: u64, bytes: &[u8]) -> Vec<Packet> {
    let n_chunks = bytes.len().div_ceil(CHUNK_BYTES).max(1);
    let key = u32::try_from(n_chunks).unwrap_or(u32::MAX);
    let packet = |piece: usize| {
        let begin = piece * CHUNK_BYTES;
        let chunk = &bytes[begin..(begin + CHUNK_BYTES).min(bytes.len())];
        let header = Header { key, piece: piece as u32, round: number, ..Header::of(Kind::Collect) };
        Packet::with(header, chunk)
    };
    (0..n_chunks).map(packet).collect()
}

impl Collections {
    /// Takes a chunk. Chunks of one worker arrive in their order.
    ///
    /// # Errors
    /// Fails if the chunk is not the next one of its worker.
    pub fn take(&mut self, from: usize, header: &Header, packet: Packet) -> Result<()> {
        let collection = self.0.entry(header.round).or_default();
        let (n_chunks, chunks) = collection.parts.entry(from).or_insert_with(|| (header.key, Vec::new()));
        if *n_chunks != header.key || header.piece as usize != chunks.len() || header.piece >= header.key {
            let got = format!("chunk {} of {}", header.piece, header.key);
            let expected = format!("chunk {} of {n_chunks}", chunks.len());
            let what = format!("message of worker {from} for collection {}", header.round);
            return Err(Error::invalid(what, got, expected));
        }
        chunks.push(packet);
        Ok(())
    }

    /// Notes that a caller on this worker waits for the bytes of all workers.
    pub fn want(&mut self, number: u64, wanted: Wanted) {
        self.0.entry(number).or_default().wanted = Some(wanted);
    }

    /// The times at which callers on this worker began to wait, one for each collection that they wait for.
    pub fn since(&self) -> impl Iterator<Item = Instant> {
        self.0.values().filter_map(|collection| Some(collection.wanted.as_ref()?.since))
    }

    /// Answers the collections that are complete.
    pub fn answer(&mut self, n_workers: usize) {
        let is_complete = |collection: &Collection| {
            let full = collection.parts.values().filter(|(n, chunks)| chunks.len() == *n as usize).count();
            collection.wanted.is_some() && full == n_workers
        };
        let complete: Vec<u64> = self.0.iter().filter(|(_, c)| is_complete(c)).map(|(number, _)| *number).collect();
        for number in complete {
            let Some(Collection { parts, wanted: Some(wanted) }) = self.0.remove(&number) else { continue };
            let joined = |(_, chunks): (u32, Vec<Packet>)| {
                let mut bytes = Vec::with_capacity(chunks.iter().map(|chunk| chunk.content().len()).sum());
                chunks.iter().for_each(|chunk| bytes.extend_from_slice(chunk.content()));
                bytes
            };
            // Sending fails only if the caller no longer waits. The result is then not needed.
            drop(wanted.reply.send(Ok(Some(parts.into_values().map(joined).collect()))));
        }
    }

    /// The collections that this worker waits for: since when, for which workers, and a description for an error message.
    pub fn waits(&self, n_workers: usize) -> impl Iterator<Item = (Instant, Vec<usize>, String)> {
        self.0.values().filter_map(move |collection| {
            let since = collection.wanted.as_ref()?.since;
            let has = |rank: &usize| collection.parts.get(rank).is_some_and(|(n, chunks)| chunks.len() == *n as usize);
            let missing: Vec<usize> = (0..n_workers).filter(|rank| !has(rank)).collect();
            let text = format!("{} to reach the same point of the training", workers(&missing));
            Some((since, missing, text))
        })
    }

    /// Answers all with an error.
    pub fn fail(&mut self, error: &Error) {
        for (_, collection) in std::mem::take(&mut self.0) {
            if let Some(wanted) = collection.wanted {
                drop(wanted.reply.send(Err(error.clone())));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn bytes_of_any_length_are_joined_by_rank() {
        let of = [vec![], vec![7u8; CHUNK_BYTES], (0..CHUNK_BYTES + 1).map(|i| i as u8).collect()];
        let mut collections = Collections::default();
        let (reply, result) = channel();
        for (rank, bytes) in of.iter().enumerate().rev() {
            let packets = chunks(9, bytes);
            assert_eq!(packets.len(), [1, 1, 2][rank]);
            for packet in packets {
                collections.take(rank, &packet.header().unwrap(), packet).unwrap();
            }
            if rank == 1 {
                let (since, reply) = (Instant::now(), reply.clone());
                collections.want(9, Wanted { reply, since });
            }
            collections.answer(3);
            assert_eq!(result.try_recv().is_ok_and(|got| got.unwrap().unwrap() == of), rank == 0);
        }
    }

    #[test]
    fn chunks_out_of_order_are_refused() {
        let [first, second]: [Packet; 2] = chunks(1, &vec![1; CHUNK_BYTES + 5]).try_into().unwrap();
        let mut collections = Collections::default();
        let header = second.header().unwrap();
        let error = collections.take(3, &header, second).unwrap_err().to_string();
        assert!(error.contains("worker 3") && error.contains("chunk 1 of 2") && error.contains("chunk 0"), "{error}");
        let header = first.header().unwrap();
        collections.take(2, &header, first).unwrap();
        let again = chunks(1, &[]).remove(0);
        assert!(collections.take(2, &again.header().unwrap(), again).is_err(), "another number of chunks");
    }
}
