//! User accounts. Only the hash of a password is stored, and it must not appear in an error.

use anyhow::Context;
use domain::{Chance, PasswordHash, Time, UserId, Username};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, TryInsertResult};

use crate::handles::UserStore;
use crate::sessions::{self, NewSession};
use crate::{audit, rows};

/// A user account as signing in needs it.
#[derive(Clone, Debug)]
pub struct User {
    pub id: UserId,
    pub username: Username,
    pub password_hash: PasswordHash,
    pub created_at: Time,
}

/// A new password, and the hash of the old one that the person proved to know.
#[derive(Clone, Debug)]
pub struct PasswordChange {
    pub known: PasswordHash,
    pub new: PasswordHash,
    /// The only session that remains.
    pub session: NewSession,
}

impl UserStore<'_> {
    pub async fn find(self, username: &Username) -> anyhow::Result<Option<User>> {
        let found = entity::user::Entity::find()
            .filter(entity::user::Column::Username.eq(username.as_str()))
            .one(&self.0.database.reader)
            .await?;
        let Some(row) = found else { return Ok(None) };
        Ok(Some(User {
            id: rows::parse(&row.id, "a user id")?,
            username: rows::parse(&row.username, "a username")?,
            password_hash: PasswordHash::kept(row.password_hash),
            created_at: Time::from_millis(row.created_at),
        }))
    }

    /// The username of a person, who may be on any account.
    pub async fn username(self, user: UserId) -> anyhow::Result<Option<String>> {
        let found = entity::user::Entity::find_by_id(user.to_string()).one(&self.0.database.reader).await?;
        Ok(found.map(|row| row.username))
    }

    /// Inserts a user account and its first session. Returns false if the username is taken, including by a
    /// concurrent call.
    pub async fn create(self, user: &User, session: &NewSession, chance: &Chance) -> anyhow::Result<bool> {
        let transaction = self.0.database.begin().await?;
        let row = entity::user::ActiveModel {
            id: Set(user.id.to_string()),
            username: Set(user.username.to_string()),
            password_hash: Set(user.password_hash.as_str().to_owned()),
            created_at: Set(user.created_at.millis()),
        };
        let inserted = entity::user::Entity::insert(row)
            .on_conflict_do_nothing_on([entity::user::Column::Username])
            .exec_without_returning(&transaction)
            .await
            .context("write a user")?;
        if !matches!(inserted, TryInsertResult::Inserted(1..)) {
            return Ok(false);
        }
        sessions::insert(&transaction, session).await?;
        audit::note_personal(&transaction, chance, session.event("person.registered")).await?;
        transaction.commit().await.context("commit a new person")?;
        Ok(true)
    }

    /// Changes a password and ends every session except the new one. Returns false if the password was
    /// changed in the meantime.
    pub async fn change_password(self, change: &PasswordChange, chance: &Chance) -> anyhow::Result<bool> {
        let transaction = self.0.database.begin().await?;
        // Changing the user's row comes first. A concurrent sign-in with the old password has then either
        // finished or fails.
        let changed = entity::user::Entity::update_many()
            .col_expr(entity::user::Column::PasswordHash, Expr::value(change.new.as_str()))
            .filter(entity::user::Column::Id.eq(change.session.user.to_string()))
            .filter(entity::user::Column::PasswordHash.eq(change.known.as_str()))
            .exec(&transaction)
            .await
            .context("change a password")?;
        if changed.rows_affected == 0 {
            return Ok(false);
        }
        sessions::delete_all(&transaction, change.session.user).await?;
        sessions::insert(&transaction, &change.session).await?;
        audit::note_personal(&transaction, chance, change.session.event("person.password_changed")).await?;
        transaction.commit().await.context("commit a new password")?;
        Ok(true)
    }
}
