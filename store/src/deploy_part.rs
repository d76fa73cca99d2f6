//! The objects of a deploy, and their names. A name begins with the id of the deploy, so that an account has
//! one folder.

use domain::{ContentDigest, UploadId};

/// One object of a deploy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DeployPart {
    /// What is deployed where. Written first.
    Head,
    /// The files of the deploy. Written once.
    Plan,
    /// A content that was received.
    Content(ContentDigest),
    /// How the deploy ended. Written once.
    Outcome,
}

impl DeployPart {
    /// The name of the part's object.
    pub(crate) fn name(self, deploy: UploadId) -> String {
        match self {
            DeployPart::Head => format!("{deploy}-head"),
            DeployPart::Plan => format!("{deploy}-plan"),
            DeployPart::Content(digest) => format!("{deploy}-{digest}"),
            DeployPart::Outcome => format!("{deploy}-outcome"),
        }
    }

    /// The part that has this name. A staged upload has another one.
    pub(crate) fn named(name: &str) -> Option<(UploadId, Self)> {
        let (deploy, part) = name.split_once('-')?;
        let part = match part {
            "head" => DeployPart::Head,
            "plan" => DeployPart::Plan,
            "outcome" => DeployPart::Outcome,
            digest => DeployPart::Content(digest.parse().ok()?),
        };
        Some((deploy.parse().ok()?, part))
    }
}

#[cfg(test)]
mod tests {
    use domain::{Chance, Time};

    use super::*;

    #[test]
    fn parts_are_found_by_their_names() {
        let deploy = UploadId::new(Time::from_millis(1), &Chance::seeded(1));
        let content = DeployPart::Content(ContentDigest::of(b"x"));
        for part in [DeployPart::Head, DeployPart::Plan, content, DeployPart::Outcome] {
            assert_eq!(DeployPart::named(&part.name(deploy)), Some((deploy, part)), "{part:?}");
        }
        for other in [deploy.to_string(), format!("{deploy}-x"), "x-head".to_owned()] {
            assert_eq!(DeployPart::named(&other), None, "{other}");
        }
    }
}
