//! Revokes tokens: one, one with all its descendants, or all of an account. Every revoked token gets an audit
//! log entry.

use domain::{Missing, Refusal, TokenId, TokenName};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::Condition;
use sea_orm::{ColumnTrait, ConnectionTrait, DatabaseTransaction, EntityTrait, QueryFilter, Statement};

use crate::change::Change;
use crate::change_result::ChangeResult;
use crate::handles::TokenStore;
use crate::many::among;
use crate::{Reach, invites, rows};

/// A token and its descendants: the tokens that it minted, those that these minted, and so on. Revoked ones
/// are included, because their descendants may still work.
const TREE: &str = "WITH RECURSIVE tree (id) AS (
        SELECT id FROM tokens WHERE id = $1
        UNION
        SELECT minted.id FROM tokens AS minted JOIN tree ON minted.created_by_token = tree.id
    )
    SELECT id FROM tree";

/// What a change does to the account's existing tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenFate {
    Keep,
    Revoke,
}

/// What to revoke in addition to a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RevocationScope {
    Nothing,
    /// The descendants of the token.
    Tokens,
    /// The descendants, and the open invites that they or the token made.
    TokensAndInvites,
}

/// What was revoked in addition to a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AlsoRevoked {
    pub tokens: u64,
    pub invites: u64,
}

impl TokenStore<'_> {
    /// Revokes a token within reach and, on request, its descendants and their open invites. A caller may
    /// revoke everything that the caller's own token made. Revoking a revoked token is not an error, and its
    /// descendants can still be revoked.
    pub async fn revoke(
        self,
        change: &Change<'_>,
        id: TokenId,
        reach: Reach,
        along: RevocationScope,
    ) -> ChangeResult<AlsoRevoked> {
        let begun = change.begin(self.0).await?;
        let transaction = &begun.transaction;
        let found = entity::token::Entity::find_by_id(id.to_string())
            .filter(entity::token::Column::AccountId.eq(change.account.to_string()))
            .one(transaction)
            .await?;
        let row = found.ok_or(Refusal::NotFound(Missing::Token))?;
        must_be_within(reach, &row)?;
        let also = revoke_along(transaction, change, &row.id, along).await?;
        if row.revoked_at.is_none() {
            revoke(transaction, change, &[row]).await?;
        }
        begun.transaction.commit().await?;
        Ok(also)
    }

    /// Revokes a leaked token, even if its account is suspended: the token can still read, and would write
    /// again after the suspension.
    pub async fn revoke_leaked(
        self,
        change: &Change<'_>,
        id: TokenId,
        along: RevocationScope,
    ) -> ChangeResult<()> {
        let begun = change.begin_even_if_suspended(self.0).await?;
        let found = entity::token::Entity::find_by_id(id.to_string()).one(&begun.transaction).await?;
        let row = found.ok_or(Refusal::NotFound(Missing::Token))?;
        revoke_along(&begun.transaction, change, &row.id, along).await?;
        revoke(&begun.transaction, change, &[row]).await?;
        begun.transaction.commit().await?;
        Ok(())
    }
}

/// Revokes every active token of the account within a transaction that holds its row, and returns their
/// number.
pub(crate) async fn revoke_all(
    transaction: &DatabaseTransaction,
    change: &Change<'_>,
) -> anyhow::Result<u64> {
    let active = rows::token::active(change.account, change.now).all(transaction).await?;
    revoke(transaction, change, &active).await
}

async fn revoke_along(
    transaction: &DatabaseTransaction,
    change: &Change<'_>,
    id: &str,
    along: RevocationScope,
) -> anyhow::Result<AlsoRevoked> {
    if along == RevocationScope::Nothing {
        return Ok(AlsoRevoked::default());
    }
    let statement =
        Statement::from_sql_and_values(transaction.get_database_backend(), TREE, [id.to_owned().into()]);
    let tree = transaction.query_all_raw(statement).await?;
    let tree: Vec<String> = tree.iter().map(|row| row.try_get("", "id")).collect::<Result<_, _>>()?;
    let minted = tree.iter().filter(|minted| *minted != id).cloned();
    let minted = rows::token::active(change.account, change.now)
        .filter(Condition::all().add(among(transaction, entity::token::Column::Id, minted)))
        .all(transaction)
        .await?;
    let tokens = revoke(transaction, change, &minted).await?;
    let invites = match along {
        RevocationScope::TokensAndInvites => invites::revoke_made_by(transaction, change, tree).await?,
        RevocationScope::Nothing | RevocationScope::Tokens => 0,
    };
    Ok(AlsoRevoked { tokens, invites })
}

async fn revoke(
    transaction: &DatabaseTransaction,
    change: &Change<'_>,
    rows: &[entity::token::Model],
) -> anyhow::Result<u64> {
    let ids = rows.iter().map(|row| row.id.clone());
    let revocation =
        entity::token::ActiveModel { revoked_at: Set(Some(change.now.millis())), ..Default::default() };
    let revoked = entity::token::Entity::update_many()
        .set(revocation)
        .filter(Condition::all().add(among(transaction, entity::token::Column::Id, ids)))
        .exec(transaction)
        .await?;
    for row in rows {
        let name = rows::parse::<TokenName>(&row.name, "a token name")?.without_code();
        change.note(transaction, "token.revoked", &row.id, format!("{:?}", name.to_string())).await?;
    }
    Ok(revoked.rows_affected)
}

/// Tokens outside the caller's pin are reported as missing. Other people's tokens are forbidden.
pub(crate) fn must_be_within(reach: Reach, row: &entity::token::Model) -> Result<(), Refusal> {
    match reach {
        Reach::PinnedTo(pin) if row.artifact_id.as_deref() != Some(pin.to_string().as_str()) => {
            Err(Refusal::NotFound(Missing::Token))
        }
        Reach::Of(user) if row.created_by_user.as_deref() != Some(user.to_string().as_str()) => {
            Err(Refusal::Forbidden { fault: "a member changes only tokens of their own".to_owned() })
        }
        _ => Ok(()),
    }
}
