//! Tools for moderators to process the queue: filters, the next case, decisions on several pages, the
//! account's history and the log of decisions.

use std::time::Duration;

use handbill_tests::{Agent, Human, Reply, in_both_modes, json};

use crate::expectations::{front_page, page_saying};
use crate::moderation::{SEED_PHRASE_FORM, becomes};
use crate::moderation_queue::{audit, decide, report, review_item};
use crate::teams::claimed_by;

const BROWSER: &str = "text/html,application/xhtml+xml";
const QUEUE: &str = "/admin/moderation";

in_both_modes! {
    async fn the_queue_is_filtered_by_rule_account_and_waiting_time(world: World) {
        let human = world.human();
        let ((one, _), (other, _)) = (claimed_by(&world, "one").await, claimed_by(&world, "other").await);
        let lure = in_review(&one, "lure").await;
        let phrase = other.publish("phrase", SEED_PHRASE_FORM).await.expect(201).string("host");
        becomes(&other, "phrase", "blocked").await;
        report(&world, &phrase, "It asks for my words.").await.expect(201);
        world.advance(Duration::from_secs(7 * 3600));
        let late = in_review(&other, "late").await;

        let of_other = format!("?account={}", other.handle());
        for (query, listed) in [
            ("", vec![&lure, &phrase, &late]),
            ("?status=review&rule=&account=&age=", vec![&lure, &phrase, &late]),
            ("?rule=seed_phrase", vec![&phrase]),
            ("?rule=password_near_lure", vec![&lure, &late]),
            ("?rule=seed%25", vec![]),
            (of_other.as_str(), vec![&phrase, &late]),
            ("?age=6h", vec![&lure, &phrase]),
            ("?age=24h", vec![]),
            ("?age=6h&rule=password_near_lure", vec![&lure]),
        ] {
            let page = human.get(&format!("{QUEUE}{query}")).await.expect(200).text();
            for host in [&lure, &phrase, &late] {
                assert_eq!(page.contains(&case_link(host)), listed.contains(&host), "{host} in {query}: {page}");
            }
        }
        for wrong in ["?account=my-page-a1b2", "?age=5h", "?status=burnt"] {
            human.get(&format!("{QUEUE}{wrong}")).await.expect(400);
        }
        // The lists of a page's account are one click away, and links keep the filters.
        let page = human.get(&format!("{QUEUE}{of_other}&age=6h")).await.expect(200).text();
        let filters = format!("account={}&#38;age=6h", other.handle());
        assert!(page.contains(&format!("href=\"{QUEUE}/{phrase}?{filters}\"")), "{page}");
        assert!(page.contains(&format!("href=\"{QUEUE}?status=blocked&#38;{filters}\"")), "{page}");
    }

    async fn a_decision_opens_the_next_case_of_the_same_list(world: World) {
        let (human, agent, other) = (world.human(), world.agent().await, world.agent().await);
        let mut hosts = Vec::new();
        for slug in ["first", "second", "third"] {
            hosts.push(in_review(&agent, slug).await);
            world.advance(Duration::from_secs(1));
            in_review(&other, slug).await;
        }
        let list = format!("account={}", agent.handle());
        let case = |host: &str| format!("{QUEUE}/{host}?{list}");
        let page = human.get(&case(&hosts[1])).await.expect(200).text();
        for (rel, host) in [("prev", &hosts[0]), ("next", &hosts[2])] {
            assert!(page.contains(&format!("href=\"{}\" rel=\"{rel}\"", case(host))), "{rel}: {page}");
        }
        assert!(page.contains(&format!("action=\"{}\"", case(&hosts[1]))), "{page}");

        let block = [("action", "block"), ("version", "1")];
        for (decided, next) in [(1, 2), (2, 0)] {
            let led = human.post(&case(&hosts[decided])).form(&block).await.expect(302);
            let next = format!("{}&done=blocked&host={}", case(&hosts[next]), hosts[decided]);
            assert_eq!(led.header("Location"), next);
            let page = human.get(&next).await.expect(200).text();
            assert!(page.contains(&format!("{} is blocked. Visitors see a notice.", hosts[decided])), "{page}");
        }
        let last = human.post(&case(&hosts[0])).form(&block).await.expect(302);
        assert_eq!(last.header("Location"), format!("{QUEUE}?{list}&done=blocked&host={}", hosts[0]));
        let page = human.get(last.header("Location")).await.expect(200).text();
        assert!(page.contains("No pages match these filters.") && page.contains(&hosts[0]), "{page}");

        // An invalid filter does not prevent a decision.
        let path = format!("{QUEUE}/{}?age=5h", hosts[0]);
        human.get(&path).await.expect(200);
        human.post(&path).form(&[("action", "pass"), ("version", "1")]).await.expect(302);
    }

    async fn a_bulk_decision_is_made_on_every_selected_page(world: World) {
        let (human, agent) = (world.human(), world.agent().await);
        let (first, second) = (in_review(&agent, "first").await, in_review(&agent, "second").await);
        let spared = in_review(&agent, "spared").await;
        let list = format!("{QUEUE}?account={}", agent.handle());
        let ticked = ticks(&human, &list, &[&first, &second]).await;
        // A report that no moderator has seen stays open.
        report(&world, &second, "It is not my bank.").await.expect(201);

        let mut form = vec![("action", "block"), ("standard_reason", "Spam"), ("note", "Ticket 7")];
        form.extend(ticked.iter().map(|tick| ("page", tick.as_str())));
        human.on_a_page_of(&world.serve_url()).post(&list).form(&form).await.refused(403, "forbidden");
        let led = human.post(&list).form(&form).await.expect(302);
        assert_eq!(led.header("Location"), format!("{list}&done=blocked-all&pages=2"));
        let page = human.get(led.header("Location")).await.expect(200).text();
        assert!(page.contains("Blocked: 2 pages.") && page.contains(&case_link(&spared)), "{page}");
        assert!(!page.contains(&case_link(&first)), "{page}");
        for (host, status) in [(&first, "blocked"), (&second, "blocked"), (&spared, "review")] {
            let item = review_item(&world, host).await.expect(200);
            assert_eq!(item.string("live.moderation_status"), status, "{host}");
        }
        assert_eq!(review_item(&world, &second).await.expect(200).at("reports.0.answered_at"), json!(null));
        let log = audit(&world, "?moderators=true").await.expect(200);
        for number in 0..2 {
            assert_eq!(log.string(&format!("items.{number}.note")), "Spam\nTicket 7");
        }
        assert_eq!(log.at("items").as_array().map(Vec::len), Some(2));
    }

    async fn a_bulk_decision_lists_the_pages_that_could_not_be_decided_on(world: World) {
        let (human, agent) = (world.human(), world.agent().await);
        let mut hosts = Vec::new();
        for slug in ["changed", "decided", "deleted", "plain"] {
            hosts.push(in_review(&agent, slug).await);
        }
        let named: Vec<_> = hosts.iter().collect();
        let ticked = ticks(&human, QUEUE, &named).await;
        agent.publish("changed", page_saying("another thing")).await.expect(201);
        decide(&world, &hosts[1], &json!({ "action": "pass" })).await.expect(200);
        agent.delete("deleted").await.expect(200);

        let mut form = vec![("action", "block")];
        form.extend(ticked.iter().map(|tick| ("page", tick.as_str())));
        let outcomes = human.post(QUEUE).header("Accept", BROWSER).form(&form).await.expect(200).text();
        assert!(outcomes.contains("It was applied to 1 of 4 pages."), "{outcomes}");
        assert_eq!(outcomes.matches("not decided").count(), 3, "{outcomes}");
        let changed = "The version to decide on has changed";
        let faults = [changed, "Another decision was made", "There is no such host"];
        for (host, fault) in hosts.iter().zip(faults) {
            let row = outcomes.split(&case_link(host)).nth(1).and_then(|row| row.split("</tr>").next());
            assert!(row.is_some_and(|row| row.contains(fault)), "{host}: {outcomes}");
        }
        assert_eq!(review_item(&world, &hosts[3]).await.expect(200).string("live.moderation_status"), "blocked");
        assert_eq!(review_item(&world, &hosts[1]).await.expect(200).string("live.moderation_status"), "pass");
    }

    async fn a_malformed_bulk_decision_changes_nothing(world: World) {
        let (human, agent) = (world.human(), world.agent().await);
        let published = agent.publish("page", doubtful("page")).await.expect(201);
        becomes(&agent, "page", "review").await;
        let host = published.string("host");
        let tick = ticks(&human, QUEUE, &[&host]).await.remove(0);
        let page = ("page", tick.as_str());
        let unselected = [("action", "block"), ("note", "Look <twice>.")];
        let refused = human.post(QUEUE).header("Accept", BROWSER).form(&unselected).await.expect(400).text();
        assert!(refused.contains("Select at least one page.") && refused.contains("Look &#60;twice&#62;."), "{refused}");
        for form in [
            vec![("action", "burn"), page],
            vec![("action", "block"), page, ("standard_reason", "Because")],
            vec![("action", "block"), page, ("note", "a\u{0}b")],
            vec![("action", "block"), page, ("page", "NO")],
        ] {
            human.post(QUEUE).header("Accept", BROWSER).form(&form).await.expect(400);
            human.post(QUEUE).form(&form).await.refused(400, "invalid_request");
        }
        let many = vec![page; 51];
        human.post(QUEUE).form(&[&[("action", "block")], many.as_slice()].concat()).await.refused(400, "invalid_request");
        front_page(&world.visitor(), &published).await.expect(200);
    }

    async fn case_shows_the_history_of_its_account(world: World) {
        let (human, agent, other) = (world.human(), world.agent().await, world.agent().await);
        let (shown, before) = (in_review(&agent, "shown").await, in_review(&agent, "before").await);
        let elsewhere = in_review(&other, "elsewhere").await;
        for (host, note) in [(&before, "A copy of PayPal."), (&elsewhere, "Not of this account.")] {
            report(&world, host, &format!("Report: {note}")).await.expect(201);
            decide(&world, host, &json!({ "action": "block", "note": note })).await.expect(200);
        }
        report(&world, &shown, "Of the page itself.").await.expect(201);
        let history = history_of(&human, &shown).await;
        for expected in [agent.handle().as_str(), &case_link(&before), "A copy of PayPal.", "Report: A copy of PayPal.", "closed"] {
            assert!(history.contains(expected), "{expected}: {history}");
        }
        assert!(history.contains(&format!("href=\"{QUEUE}?account={}\"", agent.handle())), "{history}");
        assert!(history.contains("<dt>Pages</dt><dd>2 "), "{history}");
        for unexpected in ["Not of this account.", "Of the page itself."] {
            assert!(!history.contains(unexpected), "{unexpected}: {history}");
        }
        // A decision on a page counts after the page is deleted.
        agent.delete("before").await.expect(200);
        let history = history_of(&human, &shown).await;
        assert!(history.contains("A copy of PayPal.") && history.contains("<dt>Pages</dt><dd>1 "), "{history}");
    }

    async fn audit_page_shows_decisions_by_people_unless_all_are_requested(world: World) {
        let (human, agent) = (world.human(), world.agent().await);
        let host = in_review(&agent, "page").await;
        let link = case_link(&host);
        let people = human.get("/admin/audit").await.expect(200).text();
        assert!(!people.contains(&link), "{people}");
        let case = format!("{QUEUE}/{host}");
        let decision = [("action", "block"), ("version", "1"), ("standard_reason", "Spam"), ("note", "Ticket 7")];
        human.post(&case).form(&decision).await.expect(302);
        for query in ["", "?who=people", &format!("?host={host}")] {
            let people = human.get(&format!("/admin/audit{query}")).await.expect(200).text();
            assert_eq!(people.matches(&link).count(), 1, "{query}: {people}");
            assert!(people.contains("Spam\nTicket 7") && !people.contains("the scan</span>"), "{people}");
        }
        let all = human.get("/admin/audit?who=all").await.expect(200).text();
        assert_eq!(all.matches(&link).count(), 2, "{all}");
        assert!(all.contains("a moderator</span>") && all.contains("the scan</span>"), "{all}");
        human.get("/admin/audit?who=scan").await.expect(400);
        let unknown = [("action", "pass"), ("version", "1"), ("standard_reason", "Because")];
        human.post(&case).form(&unknown).await.refused(400, "invalid_request").naming("standard_reason");
    }
}

/// A unique page that the scan sends to review.
pub fn doubtful(name: &str) -> String {
    format!(
        "<html><body><h1>PayPal</h1><p>{name}</p><form><input type=\"password\" name=\"p\"></form></body></html>"
    )
}

/// Publishes such a page and waits until it is in review.
pub async fn in_review(agent: &Agent, slug: &str) -> String {
    let content = doubtful(&format!("{slug} of {}", agent.handle()));
    let host = agent.publish(slug, content).await.expect(201).string("host");
    becomes(agent, slug, "review").await;
    host
}

/// The beginning of a link to a case, with or without filters.
fn case_link(host: &str) -> String {
    format!("href=\"{QUEUE}/{host}")
}

/// The values of these pages' checkboxes, in order.
async fn ticks(human: &Human, list: &str, hosts: &[&String]) -> Vec<String> {
    let page: Reply = human.get(list).await.expect(200);
    let page = page.text();
    let tick = |host: &&String| {
        let value = page.split("name=\"page\" value=\"").skip(1).find(|rest| rest.starts_with(host.as_str()));
        value.and_then(|rest| rest.split('"').next()).expect("a box").to_owned()
    };
    hosts.iter().map(tick).collect()
}

/// The part of a case with the history of its account.
async fn history_of(human: &Human, host: &str) -> String {
    let page = human.get(&format!("{QUEUE}/{host}")).await.expect(200).text();
    let history = page.split("<h2 id=\"history\">").nth(1).and_then(|rest| rest.split("</section>").next());
    history.expect("the account's record").to_owned()
}
