//! The font of plots.

use plotters::style::FontStyle;
use std::sync::Once;

/// Registers the font `sans-serif`, without which plotters draws no text, not even in SVG, whose viewers have fonts of their
/// own. The font is a part of the program, so plots do not depend on the fonts of the machine.
pub fn register() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let font = epaint_default_fonts::UBUNTU_LIGHT;
        // An error is ignored here: if the font cannot be read, drawing fails with an error.
        let _ = plotters::style::register_font("sans-serif", FontStyle::Normal, font);
    });
}
