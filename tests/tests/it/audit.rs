//! The audit log: what is recorded, from which address, who may read it, and how long it is kept.

use std::time::Duration;

use handbill_tests::{Agent, Human, PATIENCE, Reply, Value, World, eventually, in_both_modes, json};

use crate::expectations::{PAGE, PASSWORD};

const WRONG_PASSWORD: &str = "not my Password 7";
const DAY: Duration = Duration::from_secs(24 * 3600);

in_both_modes! {
    #[settings("HANDBILL_API__TRUSTED_PROXIES" = "127.0.0.0/8", "HANDBILL_ALLOW_PUBLIC_DEV" = "true")]
    async fn account_changes_are_audited_with_actor_address_and_interface(world: World) {
        let (agent, human) = owned(&world).await;
        let from = |call: handbill_tests::Call, address: &str| call.header("X-Forwarded-For", address);
        let published = from(agent.publish("my-page", PAGE), "192.0.2.1").header("User-Agent", "handbill/9.9.9");
        let host = published.await.expect(201).string("host");
        let files = json!({ "slug": "my-page", "files": [{ "path": "index.html", "content": PAGE }] });
        from(agent.call_tool("publish_artifact", &files), "192.0.2.2").await.expect(200);
        from(agent.activate("my-page", 1), "192.0.2.3").await.expect(200);
        from(agent.buy_credit(5.0).paying("dev:5"), "192.0.2.4").await.expect(200);
        from(agent.set_visibility("my-page", "unlisted"), "192.0.2.5").await.expect(200);
        let path = format!("/dashboard/{}/pages/my-page/delete", agent.handle());
        from(human.post(&path), "2001:db8::7").await.expect(302);

        let token = agent.tokens().await.expect(200).string("0.id");
        let trail = trail(&agent).await;
        let seen: Vec<[String; 5]> = trail
            .iter()
            .take(6)
            .map(|entry| ["action", "actor", "via", "address", "subject"].map(|field| text(entry, field)))
            .collect();
        let entry = |action: &str, actor: &str, via: &str, address: &str, subject: &str| {
            [action, actor, via, address, subject].map(str::to_owned)
        };
        assert_eq!(seen[0], entry("artifact.deleted", "ada", "web", "2001:db8::7", &host));
        assert_eq!(seen[1], entry("artifact.visibility_set", &token, "api", "192.0.2.5", &host));
        assert_eq!(seen[2][..4], entry("credit.added", &token, "api", "192.0.2.4", "")[..4]);
        assert!(seen[2][4].starts_with("topup-dev:"), "{seen:?}");
        assert_eq!(seen[3], entry("artifact.activated", &token, "api", "192.0.2.3", &host));
        assert_eq!(seen[4], entry("artifact.published", &token, "mcp", "192.0.2.2", &host));
        assert_eq!(seen[5], entry("artifact.published", &token, "cli", "192.0.2.1", &host));
        assert_eq!(handbill_tests::fields_of(&trail[0]), FIELDS);
    }

    #[settings("HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES" = "0", "HANDBILL_LIMITS__CLAIMED_FREE_PUBLISHES" = "0")]
    async fn audit_log_records_inline_payments_as_credit_but_not_unchanged_visibility(world: World) {
        let (agent, _human) = owned(&world).await;
        agent.publish("my-page", PAGE).paying("dev:0.005").await.expect(201);
        agent.set_visibility("my-page", "public").await.expect(200);
        agent.set_visibility("my-page", "private").paying("dev:0.5").await.expect(200);
        agent.set_visibility("my-page", "private").await.expect(200);
        let trail = trail(&agent).await;
        let mut seen = actions(&trail);
        // Entries of one commit have the same time, and so no defined order.
        seen.sort();
        let expected = [
            "account.claimed",
            "artifact.published",
            "artifact.visibility_set",
            "credit.added",
            "credit.added",
        ];
        assert_eq!(seen, expected);
        let credits = trail.iter().filter(|entry| text(entry, "action") == "credit.added");
        assert!(credits.into_iter().all(|entry| text(entry, "subject").starts_with("topup-dev:")), "{trail:?}");
    }

    #[settings("HANDBILL_API__TRUSTED_PROXIES" = "127.0.0.0/8", "HANDBILL_ALLOW_PUBLIC_DEV" = "true")]
    async fn successful_and_failed_sign_ins_are_in_the_audit_logs_of_the_persons_accounts(world: World) {
        let (agent, human) = owned(&world).await;
        let elsewhere = world.human();
        for _ in 0..3 {
            let wrong = elsewhere.login("ada", WRONG_PASSWORD).header("X-Forwarded-For", "198.51.100.9");
            wrong.await.refused(401, "invalid_credentials");
        }
        // A failed login with an unknown username is not recorded.
        elsewhere.login("nobody", WRONG_PASSWORD).await.refused(401, "invalid_credentials");
        eventually(PATIENCE, "the failed sign-in is recorded", async || {
            actions(&trail(&agent).await).contains(&"person.sign_in_failed".to_owned()).then_some(())
        })
        .await;
        elsewhere.login("ada", PASSWORD).header("X-Forwarded-For", "198.51.100.9").await.expect(200);
        let new = "another Word for 1";
        let change = [("current_password", PASSWORD), ("password", new)];
        human.post("/you/password").form(&change).await.expect(302);

        let trail = trail(&agent).await;
        // One failed login for each minute and address is recorded.
        let personal: Vec<_> =
            actions(&trail).into_iter().filter(|action| action.starts_with("person.")).collect();
        assert_eq!(personal, ["person.password_changed", "person.signed_in", "person.sign_in_failed"]);
        let failed = trail.iter().find(|entry| text(entry, "action") == "person.sign_in_failed").unwrap();
        for (field, value) in [("actor", "ada"), ("subject", "ada"), ("address", "198.51.100.9"), ("via", "api")] {
            assert_eq!(text(failed, field), value);
        }
        // The person sees the same entries on their own page.
        let page = human.get("/you").await.expect(200).text();
        assert!(page.contains("Sign-in failed") && page.contains("198.51.100.9"), "{page}");
        for secret in [PASSWORD, WRONG_PASSWORD, new] {
            assert!(!format!("{trail:?}").contains(secret) && !page.contains(secret), "{trail:?}");
        }
    }

    async fn audit_log_is_readable_by_owners_and_admins_and_managing_tokens(world: World) {
        let (agent, owner) = owned(&world).await;
        let [admin, member] = ["admin", "member"].map(|role| (role, world.human()));
        for (role, human) in [&admin, &member] {
            let invite = owner.invite(&json!({ "role": role })).await.expect(201).string("invite_url");
            human.dev_login(&format!("the-{role}")).await.expect(200);
            human.join(&invite).await.expect(302);
        }
        let page = format!("/dashboard/{}/audit", agent.handle());
        for human in [&owner, &admin.1] {
            assert!(human.get("/v1/account/audit").await.expect(200).text().contains("member.joined"));
            assert!(human.get(&page).await.expect(200).text().contains("Member joined"));
        }
        member.1.get("/v1/account/audit").await.refused(403, "forbidden");
        member.1.get(&page).await.expect(403);
        let team = member.1.get(&format!("/dashboard/{}/team", agent.handle())).await.expect(200).text();
        assert!(!team.contains("Audit log"), "{team}");

        let scopes = json!({ "scopes": "artifacts:read,artifacts:write,tokens:manage" });
        let weak = agent.mint(&scopes).await.expect(201).string("token");
        agent.with_token(&weak).get("/v1/account/audit").await.refused(403, "insufficient_scope");
        world.stranger().get("/v1/account/audit").await.refused(401, "unauthorized");
        // Another account has another log.
        let other = world.agent().await;
        assert_eq!(trail(&other).await.len(), 0);
    }

    async fn audit_log_is_paginated(world: World) {
        let (agent, human) = owned(&world).await;
        for number in 0..5 {
            agent.publish(&format!("page-{number}"), PAGE).await.expect(201);
        }
        let whole = trail(&agent).await;
        assert_eq!(whole.len(), 6, "{whole:?}");
        let mut paged = Vec::new();
        let mut next = Some("/v1/account/audit?limit=4".to_owned());
        while let Some(path) = next {
            let reply = agent.get(&path).await.expect(200);
            paged.extend(entries(&reply));
            next = next_of(&reply, &world);
        }
        assert_eq!(paged, whole);
        for wrong in ["limit=0", "limit=1001", "limit=x", "after=x"] {
            agent.get(&format!("/v1/account/audit?{wrong}")).await.refused(400, "invalid_request");
        }
        human.get(&format!("/dashboard/{}/audit?after=nonsense", agent.handle())).await.expect(400);
    }

    async fn entries_are_deleted_after_400_days(world: World) {
        let (agent, _human) = owned(&world).await;
        world.advance(399 * DAY);
        agent.publish("my-page", PAGE).await.expect(201);
        sweep(&world).await;
        assert_eq!(actions(&trail(&agent).await), ["artifact.published", "account.claimed"]);
        world.advance(2 * DAY);
        sweep(&world).await;
        eventually(PATIENCE, "the old entries are deleted", async || {
            (actions(&trail(&agent).await) == ["artifact.published"]).then_some(())
        })
        .await;
    }
}

const FIELDS: [&str; 7] = ["action", "actor", "address", "created_at", "id", "subject", "via"];

/// An agent whose account `ada` owns, and Ada.
async fn owned(world: &World) -> (Agent, Human) {
    let (agent, human) = (world.agent().await, world.human());
    human.register("ada", PASSWORD).await.expect(201);
    human.claim(&agent.signup.as_ref().unwrap().string("claim_url")).await.expect(200);
    (agent, human)
}

async fn trail(agent: &Agent) -> Vec<Value> {
    entries(&agent.get("/v1/account/audit").await.expect(200))
}

fn entries(reply: &Reply) -> Vec<Value> {
    reply.json().as_array().unwrap().clone()
}

fn actions(trail: &[Value]) -> Vec<String> {
    trail.iter().map(|entry| text(entry, "action")).collect()
}

fn text(entry: &Value, field: &str) -> String {
    entry[field].as_str().unwrap_or_default().to_owned()
}

/// The path of the next page, if there is one.
fn next_of(reply: &Reply, world: &World) -> Option<String> {
    let link = reply.headers.get("link")?.to_str().unwrap();
    let address = link.strip_prefix('<').and_then(|link| link.strip_suffix(">; rel=\"next\"")).unwrap();
    Some(address.strip_prefix(&world.base_url()).unwrap().to_owned())
}

async fn sweep(world: &World) {
    let run = world.operator().post("/internal/schedules/sweep-records/run").header("X-Operator", "Ada");
    run.await.expect(200);
}
