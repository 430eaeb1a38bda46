//! Rule: the tables of crates in `docs/ARCHITECTURE.md` and `README.md` list exactly the workspace members, in the same
//! order.

use anyhow::Result;

use super::Finding;
use crate::workspace::{Workspace, read_text};

/// Each document, with the heading above its table.
const TABLES: [(&str, &str); 2] = [("docs/ARCHITECTURE.md", "## Code map"), ("README.md", "## Crates")];

/// Finds tables that list a crate that no longer exists, lack a crate, or have another order.
///
/// # Errors
/// Fails if a document cannot be read.
pub fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    let members: Vec<&str> = workspace.members.iter().map(|member| member.name.as_str()).collect();
    let mut findings = Vec::new();
    for (document, heading) in TABLES {
        let text = read_text(&workspace.root.join(document))?;
        let rows = rows(&text, heading);
        let missing = members.iter().filter(|member| !rows.contains(member)).map(|m| format!("`{m}` is missing"));
        let gone = rows.iter().filter(|row| !members.contains(row)).map(|row| format!("`{row}` is not a member"));
        let mut wrong: Vec<String> = missing.chain(gone).collect();
        if wrong.is_empty() && rows != members {
            wrong.push("the order is not that of the members list".to_owned());
        }
        let place = workspace.root.join(document);
        let place = workspace.relative(&place);
        findings.extend(wrong.into_iter().map(|wrong| Finding::in_file(place, format!("table `{heading}`: {wrong}"))));
    }
    Ok(findings)
}

/// The first cells, in backticks, of the table rows below `heading`.
fn rows<'a>(text: &'a str, heading: &str) -> Vec<&'a str> {
    let section = text.lines().skip_while(|line| line.trim() != heading).skip(1);
    let section = section.take_while(|line| !line.starts_with("## "));
    section.filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::sample::Sample;

    fn map(names: &[&str]) -> String {
        let rows: String = names.iter().map(|name| format!("| `{name}` | what |\n")).collect();
        format!("## Code map\n\n| crate | |\n|---|---|\n{rows}")
    }

    #[test]
    fn missing_gone_and_shuffled_crates_are_found() {
        let sample = Sample::new();
        sample.write("docs/ARCHITECTURE.md", &map(&["mxrs-types", "mxrs-env", "mxrs-testkit", "mxrs-gone"]));
        assert_eq!(
            sample.found(check),
            [
                "error: docs/ARCHITECTURE.md: table `## Code map`: `mxrs-ops` is missing",
                "error: docs/ARCHITECTURE.md: table `## Code map`: `mxrs-gone` is not a member",
            ]
        );
        sample.write("docs/ARCHITECTURE.md", &map(&["mxrs-env", "mxrs-types", "mxrs-testkit", "mxrs-ops"]));
        assert_eq!(
            sample.found(check),
            ["error: docs/ARCHITECTURE.md: table `## Code map`: the order is not that of the members list"]
        );
    }
}
