//! The pickle machine: a stack, a memo, and nodes that later opcodes may extend.

mod texts;

use super::words::{is_known, unescaped, unquoted};
use crate::reader::Reader;
use crate::{Options, fault};
use mxrs_types::{FormatErrorKind, Result};

/// A value under construction. Its parts are indices into the list of nodes.
#[derive(Clone, Debug)]
pub(super) enum Node {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    Bytes(Vec<u8>),
    List(Vec<usize>),
    Tuple(Vec<usize>),
    Dict(Vec<(usize, usize)>),
    Global(String),
    Object { class: String, args: Vec<usize>, state: Option<usize> },
}

/// Largest number of items in the stack, the memo or the list of nodes.
const MOST: usize = 1 << 22;

struct Machine<'a> {
    r: Reader<&'a [u8]>,
    bytes: &'a [u8],
    nodes: Vec<Node>,
    /// Indices of nodes; `None` is a mark.
    stack: Vec<Option<usize>>,
    memo: std::collections::HashMap<u64, usize>,
    /// Number of bytes that calls may still copy from their arguments.
    copies_left: usize,
}

/// Runs a pickle; returns its nodes and the index of the result.
pub(super) fn run(bytes: &[u8], _: &Options) -> Result<(Vec<Node>, usize)> {
    let mut machine = Machine {
        r: Reader::from_slice(bytes),
        bytes,
        nodes: Vec::new(),
        stack: Vec::new(),
        memo: Default::default(),
        // Python calls `bytearray` or `encode` once per string that it wrote, so the copies of a genuine pickle do not
        // exceed its size.
        copies_left: bytes.len().saturating_mul(2).saturating_add(1 << 20),
    };
    loop {
        let code = machine.r.u8("opcode")?;
        if code == b'.' {
            let root = machine.pop()?;
            return Ok((machine.nodes, root));
        }
        machine.step(code)?;
        if machine.stack.len() > MOST || machine.nodes.len() > MOST || machine.memo.len() > MOST {
            let (value, max) = (MOST as u64 + 1, MOST as u64);
            return Err(machine.r.fault(FormatErrorKind::LimitExceeded { value, max }, "items of a pickle"));
        }
    }
}

impl Machine<'_> {
    fn wrong(&self, kind: FormatErrorKind, what: impl Into<String>) -> mxrs_types::Error {
        fault::at(self.r.position(), kind, what)
    }

    fn push(&mut self, node: Node) {
        self.nodes.push(node);
        self.stack.push(Some(self.nodes.len() - 1));
    }

    fn pop(&mut self) -> Result<usize> {
        match self.stack.pop() {
            Some(Some(node)) => Ok(node),
            _ => Err(self.wrong(FormatErrorKind::Inconsistent, "an operation without its operand")),
        }
    }

    fn top(&self) -> Result<usize> {
        let top = self.stack.last().copied().flatten();
        top.ok_or_else(|| self.wrong(FormatErrorKind::Inconsistent, "an operation without its operand"))
    }

    /// Pops all items above the last mark, and the mark.
    fn pop_mark(&mut self) -> Result<Vec<usize>> {
        let at = self.stack.iter().rposition(Option::is_none);
        let at = at.ok_or_else(|| self.wrong(FormatErrorKind::Inconsistent, "no mark on the stack"))?;
        let items = self.stack.split_off(at);
        Ok(items.into_iter().flatten().collect())
    }

    fn global(&mut self, module: &str, name: &str) -> Result<()> {
        let full: String = format!("{module}.{name}").chars().take(200).collect();
        if !is_known(&full) {
            return Err(self.wrong(FormatErrorKind::UnsupportedFeature, format!("`{full}` in a pickle")));
        }
        self.push(Node::Global(full));
        Ok(())
    }

    fn put(&mut self, key: u64) -> Result<()> {
        let top = self.top()?;
        self.memo.insert(key, top);
        Ok(())
    }

    fn fetch(&mut self, key: u64) -> Result<()> {
        let node = self.memo.get(&key).copied();
        let node = node.ok_or_else(|| self.wrong(FormatErrorKind::Inconsistent, format!("no memo {key}")))?;
        self.stack.push(Some(node));
        Ok(())
    }

    fn key_line(&mut self) -> Result<u64> {
        self.line()?.parse().map_err(|_| self.wrong(FormatErrorKind::Syntax, "a memo that is not a number"))
    }

    fn append(&mut self, items: Vec<usize>) -> Result<()> {
        let top = self.top()?;
        match self.nodes.get_mut(top) {
            Some(Node::List(list)) => list.extend(items),
            _ => return Err(self.wrong(FormatErrorKind::Inconsistent, "items for a value that is not a list")),
        }
        Ok(())
    }

    fn set_items(&mut self, items: &[usize]) -> Result<()> {
        let top = self.top()?;
        let even = items.len().is_multiple_of(2);
        match self.nodes.get_mut(top) {
            Some(Node::Dict(pairs)) if even => pairs.extend(items.chunks(2).map(|pair| (pair[0], pair[1]))),
            _ => return Err(self.wrong(FormatErrorKind::Inconsistent, "pairs for a value that is not a dictionary")),
        }
        Ok(())
    }

    fn take_tuple(&mut self, n: usize) -> Result<()> {
        let mut items = (0..n).map(|_| self.pop()).collect::<Result<Vec<_>>>()?;
        items.reverse();
        self.push(Node::Tuple(items));
        Ok(())
    }

    /// Subtracts bytes from the budget of copies. Without the budget, a file of a few hundred kilobytes that repeatedly
    /// calls `encode` on one large argument would take tens of gigabytes.
    fn spend(&mut self, n_bytes: usize) -> Result<()> {
        let Some(left) = self.copies_left.checked_sub(n_bytes) else {
            let max = self.bytes.len().saturating_mul(2).saturating_add(1 << 20) as u64;
            let kind = FormatErrorKind::LimitExceeded { value: max + n_bytes as u64, max };
            return Err(self.wrong(kind, "bytes that the calls of a pickle copy"));
        };
        self.copies_left = left;
        Ok(())
    }

    /// Represents a call as data instead of executing it.
    fn reduce(&mut self) -> Result<()> {
        let (args, callee) = (self.pop()?, self.pop()?);
        let n_args = if let Node::Tuple(args) = &self.nodes[args] { args.len() } else { 0 };
        self.spend(n_args.saturating_mul(size_of::<usize>()))?;
        let (Node::Tuple(args), Node::Global(callee)) = (&self.nodes[args], &self.nodes[callee]) else {
            return Err(self.wrong(FormatErrorKind::Inconsistent, "a call of a non-class, or without arguments"));
        };
        let (args, callee) = (args.clone(), callee.clone());
        let node = match callee.as_str() {
            "builtins.bytearray" | "__builtin__.bytearray" | "_codecs.encode" => {
                let first = args.first().copied();
                if let Some(Node::Bytes(bytes)) = first.map(|first| &self.nodes[first]) {
                    self.spend(bytes.len())?;
                } else if let Some(Node::Text(text)) = first.map(|first| &self.nodes[first]) {
                    self.spend(text.len())?;
                }
                match first.map(|first| &self.nodes[first]) {
                    None => Node::Bytes(Vec::new()),
                    Some(Node::Bytes(bytes)) => Node::Bytes(bytes.clone()),
                    // In Latin-1 every character is one byte.
                    Some(Node::Text(text)) => {
                        let bytes = text.chars().map(|c| u8::try_from(u32::from(c))).collect::<Result<Vec<u8>, _>>();
                        let what = "bytes as a text of other characters";
                        Node::Bytes(bytes.map_err(|_| self.wrong(FormatErrorKind::InvalidValue, what))?)
                    }
                    _ => return Err(self.wrong(FormatErrorKind::InvalidValue, "bytes made of something else")),
                }
            }
            "copyreg._reconstructor" | "copy_reg._reconstructor" => {
                let Some(Node::Global(class)) = args.first().map(|first| &self.nodes[*first]) else {
                    return Err(self.wrong(FormatErrorKind::Inconsistent, "an object without class"));
                };
                Node::Object { class: class.clone(), args: Vec::new(), state: None }
            }
            _ => Node::Object { class: callee, args, state: None },
        };
        self.push(node);
        Ok(())
    }

    fn build(&mut self) -> Result<()> {
        let (given, object) = (self.pop()?, self.top()?);
        match self.nodes.get_mut(object) {
            Some(Node::Object { state, .. }) => *state = Some(given),
            _ => return Err(self.wrong(FormatErrorKind::Inconsistent, "a state for a value that is not an object")),
        }
        Ok(())
    }

    fn step(&mut self, code: u8) -> Result<()> {
        match code {
            0x80 => drop(self.r.u8("protocol")?),
            0x95 => drop(self.r.u64("frame")?),
            b'(' => self.stack.push(None),
            b'0' => drop(self.stack.pop()),
            b'N' => self.push(Node::None),
            0x88 => self.push(Node::Bool(true)),
            0x89 => self.push(Node::Bool(false)),
            b'J' => {
                let value = self.r.i32("integer")?;
                self.push(Node::Int(value.into()));
            }
            b'K' => {
                let value = self.r.u8("integer")?;
                self.push(Node::Int(value.into()));
            }
            b'M' => {
                let value = self.r.u16("integer")?;
                self.push(Node::Int(value.into()));
            }
            b'I' | b'L' => self.integer_line()?,
            0x8a => {
                let len = self.r.u8("length")?;
                self.long(len.into())?;
            }
            0x8b => {
                let len = self.r.u32("length")?;
                self.long(len.into())?;
            }
            b'F' => {
                let line = self.line()?;
                let value = line.parse().map_err(|_| self.wrong(FormatErrorKind::Syntax, "an invalid number"))?;
                self.push(Node::Float(value));
            }
            b'G' => {
                let bits = self.r.u64("number")?.swap_bytes();
                self.push(Node::Float(f64::from_bits(bits)));
            }
            b'S' => {
                let line = self.line()?;
                let bytes =
                    unquoted(&line).ok_or_else(|| self.wrong(FormatErrorKind::Syntax, "a text without quotes"))?;
                self.old_text(bytes);
            }
            b'V' => {
                let line = self.line()?;
                let text = unescaped(&line).ok_or_else(|| self.wrong(FormatErrorKind::Syntax, "a broken escape"))?;
                self.push(Node::Text(text));
            }
            b'T' | b'U' => {
                let len = if code == b'T' { self.r.u32("length")?.into() } else { u64::from(self.r.u8("length")?) };
                let bytes = self.r.bytes(len, "text")?;
                self.old_text(bytes);
            }
            b'X' | 0x8c | 0x8d => {
                let len = match code {
                    b'X' => self.r.u32("length")?.into(),
                    0x8c => self.r.u8("length")?.into(),
                    _ => self.r.u64("length")?,
                };
                self.text(len)?;
            }
            b'B' | b'C' | 0x8e | 0x96 => {
                let len = match code {
                    b'B' => self.r.u32("length")?.into(),
                    b'C' => self.r.u8("length")?.into(),
                    _ => self.r.u64("length")?,
                };
                let bytes = self.r.bytes(len, "bytes")?;
                self.push(Node::Bytes(bytes));
            }
            b']' => self.push(Node::List(Vec::new())),
            b')' => self.push(Node::Tuple(Vec::new())),
            b'}' => self.push(Node::Dict(Vec::new())),
            b'a' => {
                let item = self.pop()?;
                self.append(vec![item])?;
            }
            b'e' => {
                let items = self.pop_mark()?;
                self.append(items)?;
            }
            b's' => {
                let (value, key) = (self.pop()?, self.pop()?);
                self.set_items(&[key, value])?;
            }
            b'u' => {
                let items = self.pop_mark()?;
                self.set_items(&items)?;
            }
            b't' => {
                let items = self.pop_mark()?;
                self.push(Node::Tuple(items));
            }
            0x85..=0x87 => self.take_tuple(usize::from(code - 0x84))?,
            b'l' => {
                let items = self.pop_mark()?;
                self.push(Node::List(items));
            }
            b'd' => {
                let items = self.pop_mark()?;
                self.push(Node::Dict(Vec::new()));
                self.set_items(&items)?;
            }
            0x94 => self.put(self.memo.len() as u64)?,
            b'p' => {
                let key = self.key_line()?;
                self.put(key)?;
            }
            b'q' => {
                let key = self.r.u8("memo")?;
                self.put(key.into())?;
            }
            b'r' => {
                let key = self.r.u32("memo")?;
                self.put(key.into())?;
            }
            b'g' => {
                let key = self.key_line()?;
                self.fetch(key)?;
            }
            b'h' => {
                let key = self.r.u8("memo")?;
                self.fetch(key.into())?;
            }
            b'j' => {
                let key = self.r.u32("memo")?;
                self.fetch(key.into())?;
            }
            b'c' => {
                let (module, name) = (self.line()?, self.line()?);
                self.global(&module, &name)?;
            }
            0x93 => {
                let (name, module) = (self.pop()?, self.pop()?);
                let (Node::Text(module), Node::Text(name)) = (&self.nodes[module], &self.nodes[name]) else {
                    return Err(self.wrong(FormatErrorKind::Inconsistent, "a class whose name is not a text"));
                };
                // The names are cut at 200 characters; no known class has a longer name.
                let (module, name) =
                    (module.chars().take(200).collect::<String>(), name.chars().take(200).collect::<String>());
                self.global(&module, &name)?;
            }
            b'R' | 0x81 => self.reduce()?,
            b'b' => self.build()?,
            other => {
                let what = format!("opcode {other:#04x} of a pickle");
                return Err(self.wrong(FormatErrorKind::UnsupportedFeature, what));
            }
        }
        Ok(())
    }
}
