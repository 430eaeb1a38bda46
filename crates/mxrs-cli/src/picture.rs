//! Images in a terminal: each character is a half block that shows two pixels, one above the other.

use mxrs::data::Image;
use owo_colors::OwoColorize;

/// An image as lines of characters.
pub struct Picture {
    /// Lines from the top; each is `width` characters wide.
    pub lines: Vec<String>,
    /// Number of characters in a line, without color codes.
    pub width: usize,
}

impl Picture {
    /// Draws `image` at most `max_width` characters wide: in color, or in black and white if the output does not support
    /// colors.
    pub fn new(image: &Image, max_width: usize, in_color: bool) -> Self {
        let width = image.width().min(max_width.max(1));
        let height = (image.height() * width / image.width()).max(1);
        let pixel = |x: usize, y: usize| color(image, x * image.width() / width, y * image.height() / height);
        let mut lines = Vec::new();
        for y in (0..height).step_by(2) {
            let mut line = String::new();
            for x in 0..width {
                let upper = pixel(x, y);
                let lower = if y + 1 < height { pixel(x, y + 1) } else { [0; 3] };
                line += &if in_color { colored(upper, lower) } else { plain(upper, lower).into() };
            }
            lines.push(line);
        }
        Self { lines, width }
    }
}

/// Red, green and blue of one pixel; transparency is ignored.
fn color(image: &Image, x: usize, y: usize) -> [u8; 3] {
    let channels = image.channels();
    let at = (y * image.width() + x) * channels;
    match &image.pixels()[at..at + channels] {
        [gray] => [*gray; 3],
        pixel => [pixel[0], pixel[1], pixel[2]],
    }
}

fn colored(upper: [u8; 3], lower: [u8; 3]) -> String {
    let [r, g, b] = upper;
    let [s, h, c] = lower;
    "▀".truecolor(r, g, b).on_truecolor(s, h, c).to_string()
}

fn plain(upper: [u8; 3], lower: [u8; 3]) -> &'static str {
    let is_light = |[r, g, b]: [u8; 3]| u32::from(r) * 3 + u32::from(g) * 6 + u32::from(b) > 1275;
    match (is_light(upper), is_light(lower)) {
        (true, true) => "█",
        (true, false) => "▀",
        (false, true) => "▄",
        (false, false) => " ",
    }
}

/// Arranges pictures side by side under their captions, in rows of at most `columns` characters.
pub fn gallery(pictures: &[(String, Picture)], columns: usize) -> String {
    const GAP: usize = 2;
    let mut text = String::new();
    let mut rest = pictures;
    while let Some((caption, picture)) = rest.first() {
        let cell = |caption: &str, picture: &Picture| picture.width.max(caption.chars().count());
        let mut used = cell(caption, picture);
        let mut count = 1;
        for (caption, picture) in &rest[1..] {
            used += GAP + cell(caption, picture);
            if used > columns {
                break;
            }
            count += 1;
        }
        let (row, later) = rest.split_at(count);
        rest = later;
        let pad = |shown: usize, caption: &str, picture: &Picture| " ".repeat(cell(caption, picture) - shown + GAP);
        for (caption, picture) in row {
            text += caption;
            text += &pad(caption.chars().count(), caption, picture);
        }
        let height = row.iter().map(|(_, picture)| picture.lines.len()).max().unwrap_or(0);
        for y in 0..height {
            text.push('\n');
            for (caption, picture) in row {
                let line = picture.lines.get(y);
                text += line.map_or("", String::as_str);
                text += &pad(line.map_or(0, |_| picture.width), caption, picture);
            }
        }
        text.push('\n');
    }
    // Trailing spaces are removed: they are invisible, but change text comparisons.
    text.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_rows_make_one_line() {
        let image = Image::new(3, 2, 1, vec![255, 0, 0, 255, 255, 255]).unwrap();
        let picture = Picture::new(&image, 80, false);
        assert_eq!(picture.lines, ["▀▄", "▀▀"]);
        let colored = Picture::new(&image, 80, true);
        assert!(colored.lines[0].contains("38;2;255;255;255") && colored.lines[0].contains("48;2;0;0;0"));
    }

    #[test]
    fn wide_images_shrink() {
        let image = Image::new(4, 100, 3, vec![9; 1200]).unwrap();
        let picture = Picture::new(&image, 10, false);
        assert_eq!((picture.width, picture.lines.len()), (10, 1));
        assert_eq!(picture.lines[0].chars().count(), 10);
    }

    #[test]
    fn a_gallery_breaks_its_rows() {
        let image = Image::new(2, 3, 1, vec![255; 6]).unwrap();
        let pictures: Vec<(String, Picture)> =
            (0..3).map(|i| (i.to_string(), Picture::new(&image, 80, false))).collect();
        assert_eq!(gallery(&pictures, 8), "0    1\n███  ███\n2\n███\n");
    }
}
