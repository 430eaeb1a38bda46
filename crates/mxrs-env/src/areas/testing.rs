//! The test harness.

use crate::settings;
use std::num::NonZeroUsize;

settings! {
    /// The test harness.
    pub struct TestSettings in Testing {
        /// Seed of each single test.
        test_seed: Option<u64> = unset, "MXNET_TEST_SEED" [B69 EveryUse Reader];
        /// Seed of a module of tests. `MXNET_TEST_SEED` takes precedence.
        module_seed: Option<u64> = unset, "MXNET_MODULE_SEED" [B70 EveryUse Reader];
        /// How often each test runs.
        test_count: NonZeroUsize = 1, "MXNET_TEST_COUNT" [B71 EveryUse Reader];
    }
}
