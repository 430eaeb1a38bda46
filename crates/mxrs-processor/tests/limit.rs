//! Tests the limit of instructions. It applies to a whole process, so this test has a process of its own.

use mxrs_processor::{Feature, Isa, Set, limit};

#[test]
fn a_limit_holds_for_sets_and_features_and_cannot_change() {
    limit(Set::Portable).unwrap();
    assert_eq!((Isa::best(), Isa::available()), (Isa::PORTABLE, vec![Isa::PORTABLE]));
    let features = [Feature::Avx2, Feature::Avx512Core, Feature::Avx512Bf16, Feature::Avx512Vnni, Feature::AmxBf16];
    for feature in features {
        assert!(!feature.is_there(), "{feature:?}");
    }
    limit(Set::Portable).unwrap();
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        let error = limit(Set::Avx2).unwrap_err().to_string();
        assert!(error.contains("Avx2 after Portable"), "{error}");
    }
}
