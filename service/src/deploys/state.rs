//! The state of a deploy, and the parts of it that are stored as JSON. An older process may read them.

use std::collections::{BTreeMap, BTreeSet};

use domain::{Activation, ContentDigest, SitePath, Slug, UploadId, UploadTicket};
use serde::{Deserialize, Serialize};
use store::{DeployObjects, DeployPart};

use super::DeployFiles;
use crate::Caller;

/// A publish whose files arrive one by one.
#[derive(Clone, Debug)]
pub struct Deploy {
    pub id: UploadId,
    pub slug: Slug,
    pub activation: Activation,
    pub state: DeployState,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeployState {
    /// Its files are not known yet.
    New,
    Waiting {
        missing: BTreeSet<ContentDigest>,
    },
    /// All contents are there. It has not been published yet.
    Complete,
    Ended(DeployEnd),
}

/// How a deploy ended. It is stored, so the form of a variant must never change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeployEnd {
    Published { version: u32 },
    Refused { message: String, hint: String },
}

/// What is deployed where.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Head {
    pub slug: Slug,
    pub activation: Activation,
}

/// The files of a deploy, and where those contents are that the site has already.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Plan {
    pub files: DeployFiles,
    /// The version that has the held contents.
    pub version: Option<u32>,
    pub held: BTreeMap<ContentDigest, SitePath>,
}

impl Deploy {
    pub(super) fn ticket(&self, caller: &Caller) -> UploadTicket {
        UploadTicket { account: caller.account, upload: self.id }
    }
}

impl Plan {
    /// The contents that are neither held nor among these objects.
    pub fn missing(&self, objects: &DeployObjects) -> BTreeSet<ContentDigest> {
        let is_there = |digest: &ContentDigest| {
            self.held.contains_key(digest) || objects.contains_key(&DeployPart::Content(*digest))
        };
        self.files.values().filter(|digest| !is_there(digest)).copied().collect()
    }
}
