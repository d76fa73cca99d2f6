//! The audit log. It outlives the accounts that it describes. It must never contain a secret.

use std::borrow::Cow;
use std::collections::HashMap;

use anyhow::Context;
use domain::{
    AccountId, AuditEntry, AuditId, Chance, Cursor, List, Origin, Page, Paged, Time, TokenName, UserId,
};
use sea_orm::ActiveValue::Set;
use sea_orm::{
    ColumnTrait, ConnectionTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect,
};

use crate::handles::{AuditStore, Upkeep};
use crate::many::{among, insert_rows};
use crate::pages::{self, Keys};
use crate::rows;

/// A person's own events are copied to the audit logs of at most this many accounts. More would make signing
/// in slow.
const ACCOUNTS_OF_PERSON_MAX: u64 = 100;
/// Failed sign-ins are recorded once per person, address and interval, so that an attacker cannot fill the
/// database.
const FAILED_SIGN_INS_EVERY_MILLIS: i64 = 60_000;
const SIGN_IN_FAILED: &str = "person.sign_in_failed";
/// Prefix of an actor who is one of the operator's staff.
const OPERATOR_PREFIX: &str = "operator:";

/// An entry of the audit log.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entry<'a> {
    pub account: Option<AccountId>,
    /// The person whose own log gets the entry, if it does not concern an account.
    pub person: Option<UserId>,
    /// A user id, a token id, or the name of a component of the service.
    pub actor: String,
    pub origin: Option<Origin>,
    /// Such as `account.claimed` or `invite.revoked`.
    pub action: &'static str,
    /// The id of the object of the action.
    pub subject: Cow<'a, str>,
    /// Further details as text.
    pub detail: String,
}

/// An event that concerns a person rather than one account, such as signing in.
#[derive(Clone, Debug)]
pub(crate) struct Personal {
    pub user: UserId,
    pub origin: Origin,
    pub action: &'static str,
    pub now: Time,
}

impl AuditStore<'_> {
    /// The audit log of an account, newest entry first.
    pub async fn list(self, account: AccountId, page: &Page) -> anyhow::Result<Paged<AuditEntry>> {
        use entity::audit::Column;
        let query = entity::audit::Entity::find().filter(Column::AccountId.eq(account.to_string()));
        let keys = Keys::NewestFirst(Column::CreatedAt, Column::Id);
        let cursor = |row: &entity::audit::Model| Cursor::new(List::Audit, row.created_at, &row.id);
        let Paged { rows, next, previous, total } =
            pages::read(&self.0.database.reader, query, keys, page, cursor)
                .await
                .context("read the audit log of an account")?;
        Ok(Paged { rows: self.with_names_of_actors(rows).await?, next, previous, total })
    }

    /// The entries that concern a person and no account, newest first.
    pub async fn list_of_person(self, user: UserId, limit: u64) -> anyhow::Result<Vec<AuditEntry>> {
        use entity::audit::Column;
        let found = entity::audit::Entity::find()
            .filter(Column::UserId.eq(user.to_string()))
            .order_by_desc(Column::CreatedAt)
            .order_by_desc(Column::Id)
            .limit(limit)
            .all(&self.0.database.reader)
            .await
            .context("read the audit log of a person")?;
        self.with_names_of_actors(found).await
    }

    /// Records a failed password check, unless the same address caused one within the last minute.
    pub async fn record_failed_sign_in(
        self,
        user: UserId,
        origin: Origin,
        now: Time,
        chance: &Chance,
    ) -> anyhow::Result<()> {
        use entity::audit::Column;
        let address = origin.address.map(|address| address.to_string());
        let known = entity::audit::Entity::find()
            .filter(Column::UserId.eq(user.to_string()))
            .filter(Column::CreatedAt.gt(now.millis() - FAILED_SIGN_INS_EVERY_MILLIS))
            .filter(Column::Action.eq(SIGN_IN_FAILED))
            .filter(Column::Address.eq(address))
            .count(&self.0.database.reader)
            .await
            .context("find a failed sign-in")?;
        if known > 0 {
            return Ok(());
        }
        let transaction = self.0.database.begin().await?;
        note_personal(&transaction, chance, Personal { user, origin, action: SIGN_IN_FAILED, now }).await?;
        transaction.commit().await.context("commit a failed sign-in")
    }

    /// Entries with the names of the actors.
    async fn with_names_of_actors(self, found: Vec<entity::audit::Model>) -> anyhow::Result<Vec<AuditEntry>> {
        let actors: Vec<String> = found.iter().map(|row| row.actor.clone()).collect();
        let reader = &self.0.database.reader;
        let people: HashMap<String, String> = entity::user::Entity::find()
            .filter(among(reader, entity::user::Column::Id, actors.clone()))
            .all(reader)
            .await?
            .into_iter()
            .map(|user| (user.id, user.username))
            .collect();
        let tokens: HashMap<String, String> = entity::token::Entity::find()
            .select_only()
            .column(entity::token::Column::Id)
            .column(entity::token::Column::Name)
            .filter(among(reader, entity::token::Column::Id, actors))
            .into_tuple::<(String, String)>()
            .all(reader)
            .await?
            .into_iter()
            .collect();
        found.into_iter().map(|row| entry(row, &people, &tokens)).collect()
    }
}

impl Upkeep<'_> {
    /// Deletes old entries, up to `at_most`, and returns their number.
    pub async fn sweep_audit(self, before: Time, at_most: u64) -> anyhow::Result<u64> {
        use entity::audit::Column;
        let old = sea_orm::sea_query::Query::select()
            .column(Column::Id)
            .from(entity::audit::Entity)
            // By the id, which begins with the time and has an index.
            .and_where(Column::Id.lt(AuditId::first_at(before).to_string()))
            .limit(at_most)
            .to_owned();
        let deleted = entity::audit::Entity::delete_many()
            .filter(Column::Id.in_subquery(old))
            .exec(&self.0.database.writer)
            .await
            .context("delete old audit log entries")?;
        Ok(deleted.rows_affected)
    }
}

/// Writes an entry within the transaction of the change that it describes.
pub(crate) async fn note(
    transaction: &impl ConnectionTrait,
    chance: &Chance,
    now: Time,
    entry: Entry<'_>,
) -> anyhow::Result<()> {
    entity::audit::Entity::insert(row(chance, now, entry))
        .exec_without_returning(transaction)
        .await
        .context("write the audit log")?;
    Ok(())
}

/// Writes an event to the person's own log and to those of their accounts.
pub(crate) async fn note_personal(
    transaction: &impl ConnectionTrait,
    chance: &Chance,
    event: Personal,
) -> anyhow::Result<()> {
    let Personal { user, origin, action, now } = event;
    let accounts: Vec<String> = entity::membership::Entity::find()
        .select_only()
        .column(entity::membership::Column::AccountId)
        .filter(entity::membership::Column::UserId.eq(user.to_string()))
        .order_by_asc(entity::membership::Column::AccountId)
        .limit(ACCOUNTS_OF_PERSON_MAX)
        .into_tuple()
        .all(transaction)
        .await?;
    let subject = user.to_string();
    let entry = |account, person| {
        let actor = user.to_string();
        let origin = Some(origin);
        let subject = Cow::from(&subject);
        row(chance, now, Entry { account, person, actor, origin, action, subject, detail: String::new() })
    };
    let mut entries = vec![entry(None, Some(user))];
    for account in &accounts {
        entries.push(entry(Some(rows::parse(account, "an account id")?), None));
    }
    insert_rows::<entity::audit::Entity>(transaction, entries, None).await.context("write the audit log")
}

pub(crate) fn row(chance: &Chance, now: Time, entry: Entry<'_>) -> entity::audit::ActiveModel {
    entity::audit::ActiveModel {
        id: Set(AuditId::new(now, chance).to_string()),
        account_id: Set(entry.account.map(|account| account.to_string())),
        user_id: Set(entry.person.map(|person| person.to_string())),
        actor: Set(entry.actor),
        action: Set(entry.action.to_owned()),
        subject: Set(entry.subject.into_owned()),
        detail: Set(entry.detail),
        via: Set(entry.origin.map(|origin| origin.via.as_str().to_owned())),
        address: Set(entry.origin.and_then(|origin| origin.address).map(|address| address.to_string())),
        created_at: Set(now.millis()),
    }
}

/// The actor name of one of the operator's staff.
pub(crate) fn operator(name: &str) -> String {
    format!("{OPERATOR_PREFIX}{name}")
}

/// The name of an actor without the operator prefix.
pub(crate) fn name_of(actor: &str) -> &str {
    actor.strip_prefix(OPERATOR_PREFIX).unwrap_or(actor)
}

/// An entry as the account's owner sees it. The owner must not learn which of the operator's staff acted, or
/// their notes.
fn entry(
    row: entity::audit::Model,
    people: &HashMap<String, String>,
    tokens: &HashMap<String, String>,
) -> anyhow::Result<AuditEntry> {
    let is_operator = row.actor.starts_with(OPERATOR_PREFIX);
    let token_name = tokens.get(&row.actor).map(|name| rows::parse::<TokenName>(name, "a token's name"));
    Ok(AuditEntry {
        id: rows::parse(&row.id, "an audit id")?,
        created_at: Time::from_millis(row.created_at),
        token_name: token_name.transpose()?.map(|name| name.without_code().to_string()),
        actor: match people.get(&row.actor) {
            _ if is_operator => "operator".to_owned(),
            Some(username) => username.clone(),
            None => row.actor,
        },
        action: row.action,
        via: row.via,
        // The account must not learn the address of an operator.
        address: if is_operator { None } else { row.address },
        // People are shown by name.
        subject: people.get(&row.subject).cloned().unwrap_or(row.subject),
        detail: if is_operator { String::new() } else { row.detail },
    })
}
