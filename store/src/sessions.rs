//! People's sessions: known by the hash of their secret, alive until they expire or end. The hash may not leave in an
//! error.

use anyhow::Context;
use domain::{PasswordHash, Time, UserId};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::LockType;
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, JoinType, QueryFilter, QuerySelect, RelationDef};

use crate::{Store, rows};

/// A session as the door needs it: whose it is, and until when.
#[derive(Clone, Debug)]
pub struct SessionGrant {
    pub user: UserId,
    pub username: String,
    pub last_used_at: Time,
    pub expires_at: Time,
}

/// A session to be written: its secret is known by hash only.
#[derive(Clone, Debug)]
pub struct NewSession {
    pub secret_hash: String,
    pub user: UserId,
    pub created_at: Time,
    pub expires_at: Time,
}

impl Store {
    pub async fn insert_session(&self, session: &NewSession) -> anyhow::Result<()> {
        insert(&self.database.writer, session).await
    }

    /// Writes a session for who knew the password. False when that is another by now: a change of it must not leave
    /// behind who came in by the old one in the same moment.
    pub async fn insert_session_by(
        &self,
        password: &PasswordHash,
        session: &NewSession,
    ) -> anyhow::Result<bool> {
        let transaction = self.database.begin().await?;
        let known = entity::user::Entity::find_by_id(session.user.to_string())
            .filter(entity::user::Column::PasswordHash.eq(password.as_str()))
            .lock(LockType::Share)
            .one(&transaction)
            .await
            .context("look at a password once more")?;
        if known.is_none() {
            return Ok(false);
        }
        insert(&transaction, session).await?;
        transaction.commit().await.context("commit a session")?;
        Ok(true)
    }

    pub async fn session(&self, secret_hash: &str) -> anyhow::Result<Option<SessionGrant>> {
        let person: RelationDef = entity::session::Entity::belongs_to(entity::user::Entity)
            .from(entity::session::Column::UserId)
            .to(entity::user::Column::Id)
            .into();
        let found = entity::session::Entity::find()
            .join(JoinType::InnerJoin, person)
            .select_also(entity::user::Entity)
            .filter(entity::session::Column::SecretHash.eq(secret_hash))
            .one(&self.database.reader)
            .await?;
        let Some((session, Some(user))) = found else { return Ok(None) };
        Ok(Some(SessionGrant {
            user: rows::parse(&user.id, "a user id")?,
            username: user.username,
            last_used_at: Time::from_millis(session.last_used_at),
            expires_at: Time::from_millis(session.expires_at),
        }))
    }

    /// Notes a use and the new end that follows from it. A session that ended in the meantime stays ended.
    pub async fn renew_session(&self, secret_hash: &str, now: Time, expires_at: Time) -> anyhow::Result<()> {
        let renewal = entity::session::ActiveModel {
            last_used_at: Set(now.millis()),
            expires_at: Set(expires_at.millis()),
            ..Default::default()
        };
        entity::session::Entity::update_many()
            .set(renewal)
            .filter(entity::session::Column::SecretHash.eq(secret_hash))
            .exec(&self.database.writer)
            .await?;
        Ok(())
    }

    /// Ends a session; one that has ended already is no error.
    pub async fn delete_session(&self, secret_hash: &str) -> anyhow::Result<()> {
        entity::session::Entity::delete_by_id(secret_hash).exec(&self.database.writer).await?;
        Ok(())
    }

    /// Ends all sessions of a person.
    pub async fn delete_sessions(&self, user: UserId) -> anyhow::Result<()> {
        delete_all(&self.database.writer, user).await
    }
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
    };
    entity::session::Entity::insert(row)
        .exec_without_returning(connection)
        .await
        .context("write a session")?;
    Ok(())
}
