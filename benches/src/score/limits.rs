//! Limits the instructions that libraries may use, for comparisons with processors that have fewer.
//!
//! mxrs and oneDNN have a limit of their own. Other libraries choose their kernels by what the processor has and offer no
//! switch; the report names the libraries that were not limited.

use super::peers::Peer;
use clap::ValueEnum;
use std::process::Command;

/// The widest instructions that libraries may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Limit {
    /// AVX2 and FMA: 256-bit vectors.
    Avx2,
}

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
            Self::Avx2 => "avx2",
        }
    }

    /// Sets the variables that limit libraries in a process.
    pub fn set(self, command: &mut Command) {
        command.envs(AVX2);
    }

    /// Limits mxrs in this process.
    ///
    /// # Errors
    /// Fails if this architecture has no such instructions, or if kernels were already chosen.
    pub fn set_here(self) -> anyhow::Result<()> {
        #[cfg(target_arch = "x86_64")]
        return Ok(mxrs_processor::limit(mxrs_processor::Set::Avx2)?);
        #[cfg(not(target_arch = "x86_64"))]
        anyhow::bail!("--isa {}: this processor has no such instructions", self.word())
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
        format!("Limited to {}: {limited}{free}.", self.word())
    }
}

/// How a library can be limited; `None` if it has no switch.
fn switch(peer: Peer) -> Option<&'static str> {
    match peer {
        Peer::Mxrs => Some("its own limit; oneDNN, if it is in the build, by ONEDNN_MAX_CPU_ISA"),
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
        assert!(note.starts_with("Limited to avx2: mxrs (its own limit"), "{note}");
        assert!(note.contains("OpenVINO (ONEDNN_MAX_CPU_ISA)"), "{note}");
        assert!(note.ends_with("; not limited, because they have no switch: ONNX Runtime, ncnn."), "{note}");
        assert!(!Limit::Avx2.note(&[Peer::Mxrs]).contains("not limited"));
    }

    #[test]
    fn variables_are_set_for_the_process_alone() {
        let mut command = Command::new("peer");
        Limit::Avx2.set(&mut command);
        let set = |name: &str| command.get_envs().any(|(key, value)| key == name && value.is_some());
        assert!(set("ONEDNN_MAX_CPU_ISA") && set("OPENBLAS_CORETYPE"));
        assert!(Limit::value_variants().iter().all(|limit| Limit::from_str(limit.word(), false) == Ok(*limit)));
    }
}
