//! The roles of words in a sentence.

use std::ops::{BitOr, BitOrAssign};

use strum::EnumString;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumString)]
#[strum(serialize_all = "snake_case")]
pub(super) enum Role {
    /// A verb of giving, before its object: `enter`.
    Give,
    /// A verb of giving that follows its object: `eingeben`.
    GiveLast,
    /// A negation of what follows in its clause: `never`.
    No,
    /// A negation that also applies to the words before it: `nicht`.
    NoLast,
    /// Opens a question at the start of a clause.
    Question,
    /// Somebody else who asks or acts: `scammers`, `they`, `asks for`.
    Other,
    /// Talk about something: `guide`, `about`, `forgot`.
    Talk,
    /// A verb of keeping, showing, getting or making.
    Keep,
    /// A noun that is qualified by the thing before it: `seed phrase generator`.
    Tail,
    /// Words that may surround the head of a label.
    Filler,
    /// Prepositions: the words after belong to the words before.
    Link,
    And,
    /// A pronoun for a thing named before.
    It,
    /// A subject. A verb of giving directly after it is a statement and not a request.
    Subject,
    Please,
    /// Asks with a question: `what is your`.
    Inquire,
    /// A consequence for a reader who does not obey: `suspended`.
    Threat,
    /// Looks like another role but has none: `do not forget to`.
    Nothing,
    /// Turns an `it` after it into advice: `only`.
    Only,
    /// Says what kind of value is meant, so that the text is not a plain request.
    Kind,
    /// Opens a condition: `if`.
    If,
    /// The operator of the page, who promises and does not warn: `we`.
    Ours,
    /// A verb of giving that can also mean writing on paper: `write`.
    Write,
    /// A medium for keeping it: `paper`, `steel plate`.
    Paper,
    /// Part of an account at a bank, in a wallet or of a brand: `login`, `account`, `balance`.
    Account,
    /// A verb of giving to other people: `share`.
    Share,
    /// Opens the purpose or the result of a request: `so that`, `and we will`.
    So,
    /// A place outside of the page where things are entered: `app`, `device`, `terminal`.
    Elsewhere,
    /// A place on the page itself: `here`, `this form`.
    Nearby,
    /// A preposition of places: `into`.
    Inside,
    /// Preposition and place elsewhere in one: `アプリで`, `with --key`.
    There,
}

/// A set of roles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Roles(u32);

impl Roles {
    pub(super) fn is_empty(self) -> bool {
        self == Roles::default()
    }

    pub(super) fn has_any(self, roles: impl Into<Roles>) -> bool {
        self.0 & roles.into().0 != 0
    }

    pub(super) fn remove(&mut self, role: Role) {
        self.0 &= !Roles::from(role).0;
    }
}

impl From<Role> for Roles {
    fn from(role: Role) -> Roles {
        Roles(1 << role as u32)
    }
}

impl<R: Into<Roles>> BitOr<R> for Roles {
    type Output = Roles;
    fn bitor(self, other: R) -> Roles {
        Roles(self.0 | other.into().0)
    }
}

impl<R: Into<Roles>> BitOr<R> for Role {
    type Output = Roles;
    fn bitor(self, other: R) -> Roles {
        Roles::from(self) | other
    }
}

impl<R: Into<Roles>> BitOrAssign<R> for Roles {
    fn bitor_assign(&mut self, other: R) {
        *self = *self | other;
    }
}
