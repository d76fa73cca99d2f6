//! Spec 2.5, 4.4 and 4.5: the members of an account, the permissions of each role, and what a removed person
//! loses.

use std::time::Duration;

use handbill_tests::{Agent, Human, Method, Mode, World, fields_of, in_both_modes, json, program};

use crate::expectations::{PAGE, millis_from_now};

const MINUTE: Duration = Duration::from_secs(60);

/// An agent, and the person who has claimed its account.
pub async fn claimed_by(world: &World, name: &str) -> (Agent, Human) {
    let (agent, owner) = (world.agent().await, person(world, name).await);
    owner.claim(&agent.signup.as_ref().unwrap().string("claim_url")).await.expect(200);
    (agent, owner)
}

/// A signed-in person.
pub async fn person(world: &World, name: &str) -> Human {
    let person = world.human();
    person.dev_login(name).await.expect(200);
    person
}

/// A person whom the owner invited and who joined.
pub async fn joined_as(world: &World, owner: &Human, name: &str, role: &str) -> Human {
    let invite = owner.invite(&json!({ "role": role })).await.expect(201);
    let joining = person(world, name).await;
    joining.join(&invite.string("invite_url")).await.expect(302);
    joining
}

in_both_modes! {
    async fn the_members_are_listed_with_their_roles_and_the_active_tokens(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let admin = joined_as(&world, &owner, "adam", "admin").await;
        let member = joined_as(&world, &owner, "mia", "member").await;
        member.mint(&json!({ "name": "of mia" })).await.expect(201);
        for team in [agent.members().await, owner.members().await, admin.members().await, member.members().await] {
            let team = team.expect(200);
            assert_eq!(team.field_names(), ["members", "tokens"]);
            let members = team.at("members");
            let listed: Vec<_> = members
                .as_array()
                .unwrap()
                .iter()
                .map(|one| (one["username"].as_str().unwrap(), one["role"].as_str().unwrap()))
                .collect();
            assert_eq!(listed, [("olga", "owner"), ("adam", "admin"), ("mia", "member")]);
            assert_eq!(fields_of(&members[0]), ["joined_at", "role", "user_id", "username"]);
            assert!(millis_from_now(members[0]["joined_at"].as_str().unwrap()).abs() < 60_000);
            assert_eq!(members[2]["user_id"], member.user_id().await);
            assert_eq!(fields_of(&team.at("tokens.0")), ["created_by", "id", "last_used_at", "name", "scopes"]);
            assert_eq!((team.string("tokens.0.name"), team.string("tokens.1.name")), ("of mia".into(), "signup".into()));
            assert_eq!(team.string("tokens.0.created_by"), member.user_id().await);
            assert!(!team.text().contains("svc_sk_"));
        }
        person(&world, "nobody").await.members().await.refused(403, "forbidden");
        world.stranger().members().await.refused(401, "unauthorized");
    }

    async fn invite_code_in_a_token_name_needs_permission_to_read_invites(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let member = joined_as(&world, &owner, "mia", "member").await;
        let code = owner.invite(&json!({ "role": "admin", "max_uses": 3 })).await.expect(201).string("code");
        world.stranger().post("/v1/account/join").json(&json!({ "code": code })).await.expect(201);
        let lesser = agent.post("/v1/tokens").json(&json!({ "scopes": "tokens:manage" })).await.expect(201);
        let lesser = agent.with_token(&lesser.string("token"));
        for list in [member.members().await, member.get("/v1/tokens").await, lesser.get("/v1/tokens").await] {
            let list = list.expect(200).text();
            assert!(list.contains("invite:") && !list.contains(&code), "{list}");
        }
        for list in [owner.members().await, agent.members().await, agent.get("/v1/tokens").await] {
            assert!(list.expect(200).text().contains(&format!("invite:{code}")));
        }
    }

    async fn claim_link_needs_owner_rights(world: World) {
        let agent = world.agent().await;
        let published = agent.publish("my-page", PAGE).await.expect(201);
        let account = agent.account().await.expect(200);
        assert_eq!(account.string("claim_url"), agent.signup.as_ref().unwrap().string("claim_url"));
        for lesser in [
            json!({ "scopes": "artifacts:read,artifacts:write,tokens:manage" }),
            json!({ "artifact_id": published.string("artifact_id") }),
        ] {
            let minted = agent.post("/v1/tokens").json(&lesser).await.expect(201);
            let account = agent.with_token(&minted.string("token")).account().await.expect(200);
            assert!(!account.field_names().contains(&"claim_url".to_owned()), "{account:?}");
        }
    }

    async fn roles_have_exactly_their_permissions(world: World) {
        let (_, owner) = claimed_by(&world, "olga").await;
        let admin = joined_as(&world, &owner, "adam", "admin").await;
        let member = joined_as(&world, &owner, "mia", "member").await;
        let owner_id = owner.user_id().await;

        member.post("/v1/publish").field("slug", "my-page").field("html", PAGE).await.expect(201);
        member.post("/v1/artifacts/my-page/activate").json(&json!({ "version": 1 })).await.expect(200);
        member.call(Method::DELETE, "/v1/artifacts/my-page").await.expect(200);
        member.invite(&json!({})).await.refused(403, "forbidden");
        member.invites().await.refused(403, "forbidden");
        member.remove_member(&admin.user_id().await).await.refused(403, "forbidden");

        let invite = admin.invite(&json!({ "role": "admin" })).await.expect(201).string("code");
        admin.invites().await.expect(200);
        member.revoke_invite(&invite).await.refused(403, "forbidden");
        admin.revoke_invite(&invite).await.expect(200);
        admin.remove_member(&owner_id).await.refused(403, "forbidden").naming("owner");
        for person in [&admin, &member] {
            person.allow_agent_join(false).await.refused(403, "forbidden");
            person.post("/v1/account/claim-link").await.refused(403, "forbidden");
        }
        admin.remove_member(&member.user_id().await).await.expect(200);
        owner.allow_agent_join(false).await.expect(200);
    }

    async fn removing_a_member_revokes_everything_they_created(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let admin = joined_as(&world, &owner, "adam", "admin").await;
        let of_admin = agent.with_token(&admin.mint(&json!({})).await.expect(201).string("token"));
        let handed_on = of_admin.minted(&json!({})).await;
        let invite = admin.invite(&json!({ "max_uses": 5 })).await.expect(201);
        let invited = world.stranger().joined(&invite.string("code")).await;
        let ended = admin.mint(&json!({})).await.expect(201).string("id");
        owner.revoke_token(&ended).await.expect(200);
        let owners = owner.invite(&json!({})).await.expect(201);
        let of_owner = agent.with_token(&owner.mint(&json!({})).await.expect(201).string("token"));

        let admin_id = admin.user_id().await;
        let removed = owner.remove_member(&admin_id).await.expect(200);
        assert_eq!(removed.json(), json!({ "user_id": admin_id, "removed": true, "tokens_revoked": 3 }));
        for token in [&of_admin, &handed_on, &invited] {
            token.account().await.refused(401, "unauthorized");
        }
        admin.account().await.refused(403, "forbidden");
        admin.members().await.refused(403, "forbidden");
        assert_eq!(admin.me().await.expect(200).at("accounts"), json!([]));
        let latecomer = person(&world, "lena").await;
        latecomer.join(&invite.string("invite_url")).await.refused(409, "invite_revoked");
        world.stranger().join(&invite.string("code")).await.refused(409, "invite_revoked");
        owner.remove_member(&admin_id).await.refused(404, "not_found").naming("member");

        // Tokens of other members stay.
        agent.account().await.expect(200);
        of_owner.account().await.expect(200);
        admin.join(&owners.string("invite_url")).await.expect(302);
        assert_eq!(admin.members().await.expect(200).string("members.1.role"), "member");
        of_admin.account().await.refused(401, "unauthorized");
    }

    async fn anyone_but_the_owner_may_leave(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let member = joined_as(&world, &owner, "mia", "member").await;
        let admin = joined_as(&world, &owner, "adam", "admin").await;
        for person in [&member, &admin] {
            person.remove_member(&person.user_id().await).await.expect(200);
            person.account().await.refused(403, "forbidden");
        }
        let owner_id = owner.user_id().await;
        let refused = owner.remove_member(&owner_id).await.refused(403, "forbidden").naming("owner");
        assert!(refused.string("hint").contains("the owner of an account cannot be removed"), "{refused:?}");
        agent.remove_member(&owner_id).await.refused(403, "forbidden").naming("owner");
        for unknown in ["no-id", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "%00"] {
            agent.remove_member(unknown).await.refused(404, "not_found").naming("member");
        }
        // A member of another account only is not found here.
        let (_, elsewhere) = claimed_by(&world, "emil").await;
        owner.remove_member(&elsewhere.user_id().await).await.refused(404, "not_found");
    }

    async fn the_owner_decides_whether_agents_may_join(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let code = owner.invite(&json!({ "max_uses": 2 })).await.expect(201).string("code");
        let changed = owner.allow_agent_join(false).await.expect(200);
        assert_eq!(changed.json(), owner.account().await.expect(200).json());
        assert_eq!(changed.at("allow_agent_join"), false);
        let refused = world.stranger().join(&code).await.refused(403, "agent_join_disabled");
        assert!(refused.string("hint").contains("PATCH /v1/account"), "{refused:?}");
        // A person can still join, and a refused join did not use up the invite.
        person(&world, "mia").await.join(&format!("/invite/{code}")).await.expect(302);
        assert_eq!(owner.invites().await.expect(200).at("0.uses"), 1);
        assert_eq!(agent.allow_agent_join(true).await.expect(200).at("allow_agent_join"), true);
        world.stranger().join(&code).await.expect(201);
        for (body, field) in [
            (json!({}), "allow_agent_join"),
            (json!({ "allow_agent_join": "yes" }), "allow_agent_join"),
            (json!({ "allow_agent_join": null }), "allow_agent_join"),
            (json!({ "allow_agent_join": true, "status": "claimed" }), "status"),
        ] {
            agent.call(Method::PATCH, "/v1/account").json(&body).await.refused(400, "invalid_body").naming(field);
        }
    }

    async fn a_new_claim_link_ends_the_old_one(world: World) {
        let agent = world.agent().await;
        let signup = agent.signup.as_ref().unwrap();
        let old = signup.string("claim_url");
        let rotated = agent.rotate_claim_link().await.expect(200);
        assert_eq!(rotated.field_names(), ["claim_url", "expires_at"]);
        assert_eq!(rotated.string("expires_at"), signup.string("account.expires_at"));
        let new = rotated.string("claim_url");
        assert!(new != old && new.starts_with(&format!("{}/claim/", world.base_url())), "{new}");
        assert_eq!(agent.account().await.expect(200).string("claim_url"), new);
        let owner = person(&world, "olga").await;
        owner.claim(&old).await.refused(404, "not_found");
        owner.claim(&new).await.expect(200);
        agent.rotate_claim_link().await.refused(409, "already_claimed");
        owner.post("/v1/account/claim-link").await.refused(409, "already_claimed");
        let expired = world.agent().await;
        world.advance(31 * MINUTE);
        expired.rotate_claim_link().await.refused(403, "account_expired");
        expired.allow_agent_join(false).await.refused(403, "account_expired");
    }

    async fn a_claimed_account_shows_its_new_limits(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        for account in [agent.account().await.expect(200), owner.account().await.expect(200)] {
            let fields = [
                "account", "allow_agent_join", "credits_usd", "expires_at", "free_publishes_left", "handle", "id", "limits",
                "name", "status", "suspended", "usage", "versions_days", "versions_kept",
            ];
            assert_eq!(account.field_names(), fields);
            assert_eq!((account.string("status"), account.string("handle")), ("claimed".into(), agent.handle()));
            assert!(account.at("expires_at").is_null() && account.at("account.expires_at").is_null());
            assert_eq!(account.at("limits"), json!({ "free_publishes": 100, "total_mb": null }));
            assert_eq!(account.integer("free_publishes_left"), 100);
        }
        agent.publish("a-page", PAGE).await.expect(201);
        let usage = agent.usage().await.expect(200);
        assert_eq!(usage.at("publishes"), json!({ "used": 1, "free_limit": 100, "free_left": 99 }));
        assert_eq!(usage.string("status"), "claimed");
    }

    #[settings("HANDBILL_DEV_MODE" = "false")]
    async fn outside_dev_mode_a_session_manages_only_the_team(world: World) {
        let (agent, owner) = (world.agent().await, world.human());
        owner.register("olga", "correct horse 9").await.expect(201);
        owner.claim(&agent.signup.as_ref().unwrap().string("claim_url")).await.expect(200);
        owner.members().await.expect(200);
        owner.invites().await.expect(200);
        let code = owner.invite(&json!({})).await.expect(201).string("code");
        owner.revoke_invite(&code).await.expect(200);
        owner.allow_agent_join(false).await.expect(200);
        for refused in [
            owner.account().await,
            owner.tokens().await,
            owner.mint(&json!({})).await,
            owner.post("/v1/account/claim-link").await,
        ] {
            refused.refused(401, "unauthorized");
        }
    }

    async fn a_call_with_the_cookie_from_another_site_is_refused(world: World) {
        let (_, owner) = claimed_by(&world, "olga").await;
        let invite = owner.invite(&json!({})).await.expect(201);
        let guest = person(&world, "mia").await;
        for origin in ["https://evil.example", "null", &world.serve_url()] {
            let lured = owner.on_a_page_of(origin);
            lured.invite(&json!({})).await.refused(403, "forbidden");
            lured.revoke_invite(&invite.string("code")).await.refused(403, "forbidden");
            lured.allow_agent_join(false).await.refused(403, "forbidden");
            lured.remove_member("no-id").await.refused(403, "forbidden");
            lured.mint(&json!({})).await.refused(403, "forbidden");
            guest.on_a_page_of(origin).join(&invite.string("invite_url")).await.refused(403, "forbidden");
        }
        assert_eq!(owner.invites().await.expect(200).at("0.uses"), 0);
        assert_eq!(owner.account().await.expect(200).at("allow_agent_join"), true);
    }

    async fn session_acts_for_the_account_in_its_header(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let (other, _) = claimed_by(&world, "emil").await;
        let invite = other.invite(&json!({})).await.expect(201);
        owner.join(&invite.string("invite_url")).await.expect(302);
        // Among several accounts the one with the highest role is the default.
        assert_eq!(owner.account().await.expect(200).string("handle"), agent.handle());
        let named = owner.account().header("X-Account", other.handle()).await.expect(200);
        assert_eq!(named.string("handle"), other.handle());
        let by_id = owner.account().header("X-Account", named.string("id")).await.expect(200);
        assert_eq!(by_id.string("handle"), other.handle());
        owner.invite(&json!({})).header("X-Account", other.handle()).await.refused(403, "forbidden");
        owner.account().header("X-Account", "acct_nobody").await.refused(403, "forbidden");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_member_removed_at_one_process_is_gone_at_another() {
    let world = World::with(Mode::Production, program!()).start().await;
    let other_api = world.start_api().await;
    let (agent, owner) = claimed_by(&world, "olga").await;
    let admin = joined_as(&world, &owner, "adam", "admin").await;
    let of_admin = agent.with_token(&admin.mint(&json!({})).await.expect(201).string("token")).at(&other_api);
    of_admin.publish("a-page", PAGE).await.expect(201);
    admin.at(&other_api).members().await.expect(200);
    owner.remove_member(&admin.user_id().await).await.expect(200);
    of_admin.account().await.refused(401, "unauthorized");
    of_admin.publish("a-page", PAGE).await.refused(401, "unauthorized");
    admin.at(&other_api).members().await.refused(403, "forbidden");
}

// A removal and concurrent creations by the removed person are decided under one lock, so that the removal
// includes them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_and_invites_created_during_a_removal_do_not_outlive_it() {
    let world = World::with(Mode::Production, program!()).start().await;
    let other_api = world.start_api().await;
    let (agent, owner) = claimed_by(&world, "olga").await;
    let admin = joined_as(&world, &owner, "adam", "admin").await;
    let of_admin = agent.with_token(&admin.mint(&json!({})).await.expect(201).string("token"));
    let admin_id = admin.user_id().await;
    let makers = (0..8).map(|number| {
        let (admin, of_admin) = if number % 2 == 0 {
            (admin.clone(), of_admin.clone())
        } else {
            (admin.at(&other_api), of_admin.at(&other_api))
        };
        async move {
            let (by_person, by_token, invite) = futures::join!(
                admin.mint(&json!({})).into_future(),
                of_admin.mint(&json!({})).into_future(),
                admin.invite(&json!({})).into_future()
            );
            [by_person, by_token, invite]
        }
    });
    let (made, removed) =
        futures::join!(futures::future::join_all(makers), owner.remove_member(&admin_id).into_future());
    removed.expect(200);
    for reply in made.iter().flatten() {
        assert!([201, 401, 403].contains(&reply.status), "{reply:?}");
    }
    let team = owner.members().await.expect(200);
    let left = team.at("tokens");
    assert!(left.as_array().unwrap().iter().all(|token| token["created_by"] != admin_id), "{left}");
    let invites = owner.invites().await.expect(200).json();
    let of_admin = invites.as_array().unwrap().iter().filter(|invite| invite["created_by"] == admin_id);
    assert!(of_admin.clone().all(|invite| invite["revoked_at"].is_string()), "{invites}");
}
