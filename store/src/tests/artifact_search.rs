//! The list of the dashboard: searched, filtered and ordered, also for an account with very many pages.

use std::time::Instant;

use domain::{
    Artifact, ArtifactFilter, ArtifactOrder, ArtifactState, PageStart, PageTitle, Paged, Visibility,
};
use sea_orm::DbBackend;

use super::*;
use crate::Searched;

const PAGES: u32 = 10_000;
const ROWS: u32 = 50;
const DAYS: usize = 30;
/// A debug build on a busy machine takes longer than a server does.
const BOUND: Duration = Duration::from_millis(500);

fn searched(account: AccountId) -> Searched {
    Searched { account, pinned_to: None, views_in: START.month() }
}

async fn search(
    harness: &StoreHarness,
    account: AccountId,
    filter: &ArtifactFilter,
    page: &Page,
) -> Paged<Artifact> {
    harness.store.artifacts().search(searched(account), filter, page).await.unwrap()
}

async fn found(harness: &StoreHarness, account: AccountId, filter: ArtifactFilter) -> Vec<String> {
    let page = Page::first(ROWS).counted();
    let paged = search(harness, account, &filter, &page).await;
    assert_eq!(paged.total, Some(paged.rows.len() as u64));
    paged.rows.iter().map(|artifact| artifact.slug.to_string()).collect()
}

fn words(text: &str) -> ArtifactFilter {
    ArtifactFilter { words: ArtifactFilter::words_in(text), ..Default::default() }
}

fn ordered(order: ArtifactOrder) -> ArtifactFilter {
    ArtifactFilter { order, ..Default::default() }
}

impl StoreHarness {
    async fn publish_titled(&self, account: AccountId, slug: &str, title: &str) -> Published {
        let published = self.publish(account, slug, b"one").await;
        let title = PageTitle::from_text(title).unwrap();
        self.sql(&format!("UPDATE versions SET title = '{title}' WHERE id = '{}'", published.version)).await;
        published
    }

    async fn change_at(&self, published: &Published, millis: i64) {
        let at = START.millis() + millis;
        self.sql(&format!("UPDATE artifacts SET updated_at = {at} WHERE id = '{}'", published.artifact))
            .await;
    }

    /// Pages with a version each, of which every second has a title. All have views on each day of a month.
    async fn crowd_of_pages(&self, account: AccountId, count: u32) {
        let numbers = format!(
            "(WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {count})
              SELECT n FROM numbers) AS numbers"
        );
        let id = |prefix: &str| format!("'{prefix}' || substr(CAST(100000 + n AS TEXT), 2)");
        let (artifact, version) = (id("01AA00000000000000000"), id("01AB00000000000000000"));
        let (slug, manifest) = (id("page-"), "{\"files\":[]}".repeat(40));
        let at = START.millis();
        for sql in [
            format!(
                "INSERT INTO artifacts (id, account_id, slug, host, visibility, live_version_id, last_seq,
                    created_at, updated_at)
                 SELECT {artifact}, '{account}', {slug}, {slug} || '-0000', 'public', {version}, 1,
                    {at} + n / 10, {at} + (n * 7919) % {count} FROM {numbers}"
            ),
            format!(
                "INSERT INTO versions (id, artifact_id, account_id, seq, manifest, total_bytes, file_count,
                    created_via, moderation_status, moderated_by, created_at, scan_tries, scan_again_at, title)
                 SELECT {version}, {artifact}, '{account}', 1, '{manifest}', 100, 1, 'api', 'pass', 'scan', {at},
                    0, 0, CASE WHEN n % 2 = 0 THEN 'Report number ' || CAST(n AS TEXT) END FROM {numbers}"
            ),
        ] {
            self.sql(&sql).await;
        }
        for day in START.month().days().take(DAYS) {
            let day = day.number();
            self.sql(&format!(
                "INSERT INTO daily_views (host, day, account_id, views)
                 SELECT {slug} || '-0000', {day}, '{account}', (n * 7919) % {count} + {day} % 7
                 FROM {numbers}"
            ))
            .await;
        }
    }
}

on_both_databases! {
    async fn search_finds_words_in_slugs_and_titles(harness: &StoreHarness) {
        let (account, other) = (harness.claimed().await, harness.claimed().await);
        for (slug, title) in [("plan-may", "Budget"), ("deck", "A plan for MAY: 100%"), ("misc", "Über uns")]
        {
            harness.publish_titled(account, slug, title).await;
        }
        harness.publish(account, "untitled", b"one").await;
        harness.publish_titled(other, "plan-other", "plan may").await;
        for (text, slugs) in [
            ("plan", &["deck", "plan-may"][..]),
            ("May PLAN", &["deck", "plan-may"]),
            ("plan budget", &["plan-may"]),
            ("Über", &["misc"]),
            ("100%", &["deck"]),
            ("%", &["deck"]),
            ("_", &[]),
            ("!", &[]),
            ("'; --", &[]),
            ("untitled", &["untitled"]),
        ] {
            let mut names = found(harness, account, words(text)).await;
            names.sort();
            assert_eq!(names, slugs, "{text}");
        }
    }

    async fn title_of_the_live_version_is_searched_and_shown(harness: &StoreHarness) {
        let account = harness.claimed().await;
        let first = harness.publish_titled(account, "page", "The first").await;
        harness.publish(account, "page", b"two").await;
        let shown = |paged: Paged<Artifact>| paged.rows[0].title.as_ref().map(|title| title.to_string());
        let all = ArtifactFilter::default();
        assert_eq!(shown(search(harness, account, &all, &Page::first(1)).await), None);
        assert!(found(harness, account, words("first")).await.is_empty());
        let change = harness.change(account, START);
        harness.store.artifacts().activate(&change, &"page".parse().unwrap(), first.seq).await.unwrap();
        assert_eq!(
            shown(search(harness, account, &all, &Page::first(1)).await),
            Some("The first".to_owned())
        );
        assert_eq!(found(harness, account, words("first")).await, ["page"]);
    }

    async fn list_is_filtered_by_visibility_and_state(harness: &StoreHarness) {
        let account = harness.claimed().await;
        for (slug, status) in [("good", "pass"), ("fresh", "pending"), ("odd", "review"), ("bad", "blocked")]
        {
            let version = harness.publish(account, slug, b"one").await.version;
            harness
                .sql(&format!("UPDATE versions SET moderation_status = '{status}' WHERE id = '{version}'"))
                .await;
        }
        harness.publish_as(account, "staged", b"one", Activation::Staged).await;
        harness.sql("UPDATE artifacts SET visibility = 'private' WHERE slug IN ('good', 'bad')").await;
        for (state, slugs) in [
            (ArtifactState::Live, &["fresh", "good"][..]),
            (ArtifactState::InReview, &["odd"]),
            (ArtifactState::Blocked, &["bad"]),
            (ArtifactState::NotLive, &["staged"]),
        ] {
            let mut names =
                found(harness, account, ArtifactFilter { state: Some(state), ..Default::default() }).await;
            names.sort();
            assert_eq!(names, slugs);
        }
        let private =
            ArtifactFilter { visibility: Some(Visibility::Private), ..ordered(ArtifactOrder::Name) };
        assert_eq!(found(harness, account, private.clone()).await, ["bad", "good"]);
        let both = ArtifactFilter { state: Some(ArtifactState::Live), ..private };
        assert_eq!(found(harness, account, both).await, ["good"]);
    }

    async fn list_is_ordered_by_change_name_views_and_age(harness: &StoreHarness) {
        let account = harness.claimed().await;
        for (number, (slug, views)) in [("beta", 5), ("alpha", 0), ("gamma", 9)].into_iter().enumerate() {
            let published = harness.publish(account, slug, b"one").await;
            harness.change_at(&published, [30, 10, 20][number]).await;
            let created = format!("created_at = {}", START.millis() + number as i64);
            harness.sql(&format!("UPDATE artifacts SET {created} WHERE id = '{}'", published.artifact)).await;
            for (day, counted) in [(0, views), (-40, 100)] {
                harness.sql(&format!(
                    "INSERT INTO daily_views (host, day, account_id, views) VALUES ('{}', {}, '{account}', {counted})",
                    published.host,
                    START.day().number() + day,
                ))
                .await;
            }
        }
        for (order, slugs) in [
            (ArtifactOrder::Changed, ["beta", "gamma", "alpha"]),
            (ArtifactOrder::Name, ["alpha", "beta", "gamma"]),
            (ArtifactOrder::Views, ["gamma", "beta", "alpha"]),
            (ArtifactOrder::Created, ["gamma", "alpha", "beta"]),
        ] {
            assert_eq!(found(harness, account, ordered(order)).await, slugs, "{order:?}");
            // The same, one page at a time, forward and back.
            let (mut forward, mut page) = (Vec::new(), Page::first(1));
            loop {
                let paged = search(harness, account, &ordered(order), &page).await;
                forward.extend(paged.rows.iter().map(|artifact| artifact.slug.to_string()));
                let Some(next) = paged.next else { break };
                page = Page::after(next, 1);
            }
            assert_eq!(forward, slugs, "{order:?}");
            let last = search(harness, account, &ordered(order), &page).await;
            let before = Page::new(PageStart::Before(last.previous.unwrap()), 2);
            let back = search(harness, account, &ordered(order), &before).await;
            assert_eq!(
                back.rows.iter().map(|one| one.slug.as_str()).collect::<Vec<_>>(),
                slugs[..2],
                "{order:?}"
            );
        }
    }

    async fn ten_thousand_pages_are_listed_quickly_in_every_order(harness: &StoreHarness) {
        let account = harness.claimed().await;
        harness.crowd_of_pages(account, PAGES).await;
        if harness.store.database.writer.get_database_backend() == DbBackend::Postgres {
            // As autovacuum does. SQLite gathers no statistics.
            harness.sql("VACUUM ANALYZE").await;
        }
        let in_state = |state| ArtifactFilter { state: Some(state), ..Default::default() };
        let mut filters: Vec<_> = ArtifactOrder::ALL.into_iter().map(ordered).collect();
        filters.extend([
            words("report"),
            words("nothing"),
            in_state(ArtifactState::Live),
            in_state(ArtifactState::Blocked),
        ]);
        for filter in filters {
            let first = search(harness, account, &filter, &Page::first(ROWS).counted()).await;
            let mut slowest = Duration::ZERO;
            let mut page = first.next.map(|next| Page::after(next, ROWS).counted());
            for _ in 0..5 {
                let Some(next) = page else { break };
                let begun = Instant::now();
                let paged = search(harness, account, &filter, &next).await;
                slowest = slowest.max(begun.elapsed());
                page = paged.next.map(|next| Page::after(next, ROWS).counted());
            }
            assert!(slowest < BOUND, "{filter:?}: {slowest:?}");
        }
    }
}

#[tokio::test]
async fn sqlite_reads_the_list_by_its_indexes() {
    let harness = sqlite().await;
    let listed = "SELECT id, slug FROM artifacts WHERE deleted_at IS NULL AND account_id = 'x'
        ORDER BY updated_at DESC, id DESC LIMIT 51";
    let steps = harness.plan(listed).await;
    assert!(steps.len() == 1 && steps[0].contains("artifacts_by_change"), "{steps:?}");
    let searched = listed.replace("ORDER BY updated_at", "ORDER BY COALESCE(updated_at, updated_at)");
    let steps = harness.plan(&searched).await;
    assert!(steps.iter().any(|step| step.contains("TEMP B-TREE FOR ORDER BY")), "{steps:?}");
    let lines = "SELECT host, day, account_id, views FROM daily_views
        WHERE host IN ('x', 'y') AND day >= 3 ORDER BY host, day";
    let steps = harness.plan(lines).await;
    assert!(steps.len() == 1 && steps[0].contains("(host=? AND day>?)"), "{steps:?}");
    let titled =
        "SELECT artifacts.id FROM artifacts LEFT JOIN versions ON artifacts.live_version_id = versions.id
        WHERE deleted_at IS NULL AND artifacts.account_id = 'x' AND lower(versions.title) LIKE '%y%'";
    let steps = harness.plan(titled).await;
    assert!(steps[1].contains("COVERING INDEX versions_shown"), "{steps:?}");
}
