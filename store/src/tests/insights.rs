//! The figures of the usage page and of the page of an artifact.

use domain::{ArtifactId, ChargeOperation, Day, Month, MonthCharges, Reason};

use super::*;

impl StoreHarness {
    async fn charge(&self, account: AccountId, reason: Reason, micro: i64, now: Time) {
        let terms = Terms { tariff: Tariff::default(), chance: self.chance.clone(), now };
        let amount = Micro::new(micro);
        let charge = ChargeOperation { account, amount, reason: reason.to_string() };
        let outcome =
            self.store.settle(account, &[LedgerOperation::Charge(charge)], &terms).await.unwrap().pop();
        assert!(matches!(outcome, Some(Outcome::Moved(_))), "{outcome:?}");
    }

    async fn viewed(&self, account: AccountId, host: &Host, count: u64, counted_at: Time) {
        let views = vec![ViewCount { account, host: host.clone(), count }];
        self.store.views().add(self.job(), &ViewsJob { counted_at, views }).await.unwrap();
    }
}

fn days_before(days: u64) -> Time {
    START.minus(24 * u32::try_from(days).unwrap() * HOUR)
}

on_both_databases! {
    async fn charges_of_a_month_are_those_of_its_publishes_and_those_that_name_it(harness: &StoreHarness) {
        let (account, other) = (harness.claimed().await, harness.claimed().await);
        let month = START.month();
        let id = || ArtifactId::new(START, &harness.chance);
        let publish = || Reason::Publish(VersionId::new(START, &harness.chance));
        assert_eq!(harness.store.ledger().charges_of(account, month).await.unwrap(), MonthCharges::default());
        harness.charge(account, publish(), 5_000, month.previous().start()).await;
        for _ in 0..2 {
            harness.charge(account, publish(), 5_000, START).await;
            harness.charge(account, Reason::Visibility(id(), month), 500_000, START).await;
        }
        harness.charge(account, Reason::Visibility(id(), month.previous()), 500_000, START).await;
        harness.charge(account, Reason::Storage(month), 70, month.next().start()).await;
        harness.charge(account, Reason::Traffic(month), 9, month.next().start()).await;
        harness.charge(account, Reason::Traffic(month.previous()), 8, START).await;
        harness.charge(other, publish(), 5_000, START).await;
        let charged = harness.store.ledger().charges_of(account, month).await.unwrap();
        let expected = MonthCharges {
            publishes: Micro::new(10_000),
            views: Micro::new(9),
            storage: Micro::new(70),
            visibility: Micro::new(1_000_000),
        };
        assert_eq!(charged, expected);
        let before = harness.store.ledger().charges_of(account, month.previous()).await.unwrap();
        assert_eq!(before.total(), Micro::new(5_000 + 500_000 + 8));
    }

    async fn views_are_found_by_month_by_page_and_by_day(harness: &StoreHarness) {
        let (account, other) = (harness.claimed().await, harness.claimed().await);
        let (quiet, busy) = (
            harness.publish(account, "quiet", b"one").await.host,
            harness.publish(account, "busy", b"two").await.host,
        );
        let gone: Host = "gone-aaaa".parse().unwrap();
        for (host, count, at) in [
            (&quiet, 1, START),
            (&busy, 2, START),
            (&busy, 3, days_before(1)),
            (&busy, 4, days_before(40)),
            (&gone, 2, START),
        ] {
            harness.viewed(account, host, count, at).await;
        }
        harness.viewed(other, &"foreign-aaaa".parse().unwrap(), 100, START).await;
        let views = harness.store.views();

        let months: Vec<Month> = vec![START.month(), days_before(40).month()];
        assert_eq!(views.months(account).await.unwrap(), months);
        assert_eq!(views.months(AccountId::new(START, &harness.chance)).await.unwrap(), []);
        assert_eq!(views.in_month(account, START.month()).await.unwrap().views, 8);
        assert_eq!(views.in_month(account, START.month().next()).await.unwrap().views, 0);

        let recent = days_before(1).day()..=START.day();
        let most = views.most_viewed(account, START.month(), 10).await.unwrap();
        assert_eq!(most, [(busy.clone(), 5), (gone.clone(), 2), (quiet.clone(), 1)]);
        assert_eq!(views.most_viewed(account, START.month(), 1).await.unwrap(), [(busy.clone(), 5)]);
        let slugs = harness.store.artifacts().slugs_at(account, &[busy.clone(), gone, quiet]).await.unwrap();
        assert_eq!((slugs.len(), slugs[&busy].as_str()), (2, "busy"));
        assert_eq!(
            harness.store.artifacts().slugs_at(other, std::slice::from_ref(&busy)).await.unwrap().len(),
            0
        );

        let mut by_day: Vec<(Day, u64)> =
            views.of_host(account, &busy, &recent).await.unwrap().into_iter().collect();
        by_day.sort();
        assert_eq!(by_day, [(days_before(1).day(), 3), (START.day(), 2)]);
        assert_eq!(views.of_host(other, &busy, &recent).await.unwrap().len(), 0);
    }
}
