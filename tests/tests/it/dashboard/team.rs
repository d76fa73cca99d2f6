//! The people and tokens of an account: invited, removed, minted and revoked, by permission.

use std::time::Duration;

use handbill_tests::{Human, in_both_modes, json};

use super::driver::{BROWSER, DashboardDriver, assert_fault, assert_has, between};
use crate::expectations::{PAGE, assert_page, page_saying};
use crate::teams::{claimed_by, joined_as, person};

in_both_modes! {
    async fn people_are_invited_join_and_are_removed(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let dashboard = DashboardDriver::of(&owner, &agent);
        let fields = |uses, hours| [("role", "admin"), ("max_uses", uses), ("ttl_hours", hours)];
        for (uses, hours, field, reported) in [
            ("0", "72", "max_uses", "This must be 1 to 100."),
            ("101", "72", "max_uses", "This must be 1 to 100."),
            ("many", "72", "max_uses", "This must be a whole number."),
            ("1", "721", "ttl_hours", "This must be 1 to 720."),
            ("1", "", "ttl_hours", "This must be a whole number."),
        ] {
            let refused = dashboard.post("/team/invites", &fields(uses, hours)).await;
            assert_fault(&refused, 400, field, reported);
            assert_has(&refused.text(), &["value=\"admin\" selected"]);
        }
        let owner_s = [("role", "owner"), ("max_uses", "1"), ("ttl_hours", "1")];
        assert_fault(&dashboard.post("/team/invites", &owner_s).await, 400, "role", "This must be member or admin");
        let team = dashboard.submit("/team/invites", &fields(" 2 ", "24")).await;
        assert_has(&team, &["Invite created", "0 of 2 used", "Role <strong>admin</strong>", "by olga"]);
        let url = between(&team, "<div class=\"copy\"><code id=\"invite-", "</code>").split_once("\">").unwrap().1.to_owned();
        let code = url.rsplit('/').next().unwrap().to_owned();

        let admin = person(&world, "adam").await;
        admin.join(&url).await.expect(302);
        let guest = DashboardDriver::of(&admin, &agent);
        assert_has(&guest.open("/team").await, &["adam", "(you)", &url, "1 of 2 used"]);
        let member = joined_as(&world, &owner, "mia", "member").await;
        let third = DashboardDriver::of(&member, &agent);
        let seen = third.open("/team").await;
        assert_has(&seen, &["olga", "Only admins and the owner can invite others", "Leave"]);
        assert!(!seen.contains(&code) && !seen.contains("name=\"max_uses\""), "{seen}");
        assert_page(&third.post("/team/invites", &fields("1", "1")).await, 403);
        assert_page(&third.get(&format!("/team/invites/{code}/revoke")).await, 403);
        assert_page(&third.post(&format!("/team/invites/{code}/revoke"), &[]).await, 403);

        let question = guest.open(&format!("/team/invites/{code}/revoke")).await;
        assert_has(&question, &["Revoke the invite?", "Its link stops working at once"]);
        let team = guest.submit(&format!("/team/invites/{code}/revoke"), &[]).await;
        assert_has(&team, &["Invite revoked", "Past invites", "revoked"]);
        person(&world, "late").await.join(&url).await.refused(409, "invite_revoked");

        // An admin removes a member, nobody removes the owner, and everybody else may leave.
        let (owner_id, admin_id, member_id) = (owner.user_id().await, admin.user_id().await, member.user_id().await);
        let remove = |id: &str| format!("/team/members/{id}/remove");
        assert_page(&third.post(&remove(&admin_id), &[]).await, 403);
        assert_page(&guest.post(&remove(&owner_id), &[]).await, 403);
        // A person who may not confirm gets no confirmation page.
        for call in [third.get(&remove(&admin_id)), third.get(&remove(&owner_id)), guest.get(&remove(&owner_id))] {
            let refused = call.await;
            assert_page(&refused, 403);
            assert_has(&refused.text(), &[&format!("href=\"{}\"", guest.path("/team"))]);
        }
        assert_has(&guest.open(&remove(&member_id)).await, &["Remove mia?", "token", "new invite"]);
        let team = guest.submit(&remove(&member_id), &[]).await;
        assert!(team.contains("Member removed") && !team.contains("mia"), "{team}");
        assert_page(&third.get("").await, 403);
        assert_page(&guest.get(&remove(&member_id)).await, 404);
        assert_page(&guest.get(&remove("no-id")).await, 404);
        assert_has(&guest.open(&remove(&admin_id)).await, &["Leave ", "Cancel"]);
        let left = guest.submit(&remove(&admin_id), &[]).await;
        assert_has(&left, &["You have left the account", "No accounts yet"]);
        assert_page(&guest.get("").await, 403);
    }

    async fn the_owner_decides_whether_agents_join(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let admin = joined_as(&world, &owner, "adam", "admin").await;
        let code = owner.invite(&json!({ "max_uses": 9 })).await.expect(201).string("code");
        let dashboard = DashboardDriver::of(&owner, &agent);
        let closed = dashboard.submit("/team/agent-join", &[("allow", "false")]).await;
        assert_has(&closed, &["Agents can no longer join", "Allow agents to join"]);
        world.stranger().join(&code).await.refused(403, "agent_join_disabled");
        let open = dashboard.submit("/team/agent-join", &[("allow", "true")]).await;
        assert_has(&open, &["Agents can now join with an invite", "Don't allow agents to join"]);
        world.stranger().join(&code).await.expect(201);
        let guest = DashboardDriver::of(&admin, &agent);
        let seen = guest.open("/team").await;
        assert!(seen.contains("Only the owner can change this") && !seen.contains("name=\"allow\""), "{seen}");
        assert_page(&guest.post("/team/agent-join", &[("allow", "false")]).await, 403);
        assert_page(&dashboard.post("/team/agent-join", &[("allow", "perhaps")]).await, 400);
        world.stranger().join(&code).await.expect(201);
    }

    async fn a_minted_token_is_shown_once_and_works_until_it_is_revoked(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        agent.publish("my-page", PAGE).await.expect(201);
        agent.publish("other-page", PAGE).await.expect(201);
        let dashboard = DashboardDriver::of(&owner, &agent);
        let fields = [("name", "night bot"), ("artifacts:read", "on"), ("artifacts:write", "on"), ("page", "my-page"), ("days", "7")];
        let text = dashboard.submit("/tokens/mint", &fields).await;
        assert_has(&text, &["Token night bot created", "be shown again"]);
        let secret = between(&text, "<code id=\"secret\">", "</code>").to_owned();
        let list = dashboard.open("/tokens").await;
        assert!(!list.contains(&secret) && list.contains(&format!("{}…", &secret[..11])), "{list}");
        // A secret that another site planted is not shown.
        let cookie = format!("svc_sess={}; svc_result_token=e30.abc", owner.cookie("svc_sess").unwrap());
        let path = dashboard.path("/tokens");
        let planted = world.stranger().get(&path).header("Accept", BROWSER).header("Cookie", cookie);
        let planted = planted.await.expect(200);
        assert!(!planted.text().contains("id=\"secret\""), "{planted:?}");
        let bot = agent.with_token(&secret);
        bot.publish("my-page", page_saying("by the bot")).await.expect(201);
        bot.publish("other-page", PAGE).await.refused(403, "insufficient_scope");
        let listed = agent.tokens().await.expect(200);
        assert_eq!(listed.string("0.name"), "night bot");
        assert_eq!(listed.string("0.scopes"), "artifacts:write,artifacts:read");
        let days = crate::expectations::millis_from_now(&listed.string("0.expires_at")) / (24 * 3_600_000 - 60_000);
        assert_eq!(days, 7);
        let id = listed.string("0.id");
        let row = dashboard.open("/tokens").await;
        assert_has(&row, &["night bot", "<td data-label=\"Pages\">my-page</td>", "<td data-label=\"By\">olga</td>", ">127.0.0.1</span>"]);

        assert_has(&dashboard.open(&format!("/tokens/{id}/revoke")).await, &["Revoke the token night bot?"]);
        let revoked = dashboard.submit(&format!("/tokens/{id}/revoke"), &[]).await;
        assert!(revoked.contains("Token revoked") && !revoked.contains("night bot"), "{revoked}");
        bot.artifacts().await.refused(401, "unauthorized");
        assert_page(&dashboard.get(&format!("/tokens/{id}/revoke")).await, 404);
        world.assert_no_secret_was_logged();
    }

    async fn a_new_secret_replaces_the_old_one_and_is_shown_once(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let dashboard = DashboardDriver::of(&owner, &agent);
        agent.publish("my-page", PAGE).await.expect(201);
        let minted = agent.mint(&json!({ "name": "night bot", "scopes": "artifacts:read" })).await.expect(201);
        let old = agent.with_token(&minted.string("token"));
        old.artifacts().await.expect(200);
        let path = format!("/tokens/{}/rotate", minted.string("id"));
        assert_has(&dashboard.open("/tokens").await, &[&path, &minted.string("id")]);
        assert_has(&dashboard.open(&path).await, &["Replace the secret of night bot?"]);
        old.artifacts().await.expect(200);

        let text = dashboard.submit(&path, &[]).await;
        assert_has(&text, &["Token night bot has a new secret", "<td data-label=\"Last used\"><span>Never</span></td>"]);
        let secret = between(&text, "<code id=\"secret\">", "</code>").to_owned();
        let list = dashboard.open("/tokens").await;
        assert!(!list.contains(&secret) && list.contains(&format!("{}…", &secret[..11])), "{list}");
        old.artifacts().await.refused(401, "unauthorized");
        let new = agent.with_token(&secret);
        new.artifacts().await.expect(200);
        new.publish("my-page", PAGE).await.refused(403, "insufficient_scope");
        let listed = agent.tokens().await.expect(200);
        assert_eq!((listed.string("0.id"), listed.string("0.name")), (minted.string("id"), "night bot".into()));
        assert_has(&dashboard.open("/audit").await, &["Token secret replaced"]);

        // An admin has no right to a token with more scopes than the role may grant, a member to those of others.
        let (admin, member) = (
            joined_as(&world, &owner, "adam", "admin").await,
            joined_as(&world, &owner, "mia", "member").await,
        );
        let signup = agent.tokens().await.string("1.id");
        for (person, token) in [(&admin, &signup), (&member, &minted.string("id")), (&member, &signup)] {
            let theirs = DashboardDriver::of(person, &agent);
            let path = format!("/tokens/{token}/rotate");
            assert!(!theirs.open("/tokens").await.contains(&path));
            assert_page(&theirs.get(&path).await, 403);
            assert_page(&theirs.post(&path, &[]).await, 403);
        }
        agent.artifacts().await.expect(200);
        new.artifacts().await.expect(200);
        assert_page(&dashboard.post("/tokens/no-id/rotate", &[]).await, 404);
        world.assert_no_secret_was_logged();
    }

    async fn a_new_secret_is_shown_only_to_its_person_and_for_two_minutes(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let admin = joined_as(&world, &owner, "adam", "admin").await;
        let dashboard = DashboardDriver::of(&owner, &agent);
        let fields = [("name", "night bot"), ("artifacts:read", "on"), ("days", "7")];
        dashboard.post("/tokens/mint", &fields).await.expect(302);
        let (path, kept) = (dashboard.path("/tokens"), owner.cookie("svc_result_token").unwrap());
        let is_shown_to = async |person: &Human| {
            let cookie = format!("svc_sess={}; svc_result_token={kept}", person.cookie("svc_sess").unwrap());
            let page = world.stranger().get(&path).header("Accept", BROWSER).header("Cookie", cookie).await;
            page.expect(200).text().contains("id=\"secret\"")
        };
        assert!(is_shown_to(&owner).await);
        assert!(!is_shown_to(&admin).await);
        world.advance(Duration::from_secs(121));
        assert!(!is_shown_to(&owner).await);
    }

    async fn the_tokens_tab_shows_who_minted_what_and_revokes_both(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let root = agent.mint(&json!({ "name": "root" })).await.expect(201);
        let holder = agent.with_token(&root.string("token"));
        let children = [holder.minted(&json!({ "name": "one" })).await, holder.minted(&json!({ "name": "two" })).await];
        let dashboard = DashboardDriver::of(&owner, &agent);
        let tab = dashboard.open("/tokens").await;
        assert_has(&tab, &["<td data-label=\"By\">an agent with root</td>", "<td data-label=\"By\">an agent with signup</td>"]);
        let revoke = format!("/tokens/{}/revoke", root.string("id"));
        assert_has(&dashboard.open(&revoke).await, &["name=\"with_minted\" value=\"true\" checked"]);
        let revoked = dashboard.submit(&revoke, &[("with_minted", "true")]).await;
        assert_has(&revoked, &["revoked, with the tokens"]);
        for ended in [&holder, &children[0], &children[1]] {
            ended.account().await.refused(401, "unauthorized");
        }
        agent.account().await.expect(200);
    }

    async fn members_cannot_grant_more_than_their_role_allows(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let (admin, member) = (
            joined_as(&world, &owner, "adam", "admin").await,
            joined_as(&world, &owner, "mia", "member").await,
        );
        let dashboards = [&member, &admin, &owner].map(|person| DashboardDriver::of(person, &agent));
        for (dashboard, scopes) in dashboards.iter().zip([2, 3, 4]) {
            let page = dashboard.open("/tokens").await;
            let form = between(&page, "<legend>Scopes</legend>", "</fieldset>");
            assert_eq!(form.matches("type=\"checkbox\"").count(), scopes);
        }
        let [third, guest, dashboard] = &dashboards;
        for (who, scope) in [(third, "tokens:manage"), (third, "account:manage"), (guest, "account:manage")] {
            let refused = who.post("/tokens/mint", &[("name", "greedy"), (scope, "on")]).await;
            assert_fault(&refused, 403, "scopes", "Your role does not allow all of these scopes");
        }
        assert_fault(&third.post("/tokens/mint", &[("name", "x")]).await, 400, "scopes", "This needs at least one scope.");
        let read = ("artifacts:read", "on");
        let long = "n".repeat(101);
        for (field, value, reported) in [
            ("name", long.as_str(), "This must be 1 to 100 characters"),
            ("days", "2", "This must be one of the listed values."),
            ("page", "Not_A_Page", "This is not a page of this account."),
        ] {
            assert_fault(&third.post("/tokens/mint", &[read, (field, value)]).await, 400, field, reported);
        }
        let gone = third.post("/tokens/mint", &[read, ("page", "no-page")]).await;
        assert_fault(&gone, 404, "page", "This page no longer exists");

        // A member sees who else has a token, but can revoke only their own.
        third.submit("/tokens/mint", &[read, ("name", "of mia")]).await;
        let signup = agent.tokens().await.string("1.id");
        let seen = third.open("/tokens").await;
        assert_eq!(seen.matches("data-dialog=").count(), 1, "{seen}");
        assert_eq!(guest.open("/tokens").await.matches("data-dialog=").count(), 2);
        assert_page(&third.post(&format!("/tokens/{signup}/revoke"), &[]).await, 403);
        assert_page(&third.get(&format!("/tokens/{signup}/revoke")).await, 403);
        agent.artifacts().await.expect(200);
        let own = agent.tokens().await.string("0.id");
        third.submit(&format!("/tokens/{own}/revoke"), &[]).await;
        assert_page(&dashboard.get("/tokens/no-id/revoke").await, 404);
        // A preset grants what its name says. A role has no preset that it may not grant.
        dashboard.submit("/tokens/mint", &[("name", "full"), ("preset", "full")]).await;
        assert_eq!(agent.tokens().await.string("0.scopes"), "artifacts:write,artifacts:read,tokens:manage,account:manage");
        third.submit("/tokens/mint", &[("preset", "read-only"), ("artifacts:write", "on")]).await;
        assert_eq!(agent.tokens().await.string("0.scopes"), "artifacts:read");
        assert!(!third.open("/tokens").await.contains("value=\"full\""));
        assert_fault(&third.post("/tokens/mint", &[("preset", "all")]).await, 400, "scopes", "This must be one of the listed choices.");
    }
}
