//! The end of tokens: one, one with all that came from it, or all of an account. Every token that is revoked gets a line
//! in the audit trail.

use domain::{Missing, Refusal, TokenId, TokenName};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::Condition;
use sea_orm::{ColumnTrait, ConnectionTrait, DatabaseTransaction, EntityTrait, QueryFilter, Statement};

use crate::change::Change;
use crate::decided::Decided;
use crate::handles::TokenStore;
use crate::many::among;
use crate::{Reach, invites, rows};

/// A token, the tokens that it minted, those that they minted, and so on; those that are revoked already as well, since
/// what they minted may still work.
const TREE: &str = "WITH RECURSIVE tree (id) AS (
        SELECT id FROM tokens WHERE id = $1
        UNION
        SELECT minted.id FROM tokens AS minted JOIN tree ON minted.created_by_token = tree.id
    )
    SELECT id FROM tree";

/// What a change does to the tokens that it could take along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenFate {
    Keep,
    Revoke,
}

/// What is to be revoked along with a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Along {
    Nothing,
    /// The tokens that came from it.
    Tokens,
    /// These, and the open invites that any of them or the token itself made.
    TokensAndInvites,
}

/// What was revoked along with a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AlsoRevoked {
    pub tokens: u64,
    pub invites: u64,
}

impl TokenStore<'_> {
    /// Revokes a token within reach, and on request the tokens and open invites that came from it: what was minted by
    /// one's own token is one's own to end. A token that is revoked already stays so, and what came from it can still be
    /// revoked.
    pub async fn revoke(
        self,
        change: &Change<'_>,
        id: TokenId,
        reach: Reach,
        along: Along,
    ) -> Decided<AlsoRevoked> {
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

    /// Revokes a token that has leaked, also while its account is suspended: it still reads, and writes after a lift.
    pub async fn revoke_leaked(self, change: &Change<'_>, id: TokenId) -> Decided<()> {
        let begun = change.begin_even_if_suspended(self.0).await?;
        let found = entity::token::Entity::find_by_id(id.to_string()).one(&begun.transaction).await?;
        let row = found.ok_or(Refusal::NotFound(Missing::Token))?;
        revoke(&begun.transaction, change, &[row]).await?;
        begun.transaction.commit().await?;
        Ok(())
    }
}

/// Revokes every active token of the account, within a transaction that holds its row. How many there were.
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
    along: Along,
) -> anyhow::Result<AlsoRevoked> {
    if along == Along::Nothing {
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
        Along::TokensAndInvites => invites::revoke_made_by(transaction, change, tree).await?,
        Along::Nothing | Along::Tokens => 0,
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

/// What a pin hides is not there; what is somebody else's is forbidden.
fn must_be_within(reach: Reach, row: &entity::token::Model) -> Result<(), Refusal> {
    match reach {
        Reach::PinnedTo(pin) if row.artifact_id.as_deref() != Some(pin.to_string().as_str()) => {
            Err(Refusal::NotFound(Missing::Token))
        }
        Reach::Of(user) if row.created_by_user.as_deref() != Some(user.to_string().as_str()) => {
            Err(Refusal::Forbidden { fault: "a member revokes only tokens of their own".to_owned() })
        }
        _ => Ok(()),
    }
}
