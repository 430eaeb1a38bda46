//! Parses `KMP_AFFINITY`: `[modifier,...]type[,permute[,offset]]`.
//!
//! Modifiers are `granularity=fine|thread|core`, `respect|norespect`, `verbose|noverbose`, `warnings|nowarnings` and
//! `proclist=[...]`. An entry of the list is a processor `3`, a range `0-6` or `0-6:2`, or a set `{0,1}`. A set is for one
//! thread, which may use all processors of the set. Blanks around the parts are ignored.

use crate::kind::grammar;

/// The upper limit of processor numbers, and of the length of a list of processors. Larger values are refused.
const MAX_PROCESSORS: usize = 1 << 16;

/// How threads are placed on processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AffinityType {
    /// Threads are not bound.
    None,
    /// Threads are not bound, and the topology of the machine is not read.
    Disabled,
    /// Neighboring threads are on neighboring processors.
    Compact,
    /// Threads are as far from each other as possible.
    Scatter,
    /// Threads are spread evenly over the cores, with neighboring threads together.
    Balanced,
    /// Threads are on the processors of `proclist`.
    Explicit,
}

/// The unit to which one thread is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Granularity {
    /// A thread is bound to one logical processor (`fine` and `thread` mean the same).
    Thread,
    /// A thread is bound to all logical processors of one core.
    Core,
}

/// A parsed value of `KMP_AFFINITY`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(try_from = "String")]
pub struct Affinity {
    /// How threads are placed on processors.
    pub affinity_type: AffinityType,
    /// The unit to which one thread is bound; a core if not given.
    pub granularity: Granularity,
    /// Whether to use only processors in the affinity mask that the process was started with; true if not given.
    pub respect: bool,
    /// Whether to log the placement; false if not given.
    pub verbose: bool,
    /// Whether to log problems with the placement; true if not given.
    pub warnings: bool,
    /// For [`AffinityType::Explicit`], the processors of each thread, in order. Empty for other types.
    pub places: Vec<Vec<usize>>,
    /// The number of innermost levels of the topology (thread, core, package) that count as outermost when processors are
    /// sorted.
    pub permute: usize,
    /// Position of the first thread in the order of processors.
    pub offset: usize,
}

impl Affinity {
    /// Whether threads are bound at all.
    pub fn binds(&self) -> bool {
        !matches!(self.affinity_type, AffinityType::None | AffinityType::Disabled)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let mut parts = split_outside_brackets(text)?.into_iter();
        let mut granularity = None;
        let mut respect = None;
        let mut verbose = None;
        let mut warnings = None;
        let mut places = None;
        let affinity_type = loop {
            let Some(part) = parts.next() else { return Err("the type is missing".into()) };
            match part {
                "respect" | "norespect" => set_once(&mut respect, part == "respect", part)?,
                "verbose" | "noverbose" => set_once(&mut verbose, part == "verbose", part)?,
                "warnings" | "nowarnings" => set_once(&mut warnings, part == "warnings", part)?,
                "none" => break AffinityType::None,
                "disabled" => break AffinityType::Disabled,
                "compact" => break AffinityType::Compact,
                "scatter" => break AffinityType::Scatter,
                "balanced" => break AffinityType::Balanced,
                "explicit" => break AffinityType::Explicit,
                _ => match part.split_once('=').map(|(key, value)| (key.trim(), value.trim())) {
                    Some(("granularity", "fine" | "thread")) => set_once(&mut granularity, Granularity::Thread, part)?,
                    Some(("granularity", "core")) => set_once(&mut granularity, Granularity::Core, part)?,
                    Some(("proclist", list)) => set_once(&mut places, parse_places(list)?, "proclist")?,
                    _ => return Err(format!("`{part}` is not known")),
                },
            }
        };
        let numbers: Vec<usize> =
            parts.map(|part| parse_number(part, "permute or offset")).collect::<Result<_, _>>()?;
        let (permute, offset) = match numbers[..] {
            [] => (0, 0),
            [permute] => (permute, 0),
            [permute, offset] => (permute, offset),
            _ => return Err("more than two numbers after the type".into()),
        };
        let explicit = affinity_type == AffinityType::Explicit;
        match affinity_type {
            AffinityType::Compact | AffinityType::Scatter | AffinityType::Balanced => {}
            _ if numbers.is_empty() => {}
            _ => return Err("this type takes neither permute nor offset".into()),
        }
        if explicit != places.is_some() {
            return Err("the type explicit and a proclist need each other".into());
        }
        Ok(Self {
            affinity_type,
            granularity: granularity.unwrap_or(Granularity::Core),
            respect: respect.unwrap_or(true),
            verbose: verbose.unwrap_or(false),
            warnings: warnings.unwrap_or(true),
            places: places.unwrap_or_default(),
            permute,
            offset,
        })
    }
}

grammar!(
    Affinity,
    "affinity",
    "[modifier,...]type[,permute[,offset]] with the modifiers granularity=fine|thread|core, \
                   respect|norespect, verbose|noverbose, warnings|nowarnings, proclist=[..] and the types none, \
                   disabled, compact, scatter, balanced, explicit"
);

fn set_once<T>(slot: &mut Option<T>, value: T, what: &str) -> Result<(), String> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(format!("`{what}` is a second modifier of its kind")),
    }
}

/// Splits a text at commas, except those inside `[]` and `{}`, and removes blanks around the parts.
fn split_outside_brackets(text: &str) -> Result<Vec<&str>, String> {
    let mut closers = Vec::new();
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, letter) in text.char_indices() {
        match letter {
            '[' => closers.push(']'),
            '{' => closers.push('}'),
            ']' | '}' if closers.pop() != Some(letter) => return Err(format!("`{letter}` closes nothing")),
            ',' if closers.is_empty() => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    match closers.pop() {
        Some(closer) => Err(format!("`{closer}` is missing")),
        None => {
            parts.push(text[start..].trim());
            Ok(parts)
        }
    }
}

fn parse_places(list: &str) -> Result<Vec<Vec<usize>>, String> {
    let inner =
        list.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).ok_or("proclist needs square brackets")?;
    let mut places = Vec::new();
    let mut n_processors = 0;
    for entry in split_outside_brackets(inner)? {
        match entry.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
            Some(set) => {
                let mut place = Vec::new();
                for item in set.split(',') {
                    place.extend(parse_range(item.trim())?);
                }
                n_processors += place.len();
                places.push(place);
            }
            None => {
                let range = parse_range(entry)?;
                n_processors += range.len();
                places.extend(range.into_iter().map(|processor| vec![processor]));
            }
        }
        if n_processors > MAX_PROCESSORS {
            return Err("proclist is too long".into());
        }
    }
    Ok(places)
}

/// Parses `3`, `0-6` or `0-6:2`. A negative step counts down.
fn parse_range(text: &str) -> Result<Vec<usize>, String> {
    let (range, step) = match text.split_once(':') {
        Some((range, step)) => (range, Some(step.trim())),
        None => (text, None),
    };
    let Some((first, last)) = range.split_once('-') else {
        return match step {
            None => Ok(vec![parse_number(range.trim(), "processor")?]),
            Some(_) => Err(format!("`{text}` has a step but no end")),
        };
    };
    let (first, last) = (parse_number(first.trim(), "processor")?, parse_number(last.trim(), "processor")?);
    let (down, step) = match step.map(|step| (step.starts_with('-'), step.strip_prefix('-').unwrap_or(step))) {
        None => (false, 1),
        Some((down, step)) => (down, parse_number(step, "step")?),
    };
    match (down, step) {
        (_, 0) => Err(format!("`{text}` has step 0")),
        (false, _) if first <= last => Ok((first..=last).step_by(step).collect()),
        (true, _) if first >= last => Ok((last..=first).rev().step_by(step).collect()),
        _ => Err(format!("`{text}` runs the wrong way")),
    }
}

fn parse_number(text: &str, what: &str) -> Result<usize, String> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(number) if digits && number < MAX_PROCESSORS => Ok(number),
        _ => Err(format!("{what} `{text}` is not a number from 0 to {}", MAX_PROCESSORS - 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Setting;
    use proptest::prelude::*;

    fn parse(text: &str) -> Result<Affinity, String> {
        Affinity::try_from(text.to_owned())
    }

    #[test]
    fn the_recommended_value() {
        let expected = Affinity {
            affinity_type: AffinityType::Compact,
            granularity: Granularity::Thread,
            respect: true,
            verbose: false,
            warnings: true,
            places: vec![],
            permute: 1,
            offset: 0,
        };
        assert_eq!(parse("granularity=fine,compact,1,0"), Ok(expected.clone()));
        assert_eq!(parse(" granularity = thread , compact,1 "), Ok(expected));
    }

    #[test]
    fn every_type_and_modifier() {
        for (text, affinity_type, binds) in [
            ("none", AffinityType::None, false),
            ("disabled", AffinityType::Disabled, false),
            ("compact", AffinityType::Compact, true),
            ("scatter", AffinityType::Scatter, true),
            ("balanced", AffinityType::Balanced, true),
        ] {
            let affinity = parse(text).unwrap();
            assert_eq!((affinity.affinity_type, affinity.binds()), (affinity_type, binds));
            assert_eq!((affinity.granularity, affinity.permute, affinity.offset), (Granularity::Core, 0, 0));
        }
        let all = parse("norespect,verbose,nowarnings,granularity=core,scatter,2,5").unwrap();
        assert_eq!((all.respect, all.verbose, all.warnings), (false, true, false));
        assert_eq!((all.granularity, all.permute, all.offset), (Granularity::Core, 2, 5));
        let none = parse("respect,noverbose,warnings,none").unwrap();
        assert_eq!((none.respect, none.verbose, none.warnings), (true, false, true));
    }

    #[test]
    fn processor_lists() {
        let places = |text: &str| parse(&format!("proclist={text},explicit")).map(|affinity| affinity.places);
        assert_eq!(places("[3,0]"), Ok(vec![vec![3], vec![0]]));
        assert_eq!(places("[0-2,{4,5},{6-7}]"), Ok(vec![vec![0], vec![1], vec![2], vec![4, 5], vec![6, 7]]));
        assert_eq!(places("[0-6:3]"), Ok(vec![vec![0], vec![3], vec![6]]));
        assert_eq!(places("[4-0:-2]"), Ok(vec![vec![4], vec![2], vec![0]]));
        for bad in
            ["3", "[]", "[x]", "[1,]", "[2-1]", "[1-2:-1]", "[1-2:0]", "[1:2]", "[0-99999999999]", "[{}]", "[-1]"]
        {
            assert!(places(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn bad_values_say_why() {
        for (text, why) in [
            ("verbose", "the type is missing"),
            ("", "`` is not known"),
            ("compat", "`compat` is not known"),
            ("granularity=socket,compact", "`granularity=socket` is not known"),
            ("verbose,noverbose,compact", "`noverbose` is a second modifier of its kind"),
            ("compact,1,0,2", "more than two numbers after the type"),
            ("compact,-1", "permute or offset `-1` is not a number from 0 to 65535"),
            ("compact,verbose", "permute or offset `verbose` is not a number from 0 to 65535"),
            ("none,1", "this type takes neither permute nor offset"),
            ("explicit", "the type explicit and a proclist need each other"),
            ("proclist=[0],compact", "the type explicit and a proclist need each other"),
            ("proclist=[0,explicit", "`]` is missing"),
            ("proclist=[0}],explicit", "`}` closes nothing"),
        ] {
            assert_eq!(parse(text), Err(why.to_owned()), "{text:?}");
        }
        let error = Affinity::KIND.check("compat").unwrap_err();
        assert!(error.starts_with("[modifier,...]type[,permute[,offset]]"), "{error}");
        assert!(error.ends_with("(`compat` is not known)"), "{error}");
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[a-z=,\\[\\]{}:0-9 -]{0,40}") {
            let _ = parse(&text);
        }

        #[test]
        fn numbers_arrive(permute in 0_usize..9, offset in 0_usize..999) {
            let affinity = parse(&format!("scatter,{permute},{offset}")).unwrap();
            prop_assert_eq!((affinity.permute, affinity.offset), (permute, offset));
        }
    }
}
