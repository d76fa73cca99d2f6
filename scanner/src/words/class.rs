//! The classes of phrases in the language files.

use super::roles::Role;
use super::{Hint, Thing};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Class {
    Thing(Thing),
    /// Similar to a thing but not one: `library card number`, `random seed`.
    NotThing,
    Role(Role),
    Hint(Hint),
    /// A hint only if the phrase is the whole text: `Reply`.
    WholeHint(Hint),
    /// A brand, a kind of account or a phrase of urgency, by its name in the evidence.
    Lure(&'static str),
    /// A noun that is a lure only in the right context.
    PossibleLure(&'static str),
    /// A lure only if the phrase is the whole text: `Outlook`.
    WholeLure(&'static str),
    /// Similar to a lure but not one: `river bank`.
    NotLure,
}

/// The names of all lures.
const LURES: [&str; 9] = [
    "account suspended",
    "apple",
    "bank",
    "coinbase",
    "google",
    "microsoft",
    "paypal",
    "verify your",
    "wallet",
];

impl Class {
    /// The classes that the header of a section names: `thing seed_phrase`, `role so, talk`, `not_lure`.
    pub(super) fn of_header(header: &str) -> Result<Vec<Class>, String> {
        let (kind, names) = header.split_once(' ').unwrap_or((header, ""));
        names.split(", ").map(|name| Class::named(kind, name)).collect()
    }

    fn named(kind: &str, name: &str) -> Result<Class, String> {
        let lure = || LURES.into_iter().find(|lure| *lure == name);
        let class = match kind {
            "thing" => name.parse().ok().map(Class::Thing),
            "not_thing" => name.is_empty().then_some(Class::NotThing),
            "role" => name.parse().ok().map(Class::Role),
            "hint" => name.parse().ok().map(Class::Hint),
            "whole_hint" => name.parse().ok().map(Class::WholeHint),
            "lure" => lure().map(Class::Lure),
            "possible_lure" => lure().map(Class::PossibleLure),
            "whole_lure" => lure().map(Class::WholeLure),
            "not_lure" => name.is_empty().then_some(Class::NotLure),
            _ => return Err(format!("unknown kind of section `{kind}`")),
        };
        class.ok_or_else(|| format!("unknown {kind} `{name}`"))
    }
}
