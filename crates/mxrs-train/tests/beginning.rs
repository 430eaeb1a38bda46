//! The initial parameters of a module: by initializer, and from files of old releases.

mod common;

use common::{bits, context, fit_options, iter, module, options};
use mxrs_data::DataIter;
use mxrs_models::Initializer;
use mxrs_train::{BindFor, InitOptions, Module, ModuleNames, load_initializer};

#[test]
fn a_checkpoint_with_operators_of_old_releases_loads() {
    let dir = tempfile::tempdir().unwrap();
    let prefix = dir.path().join("net");
    let mut module = module();
    let data = iter(1, 8, 8, 3);
    let (descs, labels) = (data.provide_data().to_vec(), data.provide_label().to_vec());
    module.bind(&descs, &labels, BindFor::default()).unwrap();
    module.init_params(None, &fit_options(1).init).unwrap();
    module.save_checkpoint(&prefix, 1, false).unwrap();
    let path = dir.path().join("net-symbol.json");
    let symbol = std::fs::read_to_string(&path).unwrap();
    let old = symbol.replace("\"BatchNorm\"", "\"BatchNorm_v1\"");
    assert_ne!(old, symbol);
    std::fs::write(&path, old).unwrap();
    let names = ModuleNames::default();
    let mut loaded = Module::load(&prefix, 1, &(context(), options()), names.clone()).unwrap();
    loaded.bind(&descs, &labels, BindFor::inference()).unwrap();
    loaded.init_params(None, &InitOptions::default()).unwrap();
    assert_eq!(bits(&loaded), bits(&module));
    std::fs::write(&path, symbol.replace("\"BatchNorm\"", "\"BatchNorm_v9\"")).unwrap();
    let error = Module::load(&prefix, 1, &(context(), options()), names).err().unwrap().to_string();
    assert!(error.contains("BatchNorm_v9"), "{error}");
}

#[test]
fn parameters_begin_as_a_checkpoint_has_them_or_by_pattern() {
    let bound = || {
        let mut module = module();
        let data = iter(1, 8, 8, 3);
        module.bind(data.provide_data(), data.provide_label(), BindFor::default()).unwrap();
        module
    };
    let mut first = bound();
    first.init_params(None, &fit_options(1).init).unwrap();
    let mut saved = first.get_params().unwrap();
    saved.arg.shift_remove("fc2_weight");
    let default =
        Initializer::mixed([("fc1", Initializer::One), (".*", Initializer::Constant { value: 7.0 })]).unwrap();
    let with = |initializer| InitOptions { initializer, ..InitOptions::default() };
    let mut second = bound();
    second.init_params(None, &with(load_initializer(&saved, Some(default.clone())).unwrap())).unwrap();
    let params = second.get_params().unwrap();
    assert_eq!(params.arg["fc1_weight"], saved.arg["fc1_weight"]);
    assert_eq!(params.aux, saved.aux);
    assert!(params.arg["fc2_weight"].to_f32_vec().unwrap().iter().all(|v| *v == 7.0));
    let mut third = bound();
    third.init_params(None, &with(default)).unwrap();
    let params = third.get_params().unwrap();
    assert!(params.arg["fc1_weight"].to_f32_vec().unwrap().iter().all(|v| *v == 1.0));
    assert!(params.arg["fc1_bias"].to_f32_vec().unwrap().iter().all(|v| *v == 0.0), "biases begin at 0 still");
    let error = bound().init_params(None, &with(load_initializer(&saved, None).unwrap())).unwrap_err().to_string();
    assert!(error.contains("fc2_weight"), "{error}");
}
