//! Parses the fenced code blocks and links of a Markdown page.

/// A code block that takes part in the test.
pub struct Block {
    pub text: String,
    /// Whether this is the expected output of the block before it, not a script.
    pub is_output: bool,
    /// Expected exit code of the script.
    pub exit: i32,
}

impl Block {
    /// Checks that each line of the block occurs in `printed`, in this order.
    #[track_caller]
    pub fn expect_in(&self, printed: &str) {
        let mut lines = printed.lines();
        for expected in self.text.lines() {
            let found = lines.any(|line| matches(line.trim(), expected.trim()));
            assert!(found, "`{expected}` is not printed, or not behind the line before it, in\n{printed}");
        }
    }
}

/// Whether a printed line matches a line of the guide; `…` at either end stands for any text.
fn matches(line: &str, expected: &str) -> bool {
    match (expected.strip_prefix('…'), expected.strip_suffix('…')) {
        (Some(_), Some(_)) => line.contains(expected.trim_matches('…')),
        (Some(end), None) => line.ends_with(end),
        (None, Some(start)) => line.contains(start),
        (None, None) => line == expected,
    }
}

/// The blocks marked `sh`, except those that do not run, and the `text` blocks after them.
pub fn blocks(page: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut lines = page.lines();
    let mut has_run = false;
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```") else { continue };
        let text: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        let text = text.join("\n");
        match info.split_once(' ').unwrap_or((info, "")) {
            ("sh", "ignore") => has_run = false,
            ("sh", options) => {
                let exit = options.strip_prefix("exit=").map_or(0, |code| code.parse().expect("an exit code"));
                found.push(Block { text, is_output: false, exit });
                has_run = true;
            }
            ("text", _) if has_run => found.push(Block { text, is_output: true, exit: 0 }),
            _ => has_run = false,
        }
    }
    found
}

/// The targets of all links `](target)`.
pub fn links(page: &str) -> Vec<&str> {
    page.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect()
}

#[test]
fn a_line_may_be_cut_where_the_guide_says_so() {
    assert!(matches("error: a.rec: cut", "error: a.rec…") && matches("12 infer", "…infer…"));
    assert!(!matches("error: a.rec: cut", "error: a.rec"));
    let page = "```sh exit=3\nmxrs\n```\n```text\nx\n```\n```sh ignore\nrm\n```\n";
    let found = blocks(page);
    assert_eq!(found.len(), 2);
    assert!(found[0].exit == 3 && !found[0].is_output && found[1].is_output);
}
