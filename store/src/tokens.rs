//! Tokens: found by the hash of their secret, listed without it, minted, and marked as used. Secrets never
//! reach this crate. `revocations` revokes tokens.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

use domain::{
    Account, AccountId, ArtifactId, Cursor, List, Maker, Missing, Page, Paged, Refusal, Rights, Scopes, Time,
    Token, TokenId, TokenName, UserId,
};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{LockBehavior, LockType};
use sea_orm::{ColumnTrait, EntityTrait, JoinType, QueryFilter, QuerySelect, RelationDef};

use crate::change::Change;
use crate::change_result::ChangeResult;
use crate::handles::TokenStore;
use crate::many::among;
use crate::pages::{self, Keys};
use crate::revocations::must_be_within;
use crate::rows;
use crate::rows::token::{NewToken, Reach, active, insert, within, works};

/// A token as request authentication needs it.
#[derive(Clone, Debug)]
pub struct TokenGrant {
    pub token: TokenId,
    pub account: Account,
    pub scopes: Scopes,
    pub pinned_to: Option<ArtifactId>,
    /// The person who minted it, or who invited its agent.
    pub created_by_user: Option<UserId>,
    pub expires_at: Option<Time>,
    pub revoked_at: Option<Time>,
    pub last_used_at: Option<Time>,
    /// Until when its OAuth client can renew it, if one holds it.
    pub renewable_until: Option<Time>,
}

#[derive(Clone, Copy, Debug)]
pub struct TokenUse {
    pub token: TokenId,
    pub at: Time,
    pub from: Option<IpAddr>,
}

/// A new secret for a token.
#[derive(Clone, Debug)]
pub struct TokenRotation {
    pub token: TokenId,
    pub secret_hash: String,
    pub secret_start: String,
    /// The tokens that the caller may change.
    pub reach: Reach,
    /// The rights that the caller may grant, which must cover those of the token.
    pub rights: Rights,
}

impl TokenStore<'_> {
    pub async fn find_grant(self, secret_hash: &str) -> anyhow::Result<Option<TokenGrant>> {
        let owner: RelationDef = entity::token::Entity::belongs_to(entity::account::Entity)
            .from(entity::token::Column::AccountId)
            .to(entity::account::Column::Id)
            .into();
        let found = entity::token::Entity::find()
            .join(JoinType::InnerJoin, owner)
            .select_also(entity::account::Entity)
            .filter(entity::token::Column::SecretHash.eq(secret_hash))
            .one(&self.0.database.reader)
            .await?;
        let Some((token, Some(account))) = found else { return Ok(None) };
        Ok(Some(TokenGrant {
            token: rows::parse(&token.id, "a token id")?,
            account: rows::account(account)?,
            scopes: rows::parse(&token.scopes, "a list of scopes")?,
            pinned_to: token.artifact_id.map(|id| rows::parse(&id, "an artifact id")).transpose()?,
            created_by_user: token.created_by_user.map(|id| rows::parse(&id, "a user id")).transpose()?,
            expires_at: token.expires_at.map(Time::from_millis),
            revoked_at: token.revoked_at.map(Time::from_millis),
            last_used_at: token.last_used_at.map(Time::from_millis),
            renewable_until: token.renewable_until.map(Time::from_millis),
        }))
    }

    /// The account's active tokens within reach, newest first.
    pub async fn list(
        self,
        account: AccountId,
        reach: Reach,
        now: Time,
        page: &Page,
    ) -> anyhow::Result<Paged<Token>> {
        use entity::token::Column;
        let query = active(account, now).filter(within(reach));
        let keys = Keys::NewestFirst(Column::CreatedAt, Column::Id);
        let cursor = |row: &entity::token::Model| Cursor::new(List::Tokens, row.created_at, &row.id);
        pages::read(&self.0.database.reader, query, keys, page, cursor).await?.try_map(token)
    }

    /// Inserts a token if its maker still has the right to mint it and its artifact exists.
    pub async fn create(self, change: &Change<'_>, token: &NewToken) -> ChangeResult<()> {
        let begun = change.begin(self.0).await?;
        if let Some(artifact) = token.rights.pinned_to
            && rows::artifact::find_by_id(&begun.transaction, change.account, artifact).await?.is_none()
        {
            return Err(Refusal::NotFound(Missing::Artifact).into());
        }
        insert(&begun.transaction, token).await?;
        let detail = format!("{:?}, {}", token.name.without_code().to_string(), token.rights.scopes);
        change.note(&begun.transaction, "token.minted", &token.id.to_string(), detail).await?;
        begun.transaction.commit().await?;
        Ok(())
    }

    /// Gives an active token within reach a new secret. The old secret stops working at once. The caller
    /// knows the new secret and becomes the token's creator: removing the caller revokes the token.
    pub async fn rotate(self, change: &Change<'_>, rotation: &TokenRotation) -> ChangeResult<Token> {
        let begun = change.begin(self.0).await?;
        let found = active(change.account, change.now)
            .filter(entity::token::Column::Id.eq(rotation.token.to_string()))
            .one(&begun.transaction)
            .await?;
        let row = found.ok_or(Refusal::NotFound(Missing::Token))?;
        must_be_within(rotation.reach, &row)?;
        let former = token(row)?;
        rotation.rights.must_cover(former.rights)?;
        if former.renewable_until.is_some() {
            let fault = "an app holds this token and renews its secret by itself".to_owned();
            return Err(Refusal::Forbidden { fault }.into());
        }
        let made_by = Maker {
            user: change.by.user.or(former.made_by.user),
            token: change.by.token.or(former.made_by.token),
        };
        let renewed = entity::token::ActiveModel {
            id: Set(former.id.to_string()),
            secret_hash: Set(rotation.secret_hash.clone()),
            secret_start: Set(Some(rotation.secret_start.clone())),
            created_by_user: Set(made_by.user.map(|id| id.to_string())),
            created_by_token: Set(made_by.token.map(|id| id.to_string())),
            last_used_at: Set(None),
            last_used_from: Set(None),
            ..Default::default()
        };
        entity::token::Entity::update(renewed).exec_without_returning(&begun.transaction).await?;
        let name = format!("{:?}", former.name.without_code().to_string());
        change.note(&begun.transaction, "token.rotated", &former.id.to_string(), name).await?;
        begun.transaction.commit().await?;
        let secret_start = Some(rotation.secret_start.clone());
        Ok(Token { made_by, secret_start, last_used_at: None, last_used_from: None, ..former })
    }

    /// The names of the tokens that minted these, whether or not they still work.
    pub async fn list_minters(
        self,
        account: AccountId,
        tokens: &[Token],
    ) -> anyhow::Result<HashMap<TokenId, TokenName>> {
        use entity::token::Column;
        let ids = tokens.iter().filter_map(|token| token.made_by.token).map(|id| id.to_string());
        let found: Vec<(String, String)> = entity::token::Entity::find()
            .select_only()
            .columns([Column::Id, Column::Name])
            .filter(Column::AccountId.eq(account.to_string()))
            .filter(Column::Id.is_in(ids))
            .into_tuple()
            .all(&self.0.database.reader)
            .await?;
        found
            .into_iter()
            .map(|(id, name)| Ok((rows::parse(&id, "a token id")?, rows::parse(&name, "a token's name")?)))
            .collect()
    }

    /// Which of these hashes belong to a working token, or to the refresh tokens of a grant, of any account.
    pub async fn find_active(
        self,
        secret_hashes: impl IntoIterator<Item = String>,
        now: Time,
    ) -> anyhow::Result<HashSet<String>> {
        let connection = &self.0.database.reader;
        let hashes: Vec<String> = secret_hashes.into_iter().collect();
        let tokens: Vec<String> = entity::token::Entity::find()
            .select_only()
            .column(entity::token::Column::SecretHash)
            .filter(among(connection, entity::token::Column::SecretHash, hashes.iter().cloned()))
            .filter(works(now))
            .into_tuple()
            .all(connection)
            .await?;
        let families = self.0.oauth().find_active_families(hashes, now).await?;
        Ok(tokens.into_iter().chain(families).collect())
    }

    /// Records the last use of tokens. A token whose row is locked is skipped, so that this never waits. Its
    /// next use is recorded instead.
    pub async fn record_uses(self, uses: &[TokenUse]) -> anyhow::Result<()> {
        let transaction = self.0.database.begin().await?;
        let ids: Vec<_> = uses.iter().map(|used| used.token.to_string()).collect();
        let free: HashSet<String> = entity::token::Entity::find()
            .select_only()
            .column(entity::token::Column::Id)
            .filter(entity::token::Column::Id.is_in(ids))
            .lock_with_behavior(LockType::NoKeyUpdate, LockBehavior::SkipLocked)
            .into_tuple()
            .all(&transaction)
            .await?
            .into_iter()
            .collect();
        for used in uses.iter().filter(|used| free.contains(&used.token.to_string())) {
            let note = entity::token::ActiveModel {
                id: Set(used.token.to_string()),
                last_used_at: Set(Some(used.at.millis())),
                last_used_from: Set(used.from.map(|address| address.to_string())),
                ..Default::default()
            };
            entity::token::Entity::update(note).exec_without_returning(&transaction).await?;
        }
        transaction.commit().await?;
        Ok(())
    }
}

fn token(row: entity::token::Model) -> anyhow::Result<Token> {
    Ok(Token {
        id: rows::parse(&row.id, "a token id")?,
        name: rows::parse(&row.name, "a token's name")?,
        rights: Rights {
            scopes: rows::parse(&row.scopes, "a list of scopes")?,
            pinned_to: row.artifact_id.map(|id| rows::parse(&id, "an artifact id")).transpose()?,
            expires_at: row.expires_at.map(Time::from_millis),
        },
        made_by: rows::maker(row.created_by_user.as_deref(), row.created_by_token.as_deref())?,
        created_at: Time::from_millis(row.created_at),
        last_used_at: row.last_used_at.map(Time::from_millis),
        last_used_from: row.last_used_from.map(|text| rows::parse(&text, "an address")).transpose()?,
        secret_start: row.secret_start,
        renewable_until: row.renewable_until.map(Time::from_millis),
    })
}
