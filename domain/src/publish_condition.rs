//! The condition of a publish on the live version of its slug. With it, a client does not overwrite a version
//! that it has not seen. It is checked when the publish is settled.

use serde::{Deserialize, Serialize};

use crate::{Time, TokenId};

/// What must be true of the slug. It is serialized to the queue, so the form of a variant must never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PublishCondition {
    /// The version with this number is live: `If-Match: "v7"`.
    LiveVersion(u32),
    /// The account has an artifact with the slug: `If-Match: *`.
    SlugExists,
    /// The account has no artifact with the slug: `If-None-Match: *`.
    SlugIsNew,
}

/// An artifact, as a condition is compared with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExistingSlug {
    /// `None` if all versions are staged.
    pub live: Option<CurrentVersion>,
}

/// The live version in the refusal of a publish that expected another one. Stored outcomes contain it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CurrentVersion {
    pub seq: u32,
    /// The token that published it.
    pub created_by: Option<TokenId>,
    pub created_at: Time,
}

impl PublishCondition {
    /// Without `existing`, no artifact has the slug.
    pub fn is_met(self, existing: Option<ExistingSlug>) -> bool {
        match self {
            PublishCondition::LiveVersion(seq) => {
                existing.and_then(|slug| slug.live).is_some_and(|live| live.seq == seq)
            }
            PublishCondition::SlugExists => existing.is_some(),
            PublishCondition::SlugIsNew => existing.is_none(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn condition_is_compared_with_the_live_version_alone() {
        use PublishCondition::{LiveVersion, SlugExists, SlugIsNew};
        let live = CurrentVersion { seq: 7, created_by: None, created_at: Time::from_millis(0) };
        let (published, staged) =
            (Some(ExistingSlug { live: Some(live) }), Some(ExistingSlug { live: None }));
        for (condition, existing, is_met) in [
            (LiveVersion(7), published, true),
            (LiveVersion(6), published, false),
            (LiveVersion(7), staged, false),
            (LiveVersion(7), None, false),
            (SlugExists, published, true),
            (SlugExists, staged, true),
            (SlugExists, None, false),
            (SlugIsNew, published, false),
            (SlugIsNew, staged, false),
            (SlugIsNew, None, true),
        ] {
            assert_eq!(condition.is_met(existing), is_met, "{condition:?} on {existing:?}");
        }
    }
}
