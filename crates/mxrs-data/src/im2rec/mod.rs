//! Creates image lists and record files from folders of images, like MXNet's `im2rec`.

mod listing;
mod pack;

pub use listing::{ListSettings, Listed, make_lists};
pub use pack::{Failed, PackReport, PackSettings, lists_of, pack, pack_part};
