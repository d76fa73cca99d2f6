//! Long lists are complete or paged, and never cut off silently.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use handbill_tests::{Agent, Call, Human, Method, Reply, Value, World, in_both_modes, json};

use crate::teams::{claimed_by, joined_as};

/// More than the largest page.
const MANY: u32 = 1_205;
const PAGE_BYTES_MAX: usize = 150_000;
/// A bound for debug builds on a busy machine. Servers have 30 ms.
const SLOW: Duration = Duration::from_secs(1);
const BROWSER: &str = "text/html";

/// A request for a path of some list.
type Get<'a> = &'a dyn Fn(&str) -> Call;

/// The path to the next page, from a response's `Link`.
fn next(world: &World, reply: &Reply) -> Option<String> {
    let link = reply.headers.get("Link")?.to_str().unwrap();
    let address = link.strip_prefix('<').unwrap().strip_suffix(">; rel=\"next\"").unwrap();
    // The address is absolute.
    Some(address.strip_prefix(&world.base_url()).unwrap().to_owned())
}

/// Every page from this one on.
async fn pages(world: &World, agent: &Agent, path: &str) -> Vec<Value> {
    let (mut pages, mut path) = (Vec::new(), Some(path.to_owned()));
    while let Some(wanted) = path {
        let page = agent.get(&wanted).await.expect(200);
        path = next(world, &page);
        pages.push(page.json());
    }
    pages
}

/// The rows of pages that are plain arrays.
fn rows(pages: &[Value]) -> Vec<Value> {
    pages.iter().flat_map(|page| page.as_array().unwrap().clone()).collect()
}

fn texts(rows: &[Value], field: &str) -> Vec<String> {
    rows.iter().map(|row| row[field].as_str().unwrap().to_owned()).collect()
}

/// The names of crowded artifacts, in descending order.
fn down(from: u32, to: u32) -> Vec<String> {
    (to..=from).rev().map(|number| format!("page-{number:06}")).collect()
}

/// The path of a link on a page of the dashboard.
fn linked(page: &Reply, rel: &str) -> Option<String> {
    let text = page.text();
    let (before, _) = text.split_once(&format!("\" rel=\"{rel}\""))?;
    Some(before.rsplit_once("href=\"").unwrap().1.replace("&amp;", "&").replace("&#38;", "&"))
}

async fn open_list(owner: &Human, path: &str) -> Reply {
    owner.get(path).header("Accept", BROWSER).await.expect(200)
}

in_both_modes! {
    async fn all_artifacts_are_listed_without_paging(world: World) {
        let agent = world.agent().await;
        world.crowd_with_artifacts(&agent.handle(), MANY).await;
        let list = agent.artifacts().await.expect(200);
        assert_eq!(list.header("Content-Type"), "application/json; charset=utf-8");
        assert_eq!(next(&world, &list), None);
        let all = rows(&[list.json()]);
        assert_eq!(texts(&all, "slug"), down(MANY, 1));
        let pin = all[700]["id"].clone();
        let pinned = agent.minted(&json!({ "artifact_id": pin })).await;
        assert_eq!(rows(&[pinned.artifacts().await.expect(200).json()]), [all[700].clone()]);
        let (url, token) = (world.base_url(), agent.token().to_owned());
        let env = [("HANDBILL_URL", url.as_str()), ("HANDBILL_TOKEN", token.as_str())];
        let listed = world.command(&["list", "--json"], &env).await;
        let reported: Value = serde_json::from_str(&listed.output).unwrap();
        assert_eq!(reported, Value::from(all));
    }

    async fn artifacts_are_listed_in_pages_while_some_are_deleted(world: World) {
        let agent = world.agent().await;
        world.crowd_with_artifacts(&agent.handle(), MANY).await;
        let first = agent.get("/v1/artifacts?other=%C3%BC&limit=100").await.expect(200);
        assert_eq!(texts(&rows(&[first.json()]), "slug"), down(1_205, 1_106));
        let path = next(&world, &first).unwrap();
        assert!(path.starts_with("/v1/artifacts?other=%C3%BC&limit=100&after="), "{path}");
        // The last row of the page, the first of the next, and a later one.
        for slug in ["page-001106", "page-001105", "page-000500"] {
            agent.delete(slug).await.expect(200);
        }
        let rest = pages(&world, &agent, &path).await;
        let expected: Vec<_> = down(1_104, 1).into_iter().filter(|slug| slug != "page-000500").collect();
        assert_eq!(texts(&rows(&rest), "slug"), expected);
        let (last, full) = rest.split_last().unwrap();
        assert!(full.iter().all(|page| page.as_array().unwrap().len() == 100));
        assert_eq!(last.as_array().unwrap().len(), 3);
        // Without a limit, the rest after a position is complete.
        let after = path.replace("limit=100&", "");
        assert_eq!(texts(&rows(&[agent.get(&after).await.expect(200).json()]), "slug"), expected);
    }

    async fn invalid_paging_parameters_are_refused_by_name(world: World) {
        let (agent, _) = claimed_by(&world, "olga").await;
        agent.publish("my-page", "<h1>one</h1>").await.expect(201);
        let lists = [
            "/v1/artifacts", "/v1/artifacts/my-page", "/v1/tokens", "/v1/account/members", "/v1/account/invites",
            "/v1/account/ledger", "/v1/account/audit", "/v1/artifacts/my-page/files",
        ];
        for list in lists {
            for limit in ["0", "1001", "-1", "abc", "", "1.5", "1&limit=2"] {
                let refused = agent.get(&format!("{list}?limit={limit}")).await;
                refused.refused(400, "invalid_request").naming("limit");
            }
            agent.get(&format!("{list}?limit=1000")).await.expect(200);
            // The files are listed after a path, which may be any text. A cursor of the audit begins with e.
            for after in ["", "17", "x17", "a", "a1.no-id", "%00", "l"] {
                if list.ends_with("/files") {
                    continue;
                }
                let refused = agent.get(&format!("{list}?after={after}")).await;
                refused.refused(400, "invalid_request").naming("after");
            }
        }
        world.stranger().get("/v1/artifacts?limit=0").await.refused(401, "unauthorized");
    }

    async fn short_lists_are_paged_too(world: World) {
        let (agent, olga) = claimed_by(&world, "olga").await;
        olga.claim(&world.agent().await.signup.unwrap().string("claim_url")).await.expect(200);
        for text in ["one", "two"] {
            let text = text.as_bytes();
            let files = [("index.html", text), ("a.txt", text), ("b/c.txt", text), ("same.txt", b"same")];
            agent.publish_files("my-site", &files).await.expect(201);
        }
        let operator = world.operator();
        let diff = "/v1/artifacts/my-site/diff?from=1&";
        let lists: [(&str, Get<'_>, &str, usize); 3] = [
            (diff, &|path| agent.get(path), "files", 3),
            ("/auth/me?", &|path| olga.get(path), "accounts", 2),
            ("/internal/schedules?", &|path| operator.call(Method::GET, path), "", 5),
        ];
        for (path, get, field, count) in lists {
            let rows = |reply: &Reply| {
                let list = if field.is_empty() { reply.json() } else { reply.at(field) };
                list.as_array().unwrap().clone()
            };
            let whole = get(path).await.expect(200);
            assert_eq!((rows(&whole).len(), next(&world, &whole)), (count, None), "{path}");
            let (mut paged, mut wanted) = (Vec::new(), Some(format!("{path}limit=2")));
            while let Some(path) = wanted {
                let page = get(&path).await.expect(200);
                assert!((1..=2).contains(&rows(&page).len()), "{path}");
                paged.extend(rows(&page));
                wanted = next(&world, &page);
            }
            assert_eq!(paged, rows(&whole), "{path}");
            for limit in ["0", "1001"] {
                get(&format!("{path}limit={limit}")).await.refused(400, "invalid_request").naming("limit");
            }
        }
        for after in ["unknown", "-1", "1000001"] {
            olga.get(&format!("/auth/me?after={after}")).await.refused(400, "invalid_request").naming("after");
        }
        assert_eq!(olga.get("/auth/me?after=9").await.expect(200).at("accounts"), json!([]));
    }

    async fn versions_are_listed_with_and_without_paging(world: World) {
        let agent = world.agent().await;
        let host = agent.publish("my-page", "<h1>one</h1>").await.expect(201).string("host");
        world.crowd_with_versions(&host, MANY).await;
        let detail = agent.artifact("my-page").await.expect(200);
        assert_eq!(next(&world, &detail), None);
        let seqs = |detail: &Value| -> Vec<u64> {
            let versions = detail["versions"].as_array().unwrap().iter();
            versions.map(|version| version["seq"].as_u64().unwrap()).collect()
        };
        let mut expected: Vec<u64> = (10..u64::from(MANY) + 10).rev().collect();
        expected.push(1);
        assert_eq!(seqs(&detail.json()), expected);
        let live: Vec<_> = detail.at("versions").as_array().unwrap().iter().map(|one| one["live"] == true).collect();
        assert_eq!(live.iter().position(|live| *live), Some(MANY as usize));
        let pages = pages(&world, &agent, "/v1/artifacts/my-page?limit=500").await;
        assert_eq!(pages.len(), 3);
        assert_eq!(pages.iter().flat_map(seqs).collect::<Vec<_>>(), expected);
        for page in &pages {
            assert_eq!((&page["slug"], &page["host"]), (&detail.at("slug"), &detail.at("host")));
        }
        let shown = agent.call_tool("get_artifact", &json!({ "slug": "my-page" })).await.expect(200);
        assert_eq!(seqs(&shown.at("result.structuredContent")), expected);
    }

    async fn tokens_members_and_invites_are_paginated(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        for name in ["adam", "mia", "zoe"] {
            joined_as(&world, &owner, name, "member").await;
        }
        for number in 0..6 {
            agent.mint(&json!({ "name": format!("bot {number}") })).await.expect(201);
            agent.invite(&json!({})).await.expect(201);
        }
        let whole = rows(&[agent.tokens().await.expect(200).json()]);
        let paged = pages(&world, &agent, "/v1/tokens?limit=3").await;
        assert_eq!((paged.len(), texts(&rows(&paged), "id")), (3, texts(&whole, "id")));

        let whole = rows(&[agent.invites().await.expect(200).json()]);
        let paged = pages(&world, &agent, "/v1/account/invites?limit=2").await;
        assert_eq!((paged.len(), rows(&paged)), (5, whole.clone()));
        let link = agent.get("/v1/account/invites?limit=2").await.header("Link").to_owned();
        assert!(texts(&whole, "code").iter().all(|code| !link.contains(code)), "{link}");

        // Members and tokens are one list of 4 and 7.
        let whole = agent.members().await.expect(200).json();
        let paged = pages(&world, &agent, "/v1/account/members?limit=4").await;
        let of = |page: &Value, list: &str| page[list].as_array().unwrap().clone();
        let counts: Vec<_> = paged.iter().map(|page| (of(page, "members").len(), of(page, "tokens").len())).collect();
        assert_eq!(counts, [(4, 0), (0, 4), (0, 3)]);
        for list in ["members", "tokens"] {
            let joined: Vec<_> = paged.iter().flat_map(|page| of(page, list)).collect();
            assert_eq!(texts(&joined, if list == "members" { "user_id" } else { "id" }),
                texts(&of(&whole, list), if list == "members" { "user_id" } else { "id" }));
        }
        let paged = pages(&world, &agent, "/v1/account/members?limit=3").await;
        assert_eq!((of(&paged[1], "members").len(), of(&paged[1], "tokens").len()), (1, 2));
    }

    async fn the_ledger_is_listed_with_every_movement(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let member = joined_as(&world, &owner, "mia", "member").await;
        for usd in ["1", "2", "3.5"] {
            agent.buy_credit(usd.parse().unwrap()).paying(format!("dev:{usd}")).await.expect(200);
        }
        let ledger = agent.get("/v1/account/ledger").await.expect(200);
        let entries = rows(&[ledger.json()]);
        let reported: Vec<_> = entries
            .iter()
            .map(|one| (one["id"].as_str().unwrap(), one["delta_micro"].as_i64().unwrap(), one["balance_usd"].as_f64().unwrap()))
            .collect();
        assert_eq!(reported, [("3", 3_500_000, 6.5), ("2", 2_000_000, 3.0), ("1", 1_000_000, 1.0)]);
        assert_eq!(entries[0]["delta_usd"], 3.5);
        assert!(entries[0]["reason"].as_str().unwrap().starts_with("topup-dev:"), "{ledger:?}");
        assert!(entries[0]["created_at"].as_str().unwrap().ends_with('Z'), "{ledger:?}");
        assert_eq!(rows(&pages(&world, &agent, "/v1/account/ledger?limit=1").await), entries);
        for person in [&owner, &member] {
            assert_eq!(person.get("/v1/account/ledger").await.expect(200).json(), ledger.json());
        }
        let reader = agent.minted(&json!({ "scopes": "artifacts:read" })).await;
        reader.get("/v1/account/ledger").await.refused(403, "insufficient_scope");
        world.stranger().get("/v1/account/ledger").await.refused(401, "unauthorized");
    }

    async fn files_of_a_version_are_paginated_by_path(world: World) {
        let agent = world.agent().await;
        let files: Vec<String> = (0..7).map(|number| format!("f/{number}.css")).collect();
        let mut site: Vec<(&str, &[u8])> = files.iter().map(|name| (name.as_str(), b"a{}".as_slice())).collect();
        site.push(("index.html", b"<h1>one</h1>"));
        agent.publish_files("my-page", &site).await.expect(201);
        let whole = agent.get("/v1/artifacts/my-page/files").await.expect(200);
        assert_eq!((rows(&[whole.json()]).len(), next(&world, &whole)), (8, None));
        let paged = pages(&world, &agent, "/v1/artifacts/my-page/files?version=1&limit=3").await;
        assert_eq!((paged.len(), rows(&paged)), (3, rows(&[whole.json()])));
    }

    async fn lists_for_operators_have_a_limit_and_a_link_to_the_next_page(world: World) {
        for name in ["one", "two", "three"] {
            let agent = world.agent().await;
            let host = agent.publish(name, "<h1>Hello</h1>").await.expect(201).string("host");
            for decision in ["block", "pass"] {
                let call = world.operator().post(&format!("/internal/moderation/{host}")).header("X-Operator", "Ada");
                call.json(&json!({ "action": decision, "version": 1 })).await.expect(200);
            }
        }
        let operator = world.operator();
        for list in ["/internal/moderation", "/internal/audit", "/internal/blocked-contents"] {
            for limit in ["0", "1001", "abc"] {
                let refused = operator.call(Method::GET, &format!("{list}?limit={limit}")).await;
                refused.refused(400, "invalid_request").naming("limit");
            }
        }
        let first = operator.call(Method::GET, "/internal/audit?moderators=true&limit=4").await.expect(200);
        let link = next(&world, &first).unwrap();
        assert!(link.contains("limit=4") && link.contains("after="), "{link}");
        let rest = operator.call(Method::GET, &link).await.expect(200);
        let count = |page: &Reply| page.at("items").as_array().unwrap().len();
        assert_eq!((count(&first), count(&rest), next(&world, &rest)), (4, 2, None));
        // The earlier name of the cursor.
        let before = link.replace("after=", "before=");
        assert_eq!(operator.call(Method::GET, &before).await.expect(200).json(), rest.json());
    }

    async fn list_tool_returns_a_hundred_items_and_the_next_cursor(world: World) {
        let agent = world.agent().await;
        world.crowd_with_artifacts(&agent.handle(), 250).await;
        let (mut slugs, mut lengths, mut arguments) = (Vec::new(), Vec::new(), json!({}));
        loop {
            let result = agent.call_tool("list_artifacts", &arguments).await.expect(200);
            let page = result.at("result.structuredContent");
            let text: Value = serde_json::from_str(&result.string("result.content.0.text")).unwrap();
            assert_eq!(text, page);
            slugs.extend(texts(page["artifacts"].as_array().unwrap(), "slug"));
            lengths.push(page["artifacts"].as_array().unwrap().len());
            if page["next_cursor"].is_null() {
                break;
            }
            arguments = json!({ "cursor": page["next_cursor"] });
        }
        assert_eq!((slugs, lengths), (down(250, 1), vec![100, 100, 50]));
        let whole = agent.call_tool("list_artifacts", &json!({ "limit": 1000 })).await.expect(200);
        assert_eq!(whole.at("result.structuredContent.artifacts").as_array().unwrap().len(), 250);
    }

    async fn dashboard_pager_goes_through_all_pages_and_back_with_a_total(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        world.crowd_with_artifacts(&agent.handle(), 250).await;
        let path = format!("/dashboard/{}", agent.handle());
        let (mut seen, mut wanted, mut last) = (HashSet::new(), Some(path.clone()), String::new());
        while let Some(address) = wanted {
            let page = open_list(&owner, &address).await;
            assert!(page.text().contains(" of 250 pages"), "{page:?}");
            let shown = (1..=250).filter(|number| page.text().contains(&format!(">page-{number:06}</a>")));
            for number in shown {
                assert!(seen.insert(number), "{number} twice");
            }
            (wanted, last) = (linked(&page, "next"), address);
        }
        assert_eq!(seen.len(), 250);
        let (mut address, mut page) = (last.clone(), open_list(&owner, &last).await);
        let mut back = 0;
        while let Some(previous) = linked(&page, "prev") {
            (page, address, back) = (open_list(&owner, &previous).await, previous, back + 1);
        }
        assert_eq!(back, 4, "{address}");
        assert!(page.text().contains(">page-000250</a>") && page.text().contains(">page-000201</a>"));
        owner.get(&format!("{path}?after=l17")).header("Accept", BROWSER).await.expect(400);
    }

    async fn ten_thousand_pages_are_listed_fast_and_on_small_pages(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        world.crowd_with_artifacts(&agent.handle(), 10_000).await;
        world.crowd_with_views(&agent.handle(), 30).await;
        let path = format!("/dashboard/{}", agent.handle());
        let mut took = Vec::new();
        for query in ["", "?sort=name", "?sort=views", "?sort=created", "?q=page-0099", "?state=staged"] {
            let mut wanted = Some(format!("{path}{query}"));
            for _ in 0..8 {
                let Some(address) = wanted else { break };
                let begun = Instant::now();
                let page = open_list(&owner, &address).await;
                took.push(begun.elapsed());
                assert!(page.text().len() <= PAGE_BYTES_MAX, "{address}: {} bytes", page.text().len());
                wanted = linked(&page, "next");
            }
        }
        took.sort();
        let p95 = took[took.len() * 95 / 100];
        assert!(p95 < SLOW, "p95 {p95:?} of {} pages, median {:?}", took.len(), took[took.len() / 2]);
    }
}
