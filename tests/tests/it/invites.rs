//! Spec 2.6, 3.4 and 4.5: inviting, and joining as a person or as an agent.

use std::time::Duration;

use futures::future::join_all;
use handbill_tests::{Human, Method, Mode, World, fields_of, in_both_modes, json, program};

use crate::expectations::{PAGE, millis_from_now};
use crate::teams::{claimed_by, joined_as, person};

const HOUR: Duration = Duration::from_secs(3600);
const HOUR_MS: i64 = 3_600_000;
const AGENT: &str = "artifacts:write,artifacts:read";

in_both_modes! {
    async fn an_invite_is_made_listed_and_revoked(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let usual = owner.post("/v1/account/invites").await.expect(201);
        assert_eq!(usual.field_names(), ["code", "expires_at", "invite_url", "max_uses", "role"]);
        let code = usual.string("code");
        assert!(code.len() >= 20 && code.bytes().all(|b| b.is_ascii_alphanumeric()), "{code}");
        assert_eq!(usual.string("invite_url"), format!("{}/invite/{code}", world.base_url()));
        assert_eq!((usual.string("role"), usual.integer("max_uses")), ("member".into(), 1));
        let lifetime_ms = millis_from_now(&usual.string("expires_at"));
        assert!((71 * HOUR_MS..=72 * HOUR_MS).contains(&lifetime_ms), "{lifetime_ms}");
        assert_eq!(owner.invite(&json!({})).await.expect(201).string("role"), "member");
        let terms = json!({ "role": "admin", "max_uses": 100, "ttl_hours": 720 });
        let widest = agent.invite(&terms).await.expect(201);
        assert_eq!((widest.string("role"), widest.integer("max_uses")), ("admin".into(), 100));
        let lifetime_ms = millis_from_now(&widest.string("expires_at"));
        assert!((719 * HOUR_MS..=720 * HOUR_MS).contains(&lifetime_ms), "{lifetime_ms}");

        assert_eq!(owner.revoke_invite(&code).await.expect(200).json(), json!({ "code": code, "revoked": true }));
        agent.revoke_invite(&code).await.expect(200);
        for unknown in ["no-code", "0123456789abcdefghijABCD", "%00"] {
            owner.revoke_invite(unknown).await.refused(404, "not_found").naming("invite");
        }
        let listed = agent.invites().await.expect(200);
        assert_eq!(listed.json(), owner.invites().await.expect(200).json());
        assert_eq!(listed.json().as_array().unwrap().len(), 3);
        assert_eq!(
            fields_of(&listed.at("0")),
            ["code", "created_at", "created_by", "expires_at", "invite_url", "max_uses", "revoked_at", "role", "uses"]
        );
        assert_eq!((listed.string("0.code"), listed.string("2.code")), (widest.string("code"), code));
        assert_eq!(listed.string("0.created_by"), agent.tokens().await.expect(200).string("0.id"));
        assert_eq!(listed.string("2.created_by"), owner.user_id().await);
        assert!(listed.at("0.revoked_at").is_null() && listed.at("2.revoked_at").is_string(), "{listed:?}");
        assert!(millis_from_now(&listed.string("2.created_at")).abs() < 60_000);
    }

    async fn invite_terms_out_of_range_are_refused_by_name(world: World) {
        let (agent, _) = claimed_by(&world, "olga").await;
        for (field, value) in [
            ("role", json!("owner")),
            ("role", json!("Admin")),
            ("role", json!(1)),
            ("max_uses", json!(0)),
            ("max_uses", json!(101)),
            ("max_uses", json!(-1)),
            ("max_uses", json!("3")),
            ("max_uses", json!(1.5)),
            ("max_uses", json!(99_999_999_999_999_999_999_f64)),
            ("ttl_hours", json!(0)),
            ("ttl_hours", json!(721)),
            ("uses", json!(0)),
        ] {
            agent.invite(&json!({ field: value })).await.refused(400, "invalid_body").naming(field);
        }
        assert_eq!(agent.invites().await.expect(200).json(), json!([]));
    }

    async fn only_a_claimed_account_invites(world: World) {
        let agent = world.agent().await;
        let refused = agent.invite(&json!({})).await.refused(403, "forbidden");
        assert!(refused.string("hint").contains("claim"), "{refused:?}");
        assert_eq!(agent.invites().await.expect(200).json(), json!([]));
        let (_, owner) = claimed_by(&world, "olga").await;
        // Another account's invites are not found.
        let code = owner.invite(&json!({})).await.expect(201).string("code");
        agent.revoke_invite(&code).await.refused(404, "not_found");
    }

    async fn an_agent_joins_with_the_code_and_works_for_the_account(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let code = owner.invite(&json!({ "role": "admin", "max_uses": 2 })).await.expect(201).string("code");
        let joined = world.stranger().join(&code).await.expect(201);
        assert_eq!(joined.field_names(), ["account", "hint", "scopes", "token"]);
        assert_eq!(joined.at("account"), json!({ "handle": agent.handle() }));
        assert_eq!(joined.string("scopes"), AGENT);
        assert!(joined.string("hint").contains("POST /v1/publish"), "{joined:?}");
        let invited = world.stranger().with_token(&joined.string("token"));
        invited.publish("a-page", PAGE).await.expect(201);
        assert_eq!(agent.account().await.expect(200).integer("free_publishes_left"), 99);
        agent.artifact("a-page").await.expect(200);

        let token = agent.tokens().await.expect(200);
        assert_eq!(token.string("0.name"), format!("invite:{code}"));
        assert_eq!(token.string("0.scopes"), AGENT);
        assert_eq!(token.string("0.created_by"), owner.user_id().await);
        assert!(token.at("0.expires_at").is_null());
        assert_eq!(owner.invites().await.expect(200).at("0.uses"), 1);
        // An agent is not a member, whatever the invite's role.
        assert_eq!(owner.members().await.expect(200).at("members").as_array().unwrap().len(), 1);
        for refused in [
            invited.members().await,
            invited.invites().await,
            invited.invite(&json!({})).await,
            invited.revoke_invite(&code).await,
            invited.tokens().await,
            invited.mint(&json!({})).await,
            invited.allow_agent_join(false).await,
        ] {
            refused.refused(403, "insufficient_scope");
        }
    }

    async fn unusable_invite_says_whether_it_is_expired_revoked_or_used_up(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let made = async |terms| agent.invite(&terms).await.expect(201).string("code");
        let used_up = made(json!({})).await;
        let revoked = made(json!({ "max_uses": 2 })).await;
        let expired = made(json!({ "ttl_hours": 1 })).await;
        let stranger = world.stranger();
        stranger.join(&used_up).await.expect(201);
        stranger.join(&revoked).await.expect(201);
        agent.revoke_invite(&revoked).await.expect(200);
        world.advance(HOUR + Duration::from_secs(1));
        let guest = person(&world, "mia").await;
        for (code, refusal, which) in [
            (&used_up, "invite_used_up", "used up"),
            (&revoked, "invite_revoked", "revoked"),
            (&expired, "invite_expired", "expired"),
        ] {
            stranger.join(code).await.refused(409, refusal).naming(which);
            let path = format!("/invite/{code}");
            guest.join(&path).await.refused(409, refusal).naming(which);
            guest.get(&path).await.refused(409, refusal);
            let page = guest.get(&path).header("Accept", "text/html").await.expect(409);
            assert!(page.header("Content-Type").starts_with("text/html") && page.text().contains(which), "{page:?}");
        }
        for unknown in ["", "no-code", "0123456789abcdefghijABCD", "\u{0}"] {
            stranger.join(unknown).await.refused(404, "not_found").naming("invite");
        }
        guest.join("/invite/0123456789abcdefghijABCD").await.refused(404, "not_found").naming("invite");
        guest.get("/invite/no-code").await.refused(404, "not_found");
        for (body, field) in [(json!({}), "code"), (json!({ "code": 1 }), "code"), (json!({ "code": "x", "name": "y" }), "name")] {
            stranger.post("/v1/account/join").json(&body).await.refused(400, "invalid_body").naming(field);
        }
        let uses: Vec<_> = owner
            .invites()
            .await
            .expect(200)
            .json()
            .as_array()
            .unwrap()
            .iter()
            .map(|invite| invite["uses"].as_u64().unwrap())
            .collect();
        assert_eq!(uses, [0, 1, 1]);
        assert_eq!(guest.me().await.expect(200).at("accounts"), json!([]));
    }

    async fn person_joins_on_the_invite_page_only_once(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let invite = owner.invite(&json!({ "role": "member", "max_uses": 2 })).await.expect(201);
        let (url, code) = (invite.string("invite_url"), invite.string("code"));
        let guest = world.human();
        let page = guest.get(guest.path_of(&url)).await.expect(200);
        assert!(page.header("Content-Type").starts_with("text/html"), "{page:?}");
        assert_eq!(page.header("Cache-Control"), "no-store");
        assert!(page.text().contains(&agent.handle()) && page.text().contains("member"), "{page:?}");
        assert!(page.text().contains(&format!("/signin?next=/invite/{code}")), "{page:?}");
        assert!(!page.text().contains("<form"), "{page:?}");
        guest.join(&url).await.refused(401, "unauthorized");

        guest.dev_login("mia").await.expect(200);
        let page = guest.get(guest.path_of(&url)).await.expect(200);
        assert!(page.text().contains("<button>Join") && page.text().contains("mia"), "{page:?}");
        for _ in 0..3 {
            assert_eq!(guest.join(&url).await.expect(302).header("Location"), "/dashboard");
        }
        // The owner is already a member, and stays the owner.
        owner.join(&url).await.expect(302);
        assert_eq!(owner.invites().await.expect(200).at("0.uses"), 1);
        let team = owner.members().await.expect(200);
        assert_eq!((team.string("members.0.role"), team.string("members.1.role")), ("owner".into(), "member".into()));
        assert_eq!(guest.me().await.expect(200).string("accounts.0.role"), "member");
        // The remaining use serves the next person, and a member may press the button of an invalid invite.
        world.stranger().join(&code).await.expect(201);
        guest.join(&url).await.expect(302);
        owner.revoke_invite(&code).await.expect(200);
        guest.join(&url).await.expect(302);
    }

    async fn invite_can_raise_a_members_role_but_never_lower_it(world: World) {
        let (_, owner) = claimed_by(&world, "olga").await;
        let member = joined_as(&world, &owner, "mia", "member").await;
        let other = joined_as(&world, &owner, "max", "member").await;
        let admins = owner.invite(&json!({ "role": "admin" })).await.expect(201).string("invite_url");
        let members = owner.invite(&json!({ "role": "member" })).await.expect(201).string("invite_url");
        let role = async |person: &Human| person.me().await.expect(200).string("accounts.0.role");
        // A rise in role uses up an invite too, so that a link for one use does not make every member an
        // admin.
        member.join(&admins).await.expect(302);
        other.join(&admins).await.refused(409, "invite_used_up");
        assert_eq!((role(&member).await, role(&other).await), ("admin".into(), "member".into()));
        member.join(&members).await.expect(302);
        assert_eq!(role(&member).await, "admin");
        let listed = owner.invites().await.expect(200);
        assert_eq!((listed.at("0.uses"), listed.at("1.uses")), (json!(0), json!(1)));
    }

    async fn joins_are_limited_per_address(world: World) {
        let stranger = world.stranger();
        let calls = (0..61).map(|_| stranger.join("0123456789abcdefghijABCD").into_future());
        let replies = join_all(calls).await;
        assert_eq!(replies.iter().filter(|reply| reply.status == 404).count(), 60);
        let refused = replies.into_iter().find(|reply| reply.status != 404).unwrap();
        assert!(!refused.refused(429, "rate_limited").header("Retry-After").is_empty());
    }

    async fn concurrent_joins_never_exceed_the_uses_of_an_invite(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let code = owner.invite(&json!({ "max_uses": 3 })).await.expect(201).string("code");
        let stranger = world.stranger();
        let replies = join_all((0..20).map(|_| stranger.join(&code).into_future())).await;
        assert_eq!(replies.iter().filter(|reply| reply.status == 201).count(), 3);
        for refused in replies.into_iter().filter(|reply| reply.status != 201) {
            refused.refused(409, "invite_used_up");
        }
        assert_eq!(agent.tokens().await.expect(200).json().as_array().unwrap().len(), 4);
        assert_eq!(owner.invites().await.expect(200).at("0.uses"), 3);
    }

    async fn wrong_method_on_the_invite_page_is_405(world: World) {
        let refused = world.stranger().call(Method::DELETE, "/invite/abc").await.refused(405, "method_not_allowed");
        assert_eq!(refused.header("Allow"), "GET, HEAD, POST");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn invite_limit_holds_across_two_processes() {
    let world = World::with(Mode::Production, program!()).start().await;
    let other_api = world.start_api().await;
    let (agent, owner) = claimed_by(&world, "olga").await;
    let invite = owner.invite(&json!({ "max_uses": 3 })).await.expect(201);
    let (code, url) = (invite.string("code"), invite.string("invite_url"));
    let people = join_all((0..4).map(|number| person(&world, ["ada", "bea", "cleo", "dora"][number]))).await;
    let strangers = [world.stranger(), world.stranger().at(&other_api)];
    let agents = (0..16).map(|number| strangers[number % 2].join(&code).into_future());
    // Every person presses twice, once at each process.
    let presses = people.iter().flat_map(|person| [person.clone(), person.at(&other_api)]);
    let humans = presses.map(|person| person.join(&url).into_future());
    let (agents, humans) = futures::join!(join_all(agents), join_all(humans));

    let agents_in = agents.iter().filter(|reply| reply.status == 201).count();
    let team = owner.members().await.expect(200);
    let people_in = team.at("members").as_array().unwrap().len() - 1;
    assert_eq!(agents_in + people_in, 3, "{team:?}");
    assert_eq!(owner.invites().await.expect(200).at("0.uses"), 3);
    assert_eq!(agent.tokens().await.expect(200).json().as_array().unwrap().len(), agents_in + 1);
    for refused in agents.into_iter().filter(|reply| reply.status != 201) {
        refused.refused(409, "invite_used_up");
    }
    for refused in humans.into_iter().filter(|reply| reply.status != 302) {
        refused.refused(409, "invite_used_up");
    }
}
