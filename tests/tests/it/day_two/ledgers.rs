//! A ledger that does not balance is detected, and its movements can be read.

use handbill_tests::{Agent, Value, in_both_modes};

use super::{failed, keeper, succeeded, tamper};
use crate::expectations::PAGE;

async fn spent_something(agent: &Agent) {
    agent.buy_credit(5.0).paying("dev:5").await.expect(200);
    agent.publish("my-page", PAGE).await.expect(201);
    agent.set_visibility("my-page", "unlisted").await.expect(200);
}

in_both_modes! {
    async fn a_tampered_balance_is_found_with_its_account(world: World) {
        let (agent, _) = keeper(&world).await;
        spent_something(&agent).await;
        world.agent().await.buy_credit(1.0).paying("dev:1").await.expect(200);
        let output = succeeded(world.command(&["ledger", "check"], &[]).await);
        assert!(output.contains("2 accounts checked, 3 entries, 2 receipts"), "{output}");
        tamper(&world, &format!("UPDATE accounts SET balance_micro = 99000000 WHERE handle = '{}'", agent.handle()))
            .await;
        let output = failed(world.command(&["ledger", "check"], &[]).await);
        let faults: Vec<_> = output.lines().filter(|line| line.starts_with("FAULT")).collect();
        assert_eq!(faults.len(), 1, "{output}");
        assert!(faults[0].contains(&agent.handle()) && faults[0].contains("add up to 4500000"), "{output}");
        let json: Value = failed(world.command(&["ledger", "check", "--json"], &[]).await).parse().expect("JSON");
        assert_eq!((&json["fault_count"], &json["faults"][0]["handle"]), (&1.into(), &agent.handle().into()));
    }

    async fn duplicate_reason_is_found_by_the_ledger_check(world: World) {
        let (agent, _) = keeper(&world).await;
        spent_something(&agent).await;
        // The database enforces this, so that its constraints are removed first.
        tamper(&world, "CREATE TABLE loose AS SELECT * FROM ledger_entries").await;
        tamper(&world, "DROP TABLE ledger_entries").await;
        tamper(&world, "ALTER TABLE loose RENAME TO ledger_entries").await;
        tamper(
            &world,
            "INSERT INTO ledger_entries SELECT account_id, 3, delta_micro, reason, 4000000, created_at
             FROM ledger_entries WHERE seq = 2",
        )
        .await;
        tamper(&world, "UPDATE accounts SET balance_micro = 4000000, ledger_entries = 3").await;
        let output = failed(world.command(&["ledger", "check"], &[]).await);
        let faults: Vec<_> = output.lines().filter(|line| line.starts_with("FAULT")).collect();
        assert_eq!(faults.len(), 1, "{output}");
        assert!(faults[0].contains(&agent.handle()) && faults[0].contains("occurs 2 times"), "{output}");
    }

    #[settings(
        "HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES" = "4",
        "HANDBILL_LIMITS__CLAIMED_FREE_PUBLISHES" = "4"
    )]
    async fn a_limit_that_is_lowered_makes_no_false_alarm(world: World) {
        let (provisional, (claimed, _)) = (world.agent().await, keeper(&world).await);
        for agent in [&provisional, &claimed] {
            for _ in 0..4 {
                agent.publish("my-page", PAGE).await.expect(201);
            }
        }
        let lowered = [
            ("HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES", "2"),
            ("HANDBILL_LIMITS__CLAIMED_FREE_PUBLISHES", "2"),
        ];
        world.worker().restart_with(&lowered).await;
        world.api().restart_with(&lowered).await;
        claimed.publish("my-page", PAGE).await.refused(402, "payment_required");
        succeeded(world.command(&["ledger", "check"], &lowered).await);
        let used_five = "UPDATE usage SET publishes = 5 WHERE publishes = 4";
        tamper(&world, used_five).await;
        let output = failed(world.command(&["ledger", "check"], &lowered).await);
        assert!(output.contains(&claimed.handle()), "{output}");
    }

    async fn the_entries_of_an_account_are_shown_newest_last(world: World) {
        let (agent, _) = keeper(&world).await;
        spent_something(&agent).await;
        let id = agent.account().await.expect(200).string("id");
        for name in [agent.handle(), id] {
            let output = succeeded(world.command(&["ledger", "show", &name], &[]).await);
            let lines: Vec<Vec<_>> = output.lines().map(|line| line.split_whitespace().collect()).collect();
            assert_eq!(lines[0], ["TIME", "AMOUNT", "BALANCE", "REASON"]);
            assert_eq!((lines[1][1], lines[1][2]), ("$5.00", "$5.00"), "{output}");
            assert_eq!((lines[2][1], lines[2][2]), ("-$0.50", "$4.50"), "{output}");
            assert!(lines[2][3].starts_with("visibility:") && lines.len() == 3, "{output}");
        }
        let output = succeeded(world.command(&["--json", "ledger", "show", &agent.handle()], &[]).await);
        let entries: Value = output.parse().expect("JSON");
        assert_eq!(output.lines().count(), 3, "one entry per line: {output}");
        assert_eq!((&entries[1]["seq"], &entries[1]["delta_usd"]), (&Value::from(2), &Value::from(-0.5)));
        let unknown = failed(world.command(&["ledger", "show", "acct_none"], &[]).await);
        assert!(unknown.contains("no account"), "{unknown}");
    }
}
