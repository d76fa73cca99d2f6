//! The store with real databases.

use std::time::Duration;

use bytes::Bytes;
use domain::{
    Account, AccountId, AccountStatus, Activation, BlobHash, Chance, CreatedVia, EarlyVerdict, Host, JobId,
    LedgerOperation, Maker, Manifest, ManifestFile, Micro, ModerationStatus, Origin, Outcome, Page,
    PublishOperation, PublishOrder, Published, Refusal, Slug, SweepNumber, Target, Tariff, Time,
    TopUpOperation, UploadTicket, VersionId, Via, ViewCount, ViewsJob,
};
use sea_orm::{ConnectionTrait, Database};

use crate::{
    ActivationResult, Blobs, Change, KeyClaim, KeyHolder, KeyUse, Layout, NewToken, Refused, ScanVerdict,
    Store, Terms, TokenFate,
};

const START: Time = Time::from_millis(1_790_000_000_000);
const ORIGIN: Origin = Origin { via: Via::Api, address: None };
const HOUR: Duration = Duration::from_secs(3600);

/// A database and a blob folder for one test.
struct StoreHarness {
    store: Store,
    blobs: Blobs,
    chance: Chance,
    folder: tempfile::TempDir,
}

async fn sqlite() -> StoreHarness {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}", folder.path().join("store.db").display());
    harness(&url, folder).await
}

/// `None` if there is no PostgreSQL server, which skips the test.
async fn postgres() -> Option<StoreHarness> {
    let server = test_servers::postgres()?;
    let name = format!("store_{}", Chance::from_system().base36(12));
    let connection = Database::connect(&server).await.unwrap();
    connection.execute_unprepared(&format!("CREATE DATABASE {name}")).await.unwrap();
    let (address, _) = server.rsplit_once('/').unwrap();
    Some(harness(&format!("{address}/{name}"), tempfile::tempdir().unwrap()).await)
}

async fn harness(url: &str, folder: tempfile::TempDir) -> StoreHarness {
    let store = Store::open(url).await.unwrap();
    assert!(!store.is_current().await.unwrap());
    store.migrate().await.unwrap();
    assert!(store.is_current().await.unwrap());
    let blobs = Blobs::local(&folder.path().join("blobs")).unwrap();
    StoreHarness { store, blobs, chance: Chance::seeded(11), folder }
}

impl StoreHarness {
    /// An order for a new version that is live.
    fn order(&self, account: AccountId, slug: &str) -> PublishOrder {
        PublishOrder {
            account,
            version: VersionId::new(START, &self.chance),
            slug: slug.parse().unwrap(),
            target: Target::NewOrExisting,
            activation: Activation::Live,
            pinned_to: None,
            payment: None,
            created_via: CreatedVia::Api,
            message: None,
            created_by: None,
            deadline: None,
            is_provisional: None,
            called_by: None,
        }
    }

    async fn account(&self) -> AccountId {
        let account = Account::provisional(START, HOUR, &self.chance);
        let token = NewToken::first_of(&account, self.chance.base36(64), &self.chance);
        self.store.accounts().create(&account, &token).await.unwrap();
        account.id
    }

    /// An account that is never purged.
    async fn claimed(&self) -> AccountId {
        let account = Account {
            status: AccountStatus::Claimed,
            expires_at: None,
            ..Account::provisional(START, HOUR, &self.chance)
        };
        let token = NewToken::first_of(&account, self.chance.base36(64), &self.chance);
        self.store.accounts().create(&account, &token).await.unwrap();
        account.id
    }

    async fn publish(&self, account: AccountId, slug: &str, content: &'static [u8]) -> Published {
        self.publish_as(account, slug, content, Activation::Live).await
    }

    async fn publish_as(
        &self,
        account: AccountId,
        slug: &str,
        content: &'static [u8],
        activation: Activation,
    ) -> Published {
        let order = PublishOrder { activation, ..self.order(account, slug) };
        self.publish_with(order, content, None).await
    }

    async fn publish_with(
        &self,
        order: PublishOrder,
        content: &'static [u8],
        verdict: Option<EarlyVerdict>,
    ) -> Published {
        let account = order.account;
        let path = "index.html".parse().unwrap();
        let hash = BlobHash::of(content);
        let content = Bytes::from_static(content);
        let layout = Layout::of(&content, "text/html").unwrap();
        let variants = self.blobs.put(hash, content.clone(), layout).await.unwrap();
        let size_bytes = content.len() as u64;
        let file = ManifestFile {
            path,
            hash,
            size_bytes,
            content_type: "text/html".into(),
            variants,
            bundled: None,
        };
        let operation = LedgerOperation::Publish(Box::new(PublishOperation {
            order,
            manifest: Manifest::new(vec![file]),
            title: None,
            bundle: None,
            blobs_as_of: SweepNumber::default(),
            verdict,
        }));
        let terms = Terms { tariff: Tariff::default(), chance: self.chance.clone(), now: START };
        match self.store.settle(account, &[operation], &terms).await.unwrap().pop() {
            Some(Outcome::Published(published)) => *published,
            other => panic!("{other:?}"),
        }
    }

    /// A change without a particular maker.
    fn change(&self, account: AccountId, now: Time) -> Change<'_> {
        let by = Maker { user: None, token: None };
        Change { account, by, origin: ORIGIN, now, chance: &self.chance }
    }

    fn job(&self) -> JobId {
        JobId::new(START, &self.chance)
    }

    async fn storage(&self, account: AccountId) -> u64 {
        self.store.accounts().find(account).await.unwrap().unwrap().storage_bytes
    }
}

macro_rules! on_both_databases {
    ($(async fn $name:ident($harness:ident: &StoreHarness $(,)?) $body:block)+) => {$(
        mod $name {
            use super::*;

            async fn body($harness: &StoreHarness) $body

            #[tokio::test]
            async fn sqlite() {
                body(&super::sqlite().await).await;
            }

            #[tokio::test]
            async fn postgres() {
                let Some(harness) = super::postgres().await else { return };
                body(&harness).await;
            }
        }
    )+};
}

mod artifact_search;
mod blocked_contents;
mod bundles;
mod casework;
mod claims;
mod content_verdicts;
mod copying;
mod deadlines;
mod early_verdicts;
mod finders;
mod held_contents;
mod insights;
mod ledgers;
mod metering;
mod moderation;
mod oauth;
mod pages;
mod private_links;
mod retention;
mod review;
mod route_changes;
mod route_reader;
mod routes;
mod scans;
mod schema;
mod scrubbing;
mod settle;
mod suspensions;
mod sweeps;
mod team;
mod together;
mod version_views;

on_both_databases! {
    async fn any_version_can_be_activated_and_the_route_follows(harness: &StoreHarness) {
        let account = harness.account().await;
        let first = harness.publish(account, "page", b"one").await;
        let second = harness.publish(account, "page", b"two").await;
        assert_eq!((first.seq, second.seq), (1, 2));
        assert_eq!(harness.store.routes().find(&first.host).await.unwrap().unwrap().version, second.version);
        let slug: Slug = "page".parse().unwrap();
        let activated = harness.store.artifacts().activate(&harness.change(account, START), &slug, 1).await.unwrap();
        assert!(matches!(activated, ActivationResult::Artifact(artifact) if artifact.live.unwrap().seq == 1));
        assert_eq!(harness.store.routes().find(&first.host).await.unwrap().unwrap().version, first.version);
        assert!(matches!(harness.store.artifacts().activate(&harness.change(account, START), &slug, 3).await.unwrap(), ActivationResult::NoSuchVersion));
        let stranger = harness.account().await;
        assert!(matches!(harness.store.artifacts().activate(&harness.change(stranger, START), &slug, 1).await.unwrap(), ActivationResult::NoSuchArtifact));
    }

    async fn duplicate_content_of_an_account_adds_no_storage(harness: &StoreHarness) {
        let (account, other) = (harness.account().await, harness.account().await);
        harness.publish(account, "page", b"12345").await;
        harness.publish(account, "page", b"12345").await;
        harness.publish(account, "another", b"12345").await;
        assert_eq!(harness.storage(account).await, 5);
        harness.publish(account, "page", b"123456").await;
        assert_eq!(harness.storage(account).await, 11);
        harness.publish(other, "page", b"12345").await;
        assert_eq!(harness.storage(other).await, 5);
    }

    async fn a_deleted_artifact_loses_its_route_and_frees_its_slug(harness: &StoreHarness) {
        let account = harness.account().await;
        let first = harness.publish(account, "page", b"one").await;
        let host = harness.store.artifacts().delete(&harness.change(account, START), &first.slug).await.unwrap();
        assert_eq!(host.as_ref(), Some(&first.host));
        assert!(harness.store.routes().find(&first.host).await.unwrap().is_none());
        assert!(harness.store.artifacts().find(account, &first.slug).await.unwrap().is_none());
        let again = harness.publish(account, "page", b"one").await;
        assert_eq!(again.seq, 1);
        assert_ne!(again.host, first.host);
    }

    async fn idempotency_key_belongs_to_its_first_job_until_a_refusal_or_expiry(harness: &StoreHarness) {
        let account = harness.account().await;
        let published = harness.publish(account, "page", b"one").await;
        let claim = |job, request_hash, now: Time| KeyClaim {
            account,
            key: "k",
            request_hash,
            job,
            now,
            expires_at: now.plus(24 * HOUR),
        };
        let first: JobId = published.version.into();
        assert_eq!(harness.store.outcomes().claim_key(&claim(first, "a", START)).await.unwrap(), KeyHolder::Claimant);
        let key_use = async |now| harness.store.outcomes().key_use(account, "k", now).await.unwrap();
        assert_eq!(key_use(START).await, KeyUse::Answered);
        let held = harness.store.outcomes().claim_key(&claim(harness.job(), "a", START)).await.unwrap();
        assert_eq!(held, KeyHolder::Earlier(first));
        assert_eq!(harness.store.outcomes().claim_key(&claim(harness.job(), "b", START)).await.unwrap(), KeyHolder::Conflict);
        let next_day = START.plus(25 * HOUR);
        assert_eq!(key_use(next_day).await, KeyUse::Pending, "its answer is no longer given");
        let second = harness.job();
        assert_eq!(harness.store.outcomes().claim_key(&claim(second, "b", next_day)).await.unwrap(), KeyHolder::Claimant);
        assert_eq!(harness.store.outcomes().claim_key(&claim(harness.job(), "b", next_day)).await.unwrap(), KeyHolder::Earlier(second));
        assert_eq!(key_use(next_day).await, KeyUse::Pending);
        let refused =
            Refused { account, kind: "publish", refusal: Refusal::StorageFull { limit: "x".into() }, now: next_day };
        harness.store.outcomes().record_refusal(second, refused).await.unwrap();
        assert_eq!(key_use(next_day).await, KeyUse::Pending, "a repeat starts a new job");
        assert_eq!(harness.store.outcomes().key_use(account, "other", START).await.unwrap(), KeyUse::Unused);
    }

    async fn views_are_added_once_per_job(harness: &StoreHarness) {
        let (account, gone) = (harness.account().await, AccountId::new(START, &harness.chance));
        let host: Host = "page-aaaa".parse().unwrap();
        let counted = ViewsJob {
            counted_at: START,
            views: [(account, 3), (gone, 9), (account, 2)]
                .map(|(account, count)| ViewCount { account, host: host.clone(), count })
                .to_vec(),
        };
        let job = harness.job();
        for _ in 0..3 {
            harness.store.views().add(job, &counted).await.unwrap();
        }
        harness.store.views().add(harness.job(), &counted).await.unwrap();
        let summary = harness.store.accounts().summary(account, START).await.unwrap().unwrap();
        assert_eq!(summary.used.views, 10);
        harness.publish(account, "page", b"one").await;
        let summary = harness.store.accounts().summary(account, START).await.unwrap().unwrap();
        assert_eq!((summary.used.views, summary.publishes_used()), (10, 1));
    }

    async fn monthly_usage_lists_views_and_publishes_of_each_day(harness: &StoreHarness) {
        let (account, other) = (harness.account().await, harness.account().await);
        let [home, away, theirs]: [Host; 3] = ["page-aaaa", "page-bbbb", "page-cccc"].map(|host| host.parse().unwrap());
        let day_after = START.plus(24 * HOUR);
        for (counted_at, views) in [
            (START, vec![(account, &home, 3), (account, &away, 1), (other, &theirs, 50)]),
            (START, vec![(account, &home, 2)]),
            (day_after, vec![(account, &away, 4)]),
        ] {
            let view = |(account, host, count): (AccountId, &Host, u64)| ViewCount { account, host: host.clone(), count };
            let counted = ViewsJob { counted_at, views: views.into_iter().map(view).collect() };
            harness.store.views().add(harness.job(), &counted).await.unwrap();
        }
        harness.publish(account, "page", b"one").await;
        harness.publish(account, "page", b"two").await;
        harness.publish(other, "page", b"two").await;
        let days = harness.store.views().by_day(account, START.month()).await.unwrap();
        assert_eq!(days.len(), START.month().days().count());
        let used: Vec<_> = days.iter().filter(|day| day.views + day.publishes > 0).collect();
        assert_eq!(used.len(), 2, "{used:?}");
        assert_eq!((used[0].day, used[0].views, used[0].publishes), (START.day(), 6, 2));
        assert_eq!((used[1].day, used[1].views, used[1].publishes), (day_after.day(), 4, 0));
        let hosts = [home.clone(), away.clone(), theirs.clone()];
        let all = harness.store.views().by_host(account, &hosts, START.month()).await.unwrap();
        assert_eq!((all.len(), all[&home], all[&away]), (2, 5, 5));
        let next = harness.store.views().by_host(account, &hosts, START.month().next()).await.unwrap();
        assert_eq!(next.len(), 0);
    }

    async fn the_ledger_shows_its_newest_entries(harness: &StoreHarness) {
        let (account, other) = (harness.account().await, harness.account().await);
        let terms = Terms { tariff: Tariff::default(), chance: harness.chance.clone(), now: START };
        for (whose, micro) in [(account, 5_000_000), (other, 1_000_000), (account, 2_000_000)] {
            let operation = LedgerOperation::TopUp(TopUpOperation { account: whose, job: harness.job(), amount: Micro::new(micro), deadline: None, called_by: None });
            harness.store.settle(whose, &[operation], &terms).await.unwrap();
        }
        let entries = harness.store.ledger().list(account, &Page::whole()).await.unwrap().rows;
        let amounts: Vec<_> =
            entries.iter().map(|entry| (entry.delta.get(), entry.balance_after.get())).collect();
        assert_eq!(amounts, [(2_000_000, 7_000_000), (5_000_000, 5_000_000)]);
        assert!(entries.iter().all(|entry| entry.reason.starts_with("topup-dev:") && entry.created_at == START));
        assert_eq!(harness.store.ledger().list(account, &Page::first(1)).await.unwrap().rows.len(), 1);
    }

    async fn expired_account_is_purged_with_all_its_data(harness: &StoreHarness) {
        let (account, other) = (harness.account().await, harness.account().await);
        let published = harness.publish(account, "page", b"mine alone").await;
        harness.publish(account, "shared", b"shared").await;
        harness.publish(other, "shared", b"shared").await;
        assert!(harness.store.upkeep().list_purgeable_accounts(START, 10).await.unwrap().is_empty());
        assert!(harness.store.upkeep().purge_account(account, START).await.unwrap().is_none());
        let later = START.plus(2 * HOUR);
        assert_eq!(harness.store.upkeep().list_purgeable_accounts(later, 10).await.unwrap().len(), 2);
        let purged = harness.store.upkeep().purge_account(account, later).await.unwrap().unwrap();
        assert_eq!(purged.hosts.len(), 2);
        assert!(harness.store.accounts().find(account).await.unwrap().is_none());
        assert!(harness.store.routes().find(&published.host).await.unwrap().is_none());

        // Unreferenced contents are swept after an hour; contents of another account stay.
        let swept = harness.store.blob_index().sweep(&harness.blobs, START.plus(HOUR / 2), 100).await.unwrap();
        assert_eq!(swept.blobs, 0);
        let swept = harness.store.blob_index().sweep(&harness.blobs, later, 100).await.unwrap();
        assert_eq!((swept.blobs, swept.bytes), (1, 10));
        assert!(harness.blobs.read(BlobHash::of(b"mine alone"), 0..10).await.is_err());
        assert_eq!(harness.blobs.read(BlobHash::of(b"shared"), 0..6).await.unwrap(), "shared");
    }

    async fn recently_looked_up_blob_is_not_swept(harness: &StoreHarness) {
        let account = harness.account().await;
        harness.publish(account, "page", b"wanted").await;
        let hash = BlobHash::of(b"wanted");
        let later = START.plus(2 * HOUR);
        harness.store.upkeep().purge_account(account, later).await.unwrap().unwrap();
        let stored = harness.store.blob_index().find_stored(&[hash], later).await.unwrap();
        assert!(stored.found.contains_key(&hash));
        assert_eq!(harness.store.blob_index().sweep(&harness.blobs, later, 100).await.unwrap().blobs, 0);
        assert_eq!(harness.store.blob_index().sweep(&harness.blobs, later.plus(2 * HOUR), 100).await.unwrap().blobs, 1);
        assert!(harness.store.blob_index().find_stored(&[hash], later).await.unwrap().found.is_empty());
    }

    async fn recorded_fire_time_never_moves_backwards(harness: &StoreHarness) {
        assert_eq!(harness.store.schedules().last_fire_time("nightly").await.unwrap(), None);
        let (early, late) = (START, START.plus(HOUR));
        harness.store.schedules().record_fire_time("nightly", late).await.unwrap();
        harness.store.schedules().record_fire_time("nightly", early).await.unwrap();
        assert_eq!(harness.store.schedules().last_fire_time("nightly").await.unwrap(), Some(late));
    }

    async fn time_is_read_from_the_database(harness: &StoreHarness) {
        assert!(harness.store.now().await.unwrap() > Time::from_millis(1_700_000_000_000));
    }
}

#[tokio::test]
async fn blob_is_written_once_and_keeps_its_first_layout() {
    let harness = sqlite().await;
    let content = Bytes::from("compress me ".repeat(100));
    let hash = BlobHash::of(&content);
    let packed = Layout::of(&content, "text/plain").unwrap();
    let first = harness.blobs.put(hash, content.clone(), packed).await.unwrap();
    assert_eq!(first.len(), 3);
    // Another worker with a different layout gets the existing one.
    let second = harness.blobs.put(hash, content.clone(), Layout::default()).await.unwrap();
    assert_eq!(first, second);
    assert_eq!(harness.blobs.variants(hash).await.unwrap(), first);
    assert_eq!(harness.blobs.read(hash, 0..content.len() as u64).await.unwrap(), content);
    assert!(harness.blobs.read(hash, 0..1_000_000).await.is_err());
}

#[tokio::test]
async fn staged_upload_is_stored_once_per_account_until_it_is_swept() {
    let harness = sqlite().await;
    let ticket = UploadTicket::new(AccountId::new(START, &harness.chance), START, &harness.chance);
    let another_s = UploadTicket { account: AccountId::new(START, &harness.chance), ..ticket };
    assert!(harness.blobs.kept_upload(ticket).await.unwrap().is_none());
    assert!(harness.blobs.keep_upload(ticket, Bytes::from_static(b"first")).await.unwrap());
    assert!(!harness.blobs.keep_upload(ticket, Bytes::from_static(b"second")).await.unwrap());
    assert_eq!(harness.blobs.kept_upload(ticket).await.unwrap().unwrap(), "first");
    assert!(harness.blobs.kept_upload(another_s).await.unwrap().is_none());
    let tomorrow = Time::from_millis(i64::MAX / 2);
    assert_eq!(harness.blobs.sweep_spool(tomorrow, 10).await.unwrap(), 0);
    assert_eq!(harness.blobs.sweep_uploads(Time::from_millis(0), 10).await.unwrap(), 0);
    assert_eq!(harness.blobs.sweep_uploads(tomorrow, 10).await.unwrap(), 1);
    assert!(harness.blobs.kept_upload(ticket).await.unwrap().is_none());
}

#[tokio::test]
async fn spooled_upload_is_kept_until_it_is_taken() {
    let harness = sqlite().await;
    let version = VersionId::new(START, &harness.chance);
    assert!(harness.blobs.spooled(version).await.unwrap().is_none());
    harness.blobs.spool(version, Bytes::from_static(b"upload")).await.unwrap();
    assert_eq!(harness.blobs.spooled(version).await.unwrap().unwrap(), "upload");
    assert_eq!(harness.blobs.sweep_spool(Time::from_millis(0), 10).await.unwrap(), 0);
    let tomorrow = Time::from_millis(i64::MAX / 2);
    assert_eq!(harness.blobs.sweep_spool(tomorrow, 10).await.unwrap(), 1);
    assert!(harness.blobs.spooled(version).await.unwrap().is_none());
    harness.blobs.delete_spooled(version).await.unwrap();
}
