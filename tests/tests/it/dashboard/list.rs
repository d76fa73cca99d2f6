//! The list of pages: found, changed together and copied. The name of the account.

use futures::future::join_all;
use handbill_tests::{Method, in_both_modes, json};

use super::driver::{DashboardDriver, assert_fault, assert_has};
use crate::expectations::{PAGE, assert_page};
use crate::teams::{claimed_by, joined_as};

fn titled(title: &str) -> String {
    format!("<!doctype html><html lang=en><title>{title}</title><p>{title}")
}

/// The slugs on a page of the list, in its order.
fn listed(text: &str) -> Vec<String> {
    let rows = text.split("name=\"page\" value=\"").skip(1);
    rows.map(|row| row.split_once('"').expect("a slug").0.to_owned()).collect()
}

in_both_modes! {
    async fn pages_are_searched_filtered_and_sorted(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        agent.publish("plan-may", titled("Budget &amp; more")).await.expect(201);
        agent.publish("deck", titled("A plan for <b>May</b>")).await.expect(201);
        agent.publish("misc", PAGE).await.expect(201);
        agent.set_visibility("misc", "private").paying("dev:0.5").await.expect(200);
        agent.publish("plan-may", titled("Budget &amp; more")).await.expect(201);
        let dashboard = DashboardDriver::of(&owner, &agent);
        let all = dashboard.open("").await;
        assert_eq!(listed(&all), ["plan-may", "misc", "deck"]);
        assert_has(
            &all,
            &["Budget &#38; more", "v2 · ", "just now</time>", "data-preview=\"", "?account=", "#try"],
        );
        for (query, slugs) in [
            ("?q=budget%00", &["plan-may"][..]),
            ("?sort=name", &["deck", "misc", "plan-may"]),
            ("?sort=created", &["misc", "deck", "plan-may"]),
            ("?q=PLAN&sort=name", &["deck", "plan-may"]),
            ("?q=budget+more", &["plan-may"]),
            ("?visibility=private", &["misc"]),
            ("?visibility=private&q=plan", &[]),
            ("?state=staged", &[]),
            ("?state=nonsense&sort=nonsense&visibility=nonsense", &["plan-may", "misc", "deck"]),
        ] {
            assert_eq!(listed(&dashboard.open(query).await), slugs, "{query}");
        }
        assert_has(&dashboard.open("?q=%22%3Cb%3E").await, &["No pages match", "value=\"&#34;&#60;b&#62;\""]);
        let list = agent.artifacts().await.expect(200);
        assert_eq!(list.at("2.title"), json!("Budget & more"));
        assert_eq!(list.at("1.title"), json!("A plan for <b>May</b>"));
        assert_eq!(
            (list.at("0.title").is_string(), list.at("0.views_month")),
            (PAGE.contains("<title>"), json!(0))
        );
        assert!(list.string("2.updated_at") >= list.string("0.updated_at"), "{list:?}");
        let tool = agent.call_tool("list_artifacts", &json!({})).await.expect(200);
        assert_eq!(tool.at("result.structuredContent.artifacts"), list.json());
    }

    async fn selected_pages_are_changed_together_after_a_question_with_the_price(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        for slug in ["one-page", "two-page", "keep-page"] {
            agent.publish(slug, PAGE).await.expect(201);
        }
        let dashboard = DashboardDriver::of(&owner, &agent);
        let ticked = "page=one-page&page=two-page&page=gone-page";
        let poor = dashboard.open(&format!("/bulk?change=private&{ticked}")).await;
        assert_has(
            &poor,
            &["Make 2 pages private?", "Not enough credit", "$1.00 now", "you need $1.00 more"],
        );
        assert!(!poor.contains(&format!("action=\"{}\"", dashboard.path("/bulk"))), "{poor}");
        dashboard.submit("/credit/top-up", &[("amount_usd", "5")]).await;
        let question = dashboard.open(&format!("/bulk?change=private&{ticked}")).await;
        assert_has(&question, &["one-page", "two-page", "<strong>$1.00</strong>", "$5.00", "$1.00 a month"]);
        assert!(!question.contains("gone-page") && !question.contains("keep-page"), "{question}");
        assert_eq!(agent.artifact("one-page").await.string("visibility"), "public");
        let pages = [("page", "one-page"), ("page", "two-page")];
        let private = dashboard.submit("/bulk", &[&[("change", "private")][..], &pages[..]].concat()).await;
        assert_has(&private, &["The pages are now private", "<span class=\"label\">private</span>"]);
        assert_eq!(agent.account().await.number("credits_usd"), 4.0);
        assert_eq!(agent.artifact("keep-page").await.string("visibility"), "public");

        let question = dashboard.open(&format!("/bulk?change=delete&{ticked}")).await;
        assert_has(&question, &["Delete 2 pages?", "for 30 days"]);
        let some = [("change", "delete"), ("page", "one-page"), ("page", "gone-page")];
        let outcome = dashboard.post("/bulk", &some).await;
        assert_page(&outcome, 200);
        assert_has(&outcome.text(), &["1 page was changed", "gone-page"]);
        let rest = dashboard.submit("/bulk", &[("change", "delete"), ("page", "two-page")]).await;
        assert_eq!(listed(&rest), ["keep-page"]);
        assert_has(&dashboard.submit("/bulk", &[("change", "delete")]).await, &["Select at least one page"]);
        for odd in [
            &[("change", "burn"), ("page", "keep-page")][..],
            &[("page", "keep-page")][..],
            &[("change", "delete"), ("page", "../x")][..],
        ] {
            assert_page(&dashboard.post("/bulk", odd).await, 400);
        }
        let (_, stranger) = claimed_by(&world, "ben").await;
        let elsewhere = DashboardDriver::of(&stranger, &agent);
        assert_page(&elsewhere.post("/bulk", &[("change", "delete"), ("page", "keep-page")]).await, 403);
        assert_eq!(listed(&dashboard.open("").await), ["keep-page"]);
    }

    async fn page_is_duplicated_with_its_files_and_its_visibility(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        agent.publish("my-page", titled("The plan")).await.expect(201);
        let dashboard = DashboardDriver::of(&owner, &agent);
        assert_has(
            &dashboard.open("/pages/my-page/duplicate").await,
            &["value=\"my-page-copy\"", "free publishes left"],
        );
        let copied = dashboard.submit("/pages/my-page/duplicate", &[("slug", "my-page-copy")]).await;
        assert_has(&copied, &["Page duplicated", "<h1>my-page-copy</h1>"]);
        let (page, copy) = (agent.artifact("my-page").await, agent.artifact("my-page-copy").await);
        assert_ne!(page.string("host"), copy.string("host"));
        assert_eq!((copy.string("title"), copy.at("version")), ("The plan".to_owned(), json!(1)));
        assert_has(&world.visitor().open(&copy.string("url")).await.expect(200).text(), &["<p>The plan"]);

        for (slug, fault) in [
            ("my-page", "This is the name of another page"),
            ("No", "This must be 3 to 40"),
            ("", "This must be"),
        ] {
            let refused = dashboard.post("/pages/my-page/duplicate", &[("slug", slug)]).await;
            assert_fault(&refused, 400, "slug", fault);
        }
        assert_page(&dashboard.post("/pages/no-page/duplicate", &[("slug", "other")]).await, 404);

        // The copy of a private page is never public. Without credit there is no copy.
        agent.set_visibility("my-page", "private").paying("dev:0.5").await.expect(200);
        assert_has(
            &dashboard.open("/pages/my-page/duplicate").await,
            &["The copy is private too, for $0.50 a month"],
        );
        assert_page(&dashboard.post("/pages/my-page/duplicate", &[("slug", "my-secret")]).await, 402);
        agent.artifact("my-secret").await.expect(404);
        dashboard.submit("/credit/top-up", &[("amount_usd", "1")]).await;
        dashboard.submit("/pages/my-page/duplicate", &[("slug", "my-secret")]).await;
        let secret = agent.artifact("my-secret").await;
        assert_eq!((secret.string("visibility"), secret.at("version")), ("private".to_owned(), json!(1)));
        world.visitor().open(&secret.string("url")).await.expect(403);
        world.visitor().open(&secret.string("signed_url")).await.expect(200);
    }

    async fn a_copy_that_cannot_be_made_private_is_not_left_behind(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        agent.publish("my-page", titled("The plan")).await.expect(201);
        agent.set_visibility("my-page", "private").paying("dev:0.5").await.expect(200);
        let dashboard = DashboardDriver::of(&owner, &agent);
        dashboard.submit("/credit/top-up", &[("amount_usd", "1")]).await;
        // Credit for two of them, and each finds it before another has spent it.
        let slugs = ["copy-one", "copy-two", "copy-three", "copy-four"];
        let copies = slugs.map(|slug| dashboard.post("/pages/my-page/duplicate", &[("slug", slug)]).into_future());
        let replies = join_all(copies).await;
        let made = replies.iter().filter(|reply| reply.status == 302).count();
        assert!(made <= 2 && replies.iter().all(|reply| matches!(reply.status, 302 | 402)), "{replies:?}");
        for (slug, reply) in slugs.iter().zip(&replies) {
            let copy = agent.artifact(slug).await;
            match reply.status {
                302 => assert_eq!(copy.expect(200).string("visibility"), "private"),
                _ => drop(copy.expect(404)),
            }
        }
    }

    async fn renamed_page_keeps_its_url(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let url = agent.publish("my-page", titled("The plan")).await.expect(201).string("url");
        agent.publish("other-page", PAGE).await.expect(201);
        let dashboard = DashboardDriver::of(&owner, &agent);
        assert_has(&dashboard.open("/pages/my-page/rename").await, &[&url, "value=\"my-page\""]);
        for (slug, fault) in
            [("other-page", "This is the name of another page"), ("No", "This must be 3 to 40")]
        {
            assert_fault(
                &dashboard.post("/pages/my-page/rename", &[("slug", slug)]).await,
                400,
                "slug",
                fault,
            );
        }
        let renamed = dashboard.submit("/pages/my-page/rename", &[("slug", "our-plan")]).await;
        assert_has(&renamed, &["Page renamed", "<h1>our-plan</h1>", &url]);
        assert_eq!(agent.artifact("our-plan").await.string("url"), url);
        agent.artifact("my-page").await.expect(404);
        assert_has(&world.visitor().open(&url).await.expect(200).text(), &["The plan"]);
        agent.publish("our-plan", titled("The new plan")).await.expect(201);
        assert_has(&world.visitor().open(&url).await.expect(200).text(), &["The new plan"]);
        assert_ne!(agent.publish("my-page", PAGE).await.expect(201).string("url"), url);
        assert_page(&dashboard.post("/pages/no-page/rename", &[("slug", "other")]).await, 404);
    }

    async fn account_is_named_by_its_owner(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let member = joined_as(&world, &owner, "mia", "member").await;
        let dashboard = DashboardDriver::of(&owner, &agent);
        assert!(agent.account().await.at("name").is_null());
        let named = dashboard.submit("/team/name", &[("name", " Design <team> ")]).await;
        assert_has(&named, &["Account renamed", "Design &#60;team&#62;", &agent.handle()]);
        assert_eq!(agent.account().await.string("name"), "Design <team>");
        let guest = DashboardDriver::of(&member, &agent);
        assert_has(&guest.open("").await, &["Design &#60;team&#62;", &agent.handle()]);
        assert_page(&guest.post("/team/name", &[("name", "Mine")]).await, 403);
        for bad in ["a\nb", &"x".repeat(61)] {
            assert_page(&dashboard.post("/team/name", &[("name", bad)]).await, 400);
        }
        let changed =
            agent.call(Method::PATCH, "/v1/account").json(&json!({ "name": "Ops" })).await.expect(200);
        assert_eq!(
            (changed.string("name"), changed.string("account.name")),
            ("Ops".to_owned(), "Ops".to_owned())
        );
        agent
            .call(Method::PATCH, "/v1/account")
            .json(&json!({ "name": "" }))
            .await
            .refused(400, "invalid_request")
            .naming("name");
        agent.call(Method::PATCH, "/v1/account").json(&json!({ "name": null })).await.expect(200);
        assert!(agent.account().await.at("name").is_null());
        dashboard.submit("/team/name", &[("name", "Again")]).await;
        assert!(!dashboard.submit("/team/name", &[("name", "")]).await.contains("Again"));
    }
}
