//! Invites, and joining with them. Every join is decided under the account's lock, so an invite is never used
//! too often, and a refused join uses nothing up.

use anyhow::Context;
use domain::{
    Account, AccountId, AccountStatus, Chance, Crowd, Cursor, Invite, InviteCode, List, Missing, Origin,
    Page, PageStart, Paged, Refusal, Rights, Role, Scopes, Time, TokenId, TokenName, UserId, hash_secret,
};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Condition, Expr};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DatabaseTransaction, EntityTrait, PaginatorTrait, QueryFilter, QuerySelect,
};

use crate::audit::{self, Entry};
use crate::change::Change;
use crate::change_result::ChangeResult;
use crate::handles::InviteStore;
use crate::many::among;
use crate::pages::{self, Keys};
use crate::rows::account::{lock_account, must_not_be_suspended};
use crate::rows::member::{self, NewMember};
use crate::{NewToken, rows};

/// How many open invites an account may have.
const OPEN_MAX: u64 = 1_000;

/// An agent that joins, and its future token.
#[derive(Clone, Debug)]
pub struct JoiningAgent {
    pub code: InviteCode,
    pub token: TokenId,
    pub secret_hash: String,
    pub secret_start: String,
    pub origin: Origin,
    pub now: Time,
}

#[derive(Clone, Debug)]
pub struct JoiningPerson {
    pub code: InviteCode,
    pub user: UserId,
    pub origin: Origin,
    pub now: Time,
}

/// The joined account and the scopes of the new token.
#[derive(Clone, Debug)]
pub struct JoinedAgent {
    pub handle: String,
    pub scopes: Scopes,
}

/// An invite and its account.
#[derive(Clone, Debug)]
pub struct OpenedInvite {
    pub invite: Invite,
    pub account: Account,
}

/// An invite that is being redeemed, with its account's row locked.
struct Redeeming {
    transaction: DatabaseTransaction,
    account: entity::account::Model,
    invite: Invite,
}

impl InviteStore<'_> {
    /// Inserts an invite if the account is claimed and its maker still has the right to invite.
    pub async fn create(self, change: &Change<'_>, invite: &Invite) -> ChangeResult<()> {
        let begun = change.begin(self.0).await?;
        // Spec 4.5: claimed accounts only.
        if begun.account.status != AccountStatus::Claimed.as_str() {
            return Err(Refusal::NotClaimed.into());
        }
        if count_open(&begun.transaction, change).await? >= OPEN_MAX {
            return Err(Refusal::TooMany(Crowd::Invites).into());
        }
        entity::invite::Entity::insert(row(invite)).exec_without_returning(&begun.transaction).await?;
        let detail = format!("{}, {} uses until {}", invite.role, invite.max_uses, invite.expires_at);
        change.note(&begun.transaction, "invite.made", invite.code.mark(), detail).await?;
        begun.transaction.commit().await?;
        Ok(())
    }

    /// The account's invites, newest first, including used, revoked and expired ones.
    pub async fn list(self, account: AccountId, page: &Page) -> anyhow::Result<Paged<Invite>> {
        use entity::invite::Column;
        let query = entity::invite::Entity::find().filter(Column::AccountId.eq(account.to_string()));
        let keys = Keys::NewestFirst(Column::CreatedAt, Column::Code);
        let page = self.with_code(account, page).await?;
        let found = pages::read(&self.0.database.reader, query, keys, &page, cursor).await?;
        found.try_map(invite)
    }

    /// Replaces the hash of an invite code in the page's cursor by the code. A cursor without a matching
    /// invite stays as it is.
    async fn with_code(self, account: AccountId, page: &Page) -> anyhow::Result<Page> {
        let Some(cursor) = page.start.cursor() else { return Ok(page.clone()) };
        let codes: Vec<String> = entity::invite::Entity::find()
            .select_only()
            .column(entity::invite::Column::Code)
            .filter(entity::invite::Column::AccountId.eq(account.to_string()))
            .filter(entity::invite::Column::CreatedAt.eq(cursor.rank))
            .into_tuple()
            .all(&self.0.database.reader)
            .await
            .context("find the invite of a cursor")?;
        let code = codes.into_iter().find(|code| cursor_id(code) == cursor.id);
        let position = Cursor { id: code.unwrap_or_else(|| cursor.id.clone()), ..cursor.clone() };
        let start = match page.start {
            PageStart::Before(_) => PageStart::Before(position),
            PageStart::First | PageStart::After(_) => PageStart::After(position),
        };
        Ok(Page { start, ..page.clone() })
    }

    /// Revokes an invite. If it is revoked already, nothing changes.
    pub async fn revoke(self, change: &Change<'_>, code: &InviteCode) -> ChangeResult<()> {
        let begun = change.begin(self.0).await?;
        let found = find(&begun.transaction, code).await?.filter(|invite| invite.account == change.account);
        let invite = found.ok_or(Refusal::NotFound(Missing::Invite))?;
        if invite.revoked_at.is_some() {
            return Ok(());
        }
        let revocation = entity::invite::ActiveModel {
            code: Set(code.as_str().to_owned()),
            revoked_at: Set(Some(change.now.millis())),
            ..Default::default()
        };
        entity::invite::Entity::update(revocation).exec_without_returning(&begun.transaction).await?;
        change.note(&begun.transaction, "invite.revoked", code.mark(), String::new()).await?;
        begun.transaction.commit().await?;
        Ok(())
    }

    /// The invite with this code and its account, whether or not it is usable, for the page that displays it.
    pub async fn open(self, code: &InviteCode) -> anyhow::Result<Option<OpenedInvite>> {
        let Some(invite) = find(&self.0.database.reader, code).await? else { return Ok(None) };
        let account =
            self.0.accounts().find(invite.account).await?.context("an invite without an account")?;
        Ok(Some(OpenedInvite { invite, account }))
    }

    /// Uses an invite for a new token of an agent.
    pub async fn join_as_agent(self, joining: &JoiningAgent, chance: &Chance) -> ChangeResult<JoinedAgent> {
        let redeeming = self.begin_redeeming(&joining.code).await?;
        let Redeeming { transaction, account, invite } = &redeeming;
        if !account.allow_agent_join {
            return Err(Refusal::AgentJoinDisabled.into());
        }
        invite.must_be_usable(joining.now)?;
        let token = token_of(joining, invite);
        rows::token::insert(transaction, &token).await?;
        spend_use(transaction, invite).await?;
        let entry = Entry {
            account: Some(invite.account),
            person: None,
            actor: token.id.to_string(),
            origin: Some(joining.origin),
            action: "agent.joined",
            subject: invite.code.mark().into(),
            detail: String::new(),
        };
        audit::note(transaction, chance, joining.now, entry).await?;
        let joined = JoinedAgent { handle: account.handle.clone(), scopes: token.rights.scopes };
        redeeming.transaction.commit().await?;
        Ok(joined)
    }

    /// Makes a person a member and returns the account's handle. A member with the same or a higher role
    /// stays as they are and uses nothing up, even if the invite is no longer usable. A member with a lower
    /// role gets the invite's role, which uses the invite up once.
    pub async fn join_as_person(self, joining: &JoiningPerson, chance: &Chance) -> ChangeResult<String> {
        let redeeming = self.begin_redeeming(&joining.code).await?;
        let Redeeming { transaction, account, invite } = &redeeming;
        let handle = account.handle.clone();
        let role = member::role_of(transaction, invite.account, joining.user).await?;
        if role >= Some(invite.role) {
            return Ok(handle);
        }
        invite.must_be_usable(joining.now)?;
        let member = NewMember {
            account: invite.account,
            user: joining.user,
            role: invite.role,
            joined_at: joining.now,
        };
        match role {
            Some(_) => member::raise(transaction, &member).await?,
            None => member::admit(transaction, &member).await?,
        }
        spend_use(transaction, invite).await?;
        let entry = Entry {
            account: Some(invite.account),
            person: None,
            actor: joining.user.to_string(),
            origin: Some(joining.origin),
            action: "member.joined",
            subject: invite.code.mark().into(),
            detail: format!("as {}", invite.role),
        };
        audit::note(transaction, chance, joining.now, entry).await?;
        redeeming.transaction.commit().await?;
        Ok(handle)
    }

    /// Locks the account of an invite and reads the invite again.
    async fn begin_redeeming(self, code: &InviteCode) -> ChangeResult<Redeeming> {
        let transaction = self.0.database.begin().await?;
        let unknown = Refusal::NotFound(Missing::Invite);
        let Some(found) = find(&transaction, code).await? else { return Err(unknown.into()) };
        let Some(account) = lock_account(&transaction, found.account).await? else {
            return Err(unknown.into());
        };
        must_not_be_suspended(&account)?;
        // The invite may have been used or revoked while this call waited for the lock.
        let invite = find(&transaction, code).await?.ok_or(unknown)?;
        Ok(Redeeming { transaction, account, invite })
    }
}

/// Revokes the open invites that a person made and returns their number.
pub(crate) async fn revoke_all_of(
    transaction: &DatabaseTransaction,
    account: AccountId,
    user: UserId,
    now: Time,
) -> anyhow::Result<u64> {
    let revocation =
        entity::invite::ActiveModel { revoked_at: Set(Some(now.millis())), ..Default::default() };
    let revoked = entity::invite::Entity::update_many()
        .set(revocation)
        .filter(entity::invite::Column::AccountId.eq(account.to_string()))
        .filter(entity::invite::Column::CreatedByUser.eq(user.to_string()))
        .filter(entity::invite::Column::RevokedAt.is_null())
        .exec(transaction)
        .await?;
    Ok(revoked.rows_affected)
}

/// Revokes the open invites that these tokens made, each with an audit log entry, and returns their number.
pub(crate) async fn revoke_made_by(
    transaction: &DatabaseTransaction,
    change: &Change<'_>,
    tokens: Vec<String>,
) -> anyhow::Result<u64> {
    let open = Condition::all()
        .add(entity::invite::Column::AccountId.eq(change.account.to_string()))
        .add(among(transaction, entity::invite::Column::CreatedByToken, tokens))
        .add(entity::invite::Column::RevokedAt.is_null())
        .add(entity::invite::Column::ExpiresAt.gt(change.now.millis()))
        .add(Expr::cust("uses < max_uses"));
    let found = entity::invite::Entity::find().filter(open.clone()).all(transaction).await?;
    let revocation =
        entity::invite::ActiveModel { revoked_at: Set(Some(change.now.millis())), ..Default::default() };
    entity::invite::Entity::update_many().set(revocation).filter(open).exec(transaction).await?;
    for invite in &found {
        let code: InviteCode = rows::parse(&invite.code, "an invite code")?;
        change.note(transaction, "invite.revoked", code.mark(), String::new()).await?;
    }
    Ok(found.len() as u64)
}

async fn find(connection: &impl ConnectionTrait, code: &InviteCode) -> anyhow::Result<Option<Invite>> {
    let found = entity::invite::Entity::find_by_id(code.as_str()).one(connection).await?;
    found.map(invite).transpose()
}

async fn count_open(transaction: &DatabaseTransaction, change: &Change<'_>) -> anyhow::Result<u64> {
    Ok(entity::invite::Entity::find()
        .filter(entity::invite::Column::AccountId.eq(change.account.to_string()))
        .filter(entity::invite::Column::RevokedAt.is_null())
        .filter(entity::invite::Column::ExpiresAt.gt(change.now.millis()))
        .count(transaction)
        .await?)
}

async fn spend_use(transaction: &DatabaseTransaction, invite: &Invite) -> anyhow::Result<()> {
    let spent = entity::invite::ActiveModel {
        code: Set(invite.code.as_str().to_owned()),
        uses: Set(i32::try_from(invite.uses + 1)?),
        ..Default::default()
    };
    entity::invite::Entity::update(spent).exec_without_returning(transaction).await?;
    Ok(())
}

// Spec 4.5: named after the code, attributed to the invite's creator, for work on artifacts only.
fn token_of(joining: &JoiningAgent, invite: &Invite) -> NewToken {
    NewToken {
        id: joining.token,
        account: invite.account,
        secret_hash: joining.secret_hash.clone(),
        secret_start: Some(joining.secret_start.clone()),
        name: TokenName::of_invite(&invite.code),
        rights: Rights { scopes: Scopes::of_invited_agent(), ..Rights::all() },
        made_by: invite.made_by,
        created_at: joining.now,
    }
}

fn cursor(row: &entity::invite::Model) -> Cursor {
    Cursor::new(List::Invites, row.created_at, cursor_id(&row.code))
}

// Cursors are part of URLs, which are logged, and an invite code is a credential. Therefore a cursor holds a
// hash of the code.
fn cursor_id(code: &str) -> String {
    let mut id = hash_secret(&format!("invite-cursor:{code}"));
    id.truncate(Cursor::ID_LENGTH_MAX);
    id
}

fn row(invite: &Invite) -> entity::invite::ActiveModel {
    let count = |number: u32| i32::try_from(number).unwrap_or(i32::MAX);
    entity::invite::ActiveModel {
        code: Set(invite.code.as_str().to_owned()),
        account_id: Set(invite.account.to_string()),
        role: Set(invite.role.as_str().to_owned()),
        max_uses: Set(count(invite.max_uses)),
        uses: Set(count(invite.uses)),
        expires_at: Set(invite.expires_at.millis()),
        revoked_at: Set(invite.revoked_at.map(Time::millis)),
        created_by_user: Set(invite.made_by.user.map(|id| id.to_string())),
        created_by_token: Set(invite.made_by.token.map(|id| id.to_string())),
        created_at: Set(invite.created_at.millis()),
    }
}

fn invite(row: entity::invite::Model) -> anyhow::Result<Invite> {
    Ok(Invite {
        code: rows::parse(&row.code, "an invite code")?,
        account: rows::parse(&row.account_id, "an account id")?,
        role: rows::parse::<Role>(&row.role, "a role")?,
        max_uses: u32::try_from(row.max_uses)?,
        uses: u32::try_from(row.uses)?,
        expires_at: Time::from_millis(row.expires_at),
        revoked_at: row.revoked_at.map(Time::from_millis),
        created_at: Time::from_millis(row.created_at),
        made_by: rows::maker(row.created_by_user.as_deref(), row.created_by_token.as_deref())?,
    })
}
