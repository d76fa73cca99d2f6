//! People as callers see them. A password comes in and never goes out; a session's secret stands in a cookie only.

use std::borrow::Cow;

use domain::link::Addresses;
use domain::{Password, Role};
use poem_openapi::registry::{MetaSchema, MetaSchemaRef};
use poem_openapi::types::{Example, ParseError, ParseFromJSON, ParseResult, ToJSON, Type};
use poem_openapi::{Enum, Object};
use serde_json::Value;
use service::{Membership, Person};

use super::Account;
use super::account::AccountStatus;

/// What a person signs in with.
#[derive(Object)]
#[oai(deny_unknown_fields, example)]
pub struct Credentials {
    /// 3 to 30 small letters, digits, `_` and `-`, the first a letter or digit. Capitals are lowered.
    pub username: TypedUsername,
    /// 10 to 200 characters of at least two classes (small letters, capitals, digits, others), without the username
    /// in it and not one of the 100 most common.
    pub password: TypedPassword,
}

/// A text whose form the document tells, and which is judged further in: what is wrong with it has a code of its own.
macro_rules! typed_texts {
    ($($(#[$doc:meta])* $name:ident: $($field:ident: $value:expr),+;)+) => {$(
        $(#[$doc])*
        pub struct $name(pub String);

        impl Type for $name {
            const IS_REQUIRED: bool = true;

            type RawValueType = Self;
            type RawElementValueType = Self;

            fn name() -> Cow<'static, str> {
                "string".into()
            }

            fn schema_ref() -> MetaSchemaRef {
                let schema = MetaSchema { $($field: $value,)+ ..MetaSchema::new("string") };
                MetaSchemaRef::Inline(Box::new(schema))
            }

            fn as_raw_value(&self) -> Option<&Self> {
                Some(self)
            }

            fn raw_element_iter<'a>(&'a self) -> Box<dyn Iterator<Item = &'a Self> + 'a> {
                Box::new(std::iter::once(self))
            }
        }

        impl ParseFromJSON for $name {
            fn parse_from_json(value: Option<Value>) -> ParseResult<Self> {
                match value.unwrap_or_default() {
                    Value::String(text) => Ok(Self(text)),
                    other => Err(ParseError::expected_type(other)),
                }
            }
        }

        impl ToJSON for $name {
            fn to_json(&self) -> Option<Value> {
                Some(Value::String(self.0.clone()))
            }
        }
    )+};
}
pub(super) use typed_texts;

typed_texts! {
    TypedUsername: pattern: Some("^[A-Za-z0-9][A-Za-z0-9_-]{2,29}$".to_owned());
    TypedPassword: format: Some("password"), min_length: Some(10), max_length: Some(200);
}

impl From<Credentials> for service::Credentials {
    fn from(typed: Credentials) -> Self {
        Self { username: typed.username.0, password: Password::new(typed.password.0) }
    }
}

impl Example for Credentials {
    fn example() -> Self {
        Self {
            username: TypedUsername("ada".into()),
            password: TypedPassword("correct horse battery".into()),
        }
    }
}

/// Who is signed in now.
#[derive(Debug, Object)]
pub struct SignedIn {
    pub user: User,
}

#[derive(Debug, Object)]
pub struct User {
    pub id: String,
    pub username: String,
}

/// The session is over.
#[derive(Debug, Object)]
pub struct SignedOut {
    /// Always `true`.
    pub signed_out: bool,
}

/// Who is signed in, and the accounts that they stand for.
#[derive(Debug, Object)]
pub struct Me {
    pub user: User,
    /// The highest role first, then the oldest.
    pub accounts: Vec<AccountOfMine>,
}

#[derive(Debug, Object)]
pub struct AccountOfMine {
    pub id: String,
    pub handle: String,
    pub status: AccountStatus,
    pub role: RoleName,
    /// Only while the account is provisional.
    #[oai(skip_serializing_if_is_none)]
    pub claim_url: Option<String>,
}

/// What a person may on an account; the later may all that the earlier may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[oai(rename = "Role", rename_all = "lowercase")]
pub enum RoleName {
    Member,
    Admin,
    Owner,
}

/// An account that has just become somebody's own.
#[derive(Debug, Object)]
pub struct Claimed {
    pub account: Account,
}

impl From<Role> for RoleName {
    fn from(role: Role) -> Self {
        match role {
            Role::Member => RoleName::Member,
            Role::Admin => RoleName::Admin,
            Role::Owner => RoleName::Owner,
        }
    }
}

impl From<&Person> for User {
    fn from(person: &Person) -> Self {
        Self { id: person.user.to_string(), username: person.username.clone() }
    }
}

impl From<&Person> for SignedIn {
    fn from(person: &Person) -> Self {
        Self { user: person.into() }
    }
}

impl Me {
    pub fn new(person: &Person, memberships: &[Membership], addresses: &Addresses) -> Self {
        let accounts = memberships.iter().map(|one| AccountOfMine::new(one, addresses)).collect();
        Self { user: person.into(), accounts }
    }
}

impl AccountOfMine {
    fn new(membership: &Membership, addresses: &Addresses) -> Self {
        let account = &membership.account;
        let is_claimable = account.status == domain::AccountStatus::Provisional;
        Self {
            id: account.id.to_string(),
            handle: account.handle.clone(),
            status: account.status.into(),
            role: membership.role.into(),
            claim_url: is_claimable.then(|| addresses.claim(&account.claim_code)),
        }
    }
}
