//! Spec 2.4, 4.7 and 5: tokens are listed without secrets, never mint more than their own scopes, and end at
//! once.

use std::time::Duration;

use domain::Time;
use futures::future::join_all;
use handbill_tests::{
    Human, Method, Mode, PATIENCE, Reply, Value, World, eventually, fields_of, in_both_modes, json, program,
};

use crate::expectations::{PAGE, millis_from_now};
use crate::teams::{claimed_by, joined_as, person};

const HOUR: Duration = Duration::from_secs(3600);
const ALL: &str = "artifacts:write,artifacts:read,tokens:manage,account:manage";
const AGENT: &str = "artifacts:write,artifacts:read";

const TOKEN_FIELDS: [&str; 8] =
    ["artifact_id", "created_at", "created_by", "expires_at", "id", "last_used_at", "name", "scopes"];

in_both_modes! {
    async fn token_list_shows_active_tokens_newest_first_without_secrets(world: World) {
        let agent = world.agent().await;
        let ends = agent.mint(&json!({ "name": "ends", "expires_at": in_time(HOUR) })).await.expect(201);
        let revoked = agent.mint(&json!({ "name": "revoked" })).await.expect(201);
        let stays = agent.mint(&json!({ "name": "stays", "scopes": "artifacts:read" })).await.expect(201);
        agent.revoke_token(&revoked.string("id")).await.expect(200);
        assert_eq!(names(&agent.tokens().await), ["stays", "ends", "signup"]);
        world.advance(2 * HOUR);
        // The account itself has expired by now, and can still be read.
        let listed = agent.tokens().await.expect(200);
        assert_eq!(names(&listed), ["stays", "signup"]);
        for token in listed.json().as_array().unwrap() {
            assert_eq!(fields_of(token), TOKEN_FIELDS);
        }
        let signup = listed.at("1");
        assert_eq!(signup["scopes"], ALL);
        assert_eq!((&signup["created_by"], &signup["artifact_id"]), (&Value::Null, &Value::Null));
        assert_eq!(listed.at("0.scopes"), "artifacts:read");
        assert_eq!(listed.at("0.created_by"), signup["id"]);
        let text = listed.text();
        assert!(!text.contains("svc_sk_") && !text.contains(&stays.string("token")[7..]), "{text}");
        assert_ne!(ends.string("token"), stays.string("token"));
    }

    async fn token_has_the_minters_rights_by_default(world: World) {
        let agent = world.agent().await;
        let bare = agent.post("/v1/tokens").await.expect(201);
        for minted in [bare, agent.mint(&json!({})).await.expect(201)] {
            let mut fields = [&TOKEN_FIELDS[..], &["token"]].concat();
            fields.sort_unstable();
            assert_eq!(minted.field_names(), fields);
            let secret = minted.string("token");
            let random = secret.strip_prefix("svc_sk_").expect("the prefix");
            assert!(random.len() == 32 && random.bytes().all(|b| b.is_ascii_alphanumeric()), "{secret}");
            assert_eq!(minted.string("scopes"), ALL);
            assert_eq!((minted.at("artifact_id"), minted.at("expires_at")), (Value::Null, Value::Null));
            assert_eq!(minted.at("last_used_at"), Value::Null);
            assert!(millis_from_now(&minted.string("created_at")).abs() < 60_000);
            agent.with_token(&secret).publish("a-page", PAGE).await.expect(201);
        }
        let lesser = agent.minted(&json!({ "scopes": "tokens:manage,artifacts:read" })).await;
        assert_eq!(lesser.mint(&json!({})).await.expect(201).string("scopes"), "artifacts:read,tokens:manage");
    }

    async fn token_cannot_mint_scopes_that_it_lacks(world: World) {
        let agent = world.agent().await;
        let lesser = agent.minted(&json!({ "scopes": "artifacts:read,tokens:manage" })).await;
        for scopes in ["artifacts:write", ALL, "artifacts:read,account:manage"] {
            lesser.mint(&json!({ "scopes": scopes })).await.refused(403, "insufficient_scope").naming("scopes");
        }
        assert_eq!(lesser.mint(&json!({ "scopes": "artifacts:read" })).await.expect(201).string("scopes"), "artifacts:read");
        assert_eq!(names(&agent.tokens().await).len(), 3);
    }

    async fn a_pinned_token_mints_sees_and_revokes_only_within_its_pin(world: World) {
        let agent = world.agent().await;
        let mine = agent.publish("my-page", PAGE).await.expect(201).string("artifact_id");
        let other = agent.publish("other-page", PAGE).await.expect(201).string("artifact_id");
        let elsewhere = agent.mint(&json!({ "artifact_id": other })).await.expect(201);
        let pinned = agent.mint(&json!({ "artifact_id": mine, "name": "pinned" })).await.expect(201);
        assert_eq!(pinned.string("artifact_id"), mine);
        let pinned = agent.with_token(&pinned.string("token"));

        assert_eq!(pinned.mint(&json!({ "name": "same" })).await.expect(201).string("artifact_id"), mine);
        assert_eq!(pinned.mint(&json!({ "artifact_id": mine })).await.expect(201).string("artifact_id"), mine);
        pinned.mint(&json!({ "artifact_id": other })).await.refused(403, "insufficient_scope").naming("artifact_id");
        assert_eq!(names(&pinned.tokens().await), ["token", "same", "pinned"]);
        pinned.revoke_token(&elsewhere.string("id")).await.refused(404, "not_found").naming("token");
        let sibling = pinned.tokens().await.string("0.id");
        pinned.revoke_token(&sibling).await.expect(200);
        assert_eq!(names(&agent.tokens().await), ["same", "pinned", "token", "signup"]);
    }

    async fn a_token_is_pinned_only_to_an_artifact_of_the_account(world: World) {
        let (agent, stranger) = (world.agent().await, world.agent().await);
        let foreign = stranger.publish("my-page", PAGE).await.expect(201).string("artifact_id");
        let deleted = agent.publish("my-page", PAGE).await.expect(201).string("artifact_id");
        agent.delete("my-page").await.expect(200);
        for id in [foreign.as_str(), &deleted, "01ARZ3NDEKTSV4RRFFQ69G5FAV", "no-id"] {
            agent.mint(&json!({ "artifact_id": id })).await.refused(404, "not_found").naming("artifact");
        }
        assert_eq!(names(&agent.tokens().await), ["signup"]);
    }

    async fn a_token_that_expires_mints_none_that_outlives_it_and_ends_in_time(world: World) {
        let agent = world.agent().await;
        let soon = in_time(HOUR / 6);
        let brief = agent.mint(&json!({ "expires_at": soon })).await.expect(201);
        let end = brief.string("expires_at");
        assert_eq!(Time::parse_rfc3339(&end), Time::parse_rfc3339(&soon));
        let brief = agent.with_token(&brief.string("token"));
        assert_eq!(brief.mint(&json!({})).await.expect(201).string("expires_at"), end);
        let later = json!({ "expires_at": in_time(HOUR / 5) });
        brief.mint(&later).await.refused(403, "insufficient_scope").naming("expires_at");
        brief.mint(&json!({ "expires_at": in_time(HOUR / 7) })).await.expect(201);
        brief.account().await.expect(200);
        world.advance(HOUR / 5);
        brief.account().await.refused(401, "unauthorized");
        agent.account().await.expect(200);
    }

    async fn expiry_at_the_end_of_year_9999_is_stored_exactly(world: World) {
        let agent = world.agent().await;
        let never = "9999-12-31T23:59:59Z";
        let minted = agent.mint(&json!({ "expires_at": never })).await.expect(201);
        assert_eq!(minted.string("expires_at"), never);
        assert_eq!(agent.tokens().await.expect(200).string("0.expires_at"), never);
        agent.with_token(&minted.string("token")).account().await.expect(200);
    }

    async fn malformed_token_request_error_names_the_field(world: World) {
        let agent = world.agent().await;
        let refused = [
            ("scopes", json!("artifacts:admin")),
            ("scopes", json!("artifacts:read;artifacts:write")),
            ("scopes", json!("")),
            ("expires_at", json!("tomorrow")),
            ("expires_at", json!("2030-02-31T00:00:00Z")),
            ("expires_at", json!("9999-12-31T23:59:59-01:00")),
            ("expires_at", json!("2020-01-01T00:00:00Z")),
            ("name", json!("")),
            ("name", json!("a\u{0}b")),
            ("name", json!("x".repeat(101))),
        ];
        for (field, value) in refused {
            agent.mint(&json!({ field: value })).await.refused(400, "invalid_request").naming(field);
        }
        for (field, value) in [("name", json!(1)), ("scopes", json!(["artifacts:read"])), ("secret", json!("x"))] {
            agent.mint(&json!({ field: value })).await.refused(400, "invalid_body").naming(field);
        }
        agent.post("/v1/tokens").raw("application/json", "{").await.refused(400, "invalid_body");
        assert_eq!(names(&agent.tokens().await), ["signup"]);
        let name = "ü".repeat(100);
        assert_eq!(agent.mint(&json!({ "name": name })).await.expect(201).string("name"), name);
    }

    async fn a_revoked_token_is_401_at_once(world: World) {
        let (agent, stranger) = (world.agent().await, world.agent().await);
        let minted = agent.mint(&json!({})).await.expect(201);
        let (id, holder) = (minted.string("id"), agent.with_token(&minted.string("token")));
        holder.publish("a-page", PAGE).await.expect(201);
        stranger.revoke_token(&id).await.refused(404, "not_found");
        for unknown in ["no-id", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "%00"] {
            agent.revoke_token(unknown).await.refused(404, "not_found").naming("token");
        }
        let revoked = agent.revoke_token(&id).await.expect(200);
        assert_eq!(revoked.json(), json!({ "id": id, "revoked": true }));
        holder.account().await.refused(401, "unauthorized");
        holder.publish("a-page", PAGE).await.refused(401, "unauthorized");
        agent.revoke_token(&id).await.expect(200);
        // A token may revoke itself.
        let own = agent.tokens().await.string("0.id");
        agent.revoke_token(&own).await.expect(200);
        agent.account().await.refused(401, "unauthorized");
    }

    async fn a_token_is_revoked_with_all_that_it_minted(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let root = agent.mint(&json!({ "name": "root" })).await.expect(201);
        let holder = agent.with_token(&root.string("token"));
        let child = holder.minted(&json!({ "name": "child" })).await;
        let grandchild = child.minted(&json!({ "name": "grandchild" })).await;
        let invite = child.invite(&json!({})).await.expect(201).string("code");
        let joined = world.stranger().joined(&invite).await;
        let other = agent.minted(&json!({ "name": "other" })).await;

        let path = format!("/v1/tokens/{}", root.string("id"));
        agent.call(Method::DELETE, &format!("{path}?with_minted=yes")).await.refused(400, "invalid_request");
        let revoked = agent.call(Method::DELETE, &format!("{path}?with_minted=true")).await.expect(200);
        assert_eq!(
            revoked.json(),
            json!({ "id": root.string("id"), "revoked": true, "minted_revoked": 3, "invites_revoked": 0 })
        );
        for ended in [&holder, &child, &grandchild, &joined] {
            ended.account().await.refused(401, "unauthorized");
        }
        other.account().await.expect(200);
        assert_eq!(names(&owner.tokens().await), ["other", "signup"]);
    }

    async fn revoking_a_leaked_token_keeps_its_invites_without_permission_to_revoke_them(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let leaked = agent.mint(&json!({ "name": "leaked" })).await.expect(201);
        let holder = agent.with_token(&leaked.string("token"));
        let child = holder.minted(&json!({ "name": "child" })).await;
        let invite = child.invite(&json!({})).await.expect(201).string("code");
        let path = format!("/v1/tokens/{}?with_minted=true", leaked.string("id"));

        let manager = agent.minted(&json!({ "scopes": "tokens:manage" })).await;
        manager.call(Method::DELETE, &format!("/v1/account/invites/{invite}")).await.refused(403, "insufficient_scope");
        let revoked = manager.call(Method::DELETE, &path).await.expect(200);
        assert_eq!((revoked.integer("minted_revoked"), revoked.integer("invites_revoked")), (1, 0));
        child.account().await.refused(401, "unauthorized");
        let revoked_at = async || owner.invites().await.expect(200).at("0.revoked_at");
        assert!(revoked_at().await.is_null());

        let revoked = agent.call(Method::DELETE, &path).await.expect(200);
        assert_eq!((revoked.integer("minted_revoked"), revoked.integer("invites_revoked")), (0, 1));
        assert!(!revoked_at().await.is_null());
    }

    async fn member_revokes_only_tokens_minted_by_their_own_token(world: World) {
        let (_, owner) = claimed_by(&world, "olga").await;
        let admin = joined_as(&world, &owner, "adam", "admin").await;
        let root = admin.mint(&json!({})).await.expect(201);
        let stranger = world.stranger();
        let child = stranger.with_token(&root.string("token")).minted(&json!({})).await;
        let member = joined_as(&world, &owner, "mia", "member").await;
        let path = format!("/v1/tokens/{}?with_minted=true", root.string("id"));
        member.call(Method::DELETE, &path).await.refused(403, "forbidden");
        child.account().await.expect(200);
        assert_eq!(admin.call(Method::DELETE, &path).await.expect(200).integer("minted_revoked"), 1);
        child.account().await.refused(401, "unauthorized");
    }

    async fn leaked_token_report_revokes_it_and_reveals_nothing(world: World) {
        let agent = world.agent().await;
        let leaked = agent.minted(&json!({ "name": "leaked" })).await;
        let child = leaked.minted(&json!({ "name": "child" })).await;
        let report = async |token: &str| {
            let started = std::time::Instant::now();
            let reply = world.stranger().post("/v1/tokens/revoke").json(&json!({ "token": token })).await;
            assert!(started.elapsed() >= Duration::from_millis(100), "{:?}", started.elapsed());
            reply.expect(200)
        };
        let unknown = format!("svc_sk_{}", "A".repeat(32));
        for token in [unknown.as_str(), leaked.token(), leaked.token()] {
            assert_eq!(report(token).await.json(), json!({ "revoked": true }));
        }
        leaked.account().await.refused(401, "unauthorized");
        assert_eq!(names(&agent.tokens().await), ["child", "signup"]);
        child.account().await.expect(200);
        for (body, code) in [
            (json!({}), "invalid_body"),
            (json!({ "token": 1 }), "invalid_body"),
            (json!({ "token": "svc_sk_short" }), "invalid_request"),
            (json!({ "token": "" }), "invalid_request"),
        ] {
            world.stranger().post("/v1/tokens/revoke").json(&body).await.refused(400, code).naming("token");
        }
        world.assert_no_secret_was_logged();
    }

    async fn leaked_token_reports_are_limited_per_address(world: World) {
        let report = |_| {
            let body = json!({ "token": format!("svc_sk_{}", "A".repeat(32)) });
            world.stranger().post("/v1/tokens/revoke").json(&body).into_future()
        };
        let replies = join_all((0..121).map(report)).await;
        let refused: Vec<_> = replies.into_iter().filter(|reply| reply.status != 200).collect();
        assert!(!refused.is_empty());
        for reply in refused {
            reply.refused(429, "rate_limited");
        }
    }

    async fn the_last_use_is_shown_to_the_minute(world: World) {
        let agent = world.agent().await;
        let other = agent.minted(&json!({ "name": "other" })).await;
        let used_at = async || agent.tokens().await.expect(200).at("0.last_used_at");
        assert_eq!(used_at().await, Value::Null);
        other.account().await.expect(200);
        // Listing writes pending updates first, so that it shows the latest use of this process.
        let first = used_at().await;
        assert!(millis_from_now(first.as_str().unwrap()).abs() < 60_000, "{first}");
        other.account().await.expect(200);
        assert_eq!(used_at().await, first, "a second use in the same minute is not written");
        world.advance(Duration::from_secs(61));
        other.account().await.expect(200);
        assert_ne!(used_at().await, first);
    }

    async fn person_mints_only_tokens_that_their_role_allows(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let admin = joined_as(&world, &owner, "adam", "admin").await;
        let member = joined_as(&world, &owner, "mia", "member").await;
        for (person, scopes, more) in [
            (&owner, ALL, None),
            (&admin, "artifacts:write,artifacts:read,tokens:manage", Some("account:manage")),
            (&member, AGENT, Some("tokens:manage")),
        ] {
            let minted = person.mint(&json!({})).await.expect(201);
            assert_eq!(minted.string("scopes"), scopes);
            assert_eq!(minted.string("created_by"), person.user_id().await);
            if let Some(more) = more {
                person.mint(&json!({ "scopes": more })).await.refused(403, "insufficient_scope");
            }
            agent.with_token(&minted.string("token")).publish("a-page", PAGE).await.expect(201);
            assert_eq!(names(&person.tokens().await), names(&owner.tokens().await));
        }
        // A token that a person's token mints belongs to the person too.
        let of_admin = agent.with_token(&admin.mint(&json!({})).await.expect(201).string("token"));
        let handed_on = of_admin.mint(&json!({ "scopes": "artifacts:read" })).await.expect(201);
        assert_eq!(handed_on.string("created_by"), admin.user_id().await);
    }

    async fn a_member_revokes_only_their_own_tokens_and_an_admin_anyones(world: World) {
        let (_, owner) = claimed_by(&world, "olga").await;
        let admin = joined_as(&world, &owner, "adam", "admin").await;
        let member = joined_as(&world, &owner, "mia", "member").await;
        let of = async |person: &Human| person.mint(&json!({})).await.expect(201).string("id");
        let (owners, admins, members) = (of(&owner).await, of(&admin).await, of(&member).await);
        let signup = owner.tokens().await.json().as_array().unwrap().last().unwrap()["id"].as_str().unwrap().to_owned();
        for foreign in [&owners, &admins, &signup] {
            member.revoke_token(foreign).await.refused(403, "forbidden");
        }
        member.revoke_token(&members).await.expect(200);
        for anyones in [&owners, &of(&member).await, &signup] {
            admin.revoke_token(anyones).await.expect(200);
        }
        assert_eq!(owner.tokens().await.string("0.id"), admins);
        person(&world, "nobody").await.tokens().await.refused(403, "forbidden");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn token_revocation_and_use_are_visible_across_processes() {
    let world = World::with(Mode::Production, program!()).start().await;
    let other_api = world.start_api().await;
    let agent = world.agent().await;
    let minted = agent.mint(&json!({})).await.expect(201);
    let holder = agent.with_token(&minted.string("token")).at(&other_api);
    holder.account().await.expect(200);
    eventually(PATIENCE, "the use at the other process is written", async || {
        agent.tokens().await.expect(200).at("0.last_used_at").as_str().map(str::to_owned)
    })
    .await;
    agent.revoke_token(&minted.string("id")).await.expect(200);
    holder.account().await.refused(401, "unauthorized");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stop_flushes_pending_token_uses() {
    let world = World::with(Mode::Embedded, program!()).start().await;
    let agent = world.agent().await;
    let other = agent.minted(&json!({})).await;
    other.account().await.expect(200);
    let api = world.api();
    api.terminate().await;
    api.restart().await;
    let listed = agent.tokens().await.expect(200);
    assert!(listed.at("0.last_used_at").is_string(), "{listed:?}");
}

#[track_caller]
fn names(tokens: &Reply) -> Vec<String> {
    assert_eq!(tokens.status, 200, "{tokens:?}");
    let name = |token: &Value| token["name"].as_str().unwrap().to_owned();
    tokens.json().as_array().unwrap().iter().map(name).collect()
}

fn in_time(wait: Duration) -> String {
    let now = handbill_tests::system_time();
    Time::from_millis(i64::try_from((now + wait).as_millis()).unwrap()).rfc3339()
}
