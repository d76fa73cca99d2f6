//! The dashboard, by posting its forms: what each role sees and may do, the errors next to fields, and that
//! nobody sees or changes another's account.

mod artifacts;
mod credit;
mod driver;
mod list;
mod team;

use handbill_tests::{Agent, in_both_modes, json};

use crate::expectations::{assert_page, page_saying};
use crate::teams::{claimed_by, joined_as};
use driver::{BROWSER, DashboardDriver, assert_has};

/// The tabs of an account.
const TABS: [&str; 5] = ["", "/usage", "/credit", "/team", "/tokens"];

/// Every path with a form, and values that would change something.
fn forms<'a>(member_id: &str, token_id: &str, code: &str) -> Vec<(String, Vec<(&'a str, &'a str)>)> {
    vec![
        ("/pages/my-page/activate".into(), vec![("version", "1")]),
        ("/pages/my-page/visibility".into(), vec![("visibility", "private")]),
        ("/pages/my-page/duplicate".into(), vec![("slug", "my-copy")]),
        ("/pages/my-page/rename".into(), vec![("slug", "my-name")]),
        ("/pages/my-page/private-link".into(), vec![]),
        ("/pages/my-page/delete".into(), vec![]),
        ("/credit/top-up".into(), vec![("amount_usd", "5")]),
        ("/credit/checkout".into(), vec![("amount_usd", "5")]),
        ("/team/agent-join".into(), vec![("allow", "false")]),
        ("/team/invites".into(), vec![("role", "admin"), ("max_uses", "1"), ("ttl_hours", "1")]),
        (format!("/team/invites/{code}/revoke"), vec![]),
        (format!("/team/members/{member_id}/remove"), vec![]),
        ("/tokens/mint".into(), vec![("artifacts:read", "on")]),
        (format!("/tokens/{token_id}/revoke"), vec![]),
        (format!("/tokens/{token_id}/rotate"), vec![]),
    ]
}

/// Everything that a form might change, as one text.
async fn state_of(agent: &Agent) -> String {
    let artifact = agent.artifact("my-page").await.expect(200);
    let account = agent.account().await.expect(200);
    let members = agent.members().await.expect(200);
    let tokens: Vec<String> =
        members.at("tokens").as_array().unwrap().iter().map(|one| one["id"].to_string()).collect();
    let invites = agent.invites().await.expect(200);
    format!(
        "{} {} {} {} {} {tokens:?} {}",
        artifact.at("version"),
        artifact.at("visibility"),
        account.at("credits_usd"),
        account.at("allow_agent_join"),
        members.at("members"),
        invites.text()
    )
}

in_both_modes! {
    async fn dashboard_pages_are_visible_to_members_only(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        agent.publish("my-page", page_saying("one")).await.expect(201);
        agent.publish("my-page", page_saying("two")).await.expect(201);
        let member = joined_as(&world, &owner, "mia", "member").await;
        let invite = owner.invite(&json!({})).await.expect(201).string("code");
        let (member_id, token_id) = (member.user_id().await, agent.members().await.string("tokens.0.id"));
        let questions = [
            "/pages/my-page".to_owned(),
            "/pages/my-page/delete".to_owned(),
            format!("/team/invites/{invite}/revoke"),
            format!("/team/members/{member_id}/remove"),
            format!("/tokens/{token_id}/revoke"),
            format!("/tokens/{token_id}/rotate"),
        ];
        let paths: Vec<&str> = TABS.into_iter().chain(questions.iter().map(String::as_str)).collect();
        let own_dashboard = DashboardDriver::of(&owner, &agent);
        for path in &paths {
            let text = own_dashboard.open(path).await;
            assert_has(&text, &[&agent.handle(), "olga", "owner", "Sign out"]);
        }
        let first = owner.get("/dashboard").header("Accept", BROWSER).await.expect(302);
        assert_eq!(first.header("Location"), own_dashboard.path(""));

        // Another person's account and a missing one look the same.
        let (other_agent, other) = claimed_by(&world, "ben").await;
        let before = state_of(&agent).await;
        let elsewhere = DashboardDriver::of(&other, &agent);
        let nowhere = DashboardDriver { person: &other, handle: "acct_nobodyhasit0".into() };
        for path in &paths {
            let (refused, missing) = (elsewhere.get(path).await, nowhere.get(path).await);
            assert_page(&refused, 403);
            assert_eq!(refused.text().replace(&elsewhere.handle, &nowhere.handle), missing.text());
            // The link back repeats the requested address, so that it reveals nothing.
            let reported = refused.text().replace(&elsewhere.path("/pages/my-page"), "");
            assert!(!reported.contains("my-page"), "{refused:?}");
        }
        for (path, fields) in forms(&member_id, &token_id, &invite) {
            assert_page(&elsewhere.post(&path, &fields).await, 403);
            other.post(&elsewhere.path(&path)).form(&fields).await.refused(403, "forbidden");
        }
        // One's own account gives no access to another's either.
        let own = DashboardDriver::of(&other, &other_agent);
        for path in &questions {
            assert_page(&own.get(path).await, 404);
        }
        for (path, fields) in forms(&member_id, &token_id, &invite) {
            if path.contains("my-page") || path.contains(&invite) || path.contains(&member_id) || path.contains(&token_id) {
                assert_page(&own.post(&path, &fields).await, 404);
            }
        }
        assert_eq!(state_of(&agent).await, before);

        // A signed-out person signs in first and returns. A form is not resent.
        let nobody = world.human();
        let signed_out = DashboardDriver::of(&nobody, &agent);
        for path in &paths {
            let sent = signed_out.get(path).await.expect(302);
            assert_eq!(sent.header("Location"), format!("/signin?next={}", signed_out.path(path)));
        }
        for (path, fields) in forms(&member_id, &token_id, &invite) {
            assert_page(&signed_out.post(&path, &fields).await, 401);
        }
        assert_eq!(state_of(&agent).await, before);
    }

    async fn no_form_is_taken_from_another_sites_page(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        agent.publish("my-page", page_saying("one")).await.expect(201);
        agent.publish("my-page", page_saying("two")).await.expect(201);
        let member = joined_as(&world, &owner, "mia", "member").await;
        let invite = owner.invite(&json!({})).await.expect(201).string("code");
        let (member_id, token_id) = (member.user_id().await, agent.members().await.string("tokens.0.id"));
        let before = state_of(&agent).await;
        let serve_url = world.serve_url();
        for origin in [serve_url.as_str(), "https://evil.example", "null"] {
            let lured = owner.on_a_page_of(origin);
            let dashboard = DashboardDriver::of(&lured, &agent);
            for (path, fields) in forms(&member_id, &token_id, &invite) {
                let refused = dashboard.post(&path, &fields).await;
                assert_page(&refused, 403);
                assert!(refused.text().contains("another site"), "{refused:?}");
            }
        }
        assert_eq!(state_of(&agent).await, before);
        // A link changes nothing either: it opens the confirmation, or the page with the form.
        let dashboard = DashboardDriver::of(&owner, &agent);
        for (path, _) in forms(&member_id, &token_id, &invite) {
            let opened = dashboard.get(&path).await;
            if opened.status == 302 {
                let page = path.rsplit_once('/').unwrap().0.trim_end_matches("/team/invites");
                assert_eq!(opened.header("Location"), dashboard.path(page), "{path}");
                dashboard.open(page).await;
            } else {
                assert_page(&opened, 200);
            }
        }
        assert_eq!(state_of(&agent).await, before);
    }

    async fn person_with_several_accounts_can_switch_between_them(world: World) {
        let (first, owner) = claimed_by(&world, "olga").await;
        let (second, other) = claimed_by(&world, "ben").await;
        joined_as(&world, &other, "olga", "member").await;
        let alone = DashboardDriver::of(&other, &second).open("").await;
        assert!(!alone.contains("Switch account"), "{alone}");
        for (agent, role) in [(&first, "owner"), (&second, "member")] {
            let dashboard = DashboardDriver::of(&owner, agent);
            let page = dashboard.open("/usage").await;
            assert_has(&page, &["Switch account", &first.handle(), &second.handle()]);
            let chosen = format!("<strong>{}</strong> <span class=\"label\">{role}</span>", agent.handle());
            assert_has(&page, &[&chosen]);
        }
        // The account with the highest role is the default, except for one that was joined just now.
        let open = async |path: &str| owner.get(path).header("Accept", BROWSER).await;
        let invite = other.invite(&json!({})).await.expect(201);
        assert_eq!(owner.join(&invite.string("invite_url")).await.expect(302).header("Location"), "/dashboard");
        let sent = open("/dashboard").await.expect(302);
        assert_eq!(sent.header("Location"), format!("/dashboard/{}?done=joined", second.handle()));
        assert_has(&open(sent.header("Location")).await.expect(200).text(), &["You have joined."]);
        assert_eq!(owner.cookie("svc_arrival"), None);
        // A cookie that names another's account gives no access to it.
        let (theirs, _) = claimed_by(&world, "cleo").await;
        let session = owner.cookie("svc_sess").unwrap();
        let made_up = format!("svc_sess={session}; svc_arrival=claimed.{}", theirs.handle());
        let sent = world.stranger().get("/dashboard").header("Cookie", made_up).await.expect(302);
        assert_eq!(sent.header("Location"), format!("/dashboard/{}", first.handle()));
        assert_eq!(open("/dashboard/").await.expect(302).header("Location"), format!("/dashboard/{}", first.handle()));
        let sent = owner.get("/dashboard").header("Accept", BROWSER).await.expect(302);
        assert_eq!(sent.header("Location"), format!("/dashboard/{}", first.handle()));
    }
}
