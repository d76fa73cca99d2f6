//! Verdicts of scans. A verdict must never lower a status that people have set, and never replace a verdict
//! of newer rules.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use anyhow::Context;
use domain::{AccountId, Host, ModeratedBy, ModerationStatus, ScannedContent, Time, VersionId};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::LockType;
use sea_orm::{ActiveModelTrait, DatabaseTransaction, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use crate::blocked_contents::{self, BlockedMatch};
use crate::content_verdicts::{self, NewVerdict};
use crate::decisions::{Decision, earlier_decisions, find_hosts, row_of, set_route_status};
use crate::handles::ScanStore;
use crate::held_pages::{HELD, held_since, status_for_edge};
use crate::many::{among, insert_rows};
use crate::rows::account::{lock_account, lock_free_accounts};
use crate::scan_progress::{ScanProgress, after_scan};
use crate::{routes, rows};

/// A scan's verdict on a version.
#[derive(Clone, Debug)]
pub struct ScanVerdict {
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
pub enum VerdictResult {
    /// The version was deleted with its account.
    Gone,
    /// Newer rules have produced a verdict in the meantime, which stays.
    Outdated,
    /// The verdict is recorded. `host` is set if the edges must be notified: the status of the version
    /// changed, whether or not it is live, or it is blocked.
    Noted { host: Option<Host> },
}

impl ScanStore<'_> {
    /// Records one verdict.
    pub async fn record_verdict(self, verdict: ScanVerdict) -> anyhow::Result<VerdictResult> {
        let transaction = self.0.database.begin().await?;
        lock_account(&transaction, verdict.account).await?;
        let results = record_locked(transaction, &[&verdict]).await?;
        results.into_iter().next().context("a verdict was not recorded")
    }

    /// Records verdicts on versions, and on the routes of the live ones, in one transaction. A decision is
    /// stored with its evidence, unless the previous scan had the same result. `None` if the account is
    /// deleted or its row is locked by another transaction; the caller then records that verdict separately.
    pub async fn record_verdicts(
        self,
        verdicts: &[ScanVerdict],
    ) -> anyhow::Result<Vec<Option<VerdictResult>>> {
        let transaction = self.0.database.begin().await?;
        let wanted = verdicts.iter().map(|verdict| verdict.account).collect();
        let locked = lock_free_accounts(&transaction, &wanted).await?;
        let locked_ids: HashSet<String> = locked.into_iter().map(|row| row.id).collect();
        let is_locked = |verdict: &&ScanVerdict| locked_ids.contains(&verdict.account.to_string());
        let ready: Vec<&ScanVerdict> = verdicts.iter().filter(is_locked).collect();
        let mut results = record_locked(transaction, &ready).await?.into_iter();
        Ok(verdicts.iter().map(|verdict| is_locked(&verdict).then(|| results.next()).flatten()).collect())
    }
}

async fn record_locked(
    transaction: DatabaseTransaction,
    verdicts: &[&ScanVerdict],
) -> anyhow::Result<Vec<VerdictResult>> {
    let mut batch = VerdictBatch::open(&transaction, verdicts).await?;
    for verdict in verdicts {
        batch.add(verdict)?;
    }
    let results = batch.close(&transaction).await?;
    // Last, because it may wait for a transaction that inserts the same content. The locks of others must not
    // wait for that.
    store_by_content(&transaction, verdicts).await?;
    transaction.commit().await.context("commit verdicts")?;
    Ok(results)
}

async fn store_by_content(
    transaction: &DatabaseTransaction,
    verdicts: &[&ScanVerdict],
) -> anyhow::Result<()> {
    let mut new = Vec::new();
    for verdict in verdicts {
        let Some(content) = verdict.content else { continue };
        let ScanVerdict { status, rules, now, .. } = **verdict;
        let (rules, evidence) = (i32::try_from(rules)?, verdict.evidence.as_str());
        new.push(NewVerdict { content, rules, status, evidence, now });
    }
    content_verdicts::insert(transaction, new).await
}

/// The verdicts of one transaction. Their inputs are read together, and their changes are written together.
struct VerdictBatch {
    known: HashMap<String, ScannedVersion>,
    decisions: Vec<entity::moderation_decision::ActiveModel>,
    results: Vec<ScanWrite>,
    now: Time,
}

/// The state of a version, including the verdicts of this transaction.
struct ScannedVersion {
    version: entity::version::Model,
    /// Decisions by scans and reports, newest first.
    earlier: Vec<entity::moderation_decision::Model>,
    /// Its contents that are on the list of blocked contents.
    blocked_matches: Vec<BlockedMatch>,
    /// Whether it is newer than the hold of its page. A process of a release without holds has published it.
    is_held_back: bool,
    has_verdict: bool,
    /// Whether its route must get the new status.
    has_new_status: bool,
}

impl ScannedVersion {
    /// The verdict. It becomes `blocked` if the version contains a blocked content, whatever the scan found.
    fn apply_blocked_contents<'a>(&self, verdict: &'a ScanVerdict) -> anyhow::Result<Cow<'a, ScanVerdict>> {
        let blocked = blocked_contents::counting(&self.blocked_matches, &self.version);
        if blocked.is_empty() {
            return Ok(Cow::Borrowed(verdict));
        }
        let manifest = rows::manifest(&self.version.manifest)?;
        let evidence = blocked_contents::evidence(&verdict.evidence, &manifest, &blocked)?;
        Ok(Cow::Owned(ScanVerdict { status: ModerationStatus::Blocked, evidence, ..verdict.clone() }))
    }
}

/// The result of a verdict, before the host of its version is known.
enum ScanWrite {
    Gone,
    Outdated,
    Noted { version: String, must_notify_edges: bool },
}

impl VerdictBatch {
    async fn open(transaction: &DatabaseTransaction, verdicts: &[&ScanVerdict]) -> anyhow::Result<Self> {
        let ids: Vec<String> = verdicts.iter().map(|verdict| verdict.version.to_string()).collect();
        let versions = entity::version::Entity::find()
            .filter(among(transaction, entity::version::Column::Id, ids.clone()))
            // In the same order in which requests for rescans lock them.
            .order_by_asc(entity::version::Column::Id)
            .lock(LockType::NoKeyUpdate)
            .all(transaction)
            .await
            .context("read scanned versions")?;
        let mut earlier = earlier_decisions(transaction, &ids).await?;
        let mut blocked_matches = blocked_contents::find_matches(transaction, &ids).await?;
        let artifacts: HashSet<String> = versions.iter().map(|version| version.artifact_id.clone()).collect();
        let held = held_since(transaction, artifacts.into_iter().collect()).await?;
        let known = versions.into_iter().map(|version| {
            let known = ScannedVersion {
                earlier: earlier.remove(&version.id).unwrap_or_default(),
                blocked_matches: blocked_matches.remove(&version.id).unwrap_or_default(),
                is_held_back: held.get(&version.artifact_id).is_some_and(|since| version.created_at > *since),
                has_verdict: false,
                has_new_status: false,
                version,
            };
            (known.version.id.clone(), known)
        });
        Ok(Self {
            known: known.collect(),
            decisions: Vec::new(),
            results: Vec::with_capacity(verdicts.len()),
            now: verdicts.iter().map(|verdict| verdict.now).max().unwrap_or(Time::from_millis(0)),
        })
    }

    fn add(&mut self, verdict: &ScanVerdict) -> anyhow::Result<()> {
        let id = verdict.version.to_string();
        let Some(known) = self.known.get_mut(&id) else {
            self.results.push(ScanWrite::Gone);
            return Ok(());
        };
        let rules = i32::try_from(verdict.rules)?;
        if known.version.scanned_by.is_some_and(|by| by > rules) {
            self.results.push(ScanWrite::Outdated);
            return Ok(());
        }
        let progress = ScanProgress::of(&known.version, &known.earlier)?;
        let status_before = status_for_edge(&known.version).to_owned();
        let was_held = routes::held_from(&known.version).is_some();
        let verdict = known.apply_blocked_contents(verdict)?;
        if !is_repeated(&known.earlier, &verdict) {
            let row = row_of(&decision(&verdict, &known.version, &verdict.rules.to_string()));
            self.decisions.push(entity::moderation_decision::ActiveModel::from(row.clone()).reset_all());
            known.earlier.insert(0, row);
        }
        let (after, by) = match progress.by {
            ModeratedBy::Moderator => (progress.status, progress.by),
            _ if known.is_held_back => HELD,
            _ => after_scan(&progress, verdict.status),
        };
        after.as_str().clone_into(&mut known.version.moderation_status);
        by.as_str().clone_into(&mut known.version.moderated_by);
        known.version.scanned_by = Some(rules);
        known.has_verdict = true;
        let edge_status = status_for_edge(&known.version);
        let has_changed = edge_status != status_before || was_held;
        known.has_new_status |= has_changed;
        // The process that wrote the block may have died before it notified the edges.
        let must_notify_edges = has_changed || edge_status == ModerationStatus::Blocked.as_str();
        self.results.push(ScanWrite::Noted { version: id, must_notify_edges });
        Ok(())
    }

    /// Writes the verdicts, with one statement for all versions with the same values.
    async fn close(self, transaction: &DatabaseTransaction) -> anyhow::Result<Vec<VerdictResult>> {
        insert_rows::<entity::moderation_decision::Entity>(transaction, self.decisions, None)
            .await
            .context("insert decisions")?;
        let mut by_values: BTreeMap<(&str, &str, Option<i32>), Vec<&str>> = BTreeMap::new();
        let mut edge_status: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (id, ScannedVersion { version, has_verdict, has_new_status, .. }) in &self.known {
            let status = version.moderation_status.as_str();
            if *has_verdict {
                by_values.entry((status, &version.moderated_by, version.scanned_by)).or_default().push(id);
            }
            if *has_new_status {
                edge_status.entry(status_for_edge(version)).or_default().push(id);
            }
        }
        for ((status, by, rules), versions) in by_values {
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
        for (status, versions) in edge_status {
            hosts.extend(
                set_route_status(transaction, &versions, rows::moderation(status)?, None, self.now).await?,
            );
        }
        let unresolved = self.results.iter().filter_map(|write| match write {
            ScanWrite::Noted { version, must_notify_edges: true } if !hosts.contains_key(version) => {
                self.known.get(version).map(|known| &known.version)
            }
            _ => None,
        });
        let unresolved: Vec<&entity::version::Model> = unresolved.collect();
        hosts.extend(find_hosts(transaction, &unresolved).await?);
        let results = self.results.into_iter().map(|write| match write {
            ScanWrite::Gone => VerdictResult::Gone,
            ScanWrite::Outdated => VerdictResult::Outdated,
            ScanWrite::Noted { must_notify_edges: false, .. } => VerdictResult::Noted { host: None },
            ScanWrite::Noted { version, .. } => VerdictResult::Noted { host: hosts.get(&version).cloned() },
        });
        Ok(results.collect())
    }
}

fn decision<'a>(
    verdict: &'a ScanVerdict,
    version: &'a entity::version::Model,
    scanner_version: &'a str,
) -> Decision<'a> {
    Decision {
        id: verdict.decision_id.clone(),
        version,
        status: verdict.status,
        source: ModeratedBy::Scan,
        evidence: &verdict.evidence,
        scanner_version: Some(scanner_version),
        decided_by: None,
        now: verdict.now,
    }
}

fn is_repeated(earlier: &[entity::moderation_decision::Model], verdict: &ScanVerdict) -> bool {
    let last_scan = earlier.iter().find(|decision| decision.source == ModeratedBy::Scan.as_str());
    last_scan.is_some_and(|scan| scan.status == verdict.status.as_str() && scan.evidence == verdict.evidence)
}
