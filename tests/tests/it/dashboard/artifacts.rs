//! The pages of an account: listed, rolled back, hidden for a price, deleted.

use handbill_tests::{Agent, in_both_modes};

use super::driver::{DashboardDriver, assert_has, between};
use crate::expectations::{PAGE, assert_page, page_saying};
use crate::teams::{claimed_by, joined_as};

in_both_modes! {
    async fn pages_are_listed_with_their_details(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let dashboard = DashboardDriver::of(&owner, &agent);
        assert_has(&dashboard.open("").await, &["No pages yet", "/v1/publish"]);
        let published = agent.publish("my-page", PAGE).await.expect(201);
        agent.post("/v1/artifacts/my-page/versions?activate=false").field("html", PAGE).await.expect(201);
        agent.publish("our-plans", PAGE).await.expect(201);
        agent.set_visibility("our-plans", "private").paying("dev:0.5").await.expect(200);
        for _ in 0..3 {
            world.visitor().open(&published.string("url")).await.expect(200);
        }
        let list = handbill_tests::eventually(handbill_tests::PATIENCE, "the views are counted", async || {
            let list = dashboard.open("").await;
            list.contains("· 3 views").then_some(list)
        })
        .await;
        let size = format!(" · {} bytes", PAGE.len());
        assert_has(&list, &["my-page", "our-plans", "private", &size, "?sig=", "v1 · ", "<polyline", "2 pages."]);
        let usage = dashboard.open("/usage").await;
        assert_has(&usage, &["Publishes", "of 100 free", "<svg", "3 in total, most on ", "<table>", "<td data-label=\"Views\" class=\"number\">3</td>"]);
        assert_has(&usage, &["$0.50 a month for each", "expected by the end of the month", "pages/my-page\">my-page</a>"]);
        let page = dashboard.open("/pages/my-page").await;
        assert_has(&page, &["Views in the last 30 days", "3 in total, most on ", "<td data-label=\"Views\" class=\"number\">3</td>"]);
        for month in ["2026-1", "1999-01", "", "%3Cb%3E"] {
            assert_page(&dashboard.get(&format!("/usage?month={month}")).await, 400);
        }
    }

    async fn any_version_is_made_live_again(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let member = joined_as(&world, &owner, "mia", "member").await;
        let url = agent.publish("my-page", page_saying("one")).field("message", "First").await.expect(201).string("url");
        agent.publish("my-page", page_saying("two")).await.expect(201);
        let dashboard = DashboardDriver::of(&member, &agent);
        let page = dashboard.open("/pages/my-page").await;
        assert_has(&page, &["First", "by API", &url, "<iframe", "sandbox=\"allow-scripts\""]);
        assert_eq!(page.matches("Make live<span").count(), 1, "{page}");
        let addresses = version_addresses(&agent).await;
        for address in &addresses {
            assert_has(&page, &[&format!("<a href=\"{address}\">View")]);
        }
        let live = &addresses[0];
        assert_has(&page, &[&format!("src=\"{live}\""), &format!("<a href=\"{live}index.html\" rel=\"noopener\">index.html</a>")]);
        assert_has(&world.visitor().open(&format!("{live}index.html")).await.expect(200).text(), &["two"]);
        let framed = dashboard.get("/pages/my-page").await;
        let policy = framed.header("Content-Security-Policy");
        assert!(policy.ends_with(&format!("frame-src {}", world.serve_url())), "{policy}");

        let rolled_back = dashboard.submit("/pages/my-page/activate", &[("version", "1")]).await;
        assert_has(&rolled_back, &["The version is live", "Make live", &format!("src=\"{}\"", addresses[1])]);
        assert_has(&world.visitor().open(&url).await.expect(200).text(), &["one"]);
        dashboard.submit("/pages/my-page/activate", &[("version", "2")]).await;
        assert_has(&world.visitor().open(&url).await.expect(200).text(), &["two"]);

        assert_page(&dashboard.post("/pages/my-page/activate", &[("version", "3")]).await, 404);
        for version in ["", "one", "-1", "99999999999"] {
            assert_page(&dashboard.post("/pages/my-page/activate", &[("version", version)]).await, 400);
        }
        assert_page(&dashboard.post("/pages/my-page/activate", &[]).await, 400);
        assert_page(&dashboard.post("/pages/no-page/activate", &[("version", "1")]).await, 404);
        assert_page(&dashboard.get("/pages/no-page").await, 404);
        assert_page(&dashboard.get("/pages/No_Page").await, 404);
        let missing = dashboard.get("/pages/no-page").await.text();
        assert_has(&missing, &["Page not found", &format!("href=\"{}\"", dashboard.path(""))]);
    }

    async fn preview_and_files_are_not_counted_as_views(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let url = agent.publish("my-page", PAGE).await.expect(201).string("url");
        agent.set_visibility("my-page", "private").paying("dev:0.5").await.expect(200);
        let dashboard = DashboardDriver::of(&owner, &agent);
        let page = dashboard.open("/pages/my-page").await;
        let preview = between(&page, "<iframe class=\"preview\" src=\"", "\"").to_owned();
        let file = between(&page, "<th scope=\"row\"><span><a href=\"", "\"").to_owned();
        assert!(preview.contains("?sig=") && file.contains("index.html?sig="), "{preview} {file}");
        for address in [&preview, &file] {
            for _ in 0..3 {
                world.visitor().open(address).await.expect(200);
            }
        }
        // A later view is counted, so those before it would have been counted, too.
        let signed = agent.artifact("my-page").await.string("signed_url");
        assert!(signed.starts_with(&url));
        world.visitor().open(&signed).await.expect(200);
        handbill_tests::eventually(handbill_tests::PATIENCE, "one view is counted", async || {
            dashboard.open("/pages/my-page").await.contains("1 in total, most on ").then_some(())
        })
        .await;
    }

    async fn visibility_form_shows_the_price_and_offers_credit_if_the_balance_is_too_low(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let member = joined_as(&world, &owner, "mia", "member").await;
        agent.publish("my-page", page_saying("secret")).await.expect(201);
        let (dashboard, guest) = (DashboardDriver::of(&owner, &agent), DashboardDriver::of(&member, &agent));
        assert_has(&dashboard.open("/pages/my-page").await, &["Unlisted and private cost $0.50 a month", "value=\"public\" checked"]);
        let private = [("visibility", "private")];
        owner.post(&dashboard.path("/pages/my-page/visibility")).form(&private).await.refused(402, "payment_required");
        let lacking = dashboard.submit("/pages/my-page/visibility", &private).await;
        assert_has(&lacking, &["Not enough credit to make my-page private", "The balance is $0.00, so you need $0.50 more", "value=\"5\""]);
        assert_has(&guest.submit("/pages/my-page/visibility", &private).await, &["Ask the owner", "you need $0.50 more"]);
        assert_eq!(agent.artifact("my-page").await.string("visibility"), "public");

        // After the purchase the person returns to the page.
        let top_up = [("amount_usd", "5"), ("page", "my-page"), ("visibility", "private")];
        let back = dashboard.submit("/credit/top-up", &top_up).await;
        assert_has(&back, &["<h1>my-page</h1>", "Credit added"]);
        let enough = dashboard.open("/credit?page=my-page&visibility=private").await;
        assert_has(&enough, &["There is enough credit", "/pages/my-page\">Go back"]);

        let hidden = guest.submit("/pages/my-page/visibility", &private).await;
        let signed_url = agent.artifact("my-page").await.string("signed_url");
        assert_has(&hidden, &["The page is now private", &signed_url, "value=\"private\" checked", "This month is already paid"]);
        assert_has(&world.visitor().open(&signed_url).await.expect(200).text(), &["secret"]);
        world.visitor().open(signed_url.split_once('?').unwrap().0).await.expect(403);
        let unlisted = dashboard.submit("/pages/my-page/visibility", &[("visibility", "unlisted")]).await;
        assert_has(&unlisted, &["The page is now unlisted", "value=\"unlisted\" checked"]);
        let public = dashboard.submit("/pages/my-page/visibility", &[("visibility", "public")]).await;
        assert_has(&public, &["The page is now public", "value=\"public\" checked", "This month is already paid"]);
        let ledger = dashboard.open("/credit").await;
        assert_has(&ledger, &["$4.50", "−$0.50", "Unlisted or private page my-page", "Credit (test)", "visibility:", "topup-dev:"]);
        for visibility in ["", "hidden", "Private"] {
            let refused = dashboard.post("/pages/my-page/visibility", &[("visibility", visibility)]).await;
            assert_page(&refused, 400);
        }
        // A change that was made already is not offered again.
        dashboard.submit("/pages/my-page/visibility", &private).await;
        let fulfilled = dashboard.open("/credit?page=my-page&visibility=private").await;
        assert!(!fulfilled.contains("There is"), "{fulfilled}");
        // Invalid values in the address are ignored.
        for odd in ["/credit?page=../x&visibility=private", "/credit?page=no-page&visibility=private", "/credit?done=<b>"] {
            let text = dashboard.open(odd).await;
            assert!(!text.contains("no-page") && !text.contains("../x") && !text.contains("<b>"), "{text}");
        }
    }

    async fn link_of_a_private_page_is_replaced_after_confirmation(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let member = joined_as(&world, &owner, "mia", "member").await;
        agent.publish("my-page", PAGE).await.expect(201);
        let dashboard = DashboardDriver::of(&member, &agent);
        assert!(!dashboard.open("/pages/my-page").await.contains("Replace link"));
        assert_page(&dashboard.post("/pages/my-page/private-link", &[]).await, 409);
        let hidden = agent.set_visibility("my-page", "private").paying("dev:0.5").await.expect(200);
        assert_has(&dashboard.open("/pages/my-page").await, &["Replace link", "/pages/my-page/private-link"]);
        let question = dashboard.open("/pages/my-page/private-link").await;
        assert_has(&question, &["Replace the signed link of my-page?", "stop working at once", "Cancel"]);
        world.visitor().open(&hidden.string("signed_url")).await.expect(200);
        let replaced = dashboard.submit("/pages/my-page/private-link", &[]).await;
        let new = agent.artifact("my-page").await.string("signed_url");
        assert_has(&replaced, &["Link replaced", &new]);
        world.visitor().open(&hidden.string("signed_url")).await.expect(403);
        world.visitor().open(&new).await.expect(200);
        assert_has(&DashboardDriver::of(&owner, &agent).open("/audit").await, &["Private link replaced"]);
    }

    async fn page_is_deleted_after_confirmation(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let url = agent.publish("my-page", PAGE).await.expect(201).string("url");
        let dashboard = DashboardDriver::of(&owner, &agent);
        let question = dashboard.open("/pages/my-page/delete").await;
        assert_has(&question, &["Delete my-page?", "stops working at once", "for 30 days", "Cancel"]);
        world.visitor().open(&url).await.expect(200);
        let list = dashboard.submit("/pages/my-page/delete", &[]).await;
        assert_has(&list, &["Page deleted", "No pages yet"]);
        world.visitor().open(&url).await.expect(404);
        assert_page(&dashboard.post("/pages/my-page/delete", &[]).await, 404);
        assert_page(&dashboard.get("/pages/my-page/delete").await, 404);
    }

    async fn deleted_page_is_restored_or_deleted_forever(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let (first, second) = ("<p>first</p>", "<p>second</p>");
        let url = agent.publish("my-page", first).await.expect(201).string("url");
        let dashboard = DashboardDriver::of(&owner, &agent);
        assert_has(&dashboard.open("/deleted").await, &["No deleted pages"]);
        agent.delete("my-page").await.expect(200);
        // Another page with the same slug is untouched by what happens to the deleted one.
        let other = agent.publish("my-page", second).await.expect(201).string("url");
        let list = dashboard.open("/deleted").await;
        assert_has(&list, &["my-page", "Expires", "Delete forever"]);
        let form = path_ending(&list, "/restore");
        assert_page(&dashboard.post(&form, &[]).await, 409);
        agent.delete("my-page").await.expect(200);
        let restored = dashboard.submit(&form, &[]).await;
        assert_has(&restored, &["Page restored", &url]);
        world.visitor().open(&url).await.expect(200);
        world.visitor().open(&other).await.expect(404);

        let list = dashboard.open("/deleted").await;
        let form = path_ending(&list, "/purge");
        assert_has(&dashboard.open(&form).await, &["Delete my-page forever?", "cannot be undone"]);
        let list = dashboard.submit(&form, &[]).await;
        assert_has(&list, &["Page deleted forever", "No deleted pages"]);
        world.visitor().open(&url).await.expect(200);
        assert_page(&dashboard.post(&form, &[]).await, 404);
        let list = dashboard.submit("/pages/my-page/delete", &[("purge", "true")]).await;
        assert_has(&list, &["Page deleted forever", "No pages yet"]);
        assert_has(&dashboard.open("/deleted").await, &["No deleted pages"]);
    }

    async fn version_that_is_not_live_is_deleted_after_confirmation(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        agent.publish("my-page", PAGE).await.expect(201);
        agent.publish("my-page", "<p>second</p>").await.expect(201);
        let dashboard = DashboardDriver::of(&owner, &agent);
        assert_has(&dashboard.open("/pages/my-page").await, &["/pages/my-page/delete/1"]);
        assert_has(&dashboard.open("/pages/my-page/delete/1").await, &["Delete version 1 of my-page?"]);
        assert_page(&dashboard.post("/pages/my-page/delete/2", &[]).await, 409);
        let page = dashboard.submit("/pages/my-page/delete/1", &[]).await;
        assert_has(&page, &["Version deleted"]);
        assert_eq!(agent.artifact("my-page").await.expect(200).at("versions").as_array().unwrap().len(), 1);
        assert_page(&dashboard.post("/pages/my-page/delete/1", &[]).await, 404);
    }
}

/// The addresses of the versions, newest first.
async fn version_addresses(agent: &Agent) -> Vec<String> {
    let artifact = agent.artifact("my-page").await.expect(200);
    let versions = artifact.at("versions");
    versions.as_array().unwrap().iter().map(|version| version["url"].as_str().unwrap().to_owned()).collect()
}

/// The path below the account of the first link or form that ends like this.
fn path_ending(page: &str, end: &str) -> String {
    let until = page.find(&format!("{end}\"")).expect("a path") + end.len();
    let start = page[..until].rfind("/deleted/").expect("a path of a deleted page");
    page[start..until].to_owned()
}
