//! The form of the front page: the result of a publish at an address of its own, and publishing on an account
//! of a signed-in person.

use handbill_tests::{Human, PATIENCE, Reply, eventually, in_both_modes, json};

use crate::expectations::{PAGE, assert_page, open_result};
use crate::moderation::{SEED_PHRASE_FORM, becomes};
use crate::teams::{claimed_by, joined_as, person};

const BROWSER: &str = "text/html,application/xhtml+xml,*/*;q=0.8";
/// What stands before the page's URL and before the URL of its preview.
const URL: &str = "<code id=\"url\"><a href=\"";
const PREVIEW: &str = "<iframe class=\"preview\" src=\"";

in_both_modes! {
    async fn result_shows_the_token_once_and_the_rest_again(world: World) {
        let human = world.human();
        let published = paste(&human, "/").await;
        let first = open_result(&human, &published).await.text();
        let token = between(&first, "<code id=\"token\">", "<");
        let again = open_result(&human, &published).await.text();
        assert!(!again.contains("svc_sk_") && again.contains("was shown once"), "{again}");
        for (part, end) in [(URL, "\""), (PREVIEW, "\""), ("<code id=\"claim-url\">", "<")] {
            assert_eq!(between(&first, part, end), between(&again, part, end), "{part}");
        }
        for part in ["<strong>A page</strong>", "QR code of the page"] {
            assert!(again.contains(part), "{part} is missing: {again}");
        }
        world.stranger().with_token(&token).account().await.expect(200);
    }

    async fn another_accounts_token_is_never_shown(world: World) {
        let (human, agent) = (world.human(), world.agent().await);
        let published = paste(&world.human(), "/").await;
        let path = published.header("Location").to_owned();
        for planted in [agent.token(), "svc_sk_0123456789abcdefghijABCDEFGHIJxy", "<b>"] {
            let cookie = format!("svc_result_token={planted}");
            let shown = human.get(&path).header("Accept", BROWSER).header("Cookie", cookie).await;
            assert_page(&shown, 200);
            assert!(!shown.text().contains(planted) && shown.text().contains("was shown once"), "{shown:?}");
        }
        let warning = format!("svc_result_warnings=abc.{}", "eyJmaXJzdCI6W10sIm1vcmUiOjd9");
        let shown = human.get(&path).header("Accept", BROWSER).header("Cookie", warning).await;
        assert!(!shown.text().contains("Check your page"), "{shown:?}");
    }

    async fn result_needs_the_claim_code_and_lasts_as_long_as_the_claim_link(world: World) {
        let human = world.human();
        let published = paste(&human, "/").await;
        let path = published.header("Location").to_owned();
        let (_, slug) = path.rsplit_once('/').unwrap();
        let open = async |path: &str| human.get(path).header("Accept", BROWSER).await;
        let code = path.split('/').nth(2).unwrap();
        for unknown in [
            format!("/published/0123456789abcdefghijABCDEFGHIJxy/{slug}"),
            format!("/published/{code}/another-page"),
            format!("/published/{code}/x"),
            format!("/published/x/{slug}"),
        ] {
            assert_page(&open(&unknown).await, 404);
        }
        let stranger = world.human();
        stranger.dev_login("ada").await.expect(200);
        stranger.claim(&format!("/claim/{code}")).await.expect(200);
        // The owner is led to the dashboard. Others see the page's address, as long as the page is public.
        let owned = stranger.get(&path).header("Accept", BROWSER).await.expect(302);
        let dashboard = owned.header("Location").to_owned();
        assert!(dashboard.starts_with("/dashboard/acct_"), "{owned:?}");
        assert!(dashboard.ends_with(&format!("/pages/{slug}")), "{owned:?}");
        let claimed = open(&path).await;
        assert_page(&claimed, 409);
        assert!(claimed.text().contains(&format!("{slug}-")), "{claimed:?}");
        assert!(claimed.text().contains(&format!("/signin?next={dashboard}")), "{claimed:?}");
        world.stranger().get(&path).await.refused(409, "already_claimed");
        let change = stranger.post(&format!("{dashboard}/delete")).header("Accept", BROWSER).form(&[]).await;
        change.expect(302);
        let hidden = open(&path).await;
        assert_page(&hidden, 409);
        assert!(!hidden.text().contains(&format!("{slug}-")), "{hidden:?}");
        let expired = paste(&human, "/").await;
        world.advance(std::time::Duration::from_secs(31 * 60));
        assert_page(&open(expired.header("Location")).await, 410);
    }

    async fn result_of_a_claimed_account_shows_the_address_of_a_page_unless_it_is_blocked(world: World) {
        let (agent, _) = claimed_by(&world, "olga").await;
        let claim_url = agent.signup.as_ref().unwrap().string("claim_url");
        let code = claim_url.rsplit('/').next().unwrap();
        let pages = [("good-page", PAGE, "pass"), ("bad-page", SEED_PHRASE_FORM, "blocked")];
        for (slug, content, status) in pages {
            let host = agent.publish(slug, content).await.expect(201).string("host");
            becomes(&agent, slug, status).await;
            let path = format!("/published/{code}/{slug}");
            let shown = world.human().get(&path).header("Accept", BROWSER).await;
            assert_page(&shown, 409);
            assert_eq!(shown.text().contains(&host), status == "pass", "{shown:?}");
        }
    }

    async fn preview_of_the_result_is_not_counted_as_a_view(world: World) {
        let human = world.human();
        let shown = open_result(&human, &paste(&human, "/").await).await.text();
        let agent = world.stranger().with_token(&between(&shown, "<code id=\"token\">", "<"));
        let preview = between(&shown, PREVIEW, "\"");
        for _ in 0..3 {
            world.visitor().open(&preview).await.expect(200);
        }
        let url = between(&shown, URL, "\"");
        world.visitor().open(&url).await.expect(200);
        let views = async || agent.usage().await.expect(200).integer("traffic.views");
        eventually(PATIENCE, "a view", async || (views().await > 0).then_some(())).await;
        assert_eq!(views().await, 1);
    }

    async fn program_gets_the_result_with_its_token_directly(world: World) {
        let published = world.stranger().post("/").field("html", PAGE).await;
        assert_page(&published, 201);
        let token = between(&published.text(), "<code id=\"token\">", "<");
        let agent = world.stranger().with_token(&token);
        assert_eq!(agent.account().await.expect(200).integer("free_publishes_left"), 4);
    }

    async fn signed_in_person_publishes_on_their_account(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let home = owner.get("/").header("Accept", BROWSER).await.expect(200).text();
        let action = format!("/?account={}", agent.handle());
        for part in ["olga", "100 free publishes left", &format!("action=\"{action}\"")] {
            assert!(home.contains(part), "{part} is missing: {home}");
        }
        for action in [&action, "/"] {
            let published = paste(&owner, action).await;
            let path = published.header("Location").to_owned();
            assert!(path.starts_with(&format!("/dashboard/{}/pages/", agent.handle())), "{path}");
            let shown = open_result(&owner, &published).await.text();
            assert!(!shown.contains("svc_sk_") && !shown.contains("/claim/"), "{shown}");
            let url = between(&shown, URL, "\"");
            assert_eq!(world.visitor().open(&url).await.expect(200).text(), PAGE);
            // Only for the account's members.
            let signed_out = world.human().get(&path).header("Accept", BROWSER).await.expect(302);
            assert_eq!(signed_out.header("Location"), format!("/signin?next={path}"));
            let other = person(&world, "mallory").await;
            assert_page(&other.get(&path).header("Accept", BROWSER).await, 403);
        }
        assert_eq!(agent.usage().await.expect(200).integer("publishes.used"), 2);
        let made = agent.artifacts().await.expect(200);
        let slug = made.string("0.slug");
        assert_eq!(agent.artifact(&slug).await.expect(200).string("versions.0.created_via"), "web");
    }

    async fn person_chooses_among_their_accounts(world: World) {
        let (first, owner) = claimed_by(&world, "olga").await;
        let (second, other) = claimed_by(&world, "otto").await;
        let invite = other.invite(&json!({})).await.expect(201).string("invite_url");
        owner.join(&invite).await.expect(302);
        let home = owner.get(&format!("/?account={}", second.handle())).await.expect(200).text();
        for agent in [&first, &second] {
            assert!(home.contains(&format!("<option value=\"{}\"", agent.handle())), "{home}");
        }
        assert!(home.contains(&format!("action=\"/?account={}\"", second.handle())), "{home}");
        paste(&owner, &format!("/?account={}", second.handle())).await.expect(303);
        assert_eq!(second.usage().await.expect(200).integer("publishes.used"), 1);
        assert_eq!(first.usage().await.expect(200).integer("publishes.used"), 0);
    }

    async fn publish_on_a_named_account_needs_a_member_who_is_signed_in(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let action = format!("/?account={}", agent.handle());
        let signed_out = paste(&world.human(), &action).await;
        assert_page(&signed_out, 401);
        assert!(signed_out.text().contains("You are not signed in"), "{signed_out:?}");
        let stranger = paste(&person(&world, "mallory").await, &action).await;
        assert!((400..500).contains(&stranger.status), "{stranger:?}");
        let elsewhere = owner.on_a_page_of(&world.serve_url());
        assert_page(&paste(&elsewhere, &action).await, 403);
        assert_page(&paste(&elsewhere, "/").await, 403);
        assert_eq!(agent.usage().await.expect(200).integer("publishes.used"), 0);
        assert_eq!(agent.artifacts().await.expect(200).json(), json!([]));
        // A person without an account gets a new one.
        let newcomer = person(&world, "nina").await;
        let published = paste(&newcomer, "/").await;
        assert!(published.header("Location").starts_with("/published/"), "{published:?}");
    }

    #[settings("HANDBILL_LIMITS__CLAIMED_FREE_PUBLISHES" = "1")]
    async fn signed_in_publish_has_the_prices_and_refusals_of_the_api(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        paste(&owner, "/").await.expect(303);
        let home = owner.get("/").header("Accept", BROWSER).await.expect(200).text();
        assert!(home.contains("$0.005") && home.contains("used up"), "{home}");
        let refused = paste(&owner, "/").await;
        assert_page(&refused, 402);
        assert!(refused.text().contains("&#60;h1&#62;Hello"), "what was pasted is shown again: {refused:?}");
        owner.post("/").field("html", PAGE).await.refused(402, "payment_required");
        agent.buy_credit(5.0).paying("dev:5").await.expect(200);
        paste(&owner, "/").await.expect(303);
        assert_eq!(agent.account().await.expect(200).at("credits_usd"), json!(4.995));
    }

    async fn invite_says_who_invites_to_what_and_until_when(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        for slug in ["notes", "demo-deck"] {
            agent.publish(slug, PAGE).await.expect(201);
        }
        let admin = joined_as(&world, &owner, "adam", "admin").await;
        let open = async |invite: Reply| {
            let url = invite.expect(201).string("invite_url");
            let human = world.human();
            human.get(human.path_of(&url)).header("Accept", BROWSER).await.expect(200).text()
        };
        let shown = open(admin.invite(&json!({ "role": "member", "max_uses": 2 })).await).await;
        let pages = "demo-deck and 1 more";
        for part in ["<strong>adam</strong> invites you", &agent.handle(), pages, "member", "for 2 more"] {
            assert!(shown.contains(part), "{part} is missing: {shown}");
        }
        assert!(shown.contains("Valid until") && shown.contains("<time datetime="), "{shown}");
        let shown = open(agent.invite(&json!({})).await).await;
        assert!(shown.contains("An agent invites you"), "{shown}");
    }
}

/// Posts the form for pasted HTML as a browser does.
async fn paste(human: &Human, action: &str) -> Reply {
    human.post(action).header("Accept", BROWSER).field("html", PAGE).await
}

/// The text between two others.
#[track_caller]
fn between(text: &str, before: &str, after: &str) -> String {
    let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("{before} is missing: {text}"));
    rest.split(after).next().expect("a part").to_owned()
}
