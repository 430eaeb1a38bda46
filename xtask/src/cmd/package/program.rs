//! The programs that `cargo xtask package` builds: the crate and features that each program depends on, and its source.

use toml::Value;

use super::FACADE;
use crate::session::Kernels;
use crate::workspace::Member;

/// Names of the features that compile oneDNN, in whatever crate.
pub const COMPILE_ONEDNN: [&str; 3] = ["compile", "static", "onednn"];

/// A program that is built to test one packed crate.
#[derive(Debug, PartialEq, Eq)]
pub struct Program {
    /// The crate that the program depends on.
    pub package: String,
    /// Whether the program is that crate itself, because the crate is a program and not a library.
    pub is_package: bool,
    /// Features of the crate that are turned on, besides the default ones.
    pub features: Vec<String>,
    /// Whether the default features are on.
    pub default_features: bool,
    /// Name of this set of features in the table.
    variant: String,
}

/// Name of a program in the table.
pub fn title(package: &str, variant: &str) -> String {
    if variant.is_empty() { package.to_owned() } else { format!("{package}, {variant}") }
}

/// The programs for one crate: one with its default features and, if the crate can compile oneDNN, one with the feature that
/// does so. For the facade (the crate `mxrs`) there is also one with each single feature, and one without features.
pub fn programs(member: &Member, kernels: Kernels) -> Vec<Program> {
    let program = |variant: &str, features: Vec<String>, default_features: bool| Program {
        package: member.name.clone(),
        is_package: is_program(member),
        features,
        default_features,
        variant: variant.to_owned(),
    };
    let mut programs = vec![program("", Vec::new(), true)];
    let is_facade = member.name == FACADE;
    if is_facade {
        programs.push(program("no features", Vec::new(), false));
    }
    for feature in features(member) {
        let compiles_onednn = COMPILE_ONEDNN.contains(&feature.as_str());
        let wanted = if compiles_onednn { kernels == Kernels::OneDnn } else { is_facade && feature != "default" };
        if wanted {
            programs.push(program(&feature, vec![feature.clone()], !is_facade));
        }
    }
    programs
}

impl Program {
    /// Name of the program in the table.
    pub fn title(&self) -> String {
        title(&self.package, &self.variant)
    }

    /// Name of the program's folder.
    pub fn folder(&self) -> String {
        self.title().replace(", ", "-").replace(' ', "-")
    }

    /// Whether the program is run after the build. The command line tool is not, because without arguments it only prints
    /// its help and fails.
    pub fn runs(&self) -> bool {
        !self.is_package
    }

    /// Whether the program has a target folder of its own, so that its build time is that of a first build.
    pub fn is_timed(&self) -> bool {
        self.package == FACADE && self.features.is_empty() && !self.default_features
    }

    /// Text of the program's manifest.
    pub fn manifest(&self, version: &str) -> String {
        let features: Vec<String> = self.features.iter().map(|feature| format!("{feature:?}")).collect();
        format!(
            "[package]\nname = \"uses-{}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
             {} = {{ version = \"={version}\", default-features = {}, features = [{}] }}\n",
            self.package,
            self.package,
            self.default_features,
            features.join(", ")
        )
    }

    /// Text of the program's source.
    pub fn source(&self) -> String {
        if self.package != FACADE {
            return format!("use {} as _;\n\nfn main() {{}}\n", self.package.replace('-', "_"));
        }
        let needs_onednn = self.features.iter().any(|feature| feature == "onednn");
        let name = if needs_onednn { "onednn" } else { "cpu" };
        format!(
            "fn main() -> mxrs::Result<()> {{\n    let runtime = mxrs::Runtime::builder().build()?;\n    \
             let backends = runtime.backends().list();\n    \
             assert!(backends.iter().any(|backend| backend.name() == {name:?}), \"no {name}\");\n    Ok(())\n}}\n"
        )
    }
}

fn features(member: &Member) -> Vec<String> {
    let table = member.manifest.get("features").and_then(Value::as_table);
    table.into_iter().flat_map(|table| table.keys().cloned()).collect()
}

fn is_program(member: &Member) -> bool {
    member.manifest.contains_key("bin")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str, rest: &str) -> Member {
        Member { name: name.to_owned(), dir: name.into(), manifest: rest.parse().unwrap() }
    }

    fn titles(member: &Member, kernels: Kernels) -> Vec<String> {
        programs(member, kernels).iter().map(Program::title).collect()
    }

    #[test]
    fn the_facade_is_built_on_each_feature() {
        let facade = member("mxrs", "[features]\ndefault = [\"other\"]\nonednn = []\nother = []\n");
        assert_eq!(titles(&facade, Kernels::OneDnn), ["mxrs", "mxrs, no features", "mxrs, onednn", "mxrs, other"]);
        assert_eq!(titles(&facade, Kernels::Own), ["mxrs", "mxrs, no features", "mxrs, other"]);
    }

    #[test]
    fn what_compiles_onednn_is_built_only_with_a_compiler() {
        let bindings = member("mxrs-onednn-sys", "[features]\ndefault = []\nstatic = []\ndynamic = []\n");
        assert_eq!(titles(&bindings, Kernels::Own), ["mxrs-onednn-sys"]);
        assert_eq!(titles(&bindings, Kernels::OneDnn), ["mxrs-onednn-sys", "mxrs-onednn-sys, static"]);
    }

    #[test]
    fn the_manifest_names_version_and_features() {
        let facade = member("mxrs", "[features]\nonednn = []\n");
        let program = programs(&facade, Kernels::OneDnn).pop().unwrap();
        let line = "mxrs = { version = \"=1.2.3\", default-features = false, features = [\"onednn\"] }";
        assert!(program.manifest("1.2.3").contains(line));
        assert!(program.source().contains("\"onednn\""));
    }
}
