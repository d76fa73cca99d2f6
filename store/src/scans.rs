//! Verdicts of scans. A verdict must never lower a status that people have set, and never replace a verdict
//! of newer rules.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use anyhow::Context;
use domain::{AccountId, Host, ModeratedBy, ModerationStatus, ScannedContent, Time, VersionId};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::LockType;
use sea_orm::{ActiveModelTrait, DatabaseTransaction, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use crate::blocked_contents::{self, Brought};
use crate::content_verdicts::{self, NewVerdict};
use crate::decisions::{Decision, earlier_decisions, row_of, show, shown_at};
use crate::handles::ScanStore;
use crate::held_pages::{HELD, held_since, status_for_edge};
use crate::many::{among, insert_rows};
use crate::rows::account::{lock_account, lock_free_accounts};
use crate::scan_standing::{ScanProgress, after_scan};
use crate::{routes, rows};

/// A scan's verdict on a version.
#[derive(Clone, Debug)]
pub struct Judgement {
    pub account: AccountId,
    pub version: VersionId,
    pub decision_id: String,
    pub status: ModerationStatus,
    pub evidence: String,
    /// The version of the rules that produced it.
    pub rules: u32,
    /// The scanned content, if its verdict is to be stored for later versions with the same content.
    pub content: Option<ScannedContent>,
    pub now: Time,
}

/// The result of recording a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judged {
    /// The version was deleted with its account.
    Gone,
    /// Newer rules have produced a verdict in the meantime, which stays.
    Outdated,
    /// The verdict is recorded. `host` is set if the edges must be notified: its status changed, or it is
    /// blocked.
    Noted { host: Option<Host> },
}

impl ScanStore<'_> {
    /// Records one verdict.
    pub async fn record_verdict(self, judgement: Judgement) -> anyhow::Result<Judged> {
        let transaction = self.0.database.begin().await?;
        lock_account(&transaction, judgement.account).await?;
        let judged = judge_locked(transaction, &[&judgement]).await?;
        judged.into_iter().next().context("a verdict was not recorded")
    }

    /// Records verdicts on versions, and on the routes of the live ones, in one transaction. A decision is
    /// stored with its evidence, unless the previous scan had the same result. `None` if the account is
    /// deleted or its row is locked by another transaction; the caller then records that verdict separately.
    pub async fn record_verdicts(self, judgements: &[Judgement]) -> anyhow::Result<Vec<Option<Judged>>> {
        let transaction = self.0.database.begin().await?;
        let wanted = judgements.iter().map(|judgement| judgement.account).collect();
        let locked = lock_free_accounts(&transaction, &wanted).await?;
        let ours: HashSet<String> = locked.into_iter().map(|row| row.id).collect();
        let is_ours = |judgement: &&Judgement| ours.contains(&judgement.account.to_string());
        let ready: Vec<&Judgement> = judgements.iter().filter(is_ours).collect();
        let mut judged = judge_locked(transaction, &ready).await?.into_iter();
        Ok(judgements.iter().map(|judgement| is_ours(&judgement).then(|| judged.next()).flatten()).collect())
    }
}

async fn judge_locked(
    transaction: DatabaseTransaction,
    judgements: &[&Judgement],
) -> anyhow::Result<Vec<Judged>> {
    let mut verdicts = Verdicts::open(&transaction, judgements).await?;
    for judgement in judgements {
        verdicts.judge(judgement)?;
    }
    let judged = verdicts.close(&transaction).await?;
    // Last, because it may wait for a transaction that inserts the same content. The locks of others must not
    // wait for that.
    keep_by_content(&transaction, judgements).await?;
    transaction.commit().await.context("commit verdicts")?;
    Ok(judged)
}

async fn keep_by_content(transaction: &DatabaseTransaction, judgements: &[&Judgement]) -> anyhow::Result<()> {
    let mut kept = Vec::new();
    for judgement in judgements {
        let Some(content) = judgement.content else { continue };
        let Judgement { status, rules, now, .. } = **judgement;
        let (rules, evidence) = (i32::try_from(rules)?, judgement.evidence.as_str());
        kept.push(NewVerdict { content, rules, status, evidence, now });
    }
    content_verdicts::keep(transaction, kept).await
}

/// The verdicts of one transaction. Their inputs are read together, and their changes are written together.
struct Verdicts {
    known: HashMap<String, Known>,
    decisions: Vec<entity::moderation_decision::ActiveModel>,
    judged: Vec<ScanWrite>,
    now: Time,
}

/// The state of a version, including the verdicts of this transaction.
struct Known {
    version: entity::version::Model,
    /// Decisions by scans and reports, newest first.
    earlier: Vec<entity::moderation_decision::Model>,
    /// Its contents that are on the list of blocked contents.
    brought: Vec<Brought>,
    /// Whether it is newer than the hold of its page. A process of a release without holds has published it.
    is_held_back: bool,
    is_judged: bool,
    /// Whether its route must get the new status.
    is_shown: bool,
}

impl Known {
    /// The verdict. It becomes `blocked` if the version contains a blocked content, whatever the scan found.
    fn with_the_list<'a>(&self, judgement: &'a Judgement) -> anyhow::Result<Cow<'a, Judgement>> {
        let blocked = blocked_contents::counting(&self.brought, &self.version);
        if blocked.is_empty() {
            return Ok(Cow::Borrowed(judgement));
        }
        let manifest = rows::manifest(&self.version.manifest)?;
        let evidence = blocked_contents::evidence(&judgement.evidence, &manifest, &blocked)?;
        Ok(Cow::Owned(Judgement { status: ModerationStatus::Blocked, evidence, ..judgement.clone() }))
    }
}

/// The result of a verdict, before the host of its version is known.
enum ScanWrite {
    Gone,
    Outdated,
    Noted { version: String, edges_must_hear: bool },
}

impl Verdicts {
    async fn open(transaction: &DatabaseTransaction, judgements: &[&Judgement]) -> anyhow::Result<Self> {
        let ids: Vec<String> = judgements.iter().map(|judgement| judgement.version.to_string()).collect();
        let versions = entity::version::Entity::find()
            .filter(among(transaction, entity::version::Column::Id, ids.clone()))
            // In the same order in which requests for rescans lock them.
            .order_by_asc(entity::version::Column::Id)
            .lock(LockType::NoKeyUpdate)
            .all(transaction)
            .await
            .context("read scanned versions")?;
        let mut earlier = earlier_decisions(transaction, &ids).await?;
        let mut brought = blocked_contents::brought_by(transaction, &ids).await?;
        let artifacts: HashSet<String> = versions.iter().map(|version| version.artifact_id.clone()).collect();
        let held = held_since(transaction, artifacts.into_iter().collect()).await?;
        let known = versions.into_iter().map(|version| {
            let known = Known {
                earlier: earlier.remove(&version.id).unwrap_or_default(),
                brought: brought.remove(&version.id).unwrap_or_default(),
                is_held_back: held.get(&version.artifact_id).is_some_and(|since| version.created_at > *since),
                is_judged: false,
                is_shown: false,
                version,
            };
            (known.version.id.clone(), known)
        });
        Ok(Self {
            known: known.collect(),
            decisions: Vec::new(),
            judged: Vec::with_capacity(judgements.len()),
            now: judgements.iter().map(|judgement| judgement.now).max().unwrap_or(Time::from_millis(0)),
        })
    }

    fn judge(&mut self, judgement: &Judgement) -> anyhow::Result<()> {
        let id = judgement.version.to_string();
        let Some(known) = self.known.get_mut(&id) else {
            self.judged.push(ScanWrite::Gone);
            return Ok(());
        };
        let rules = i32::try_from(judgement.rules)?;
        if known.version.scanned_by.is_some_and(|by| by > rules) {
            self.judged.push(ScanWrite::Outdated);
            return Ok(());
        }
        let standing = ScanProgress::of(&known.version, &known.earlier)?;
        let shown_before = status_for_edge(&known.version).to_owned();
        let was_held = routes::held_from(&known.version).is_some();
        let judgement = known.with_the_list(judgement)?;
        if !has_said_the_same(&known.earlier, &judgement) {
            let row = row_of(&decision(&judgement, &known.version, &judgement.rules.to_string()));
            self.decisions.push(entity::moderation_decision::ActiveModel::from(row.clone()).reset_all());
            known.earlier.insert(0, row);
        }
        let (after, by) = match standing.by {
            ModeratedBy::Moderator => (standing.status, standing.by),
            _ if known.is_held_back => HELD,
            _ => after_scan(&standing, judgement.status),
        };
        after.as_str().clone_into(&mut known.version.moderation_status);
        by.as_str().clone_into(&mut known.version.moderated_by);
        known.version.scanned_by = Some(rules);
        known.is_judged = true;
        let shown = status_for_edge(&known.version);
        let has_changed = shown != shown_before || was_held;
        known.is_shown |= has_changed;
        // The process that wrote the block may have died before it notified the edges.
        let edges_must_hear = has_changed || shown == ModerationStatus::Blocked.as_str();
        self.judged.push(ScanWrite::Noted { version: id, edges_must_hear });
        Ok(())
    }

    /// Writes the verdicts, with one statement for all versions with the same values.
    async fn close(self, transaction: &DatabaseTransaction) -> anyhow::Result<Vec<Judged>> {
        insert_rows::<entity::moderation_decision::Entity>(transaction, self.decisions, None)
            .await
            .context("insert decisions")?;
        let mut said: BTreeMap<(&str, &str, Option<i32>), Vec<&str>> = BTreeMap::new();
        let mut shown: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (id, Known { version, is_judged, is_shown, .. }) in &self.known {
            let status = version.moderation_status.as_str();
            if *is_judged {
                said.entry((status, &version.moderated_by, version.scanned_by)).or_default().push(id);
            }
            if *is_shown {
                shown.entry(status_for_edge(version)).or_default().push(id);
            }
        }
        for ((status, by, rules), versions) in said {
            let change = entity::version::ActiveModel {
                moderation_status: Set(status.to_owned()),
                moderated_by: Set(by.to_owned()),
                scanned_by: Set(rules),
                scanned_at: Set(Some(self.now.millis())),
                rescan_asked_at: Set(None),
                scan_tries: Set(0),
                scan_again_at: Set(0),
                ..Default::default()
            };
            entity::version::Entity::update_many()
                .set(change)
                .filter(among(
                    transaction,
                    entity::version::Column::Id,
                    versions.into_iter().map(str::to_owned),
                ))
                .exec(transaction)
                .await
                .context("write verdicts")?;
        }
        let mut hosts = HashMap::new();
        for (status, versions) in shown {
            hosts.extend(show(transaction, &versions, rows::moderation(status)?, None, self.now).await?);
        }
        let unheard = self.judged.iter().filter_map(|answer| match answer {
            ScanWrite::Noted { version, edges_must_hear: true } if !hosts.contains_key(version) => {
                Some(version)
            }
            _ => None,
        });
        hosts.extend(shown_at(transaction, unheard.cloned().collect()).await?);
        let told = self.judged.into_iter().map(|answer| match answer {
            ScanWrite::Gone => Judged::Gone,
            ScanWrite::Outdated => Judged::Outdated,
            ScanWrite::Noted { edges_must_hear: false, .. } => Judged::Noted { host: None },
            ScanWrite::Noted { version, .. } => Judged::Noted { host: hosts.get(&version).cloned() },
        });
        Ok(told.collect())
    }
}

fn decision<'a>(
    judgement: &'a Judgement,
    version: &'a entity::version::Model,
    scanner_version: &'a str,
) -> Decision<'a> {
    Decision {
        id: judgement.decision_id.clone(),
        version,
        status: judgement.status,
        source: ModeratedBy::Scan,
        evidence: &judgement.evidence,
        scanner_version: Some(scanner_version),
        decided_by: None,
        now: judgement.now,
    }
}

fn has_said_the_same(earlier: &[entity::moderation_decision::Model], judgement: &Judgement) -> bool {
    let last_scan = earlier.iter().find(|decision| decision.source == ModeratedBy::Scan.as_str());
    last_scan
        .is_some_and(|scan| scan.status == judgement.status.as_str() && scan.evidence == judgement.evidence)
}
