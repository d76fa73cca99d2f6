//! The reference in groups, each with the objects that its endpoints use, for the pages of the documentation.

use serde_json::Value;

use super::curl::TokenSource;
use super::{OPERATOR, Section, Shape, keep_routes, sections, shapes};

/// The order of the groups. Others come before the operator's.
const ORDER: [&str; 8] =
    ["Account", "Artifacts", "Team", "Tokens", "Money", "People", "Moderation", "Service"];

/// The operations that a group begins with. The others follow in the order of their paths.
const FIRST: [&str; 18] = [
    "sign_up",
    "get_account",
    "create_claim_link",
    "claim_account",
    "get_usage",
    "publish",
    "list_artifacts",
    "get_artifact",
    "add_version",
    "activate_version",
    "set_visibility",
    "create_invite",
    "list_invites",
    "join_account",
    "mint_token",
    "list_tokens",
    "register",
    "log_in",
];

/// The endpoints of one tag, with the objects in their bodies.
pub struct Group {
    pub section: Section,
    pub shapes: Vec<Shape>,
}

impl Group {
    /// All groups, the operator's last.
    pub fn all_of(openapi: &str) -> Vec<Self> {
        let document: Value = serde_json::from_str(openapi).unwrap_or_default();
        let tags = document["tags"].as_array().into_iter().flatten();
        let mut names: Vec<_> = tags.filter_map(|tag| tag["name"].as_str()).collect();
        let last = ORDER.len();
        names.sort_by_key(|name| match ORDER.iter().position(|one| one == name) {
            Some(position) => position,
            None => last + usize::from(*name == OPERATOR),
        });
        names.into_iter().filter_map(|name| Self::of(&document, name)).collect()
    }

    fn of(document: &Value, tag: &str) -> Option<Self> {
        let mut own = document.clone();
        keep_routes(&mut own, |other| other == tag);
        let mut section = sections(&own, TokenSource::Variable).pop()?;
        let position = |id: &str| FIRST.iter().position(|first| *first == id).unwrap_or(FIRST.len());
        section.operations.sort_by_key(|operation| position(&operation.id));
        Some(Self { section, shapes: shapes(&own) })
    }

    /// Whether only the operator of the server calls these endpoints.
    pub fn is_for_operators(&self) -> bool {
        self.section.name == OPERATOR
    }

    /// The last part of the page's path.
    pub fn page(&self) -> String {
        self.section.name.to_lowercase()
    }
}
