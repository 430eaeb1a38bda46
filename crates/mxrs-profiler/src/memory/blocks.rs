//! The blocks that were seen, for MXNet's list of memory (`<prefix>-pid_<pid>.csv`).

use crate::stats::in_quotes;
use mxrs_trace::{Label, Memory, MemoryStep};
use mxrs_types::{Device, DeviceKind};
use std::collections::BTreeMap;
use std::fmt::Write as _;

#[derive(Clone, Copy, Debug)]
struct Block {
    requested_bytes: u64,
    block_bytes: u64,
    tag: Label,
    scope: Label,
    is_reused: bool,
    is_live: bool,
}

/// Every block that was allocated while memory was recorded, by device and address. A freed block stays in the list while
/// its pool keeps the memory. If the memory is allocated again, the new block replaces it.
#[derive(Debug, Default)]
pub(crate) struct Blocks(BTreeMap<(Device, u64), Block>);

impl Blocks {
    pub(crate) fn allocated(&mut self, memory: &Memory) {
        let &Memory { device, address, requested_bytes, block_bytes, tag, scope, step, .. } = memory;
        // Earlier blocks that overlap this one are removed, because a pool may divide its memory differently now. So no byte
        // is listed twice.
        self.remove(device, address, address.saturating_add(block_bytes));
        let is_reused = step == MemoryStep::Reused;
        let block = Block { requested_bytes, block_bytes, tag, scope, is_reused, is_live: true };
        self.0.insert((device, address), block);
    }

    /// Marks a block as freed. Returns false if the block is unknown, because it was allocated before memory was recorded.
    pub(crate) fn freed(&mut self, memory: &Memory) -> bool {
        match self.0.get_mut(&(memory.device, memory.address)) {
            Some(block) => std::mem::take(&mut block.is_live),
            None => false,
        }
    }

    pub(crate) fn returned(&mut self, memory: &Memory) {
        self.remove(memory.device, memory.address, memory.address.saturating_add(memory.block_bytes));
    }

    /// Removes the blocks that overlap this range of addresses.
    fn remove(&mut self, device: Device, start: u64, end: u64) {
        let overlaps =
            |(at, block): (&(Device, u64), &Block)| (at.1.saturating_add(block.block_bytes) > start).then_some(*at);
        // Blocks do not overlap, so only the last block that starts before the range can reach into it.
        let before = self.0.range((device, 0)..(device, start)).next_back().and_then(overlaps);
        let within: Vec<_> = self.0.range((device, start)..(device, end)).map(|(at, _)| *at).collect();
        for at in before.into_iter().chain(within) {
            self.0.remove(&at);
        }
    }

    /// The list in the format that MXNet uses for GPUs, but with the blocks of all devices. A GPU is given by its number.
    pub(crate) fn csv(&self) -> String {
        let mut rows: Vec<(String, String)> = self.0.iter().map(|((device, _), block)| row(*device, block)).collect();
        rows.sort();
        let mut text = "\"Attribute Name\",\"Requested Size\",\"Device\",\"Actual Size\",\"Reuse?\"\n".to_owned();
        for (name, rest) in rows {
            let _ = writeln!(text, "{},{rest}", in_quotes(&name));
        }
        text
    }
}

fn row(device: Device, block: &Block) -> (String, String) {
    let name = format!("{}{}", block.scope, without_uuid(block.tag.text()));
    let device = match device.kind {
        DeviceKind::Gpu => device.id.to_string(),
        _ => crate::names::device(device),
    };
    let Block { requested_bytes, block_bytes, is_reused, .. } = block;
    (name, format!("\"{requested_bytes}\",\"{device}\",\"{block_bytes}\",\"{}\"", u8::from(*is_reused)))
}

/// The name of a parameter without the UUID that Gluon puts before it: `8_4_4_4_12` hexadecimal digits and `_`.
fn without_uuid(name: &str) -> &str {
    let mut rest = name;
    for n_digits in [8, 4, 4, 4, 12] {
        let is_group = rest.len() > n_digits
            && rest.as_bytes()[..n_digits].iter().all(u8::is_ascii_hexdigit)
            && rest.as_bytes()[n_digits] == b'_';
        if !is_group {
            return name;
        }
        rest = &rest[n_digits + 1..];
    }
    if rest.is_empty() { name } else { rest }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(step: MemoryStep, device: Device, address: u64, bytes: u64, tag: &str) -> Memory {
        let (tag, scope) = (Label::of(tag), Label::of("net:"));
        Memory { step, at_ns: 0, device, address, requested_bytes: bytes - 1, block_bytes: bytes, tag, scope }
    }

    #[test]
    fn the_list_has_blocks_until_the_device_gets_them_back() {
        let mut blocks = Blocks::default();
        let (cpu, gpu) = (Device::cpu(0), Device::gpu(1));
        use MemoryStep::{Freed, New, Returned, Reused};
        blocks.allocated(&memory(New, cpu, 0, 100, "a"));
        blocks.allocated(&memory(New, gpu, 0, 64, "w \"x\""));
        blocks.allocated(&memory(New, cpu, 100, 100, "gone"));
        assert!(blocks.freed(&memory(Freed, cpu, 0, 100, "a")));
        assert!(!blocks.freed(&memory(Freed, cpu, 0, 100, "a")), "freed twice");
        assert!(!blocks.freed(&memory(Freed, cpu, 7, 100, "a")), "not known");
        blocks.returned(&memory(Returned, cpu, 100, 100, ""));
        blocks.allocated(&memory(Reused, cpu, 0, 40, "3f2504e0_4f89_41d3_9a0c_0305e82c3301_weight"));
        let head = "\"Attribute Name\",\"Requested Size\",\"Device\",\"Actual Size\",\"Reuse?\"\n";
        let rows = "\"net:w \"\"x\"\"\",\"63\",\"1\",\"64\",\"0\"\n\"net:weight\",\"39\",\"cpu/0\",\"40\",\"1\"\n";
        assert_eq!(blocks.csv(), format!("{head}{rows}"));
    }

    /// T2: blocks that a pool divides and merges never add up to more than the memory of the pool.
    #[test]
    fn t2_no_byte_is_listed_twice() {
        let mut blocks = Blocks::default();
        let cpu = Device::cpu(0);
        for at in 0..8 {
            blocks.allocated(&memory(MemoryStep::New, cpu, at * 100, 100, "small"));
        }
        blocks.allocated(&memory(MemoryStep::Reused, cpu, 50, 300, "large"));
        let sizes: Vec<_> = blocks.0.iter().map(|((_, at), block)| (*at, block.block_bytes)).collect();
        assert_eq!(sizes, [(50, 300), (400, 100), (500, 100), (600, 100), (700, 100)]);
    }

    #[test]
    fn only_a_whole_uuid_is_left_out() {
        let uuid = "3f2504e0_4f89_41d3_9a0c_0305e82c3301_";
        assert_eq!(without_uuid(&format!("{uuid}conv0_weight")), "conv0_weight");
        for name in [uuid, "3f2504e0_4f89_41d3_9a0c_weight", "conv0_weight", "", "3f2504e0", "éééé_"] {
            assert_eq!(without_uuid(name), name);
        }
    }
}
