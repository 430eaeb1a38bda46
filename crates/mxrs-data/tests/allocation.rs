//! Hostile headers of images are refused before memory is allocated for the sizes that they state.

mod golden;

use mxrs_data::{DecodeLimits, decode};
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Peak memory in bytes while `bytes` is decoded, beyond the memory in use before; and whether it decoded.
fn peak_of(bytes: &[u8]) -> (usize, bool) {
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let decoded = decode(bytes, 3, &DecodeLimits::default()).is_ok();
    (MEMORY.peak_usage().saturating_sub(before), decoded)
}

fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |c, _| if c & 1 == 1 { 0xedb8_8320 ^ c >> 1 } else { c >> 1 })
    };
    !bytes.iter().fold(!0, step)
}

/// A single test, so that no other test allocates at the same time.
#[test]
fn memory_follows_the_file_and_not_its_header() {
    let jpeg = golden::image("s2b.jpg");
    let progressive = golden::image("s2p.jpg");
    let frame = |bytes: &[u8]| bytes.windows(2).position(|w| matches!(w, [0xff, 0xc0 | 0xc2])).unwrap();
    let png = golden::image("RGB.png");

    // Checks first that the memory is measured correctly: genuine images take at least the memory of their pixels, and not
    // much more.
    for honest in [&jpeg, &progressive, &png] {
        let (peak, decoded) = peak_of(honest);
        assert!(decoded && (13 * 17 * 3..4 << 20).contains(&peak), "{peak}");
    }

    let mut n_cases = 0;
    for size in [1000u32, 4096, 8000, 8191, 16_384, 30_000, 60_000, 65_535] {
        for (height, width) in [(size, size), (1, size), (size, 1), (size, 2)] {
            for original in [&jpeg, &progressive] {
                let mut hostile = original.clone();
                let at = frame(&hostile) + 5;
                hostile[at..at + 2].copy_from_slice(&(height as u16).to_be_bytes());
                hostile[at + 2..at + 4].copy_from_slice(&(width as u16).to_be_bytes());
                let (peak, _) = peak_of(&hostile);
                assert!(peak <= 2 * hostile.len() + (16 << 20), "JPEG of {height} x {width}: {peak} bytes");
                n_cases += 1;
            }
            for (height, width) in [(height, width), (height << 12, width << 12), (u32::MAX, u32::MAX)] {
                let mut hostile = png.clone();
                hostile[16..20].copy_from_slice(&width.to_be_bytes());
                hostile[20..24].copy_from_slice(&height.to_be_bytes());
                let crc = crc32(&hostile[12..29]);
                hostile[29..33].copy_from_slice(&crc.to_be_bytes());
                let (peak, decoded) = peak_of(&hostile);
                assert!(!decoded, "PNG of {height} x {width}");
                assert!(peak <= 2 * hostile.len() + (16 << 20), "PNG of {height} x {width}: {peak} bytes");
                n_cases += 1;
            }
        }
    }
    assert_eq!(n_cases, 8 * 4 * 5);
}
