//! Files and downloads.

use crate::{Kind, settings};
use std::num::NonZeroUsize;
use std::path::PathBuf;

settings! {
    /// Files and downloads.
    pub struct FileSettings in Files {
        /// Address from which models, data sets and embeddings are downloaded.
        gluon_repo: String = "https://apache-mxnet.s3-accelerate.dualstack.amazonaws.com/", "MXNET_GLUON_REPO"
            [D72 EveryUse Downloads], Kind::Url;
        /// Folder of models, data sets and embeddings. If the folder `data` lacks the four files of MNIST,
        /// `mxrs train mnist` reads them from `datasets/mnist` in this folder.
        home: Option<PathBuf> = unset("$HOME/.mxnet, on Windows mxnet in %APPDATA%"), "MXNET_HOME" [D73 Process Core];
        /// Folder of the headers for extensions.
        include_path: Option<PathBuf> = unset("search"), "MXNET_INCLUDE_PATH" [B63 EveryUse FrontEnd], Kind::Folder;
        /// File with the configuration of compiled operators.
        conf_path: Option<PathBuf> = unset("search"), "MXNET_CONF_PATH" [B64 EveryUse CompiledOperators], Kind::File;
        /// Size of one uploaded part of an S3 file, in MiB.
        s3_write_buffer_mib: NonZeroUsize = 64, "DMLC_S3_WRITE_BUFFER_MB" [B67 Owner S3];
        /// Folder of temporary files.
        tmp_dir: Option<PathBuf> = unset("the system's"), "TMPDIR" [B68 EveryUse Reader];
    }
}
