//! People's sessions. They are found by the hash of their secret and valid until they expire or end. The hash
//! must not appear in an error.

use anyhow::Context;
use domain::{Chance, Origin, PasswordHash, Time, UserId, hash_secret};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::LockType;
use sea_orm::{
    ColumnTrait, ConnectionTrait, EntityTrait, JoinType, PaginatorTrait, QueryFilter, QueryOrder,
    QuerySelect, RelationDef,
};

use crate::audit::{self, Personal};
use crate::handles::SessionStore;
use crate::rows;

/// How many of a person's sessions a list shows.
const LIST_MAX: u64 = 100;
/// The length of a session's public id. It is too short to be used as the hash.
const ID_LENGTH: usize = 16;

/// A session as request authentication needs it.
#[derive(Clone, Debug)]
pub struct SessionGrant {
    pub user: UserId,
    pub username: String,
    pub last_used_at: Time,
    pub expires_at: Time,
}

/// A session to insert, with the hash of its secret.
#[derive(Clone, Debug)]
pub struct NewSession {
    pub secret_hash: String,
    pub user: UserId,
    pub created_at: Time,
    pub expires_at: Time,
    pub origin: Origin,
    pub user_agent: Option<String>,
}

/// A session as its person sees it in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionInfo {
    pub id: String,
    pub created_at: Time,
    pub last_used_at: Time,
    /// The address that opened it. Unknown for sessions of earlier releases.
    pub address: Option<String>,
    pub user_agent: Option<String>,
    pub is_current: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sessions {
    /// The most recently used ones.
    pub last_used: Vec<SessionInfo>,
    /// The number of all sessions.
    pub total: u64,
}

impl SessionStore<'_> {
    pub async fn create(self, session: &NewSession, chance: &Chance) -> anyhow::Result<()> {
        let transaction = self.0.database.begin().await?;
        insert(&transaction, session).await?;
        audit::note_personal(&transaction, chance, session.event("person.signed_in")).await?;
        transaction.commit().await.context("commit a session")
    }

    /// Inserts a session if the person still has this password hash, and returns whether it did. A concurrent
    /// change of the password must not leave behind a session that was opened with the old one.
    pub async fn create_with_password(
        self,
        password: &PasswordHash,
        session: &NewSession,
        chance: &Chance,
    ) -> anyhow::Result<bool> {
        let transaction = self.0.database.begin().await?;
        let known = entity::user::Entity::find_by_id(session.user.to_string())
            .filter(entity::user::Column::PasswordHash.eq(password.as_str()))
            .lock(LockType::Share)
            .one(&transaction)
            .await
            .context("compare a password again")?;
        if known.is_none() {
            return Ok(false);
        }
        insert(&transaction, session).await?;
        audit::note_personal(&transaction, chance, session.event("person.signed_in")).await?;
        transaction.commit().await.context("commit a session")?;
        Ok(true)
    }

    pub async fn find(self, secret_hash: &str) -> anyhow::Result<Option<SessionGrant>> {
        let person: RelationDef = entity::session::Entity::belongs_to(entity::user::Entity)
            .from(entity::session::Column::UserId)
            .to(entity::user::Column::Id)
            .into();
        let found = entity::session::Entity::find()
            .join(JoinType::InnerJoin, person)
            .select_also(entity::user::Entity)
            .filter(entity::session::Column::SecretHash.eq(secret_hash))
            .one(&self.0.database.reader)
            .await?;
        let Some((session, Some(user))) = found else { return Ok(None) };
        Ok(Some(SessionGrant {
            user: rows::parse(&user.id, "a user id")?,
            username: user.username,
            last_used_at: Time::from_millis(session.last_used_at),
            expires_at: Time::from_millis(session.expires_at),
        }))
    }

    /// Records a use and the new expiry. A session that has ended in the meantime stays ended.
    pub async fn renew(self, secret_hash: &str, now: Time, expires_at: Time) -> anyhow::Result<()> {
        let renewal = entity::session::ActiveModel {
            last_used_at: Set(now.millis()),
            expires_at: Set(expires_at.millis()),
            ..Default::default()
        };
        entity::session::Entity::update_many()
            .set(renewal)
            .filter(entity::session::Column::SecretHash.eq(secret_hash))
            .exec(&self.0.database.writer)
            .await?;
        Ok(())
    }

    /// Ends a session. An ended session is not an error.
    pub async fn delete(self, secret_hash: &str) -> anyhow::Result<()> {
        entity::session::Entity::delete_by_id(secret_hash).exec(&self.0.database.writer).await?;
        Ok(())
    }

    /// The sessions of a person that have not expired, most recently used first. `current` is the hash of the
    /// caller's own session.
    pub async fn list(self, user: UserId, current: &str, now: Time) -> anyhow::Result<Sessions> {
        let active = entity::session::Entity::find()
            .filter(entity::session::Column::UserId.eq(user.to_string()))
            .filter(entity::session::Column::ExpiresAt.gt(now.millis()));
        let total = active.clone().count(&self.0.database.reader).await.context("count sessions")?;
        let found = active
            .order_by_desc(entity::session::Column::LastUsedAt)
            .order_by_desc(entity::session::Column::CreatedAt)
            .limit(LIST_MAX)
            .all(&self.0.database.reader)
            .await
            .context("list sessions")?;
        let info = |row: entity::session::Model| SessionInfo {
            id: public_id(&row.secret_hash),
            created_at: Time::from_millis(row.created_at),
            last_used_at: Time::from_millis(row.last_used_at),
            is_current: row.secret_hash == current,
            address: row.address,
            user_agent: row.user_agent,
        };
        Ok(Sessions { last_used: found.into_iter().map(info).collect(), total })
    }

    /// Ends one session of a person by its public id. Returns false if it does not exist.
    pub async fn end(self, user: UserId, id: &str, ending: Ending<'_>) -> anyhow::Result<bool> {
        let transaction = self.0.database.begin().await?;
        let hashes: Vec<String> = entity::session::Entity::find()
            .select_only()
            .column(entity::session::Column::SecretHash)
            .filter(entity::session::Column::UserId.eq(user.to_string()))
            .into_tuple()
            .all(&transaction)
            .await?;
        let Some(hash) = hashes.into_iter().find(|hash| public_id(hash) == id) else { return Ok(false) };
        entity::session::Entity::delete_by_id(hash).exec(&transaction).await?;
        ending.note(&transaction, user, "person.session_ended").await?;
        transaction.commit().await.context("commit the end of a session")?;
        Ok(true)
    }

    /// Ends all sessions of a person.
    pub async fn end_all(self, user: UserId, ending: Ending<'_>) -> anyhow::Result<()> {
        let transaction = self.0.database.begin().await?;
        delete_all(&transaction, user).await?;
        ending.note(&transaction, user, "person.signed_out_everywhere").await?;
        transaction.commit().await.context("commit the end of all sessions")
    }
}

/// The origin and time at which a person ends sessions.
#[derive(Clone, Copy, Debug)]
pub struct Ending<'a> {
    pub origin: Origin,
    pub now: Time,
    pub chance: &'a Chance,
}

impl Ending<'_> {
    async fn note(
        self,
        transaction: &impl ConnectionTrait,
        user: UserId,
        action: &'static str,
    ) -> anyhow::Result<()> {
        let event = Personal { user, origin: self.origin, action, now: self.now };
        audit::note_personal(transaction, self.chance, event).await
    }
}

impl NewSession {
    /// The audit log entry for opening the session.
    pub(crate) fn event(&self, action: &'static str) -> Personal {
        Personal { user: self.user, origin: self.origin, action, now: self.created_at }
    }
}

/// The public id of a session. It is derived from the hash, so that every session has one and nobody can
/// compute the hash from it.
fn public_id(secret_hash: &str) -> String {
    let mut id = hash_secret(&format!("session:{secret_hash}"));
    id.truncate(ID_LENGTH);
    id
}

pub(crate) async fn delete_all(connection: &impl ConnectionTrait, user: UserId) -> anyhow::Result<()> {
    entity::session::Entity::delete_many()
        .filter(entity::session::Column::UserId.eq(user.to_string()))
        .exec(connection)
        .await
        .context("end all sessions of a person")?;
    Ok(())
}

pub(crate) async fn insert(connection: &impl ConnectionTrait, session: &NewSession) -> anyhow::Result<()> {
    let row = entity::session::ActiveModel {
        secret_hash: Set(session.secret_hash.clone()),
        user_id: Set(session.user.to_string()),
        created_at: Set(session.created_at.millis()),
        last_used_at: Set(session.created_at.millis()),
        expires_at: Set(session.expires_at.millis()),
        address: Set(session.origin.address.map(|address| address.to_string())),
        user_agent: Set(session.user_agent.clone()),
    };
    entity::session::Entity::insert(row)
        .exec_without_returning(connection)
        .await
        .context("write a session")?;
    Ok(())
}
