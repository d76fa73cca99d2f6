//! Operators with passwords of their own, and the credit that operators grant and take.

use std::process::Stdio;

use handbill_tests::{Agent, Call, World, in_both_modes, json, program};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use crate::admin::{OPERATOR_PASSWORD, sign_in};
use crate::expectations::PAGE;

const ADA: &str =
    "ada=$pbkdf2-sha256$i=600000,l=32$c2FsdCBvZiBhZGEgMDAwMQ$zq5SivstOohdRjfEZb4HJ02wpQfKhyZqmBxWUngnX1Q";
const ADAS_PASSWORD: &str = "the password of Ada 1";
const BEN: &str =
    "ben=$pbkdf2-sha256$i=600000,l=32$c2FsdCBvZiBiZW4gMDAwMg$nkhARxXF/CBWX9ljooCCqJ5IVH5hOTeVl++T3MFjDx4";
const BENS_PASSWORD: &str = "the password of Ben 2";

in_both_modes! {
    #[settings(
        "HANDBILL_DEV_MODE" = "false",
        "HANDBILL_SECRETS__OPERATORS" = format!("{ADA},{BEN}"),
        "HANDBILL_SECRETS__OPERATOR_PASSWORD" = OPERATOR_PASSWORD
    )]
    async fn operator_signs_in_only_with_their_own_password(world: World) {
        let human = world.human();
        for (name, password) in [
            ("ada", BENS_PASSWORD),
            ("ada", OPERATOR_PASSWORD),
            ("ADA", OPERATOR_PASSWORD),
            ("carol", ADAS_PASSWORD),
            ("ada", ""),
        ] {
            let refused = sign_in(&human, name, password).await;
            assert_eq!(refused.status, 401, "{name} {password}: {refused:?}");
        }
        for (name, password, shown) in
            [("Ada", ADAS_PASSWORD, "ada"), ("ben", BENS_PASSWORD, "ben"), ("Carol", OPERATOR_PASSWORD, "Carol")]
        {
            let human = world.human();
            sign_in(&human, name, password).await.expect(302);
            let page = human.get("/admin/audit").await.expect(200).text();
            assert!(page.contains(&format!(">{shown}<")), "{name}: {page}");
        }
    }

    #[settings("HANDBILL_DEV_MODE" = "false", "HANDBILL_SECRETS__OPERATORS" = format!("{ADA} {BEN}"))]
    async fn an_operator_who_is_removed_is_signed_out_at_the_next_start(world: World) {
        let (ada, ben) = (world.human(), world.human());
        sign_in(&ada, "ada", ADAS_PASSWORD).await.expect(302);
        sign_in(&ben, "ben", BENS_PASSWORD).await.expect(302);
        // Without the shared password no other name can sign in.
        assert_eq!(sign_in(&world.human(), "carol", ADAS_PASSWORD).await.status, 401);
        world.api().restart_with(&[("HANDBILL_SECRETS__OPERATORS", BEN)]).await;
        ada.get("/admin/audit").await.expect(302);
        ben.get("/admin/audit").await.expect(200);
        assert_eq!(sign_in(&ada, "ada", ADAS_PASSWORD).await.status, 401);
    }

    async fn operator_grants_credit_once_and_takes_it_back(world: World) {
        let agent = world.agent().await;
        let id = "01KC4GZJ2Q8W5T7RXN3VB6M9DE";
        let give = || grant(&world, &agent, json!(7.5), id);
        let given = give().await.expect(200);
        assert_eq!((given.number("credits_usd"), given.at("is_new")), (7.5, json!(true)));
        assert_eq!(given.string("ledger_reason"), format!("operator-credit:{id}"));
        let again = give().await.expect(200);
        assert_eq!((again.number("credits_usd"), again.at("is_new")), (7.5, json!(false)));
        grant(&world, &agent, json!(8), id).await.refused(409, "idempotency_conflict");
        let taken = grant(&world, &agent, json!(-10), "01KC4GZJ2Q8W5T7RXN3VB6M9DF").await.expect(200);
        assert_eq!(taken.number("credits_usd"), -2.5);
        assert_eq!(agent.account().await.expect(200).number("credits_usd"), -2.5);
        assert!(agent.publish("my-page", PAGE).await.status == 402);

        let trail = agent.get("/v1/account/audit").await.expect(200);
        assert_eq!((trail.string("0.action"), trail.string("1.action")), ("credit.taken".into(), "credit.given".into()));
        // The account must not see which operator it was, or why.
        assert_eq!((trail.string("1.actor"), trail.string("1.via")), ("operator".into(), "operator".into()));
        assert!(!trail.text().contains("Grace") && !trail.text().contains("outage"), "{trail:?}");
        assert!(world.api().log().contains("operator.name=Grace"), "{}", world.api().log());

        for (body, code) in [
            (json!({ "account": agent.handle(), "amount_usd": 0, "reason": "x" }), 400),
            (json!({ "account": agent.handle(), "amount_usd": 10_001, "reason": "x" }), 400),
            (json!({ "account": agent.handle(), "amount_usd": 1, "reason": "  " }), 400),
            (json!({ "account": agent.handle(), "amount_usd": 1 }), 400),
            (json!({ "account": "acct_nobody", "amount_usd": 1, "reason": "x" }), 404),
        ] {
            let refused = world.operator().post("/internal/credit").header("X-Operator", "Grace").json(&body).await;
            assert_eq!(refused.status, code, "{body}: {refused:?}");
        }
        let nameless = world.operator().post("/internal/credit");
        nameless.json(&json!({ "account": agent.handle(), "amount_usd": 1, "reason": "x" })).await.expect(400);
        let checked = world.command(&["ledger", "check"], &[]).await;
        assert!(checked.status.success(), "{checked:?}");
    }

    async fn credit_grant_answered_with_503_is_never_made_and_can_be_retried_with_its_id(world: World) {
        let agent = world.agent().await;
        let id = "01KC4GZJ2Q8W5T7RXN3VB6M9DE";
        let credits = async || agent.account().await.expect(200).number("credits_usd");
        let slow = "answer.wait_ms:instead=500,settle.before_commit:pause_ms=1500";
        world.api().restart_with(&[("HANDBILL_TEST_FAULTS", slow)]).await;
        let body = json!({ "account": agent.handle(), "amount_usd": 7.5, "reason": "After the outage" });
        let without_id = world.operator().post("/internal/credit").header("X-Operator", "Grace").json(&body);
        for call in [without_id, grant(&world, &agent, json!(7.5), id)] {
            let refused = call.await.refused(503, "overloaded");
            assert!(["nothing was done", "not processed"].iter().any(|words| refused.string("message").contains(words)), "{refused:?}");
        }
        assert_eq!(credits().await, 0.0);
        world.api().restart().await;
        let given = grant(&world, &agent, json!(7.5), id).await.expect(200);
        assert_eq!((given.number("credits_usd"), given.at("is_new")), (7.5, json!(true)));
        assert_eq!(credits().await, 7.5);
    }

    async fn credit_is_granted_and_taken_from_the_command_line(world: World) {
        let agent = world.agent().await;
        let handle = agent.handle();
        let id = "01KC4GZJ2Q8W5T7RXN3VB6M9DE";
        let give = ["admin", "credit", &handle, "2.50", "--reason", "Goodwill", "--id", id, "--as", "Grace"];
        let given = world.command(&give, &[]).await;
        assert!(given.status.success() && given.output.contains(&format!("Added $2.50. The balance of {handle}")), "{given:?}");
        assert!(!given.output.contains("INFO"), "{given:?}");
        let again = world.command(&give, &[]).await;
        assert!(again.status.success() && again.output.contains("Nothing to do"), "{again:?}");
        let taken = world.command(&["admin", "credit", &handle, "-4", "--reason", "By mistake"], &[]).await;
        assert!(taken.status.success() && taken.output.contains("is -$1.50"), "{taken:?}");
        assert_eq!(agent.account().await.expect(200).number("credits_usd"), -1.5);
        let unknown = world.command(&["admin", "credit", "acct_nobody", "1", "--reason", "x"], &[]).await;
        assert_eq!(unknown.status.code(), Some(1), "{unknown:?}");
        let zero = world.command(&["admin", "credit", &handle, "0", "--reason", "x"], &[]).await;
        assert_eq!(zero.status.code(), Some(2), "{zero:?}");
    }
}

#[tokio::test]
async fn add_operator_command_prints_a_hash_that_matches_the_password() {
    let (code, output) = add_operator("Grace", "a password of Mine 3\n").await;
    assert_eq!(code, Some(0), "{output}");
    assert!(!output.contains("a password of Mine 3"), "{output}");
    let line = output.lines().find(|line| line.starts_with("HANDBILL_SECRETS__OPERATORS=")).unwrap();
    let entry = line.split('\'').nth(1).unwrap();
    assert!(entry.starts_with("grace=$pbkdf2-sha256$i=600000,l=32$"), "{output}");
    assert!(output.contains(&format!("operators = [\"{entry}\"]")), "{output}");
    let setup = World::with(handbill_tests::Mode::Embedded, program!());
    let world = setup.env("HANDBILL_SECRETS__OPERATORS", entry).start().await;
    sign_in(&world.human(), "grace", "a password of Mine 3").await.expect(302);

    for (name, password) in [
        ("grace", "short\n"),
        ("grace", "password123\n"),
        ("grace", ""),
        ("not a name", "a password of Mine 3\n"),
    ] {
        let (code, output) = add_operator(name, password).await;
        assert!(code != Some(0) && !output.contains("$pbkdf2"), "{name} {password}: {output}");
    }
}

fn grant(world: &World, agent: &Agent, amount_usd: handbill_tests::Value, id: &str) -> Call {
    let body = json!({ "account": agent.handle(), "amount_usd": amount_usd, "reason": "After the outage", "id": id });
    world.operator().post("/internal/credit").header("X-Operator", "Grace").json(&body)
}

async fn add_operator(name: &str, typed: &str) -> (Option<i32>, String) {
    let mut child = Command::new(program!())
        .args(["admin", "operator", "add", name])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that refuses the name does not read its input.
    let _ = child.stdin.take().unwrap().write_all(typed.as_bytes()).await;
    let ended = child.wait_with_output().await.unwrap();
    let output = [ended.stdout, ended.stderr].concat();
    (ended.status.code(), String::from_utf8(output).unwrap())
}
