//! Long lists, read page by page.

use domain::{Artifact, ArtifactId, Cursor, Invite, List, PageStart, Paged, Version};
use sea_orm::{ConnectionTrait, DbBackend, QueryTrait, Statement};

use super::*;
use crate::Reach;
use crate::artifacts::LISTED_BY;
use crate::rows::artifact::live;

const ROWS: u32 = 3_000;
const PAGE: u32 = 100;
/// When the first row was created.
const LONG_AGO: i64 = START.millis() - 1_000_000;

/// Numbers from 1 to `count`, as rows with one column `n`.
fn numbers(count: u32) -> String {
    format!(
        "(WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {count})
          SELECT n FROM numbers) AS numbers"
    )
}

/// A text with a number of five digits at its end.
fn counting(prefix: &str) -> String {
    format!("'{prefix}' || substr(CAST(100000 + n AS TEXT), 2)")
}

/// A unique id with a prefix of four characters.
fn ulid(prefix: &str) -> String {
    counting(&format!("{prefix}{}", "0".repeat(17)))
}

/// Artifacts that were created in sequence, ten per millisecond.
async fn crowd(harness: &StoreHarness, account: AccountId, prefix: &str, count: u32) {
    let (id, slug) = (ulid(prefix), counting("page-"));
    let host = format!("{slug} || '-{}'", prefix.to_lowercase());
    harness
        .sql(&format!(
            "INSERT INTO artifacts
            (id, account_id, slug, host, visibility, last_seq, created_at, updated_at, deleted_at)
         SELECT {id}, '{account}', {slug}, {host}, 'public', 0, {LONG_AGO} + n / 10, 0, NULL FROM {}",
            numbers(count)
        ))
        .await;
}

async fn artifacts(harness: &StoreHarness, account: AccountId, page: &Page) -> Paged<Artifact> {
    harness.store.artifacts().list(account, None, page).await.unwrap()
}

fn slugs(page: &Paged<Artifact>) -> Vec<String> {
    page.rows.iter().map(|artifact| artifact.slug.to_string()).collect()
}

/// The names `page-…` from one number down to the other.
fn down(from: u32, to: u32) -> Vec<String> {
    (to..=from).rev().map(|number| format!("page-{number:05}")).collect()
}

on_both_databases! {
    async fn long_list_is_paged_consistently_while_rows_change(harness: &StoreHarness) {
        let (account, other) = (harness.claimed().await, harness.claimed().await);
        crowd(harness, account, "01AA", ROWS).await;
        crowd(harness, other, "01AB", 50).await;
        let first = artifacts(harness, account, &Page::first(PAGE).counted()).await;
        assert_eq!((slugs(&first), first.total), (down(3_000, 2_901), Some(3_000)));
        assert_eq!(first.previous, None);
        // The cursor's row and some of its neighbours are deleted, and a newer row is inserted.
        let gone = "slug IN ('page-02901', 'page-02902', 'page-02890')";
        harness.sql(&format!("UPDATE artifacts SET deleted_at = 1 WHERE account_id = '{account}' AND {gone}")).await;
        harness.publish(account, "newest", b"new").await;
        let (mut seen, mut next) = (slugs(&first), first.next);
        while let Some(cursor) = next {
            let page = artifacts(harness, account, &Page::after(cursor, PAGE)).await;
            seen.extend(slugs(&page));
            next = page.next;
        }
        let expected: Vec<_> = down(3_000, 1).into_iter().filter(|slug| slug != "page-02890").collect();
        assert_eq!(seen, expected);
    }

    async fn a_list_is_read_backwards_as_well(harness: &StoreHarness) {
        let account = harness.claimed().await;
        crowd(harness, account, "01AA", 250).await;
        let last = artifacts(harness, account, &Page::after(cursor_behind(harness, account, 200).await, PAGE)).await;
        assert_eq!((slugs(&last), last.next), (down(50, 1), None));
        let before = |cursor: Option<Cursor>| Page::new(PageStart::Before(cursor.unwrap()), PAGE);
        let middle = artifacts(harness, account, &before(last.previous)).await;
        assert_eq!(slugs(&middle), down(150, 51));
        let first = artifacts(harness, account, &before(middle.previous.clone())).await;
        assert_eq!((slugs(&first), first.previous.is_some()), (down(250, 151), false));
        let again = artifacts(harness, account, &Page::after(first.next.unwrap(), PAGE)).await;
        assert_eq!((slugs(&again), again.next), (slugs(&middle), middle.next));
    }

    async fn pin_limits_the_list_to_one_artifact(harness: &StoreHarness) {
        let account = harness.claimed().await;
        crowd(harness, account, "01AA", 20).await;
        let one = artifacts(harness, account, &Page::whole()).await.rows[7].id;
        let seen = harness.store.artifacts().list(account, Some(one), &Page::first(1)).await.unwrap();
        assert_eq!((seen.rows.len(), seen.rows[0].id, seen.next), (1, one, None));
        let foreign: ArtifactId = "01AAAAAAAAAAAAAAAAAAAAAAAA".parse().unwrap();
        let slugs = harness.store.artifacts().slugs(account, &[one, foreign]).await.unwrap();
        assert_eq!(slugs.keys().collect::<Vec<_>>(), [&one]);
    }

    async fn versions_are_read_in_pages_without_their_manifests(harness: &StoreHarness) {
        let account = harness.claimed().await;
        let artifact = harness.publish(account, "page", b"one").await.artifact;
        for _ in 0..4 {
            harness.publish(account, "page", b"two").await;
        }
        let page = harness.store.artifacts().list_versions(account, artifact, &Page::first(2).counted()).await.unwrap();
        let seqs = |page: &Paged<Version>| page.rows.iter().map(|version| version.seq).collect::<Vec<_>>();
        assert_eq!((seqs(&page), page.total), (vec![5, 4], Some(5)));
        let page = harness.store.artifacts().list_versions(account, artifact, &Page::after(page.next.unwrap(), 3)).await.unwrap();
        assert_eq!((seqs(&page), page.next), (vec![3, 2, 1], None));
        let stranger = harness.claimed().await;
        assert!(harness.store.artifacts().list_versions(stranger, artifact, &Page::whole()).await.unwrap().rows.is_empty());
        let live = artifacts(harness, account, &Page::first(1)).await.rows[0].live.unwrap();
        assert_eq!((live.seq, live.total_bytes), (5, 3));
    }

    async fn invites_with_equal_timestamps_appear_on_exactly_one_page_in_both_directions(harness: &StoreHarness) {
        let account = harness.claimed().await;
        // Their codes have the same beginning.
        harness.sql(&format!(
            "INSERT INTO invites (code, account_id, role, max_uses, uses, expires_at, created_at)
             SELECT {}, '{account}', 'member', 1, 0, {LONG_AGO}, {LONG_AGO} FROM {}",
            counting(&format!("AbCdEf{}", "0".repeat(13))),
            numbers(50)
        ))
        .await;
        let read = async |start| harness.store.invites().list(account, &Page::new(start, 10)).await.unwrap();
        let codes = |page: &Paged<Invite>| page.rows.iter().map(|one| one.code.as_str().to_owned()).collect::<Vec<_>>();
        let (mut forward, mut page) = (Vec::new(), read(PageStart::First).await);
        loop {
            forward.push(codes(&page));
            let Some(next) = page.next.clone() else { break };
            assert!(forward.iter().flatten().all(|code| !next.to_string().contains(code)), "{next}");
            page = read(PageStart::After(next)).await;
        }
        let (mut backward, mut before) = (vec![codes(&page)], page.previous.clone());
        while let Some(previous) = before {
            let page = read(PageStart::Before(previous)).await;
            backward.insert(0, codes(&page));
            before = page.previous;
        }
        assert_eq!((forward.len(), &forward), (5, &backward));
        let mut all = forward.concat();
        all.dedup();
        assert_eq!(all.len(), 50);
    }

    async fn tokens_with_equal_timestamps_are_each_listed_once(harness: &StoreHarness) {
        let account = harness.claimed().await;
        let (id, hash) = (ulid("01AC"), counting("hash"));
        harness.sql(&format!(
            "INSERT INTO tokens (id, secret_hash, account_id, name, scopes, created_at)
             SELECT {id}, {hash}, '{account}', 'bot', 'artifacts:read', {} FROM {}",
            START.millis(),
            numbers(250)
        ))
        .await;
        let (mut seen, mut page) = (Vec::new(), Page::first(PAGE));
        loop {
            let tokens = harness.store.tokens().list(account, Reach::All, START, &page).await.unwrap();
            seen.extend(tokens.rows.iter().map(|token| token.id));
            let Some(next) = tokens.next else { break };
            assert_eq!(next.list, List::Tokens);
            page = Page::after(next, PAGE);
        }
        // Including the account's first token.
        assert_eq!(seen.len(), 251);
        seen.dedup();
        assert_eq!(seen.len(), 251);
    }
}

/// The cursor after this many of the account's artifacts.
async fn cursor_behind(harness: &StoreHarness, account: AccountId, count: u32) -> Cursor {
    artifacts(harness, account, &Page::first(count)).await.next.unwrap()
}

/// The statement that reads a page in the middle of an account with 20,000 artifacts.
fn middle(account: AccountId, backend: DbBackend) -> String {
    let cursor = Cursor::new(List::Artifacts, LONG_AGO + 1_000, "01AA0000000000000000010000");
    LISTED_BY.cut(live(account), &Page::after(cursor, PAGE)).build(backend).to_string()
}

#[tokio::test]
async fn sqlite_reads_a_page_of_20000_artifacts_from_the_index() {
    let harness = sqlite().await;
    let account = harness.claimed().await;
    crowd(&harness, account, "01AA", 20_000).await;
    let sought = "SEARCH artifacts USING INDEX artifacts_listed (account_id=? AND (created_at,id)<(?,?))";
    assert_eq!(harness.plan(&middle(account, DbBackend::Sqlite)).await, [sought]);
    harness.sql("ANALYZE").await;
    assert_eq!(harness.plan(&middle(account, DbBackend::Sqlite)).await, [sought]);
}

#[tokio::test]
async fn postgres_reads_a_page_of_20000_artifacts_from_the_index() {
    let Some(harness) = postgres().await else { return };
    let account = harness.claimed().await;
    crowd(&harness, account, "01AA", 20_000).await;
    harness.sql("ANALYZE").await;
    let explain = format!("EXPLAIN {}", middle(account, DbBackend::Postgres));
    let statement = Statement::from_string(DbBackend::Postgres, explain);
    let rows = harness.store.database.reader.query_all_raw(statement).await.unwrap();
    let plan: Vec<String> = rows.iter().map(|row| row.try_get_by_index(0).unwrap()).collect();
    let plan = plan.join("\n");
    assert!(plan.contains("using artifacts_listed") && !plan.contains("Sort"), "{plan}");
    assert!(plan.contains("ROW(created_at, id) < ROW"), "{plan}");
}
