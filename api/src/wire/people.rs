//! People in requests and responses. A password must never be in a response, and a session's secret only in
//! its cookie.

use domain::link::Addresses;
use domain::{Password, Role};
use poem_openapi::types::Example;
use poem_openapi::{Enum, Object};
use service::{Membership, Person};

use super::Account;
use super::account::{AccountStatus, claim_url};
use super::text::typed_texts;

/// A username and a password.
#[derive(Object)]
#[oai(deny_unknown_fields, example)]
pub struct Credentials {
    /// 3 to 30 lower-case letters, digits, `_` and `-`, starting with a letter or digit. Upper-case letters
    /// are converted.
    pub username: TypedUsername,
    /// 10 to 200 characters with at least two of: lower-case letters, upper-case letters, digits, other
    /// characters. It must not contain the username or be one of the 100 most common passwords.
    pub password: TypedPassword,
}

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

/// The signed-in person.
#[derive(Debug, Object)]
pub struct SignedIn {
    pub user: User,
}

#[derive(Debug, Object)]
pub struct User {
    pub id: String,
    pub username: String,
}

/// The session is ended.
#[derive(Debug, Object)]
pub struct SignedOut {
    /// Always `true`.
    pub signed_out: bool,
}

/// The signed-in person and their accounts.
#[derive(Object)]
pub struct Me {
    pub user: User,
    /// The accounts: highest role first, then oldest first.
    pub accounts: Vec<AccountOfMine>,
}

#[derive(Object)]
pub struct AccountOfMine {
    pub id: String,
    pub handle: String,
    pub status: AccountStatus,
    pub role: RoleName,
    /// Only while the account is provisional.
    #[oai(skip_serializing_if_is_none)]
    pub claim_url: Option<String>,
}

/// A person's role on an account. Each role includes the rights of the roles before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[oai(rename = "Role", rename_all = "lowercase")]
pub enum RoleName {
    Member,
    Admin,
    Owner,
}

/// A newly claimed account.
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
        Self {
            id: account.id.to_string(),
            handle: account.handle.clone(),
            status: account.status.into(),
            role: membership.role.into(),
            claim_url: claim_url(account, addresses),
        }
    }
}
