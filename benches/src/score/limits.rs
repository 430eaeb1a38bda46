//! Limits the instructions that libraries may use, for comparisons with processors that have fewer.
//!
//! mxrs (`MXRS_ISA`), oneDNN, PyTorch and OpenBLAS have a switch for it. Other libraries choose their kernels by what the
//! processor has; the report names the libraries that were not limited.

use super::peers::Peer;
use anyhow::{Result, ensure};
use clap::ValueEnum;
use mxrs_processor::Set;
use std::process::Command;

/// The widest instructions that libraries may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Limit {
    /// The instructions that every processor has. Other libraries use SSE3 or SSE4, the narrowest that they can be limited to.
    Portable,
    /// AVX2 and FMA: 256-bit vectors.
    Avx2,
}

/// The variable that limits mxrs. Its values are the words of [`Limit`].
const OF_MXRS: &str = "MXRS_ISA";

/// Variables that limit libraries other than mxrs to the narrowest instructions that they accept.
const PORTABLE: [(&str, &str); 5] = [
    ("ONEDNN_MAX_CPU_ISA", "SSE41"),
    ("DNNL_MAX_CPU_ISA", "SSE41"),
    ("MKL_ENABLE_INSTRUCTIONS", "SSE4_2"),
    ("ATEN_CPU_CAPABILITY", "default"),
    ("OPENBLAS_CORETYPE", "Prescott"),
];

/// Variables that limit libraries to AVX2, besides mxrs.
const AVX2: [(&str, &str); 5] = [
    // Two names for one setting: oneDNN before version 2.5 knows only the second.
    ("ONEDNN_MAX_CPU_ISA", "AVX2"),
    ("DNNL_MAX_CPU_ISA", "AVX2"),
    ("MKL_ENABLE_INSTRUCTIONS", "AVX2"),
    ("ATEN_CPU_CAPABILITY", "avx2"),
    ("OPENBLAS_CORETYPE", "Haswell"),
];

impl Limit {
    /// The limit's name on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
        }
    }

    /// Sets the variables that limit libraries other than mxrs in a process.
    pub fn set(self, command: &mut Command) {
        command.envs(match self {
            Self::Portable => PORTABLE,
            Self::Avx2 => AVX2,
        });
    }

    /// The variable that limits mxrs, with its value.
    pub fn of_mxrs(self) -> (&'static str, &'static str) {
        (OF_MXRS, self.word())
    }

    /// Checks that this processor has the instructions, because mxrs would otherwise run with fewer.
    ///
    /// # Errors
    /// Fails if the processor does not have them.
    pub fn expect_here(self) -> Result<()> {
        let (word, widest) = (self.word(), Set::of_processor());
        let is_here = Set::named(word).is_some_and(|set| set <= widest);
        ensure!(is_here, "--isa {word}: the widest instructions of this processor are {}", widest.name());
        Ok(())
    }

    /// What the report says about the limit: how each of these libraries was limited.
    pub fn note(self, peers: &[Peer]) -> String {
        let named = |limited: bool| {
            let peers = peers.iter().filter(|peer| switch(**peer).is_some() == limited);
            let name = |peer: &Peer| match switch(*peer) {
                Some(switch) => format!("{} ({switch})", peer.heading()),
                None => peer.heading().to_owned(),
            };
            peers.map(name).collect::<Vec<_>>().join(", ")
        };
        let (limited, free) = (named(true), named(false));
        let free =
            if free.is_empty() { String::new() } else { format!("; not limited, because they have no switch: {free}") };
        let others = match self {
            Self::Portable => " Libraries other than mxrs use at least SSE3.",
            Self::Avx2 => "",
        };
        format!("Limited to {}: {limited}{free}.{others}", self.word())
    }
}

/// How a library can be limited; `None` if it has no switch.
fn switch(peer: Peer) -> Option<&'static str> {
    match peer {
        Peer::Mxrs => Some("MXRS_ISA; oneDNN, if it is in the build, by ONEDNN_MAX_CPU_ISA"),
        Peer::Mxnet => Some("DNNL_MAX_CPU_ISA and OPENBLAS_CORETYPE"),
        Peer::Openvino => Some("ONEDNN_MAX_CPU_ISA"),
        Peer::Torch | Peer::TorchChannelsLast | Peer::TorchCompile => {
            Some("ATEN_CPU_CAPABILITY, ONEDNN_MAX_CPU_ISA and MKL_ENABLE_INSTRUCTIONS")
        }
        Peer::Onnxruntime | Peer::Mnn | Peer::Ncnn | Peer::Tract | Peer::Candle => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_note_names_the_limited_and_the_others() {
        let note = Limit::Avx2.note(&[Peer::Mxrs, Peer::Openvino, Peer::Onnxruntime, Peer::Ncnn]);
        assert!(note.starts_with("Limited to avx2: mxrs (MXRS_ISA"), "{note}");
        assert!(note.contains("OpenVINO (ONEDNN_MAX_CPU_ISA)"), "{note}");
        assert!(note.ends_with("; not limited, because they have no switch: ONNX Runtime, ncnn."), "{note}");
        assert!(!Limit::Avx2.note(&[Peer::Mxrs]).contains("not limited"));
        assert!(Limit::Portable.note(&[Peer::Mxrs]).ends_with("). Libraries other than mxrs use at least SSE3."));
    }

    #[test]
    fn variables_are_set_for_the_process_alone() {
        let mut command = Command::new("peer");
        Limit::Avx2.set(&mut command);
        let set = |name: &str| command.get_envs().any(|(key, value)| key == name && value.is_some());
        assert!(set("ONEDNN_MAX_CPU_ISA") && set("OPENBLAS_CORETYPE"));
        assert!(Limit::value_variants().iter().all(|limit| Limit::from_str(limit.word(), false) == Ok(*limit)));
    }

    #[test]
    fn words_are_those_of_the_variable_of_mxrs() {
        use mxrs::env::MapSource;

        for limit in Limit::value_variants() {
            let source = MapSource::new([limit.of_mxrs()]);
            let (settings, _) = mxrs::env::Settings::from_source(&source).unwrap();
            assert_eq!(settings.value(OF_MXRS).as_deref(), Some(limit.word()));
        }
        Limit::Portable.expect_here().unwrap();
    }
}
