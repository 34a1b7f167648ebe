//! Where uploaded files are kept.

use std::path::PathBuf;

use schemars::JsonSchema;
use secrecy::SecretString;
use serde::Deserialize;

use crate::redact::Hidden;
use crate::sections::Storage;

/// The directory of uploaded files in the data directory.
pub const ASSETS_DIRECTORY: &str = "assets";

/// `storage.files`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum FilesPlace {
    /// Nothing written: a directory in the data directory.
    InData,
    /// A directory of its own, which several servers may share.
    Directory(PathBuf),
    /// A bucket of an S3-compatible store, which `[s3]` tells how to reach.
    Bucket {
        /// Its name.
        bucket: String,
        /// What the keys of all files begin with, possibly empty.
        prefix: String,
    },
}

impl TryFrom<String> for FilesPlace {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        if text.is_empty() {
            return Ok(Self::InData);
        }
        let Some(rest) = text.strip_prefix("s3://") else {
            return if text.contains("://") {
                Err("must be empty, a directory, or s3://BUCKET/PREFIX")
            } else {
                Ok(Self::Directory(text.into()))
            };
        };
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
        if !(3..=63).contains(&bucket.len()) || !bucket.bytes().all(is_of_name) {
            return Err("must name a bucket after s3://, of 3 to 63 letters, digits, dots and hyphens");
        }
        let prefix = prefix.trim_matches('/');
        let is_segment = |part: &str| !matches!(part, "" | "." | "..") && part.bytes().all(is_of_name);
        if !prefix.is_empty() && !prefix.split('/').all(is_segment) {
            return Err(
                "must have only letters, digits, dots, hyphens and underscores between the slashes of its prefix",
            );
        }
        Ok(Self::Bucket { bucket: bucket.to_owned(), prefix: prefix.to_owned() })
    }
}

impl Storage {
    /// The directory of uploaded files; with those in a bucket, the one that they would be in.
    pub fn files_directory(&self) -> PathBuf {
        match &self.files {
            FilesPlace::Directory(path) => path.clone(),
            FilesPlace::InData | FilesPlace::Bucket { .. } => self.data.join(ASSETS_DIRECTORY),
        }
    }

    /// Where uploaded files are, as it is told to people.
    pub fn files_shown(&self) -> String {
        match &self.files {
            FilesPlace::Bucket { bucket, prefix } if prefix.is_empty() => format!("s3://{bucket}"),
            FilesPlace::Bucket { bucket, prefix } => format!("s3://{bucket}/{prefix}"),
            FilesPlace::InData | FilesPlace::Directory(_) => self.files_directory().display().to_string(),
        }
    }
}

/// `[s3]`
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct S3 {
    /// Where the store is; empty for that of AWS in the region.
    pub endpoint: String,
    /// The region that requests are signed for.
    pub region: String,
    /// Whether the bucket is named in the path of addresses rather than in their host.
    pub path_style: bool,
    /// The half of the key that requests name.
    #[schemars(with = "Hidden")]
    pub access_key_id: SecretString,
    /// The half of the key that they are signed with.
    #[schemars(with = "Hidden")]
    pub secret_access_key: SecretString,
    /// How long the store may take to answer, in milliseconds.
    pub timeout_ms: u64,
}
