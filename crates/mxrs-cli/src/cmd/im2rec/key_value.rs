//! The command line of MXNet's C++ tool: `im2rec LIST ROOT OUT key=value...`.

use super::{Args, Kind, Progress, channels, check_root, conclude, of_settings};
use crate::exit::{Failure, Outcome};
use mxrs::data::im2rec::{PackSettings, pack_part};
use mxrs::data::{InterMethod, Interpolation};
use std::path::PathBuf;

/// The keys with their defaults.
const KEYS: [(&str, &str); 11] = [
    ("color", "1"),
    ("resize", "-1"),
    ("label_width", "1"),
    ("pack_label", "0"),
    ("nsplit", "1"),
    ("part", "0"),
    ("center_crop", "0"),
    ("quality", "95"),
    ("encoding", ".jpg"),
    ("inter_method", "1"),
    ("unchanged", "0"),
];

/// Packs one list into a record file.
///
/// # Errors
/// Fails if a key is unknown or a value is not a number, if settings contradict each other, if a file cannot be read or
/// written, or, with `--strict`, if an image could not be packed.
pub(super) fn run(args: &Args, is_progress_wanted: bool) -> Outcome {
    let usage = |text: String| Err(Failure::Usage(text));
    let [out, pairs @ ..] = &args.rest[..] else {
        return usage("expected a record file after LIST and ROOT".into());
    };
    if out.contains('=') {
        return usage(format!("expected a record file after LIST and ROOT, found `{out}`"));
    }
    let mut values: Vec<(&str, &str)> = KEYS.to_vec();
    for pair in pairs {
        let Some((key, value)) = pair.split_once('=') else {
            return usage(format!("expected KEY=VALUE, found `{pair}`"));
        };
        match values.iter_mut().find(|(known, _)| *known == key) {
            Some(entry) => entry.1 = value,
            None => {
                let near = |known: &&(&str, &str)| strsim::jaro_winkler(known.0, key);
                let nearest = KEYS.iter().max_by(|a, b| near(a).total_cmp(&near(b))).map_or("", |known| known.0);
                return usage(format!("unknown key `{key}`; nearest is `{nearest}`"));
            }
        }
    }
    let text = |key: &str| values.iter().find(|(known, _)| *known == key).map_or("", |(_, value)| *value);
    let number = |key: &str| {
        text(key).parse::<i64>().map_err(|_| Failure::Usage(format!("{key}={}: expected a whole number", text(key))))
    };
    let count = |key: &str| {
        usize::try_from(number(key)?).map_err(|_| Failure::Usage(format!("{key}={}: expected at least 0", text(key))))
    };
    let kind = match text("encoding") {
        ".jpg" | "jpg" | ".jpeg" => Kind::Jpg,
        ".png" | "png" => Kind::Png,
        other => return usage(format!("encoding={other}: expected .jpg or .png")),
    };
    let quality = u8::try_from(number("quality")?)
        .map_err(|_| Failure::Usage(format!("quality={}: expected 1 to 100", text("quality"))))?;
    // A quality is used only if it was given, because the default quality is meant for JPEG.
    let is_given = pairs.iter().any(|pair| pair.starts_with("quality="));
    let color = number("color")?;
    if !(-1..=1).contains(&color) {
        return usage(format!("color={color}: expected 1, 0 or -1"));
    }
    let interpolation = match InterMethod::from_number(number("inter_method")?) {
        Ok(InterMethod::Fixed(way)) => way,
        // Other methods choose an interpolation by the size of the image. Area interpolation replaces them, because images
        // usually become smaller.
        Ok(_) => Interpolation::Area,
        Err(e) => return usage(e.to_string()),
    };
    let settings = PackSettings {
        pass_through: number("unchanged")? != 0,
        resize: usize::try_from(number("resize")?).ok().filter(|edge| *edge > 0),
        center_crop: number("center_crop")? != 0,
        channels: channels(color as i8),
        encoding: kind.encoding(Some(quality).filter(|_| is_given)),
        interpolation,
        pack_label: number("pack_label")? != 0,
        num_thread: args.num_thread,
        ..PackSettings::default()
    };
    count("label_width")?;
    let (part, n_parts) = (count("part")?, count("nsplit")?);
    let rec = if n_parts > 1 { PathBuf::from(format!("{out}.part{part:03}")) } else { PathBuf::from(out) };
    check_root(&args.root)?;
    let mut progress = Progress::new(is_progress_wanted);
    let tell = &mut |done| progress.tell(done);
    let report = pack_part(&args.prefix, &args.root, &rec, (part, n_parts), &settings, tell).map_err(of_settings);
    drop(progress);
    conclude(&args.prefix, report, args.strict)
}
