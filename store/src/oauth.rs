//! Grants to OAuth clients. A grant extends a token: its client renews the token's secret, and whatever
//! revokes the token ends the grant. Secrets never reach this crate, only their hashes.

mod devices;

use anyhow::Context;
use domain::{Account, AccountId, Scopes, Time, TokenId};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::Query;
use sea_orm::{
    ColumnTrait, DatabaseTransaction, EntityTrait, JoinType, QueryFilter, QuerySelect, RelationDef,
};

use crate::change::Change;
use crate::change_result::ChangeResult;
use crate::handles::{OAuthStore, Upkeep};
use crate::many::among;
use crate::{NewToken, accounts, rows};

pub use devices::{Device, DeviceDecision, NewDevice};

/// A grant to insert. Its token has no usable secret until the code is exchanged.
#[derive(Clone, Debug)]
pub struct NewGrant {
    pub client_hash: String,
    /// The resource that the client named, if it named one.
    pub resource: Option<String>,
    pub code_hash: String,
    pub code_expires_at: Time,
    pub by: GrantPath,
}

/// How the client gets the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GrantPath {
    Redirect {
        uri: String,
        challenge: String,
    },
    /// It has the code already, and the person has typed this one.
    Device {
        user_code_hash: String,
    },
}

/// A grant with what its token says.
#[derive(Clone, Debug)]
pub struct StoredGrant {
    pub token: TokenId,
    pub account: AccountId,
    pub scopes: Scopes,
    pub revoked_at: Option<Time>,
    pub client_hash: String,
    pub resource: Option<String>,
    pub redirect_uri: Option<String>,
    pub challenge: Option<String>,
    pub code_expires_at: Time,
    pub exchanged_at: Option<Time>,
    pub refresh_hash: Option<String>,
    pub ends_at: Time,
}

/// The hashes of new secrets, and their ends.
#[derive(Clone, Debug)]
pub struct Renewal {
    pub secret_hash: String,
    pub expires_at: Time,
    pub family_hash: String,
    pub refresh_hash: String,
    pub ends_at: Time,
}

impl OAuthStore<'_> {
    /// Inserts a grant and its token. The maker of the change must still be on the account.
    pub async fn grant(self, change: &Change<'_>, token: &NewToken, grant: &NewGrant) -> ChangeResult<()> {
        let begun = change.begin(self.0).await?;
        rows::token::insert(&begun.transaction, token).await?;
        insert(&begun.transaction, token, grant).await?;
        let detail = format!("{:?}, {}", token.name.to_string(), token.rights.scopes);
        change.note(&begun.transaction, "oauth.granted", &token.id.to_string(), detail).await?;
        begun.transaction.commit().await?;
        Ok(())
    }

    /// Inserts an account whose first token is that of a grant.
    pub async fn grant_new_account(
        self,
        account: &Account,
        token: &NewToken,
        grant: &NewGrant,
    ) -> ChangeResult<()> {
        let transaction = self.0.database.begin().await?;
        accounts::insert(&transaction, account, token).await?;
        insert(&transaction, token, grant).await?;
        transaction.commit().await?;
        Ok(())
    }

    pub async fn find_by_code(self, code_hash: &str) -> anyhow::Result<Option<StoredGrant>> {
        self.find(entity::oauth_grant::Column::CodeHash, code_hash).await
    }

    pub async fn find_by_family(self, family_hash: &str) -> anyhow::Result<Option<StoredGrant>> {
        self.find(entity::oauth_grant::Column::FamilyHash, family_hash).await
    }

    /// Which of these hashes belong to a grant that its client can renew.
    pub(crate) async fn find_active_families(
        self,
        hashes: Vec<String>,
        now: Time,
    ) -> anyhow::Result<Vec<String>> {
        use entity::oauth_grant::Column;
        let connection = &self.0.database.reader;
        let of_token: RelationDef = entity::oauth_grant::Entity::belongs_to(entity::token::Entity)
            .from(Column::TokenId)
            .to(entity::token::Column::Id)
            .into();
        let found: Vec<Option<String>> = entity::oauth_grant::Entity::find()
            .select_only()
            .column(Column::FamilyHash)
            .join(JoinType::InnerJoin, of_token)
            .filter(among(connection, Column::FamilyHash, hashes))
            .filter(Column::EndsAt.gt(now.millis()))
            .filter(entity::token::Column::RevokedAt.is_null())
            .into_tuple()
            .all(connection)
            .await
            .context("find grants by their refresh tokens")?;
        Ok(found.into_iter().flatten().collect())
    }

    pub async fn find_by_token(self, token: TokenId) -> anyhow::Result<Option<StoredGrant>> {
        self.find(entity::oauth_grant::Column::TokenId, &token.to_string()).await
    }

    async fn find(
        self,
        column: entity::oauth_grant::Column,
        hash: &str,
    ) -> anyhow::Result<Option<StoredGrant>> {
        let extended: RelationDef = entity::oauth_grant::Entity::belongs_to(entity::token::Entity)
            .from(entity::oauth_grant::Column::TokenId)
            .to(entity::token::Column::Id)
            .into();
        // Read from the writer: a decision on an old state of the grant would be wrong.
        let found = entity::oauth_grant::Entity::find()
            .join(JoinType::InnerJoin, extended)
            .select_also(entity::token::Entity)
            .filter(column.eq(hash))
            .one(&self.0.database.writer)
            .await
            .context("find a grant")?;
        let Some((grant, Some(token))) = found else { return Ok(None) };
        Ok(Some(StoredGrant {
            token: rows::parse(&token.id, "a token id")?,
            account: rows::parse(&token.account_id, "an account id")?,
            scopes: rows::parse(&token.scopes, "a list of scopes")?,
            revoked_at: token.revoked_at.map(Time::from_millis),
            client_hash: grant.client_hash,
            resource: grant.resource,
            redirect_uri: grant.redirect_uri,
            challenge: grant.challenge,
            code_expires_at: Time::from_millis(grant.code_expires_at),
            exchanged_at: grant.exchanged_at.map(Time::from_millis),
            refresh_hash: grant.refresh_hash,
            ends_at: Time::from_millis(grant.ends_at),
        }))
    }

    /// Gives the token its first secret. Returns false if the code was exchanged before or the token is
    /// revoked. Of several concurrent calls only one succeeds.
    pub async fn exchange(self, token: TokenId, first: &Renewal, now: Time) -> anyhow::Result<bool> {
        use entity::oauth_grant::Column;
        let transaction = self.0.database.begin().await?;
        let change = entity::oauth_grant::ActiveModel {
            exchanged_at: Set(Some(now.millis())),
            family_hash: Set(Some(first.family_hash.clone())),
            ..renewed(first)
        };
        let exchanged = entity::oauth_grant::Entity::update_many()
            .set(change)
            .filter(Column::TokenId.eq(token.to_string()))
            .filter(Column::ExchangedAt.is_null())
            .exec(&transaction)
            .await
            .context("exchange a code")?;
        if exchanged.rows_affected != 1 || !renew_token(&transaction, token, first).await? {
            return Ok(false);
        }
        transaction.commit().await.context("commit an exchange")?;
        Ok(true)
    }

    /// Replaces the token's secret and the refresh token. Returns false if `known` is not the current refresh
    /// token any more or the token is revoked.
    pub async fn renew(self, token: TokenId, known: &str, next: &Renewal) -> anyhow::Result<bool> {
        use entity::oauth_grant::Column;
        let transaction = self.0.database.begin().await?;
        let rotated = entity::oauth_grant::Entity::update_many()
            .set(renewed(next))
            .filter(Column::TokenId.eq(token.to_string()))
            .filter(Column::RefreshHash.eq(known))
            .exec(&transaction)
            .await
            .context("rotate a refresh token")?;
        if rotated.rows_affected != 1 || !renew_token(&transaction, token, next).await? {
            return Ok(false);
        }
        transaction.commit().await.context("commit a renewal")?;
        Ok(true)
    }
}

impl Upkeep<'_> {
    /// Deletes up to `at_most` grants, and all sign-ins of devices, that ended before a time. Tokens stay, as
    /// those without a grant do.
    pub async fn sweep_oauth(self, ended_before: Time, at_most: u64) -> anyhow::Result<u64> {
        use entity::oauth_grant::Column;
        let ended = Query::select()
            .column(Column::TokenId)
            .from(entity::oauth_grant::Entity)
            .and_where(Column::EndsAt.lt(ended_before.millis()))
            .limit(at_most)
            .to_owned();
        let grants = entity::oauth_grant::Entity::delete_many()
            .filter(Column::TokenId.in_subquery(ended))
            .exec(&self.0.database.writer)
            .await
            .context("sweep grants")?;
        entity::oauth_device::Entity::delete_many()
            .filter(entity::oauth_device::Column::ExpiresAt.lt(ended_before.millis()))
            .exec(&self.0.database.writer)
            .await
            .context("sweep devices")?;
        Ok(grants.rows_affected)
    }
}

/// Inserts the grant of a token that was inserted in the same transaction.
async fn insert(transaction: &DatabaseTransaction, token: &NewToken, grant: &NewGrant) -> ChangeResult<()> {
    let (redirect_uri, challenge) = match &grant.by {
        GrantPath::Redirect { uri, challenge } => (Some(uri.clone()), Some(challenge.clone())),
        GrantPath::Device { user_code_hash } => {
            devices::allow(transaction, user_code_hash, token.created_at).await?;
            (None, None)
        }
    };
    let row = entity::oauth_grant::ActiveModel {
        token_id: Set(token.id.to_string()),
        client_hash: Set(grant.client_hash.clone()),
        resource: Set(grant.resource.clone()),
        code_hash: Set(grant.code_hash.clone()),
        code_expires_at: Set(grant.code_expires_at.millis()),
        redirect_uri: Set(redirect_uri),
        challenge: Set(challenge),
        exchanged_at: Set(None),
        family_hash: Set(None),
        refresh_hash: Set(None),
        ends_at: Set(grant.code_expires_at.millis()),
    };
    entity::oauth_grant::Entity::insert(row).exec_without_returning(transaction).await?;
    Ok(())
}

fn renewed(renewal: &Renewal) -> entity::oauth_grant::ActiveModel {
    entity::oauth_grant::ActiveModel {
        refresh_hash: Set(Some(renewal.refresh_hash.clone())),
        ends_at: Set(renewal.ends_at.millis()),
        ..Default::default()
    }
}

async fn renew_token(
    transaction: &DatabaseTransaction,
    token: TokenId,
    renewal: &Renewal,
) -> anyhow::Result<bool> {
    let change = entity::token::ActiveModel {
        secret_hash: Set(renewal.secret_hash.clone()),
        expires_at: Set(Some(renewal.expires_at.millis())),
        renewable_until: Set(Some(renewal.ends_at.millis())),
        ..Default::default()
    };
    let renewed = entity::token::Entity::update_many()
        .set(change)
        .filter(entity::token::Column::Id.eq(token.to_string()))
        .filter(entity::token::Column::RevokedAt.is_null())
        .exec(transaction)
        .await
        .context("renew a token")?;
    Ok(renewed.rows_affected == 1)
}
