//! Spec 4.13, 6.2 and 8: monthly charges are made once, regardless of the balance, by route and by schedule.

use std::time::Duration;

use domain::{Month, Time};
use futures::future::join_all;
use handbill_tests::{
    Agent, LedgerEntry, Mode, Operator, PATIENCE, Reply, World, eventually, fields_of, in_both_modes, program,
};

use crate::expectations::{PAGE, at_two_processes, entry, sound_ledger};
use crate::teams::{claimed_by, person};

const DAY: Duration = Duration::from_secs(24 * 3600);
/// 2 MB beyond the free one, at 0.05 USD for 10^9 bytes.
const STORED_BYTES: usize = 3_000_000;
const STORAGE_MICRO: i64 = 100;
/// 3 views beyond the free two, at 1 USD for a million.
const VIEWS: usize = 5;
const TRAFFIC_MICRO: i64 = 3;
const PAGE_MICRO: i64 = 500_000;

in_both_modes! {
    #[settings("HANDBILL_LIMITS__FREE_STORAGE_BYTES" = "1000000", "HANDBILL_LIMITS__FREE_VIEWS" = "2")]
    async fn storage_traffic_and_non_public_pages_are_charged_once_a_month(world: World) {
        let tenant = Tenant::move_in(&world).await;
        let operator = world.operator();
        let before = sound_ledger(&world, &tenant.agent).await;

        // The calls that hid the pages charged their first month.
        let metered = operator.run_metering().await.expect(200);
        assert_metered(&metered, this_month(&world), 1, 2, "0.000103");
        let (month, next) = (this_month(&world), next_month(&world));
        let used = [
            entry(format!("storage:{month}"), -STORAGE_MICRO),
            entry(format!("traffic:{month}"), -TRAFFIC_MICRO),
        ];
        assert_eq!(new_entries(&world, &tenant, &before).await, sorted(used.to_vec()));
        for body in ["", "{}", r#"{"month":null}"#] {
            let again = operator.run_metering().raw("application/json", body).await.expect(200);
            assert_metered(&again, month, 1, 0, "0.0");
        }
        assert_metered(&operator.run_metering_of(&month.to_string()).await.expect(200), month, 1, 0, "0.0");

        let metered = operator.run_metering_of(&next.to_string()).await.expect(200);
        assert_metered(&metered, next, 1, 3, "1.0001");
        let mut expected = used.to_vec();
        expected.push(entry(format!("storage:{next}"), -STORAGE_MICRO));
        expected.extend(tenant.pages.iter().map(|page| entry(format!("visibility:{page}:{next}"), -PAGE_MICRO)));
        assert_eq!(new_entries(&world, &tenant, &before).await, sorted(expected));
        assert_metered(&operator.run_metering_of(&next.to_string()).await.expect(200), next, 1, 0, "0.0");
        // Metering charges even without credit.
        assert_eq!(tenant.agent.account().await.expect(200).number("credits_usd"), -1.000_203);
    }

    async fn free_usage_and_provisional_accounts_are_not_charged(world: World) {
        let (claimed, provisional) = (world.agent().await, world.agent().await);
        for agent in [&claimed, &provisional] {
            agent.publish("my-page", PAGE).await.expect(201);
        }
        provisional.set_visibility("my-page", "private").paying("dev:0.5").await.expect(200);
        let next = next_month(&world);
        assert_metered(&world.operator().run_metering_of(&next.to_string()).await.expect(200), next, 0, 0, "0.0");
        let claim_url = claimed.signup.as_ref().unwrap().string("claim_url");
        person(&world, "owner").await.claim(&claim_url).await.expect(200);
        assert_metered(&world.operator().run_metering_of(&next.to_string()).await.expect(200), next, 1, 0, "0.0");
        for agent in [&claimed, &provisional] {
            assert_eq!(agent.account().await.expect(200).number("credits_usd"), 0.0);
        }
    }

    async fn public_or_deleted_page_is_no_longer_charged(world: World) {
        let (agent, _) = claimed_by(&world, "owner").await;
        let mut charged = Vec::new();
        for slug in ["back-again", "deleted", "kept"] {
            let published = agent.publish(slug, PAGE).await.expect(201);
            agent.set_visibility(slug, "unlisted").paying("dev:0.5").await.expect(200);
            charged.push(published.string("artifact_id"));
        }
        agent.set_visibility("back-again", "public").await.expect(200);
        agent.delete("deleted").await.expect(200);
        let next = next_month(&world);
        assert_metered(&world.operator().run_metering_of(&next.to_string()).await.expect(200), next, 1, 1, "0.5");
        let reason = format!("visibility:{}:{next}", charged[2]);
        assert_eq!(sound_ledger(&world, &agent).await.last(), Some(&entry(reason, -PAGE_MICRO)));
    }

    async fn malformed_month_is_refused(world: World) {
        let operator = world.operator();
        for month in ["2026-13", "2026-00", "2026-1", "2026", "", "2026-01-01", "next", "２０２６-01"] {
            operator.run_metering_of(month).await.refused(400, "invalid_body").naming("month");
        }
        for body in [r#"{"month":202601}"#, r#"{"month":["2026-01"]}"#, r#"{"months":"2026-01"}"#, "[]", "{"] {
            let call = operator.run_metering().raw("application/json", body);
            call.await.refused(400, "invalid_body");
        }
        assert_eq!(operator.run_metering_of("2020-02").await.expect(200).string("month"), "2020-02");
    }

    #[settings("HANDBILL_DEV_MODE" = "false")]
    async fn outside_dev_mode_a_future_month_cannot_be_charged(world: World) {
        let (month, next) = (this_month(&world), next_month(&world));
        let refused = world.operator().run_metering_of(&next.to_string()).await;
        refused.refused(400, "invalid_request").naming("month");
        assert_metered(&world.operator().run_metering_of(&month.to_string()).await.expect(200), month, 0, 0, "0.0");
    }

    #[settings("HANDBILL_LIMITS__FREE_STORAGE_BYTES" = "1000000", "HANDBILL_LIMITS__FREE_VIEWS" = "2")]
    async fn concurrent_metering_runs_charge_once(world: World) {
        let tenant = Tenant::move_in(&world).await;
        let before = sound_ledger(&world, &tenant.agent).await;
        let operators = at_two_processes(&world, &world.operator(), Operator::at).await;
        let next = next_month(&world).to_string();
        let calls = (0..10).map(|number| operators[number % 2].run_metering_of(&next).into_future());
        let metered: Vec<_> = join_all(calls).await.into_iter().map(|reply| reply.expect(200)).collect();
        assert_eq!(metered.iter().map(|reply| reply.integer("charges")).sum::<i64>(), 3);
        let total: f64 = metered.iter().map(|reply| reply.number("total_usd")).sum();
        assert_eq!((total * 1e6).round(), 1_000_100.0);
        assert_eq!(new_entries(&world, &tenant, &before).await.len(), 3);
    }

    #[settings("HANDBILL_LIMITS__FREE_STORAGE_BYTES" = "1000000", "HANDBILL_LIMITS__FREE_VIEWS" = "2")]
    async fn schedule_charges_once_on_the_first_of_the_month(world: World) {
        let tenant = Tenant::move_in(&world).await;
        let before = sound_ledger(&world, &tenant.agent).await;
        let (ended, begun) = (this_month(&world), next_month(&world));
        world.advance(until(&world, begun.start().plus(Duration::from_secs(5 * 60))));
        let expected = scheduled(&tenant, ended, begun);
        until_entries(&world, before.len() + expected.len()).await;
        assert_eq!(new_entries(&world, &tenant, &before).await, expected);
        // The operator's run finds nothing new: the pages of the ended month were paid when they were hidden.
        let again = world.operator().run_metering_of(&ended.to_string()).await.expect(200);
        assert_eq!(again.integer("charges"), 0, "{again:?}");
        let runs = runs_of_the_schedule(&world);
        world.advance(DAY);
        eventually(PATIENCE, "a later run", async || (runs_of_the_schedule(&world) > runs).then_some(())).await;
        assert_eq!(new_entries(&world, &tenant, &before).await, expected);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failed_metering_run_is_retried_when_the_workers_are_back() {
    let setup =
        World::with(Mode::Production, program!()).env("HANDBILL_LIMITS__FREE_STORAGE_BYTES", "1000000");
    let world = setup.env("HANDBILL_LIMITS__FREE_VIEWS", "2").start().await;
    let tenant = Tenant::move_in(&world).await;
    let before = sound_ledger(&world, &tenant.agent).await;
    let (ended, begun) = (this_month(&world), next_month(&world));
    let worker = world.worker();
    assert!(worker.terminate().await.status.success());
    world.advance(until(&world, begun.start().plus(3 * DAY)));
    // It dies just before it commits its first charge.
    worker.restart_with(&[("HANDBILL_TEST_FAULTS", "settle.before_commit:kill")]).await;
    assert!(!worker.exit_within(PATIENCE).await.success(), "no pass was made");
    assert_eq!(new_entries(&world, &tenant, &before).await, []);
    worker.restart().await;
    // The queue takes an orphaned job over after a while. The next hour's run does not wait for it.
    world.advance(Duration::from_secs(3600));
    let expected = scheduled(&tenant, ended, begun);
    until_entries(&world, before.len() + expected.len()).await;
    assert_eq!(new_entries(&world, &tenant, &before).await, expected);
    assert_eq!(tenant.agent.account().await.expect(200).number("credits_usd"), -1.000_103);
}

/// A claimed account with a bill: storage and views beyond the free amounts, and two hidden pages.
struct Tenant {
    agent: Agent,
    pages: Vec<String>,
}

impl Tenant {
    async fn move_in(world: &World) -> Self {
        let (agent, _) = claimed_by(world, "owner").await;
        let content = vec![b'x'; STORED_BYTES - 2 * PAGE.len()];
        let large = agent.publish_files("large", &[("index.html", &content)]).await.expect(201);
        let mut pages = Vec::new();
        for (slug, visibility) in [("private", "private"), ("unlisted", "unlisted")] {
            let html = PAGE.replace("Hello", &slug[..5]);
            let published = agent.publish(slug, html).await.expect(201);
            agent.set_visibility(slug, visibility).paying("dev:0.5").await.expect(200);
            pages.push(published.string("artifact_id"));
        }
        for _ in 0..VIEWS {
            world.operator().count_view(&large.string("host")).await.expect(200);
        }
        let usage = agent.usage().await.expect(200);
        assert_eq!(usage.integer("storage.bytes"), i64::try_from(STORED_BYTES).unwrap());
        assert_eq!(usage.number("credits_usd"), 0.0);
        Self { agent, pages }
    }
}

/// The charges of the schedule when one month ends and another begins.
fn scheduled(tenant: &Tenant, ended: Month, begun: Month) -> Vec<LedgerEntry> {
    let mut expected = vec![
        entry(format!("storage:{ended}"), -STORAGE_MICRO),
        entry(format!("traffic:{ended}"), -TRAFFIC_MICRO),
    ];
    expected.extend(tenant.pages.iter().map(|page| entry(format!("visibility:{page}:{begun}"), -PAGE_MICRO)));
    sorted(expected)
}

async fn new_entries(world: &World, tenant: &Tenant, before: &[LedgerEntry]) -> Vec<LedgerEntry> {
    let ledger = sound_ledger(world, &tenant.agent).await;
    assert_eq!(&ledger[..before.len()], before, "an entry was changed");
    sorted(ledger[before.len()..].to_vec())
}

async fn until_entries(world: &World, count: usize) {
    let what = format!("{count} entries of the ledger");
    eventually(PATIENCE, &what, async || (world.ledger().await.len() >= count).then_some(())).await;
}

/// The number of the job's runs, with or without work.
fn runs_of_the_schedule(world: &World) -> usize {
    let is_done = |line: &&str| line.contains("job.kind=\"meter\"") && line.contains("outcome=\"done\"");
    world.worker().log().lines().filter(is_done).count()
}

fn sorted(mut entries: Vec<LedgerEntry>) -> Vec<LedgerEntry> {
    entries.sort_by(|one, other| one.reason.cmp(&other.reason));
    entries
}

#[track_caller]
fn assert_metered(reply: &Reply, month: Month, accounts: i64, charges: i64, total_usd: &str) {
    assert_eq!(fields_of(&reply.json()), ["accounts", "charges", "month", "total_usd"]);
    assert_eq!(reply.string("month"), month.to_string());
    assert_eq!((reply.integer("accounts"), reply.integer("charges")), (accounts, charges), "{reply:?}");
    assert_eq!(reply.number("total_usd"), total_usd.parse::<f64>().unwrap(), "{reply:?}");
}

fn now(world: &World) -> Time {
    Time::from_millis(world.now_seconds() * 1_000)
}

fn this_month(world: &World) -> Month {
    now(world).month()
}

fn next_month(world: &World) -> Month {
    this_month(world).start().plus(32 * DAY).month()
}

fn until(world: &World, moment: Time) -> Duration {
    moment.since(now(world))
}
