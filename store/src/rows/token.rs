//! Rows of tokens. Secrets never reach this crate.

use domain::{
    Account, AccountId, ArtifactId, Chance, Crowd, Maker, Refusal, Rights, Time, Token, TokenId, TokenName,
    UserId,
};
use sea_orm::ActiveValue::Set;
use sea_orm::{
    ColumnTrait, Condition, DatabaseTransaction, EntityTrait, PaginatorTrait, QueryFilter, Select,
};

use crate::change_result::ChangeResult;

/// How many active tokens an account may have.
const ACTIVE_MAX: u64 = 1_000;

/// A token to insert, with the hash of its secret.
#[derive(Clone, Debug)]
pub struct NewToken {
    pub id: TokenId,
    pub account: AccountId,
    pub secret_hash: String,
    /// The beginning of the secret. `None` for a secret that nobody will see.
    pub secret_start: Option<String>,
    pub name: TokenName,
    pub rights: Rights,
    pub made_by: Maker,
    pub created_at: Time,
}

/// Which of an account's tokens a caller reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    All,
    /// Tokens that this person minted, or whose agents the person invited.
    Of(UserId),
    /// Tokens with this pin. The caller does not see that others exist.
    PinnedTo(ArtifactId),
}

impl NewToken {
    /// The first token of an account. It has all scopes.
    pub fn first_of(account: &Account, secret_hash: String, chance: &Chance) -> Self {
        Self {
            id: TokenId::new(account.created_at, chance),
            account: account.id,
            secret_hash,
            secret_start: None,
            name: TokenName::of_signup(),
            rights: Rights::all(),
            made_by: Maker::default(),
            created_at: account.created_at,
        }
    }

    /// The token as lists show it.
    pub fn shown(&self) -> Token {
        Token {
            id: self.id,
            name: self.name.clone(),
            rights: self.rights,
            made_by: self.made_by,
            created_at: self.created_at,
            last_used_at: None,
            last_used_from: None,
            secret_start: self.secret_start.clone(),
            renewable_until: None,
        }
    }
}

/// Inserts a token unless the account has too many. The transaction must hold the account's row.
pub(crate) async fn insert(transaction: &DatabaseTransaction, token: &NewToken) -> ChangeResult<()> {
    if active(token.account, token.created_at).count(transaction).await? >= ACTIVE_MAX {
        return Err(Refusal::TooMany(Crowd::Tokens).into());
    }
    entity::token::Entity::insert(row(token)).exec_without_returning(transaction).await?;
    Ok(())
}

/// Revokes every active token of a person and returns their number.
pub(crate) async fn revoke_all_of(
    transaction: &DatabaseTransaction,
    account: AccountId,
    user: UserId,
    now: Time,
) -> anyhow::Result<u64> {
    let revocation = entity::token::ActiveModel { revoked_at: Set(Some(now.millis())), ..Default::default() };
    let revoked = entity::token::Entity::update_many()
        .set(revocation)
        .filter(is_active(account, now))
        .filter(within(Reach::Of(user)))
        .exec(transaction)
        .await?;
    Ok(revoked.rows_affected)
}

pub(crate) fn row(token: &NewToken) -> entity::token::ActiveModel {
    entity::token::ActiveModel {
        id: Set(token.id.to_string()),
        secret_hash: Set(token.secret_hash.clone()),
        account_id: Set(token.account.to_string()),
        name: Set(token.name.to_string()),
        scopes: Set(token.rights.scopes.to_string()),
        artifact_id: Set(token.rights.pinned_to.map(|id| id.to_string())),
        created_by_user: Set(token.made_by.user.map(|id| id.to_string())),
        created_by_token: Set(token.made_by.token.map(|id| id.to_string())),
        created_at: Set(token.created_at.millis()),
        expires_at: Set(token.rights.expires_at.map(Time::millis)),
        revoked_at: Set(None),
        last_used_at: Set(None),
        renewable_until: Set(None),
        secret_start: Set(token.secret_start.clone()),
        last_used_from: Set(None),
    }
}

pub(crate) fn active(account: AccountId, now: Time) -> Select<entity::token::Entity> {
    entity::token::Entity::find().filter(is_active(account, now))
}

/// Tokens that an OAuth client can renew are active between two renewals, too.
fn is_active(account: AccountId, now: Time) -> Condition {
    use entity::token::Column;
    let is_renewable =
        Condition::all().add(Column::RevokedAt.is_null()).add(Column::RenewableUntil.gt(now.millis()));
    Condition::all()
        .add(Column::AccountId.eq(account.to_string()))
        .add(Condition::any().add(works(now)).add(is_renewable))
}

/// Neither revoked nor expired.
pub(crate) fn works(now: Time) -> Condition {
    let has_not_ended = Condition::any()
        .add(entity::token::Column::ExpiresAt.is_null())
        .add(entity::token::Column::ExpiresAt.gt(now.millis()));
    Condition::all().add(entity::token::Column::RevokedAt.is_null()).add(has_not_ended)
}

pub(crate) fn within(reach: Reach) -> Condition {
    match reach {
        Reach::All => Condition::all(),
        Reach::Of(user) => Condition::all().add(entity::token::Column::CreatedByUser.eq(user.to_string())),
        Reach::PinnedTo(pin) => Condition::all().add(entity::token::Column::ArtifactId.eq(pin.to_string())),
    }
}
