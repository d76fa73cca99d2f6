//! The protocol of `netlify deploy`, request by request, as its command line sends them.

use std::time::Duration;

use handbill_tests::{Agent, Call, Method, Reply, Value, in_both_modes, json};
use sha1::{Digest, Sha1};

use crate::expectations::{PAGE, assert_serves, page_saying};

const STYLE: &str = "h1 { color: teal }";
const API: &str = "/netlify/api/v1";
const HOUR: Duration = Duration::from_secs(3600);

in_both_modes! {
    async fn site_of_any_legal_name_is_created_by_its_first_deploy(world: World) {
        let agent = world.agent().await;
        let site = get(&agent, "/sites/my-site?feature_flags=cli").await.expect(200);
        assert_eq!((site.string("id"), site.string("name")), ("my-site".into(), "my-site".into()));
        assert_eq!(get(&agent, "/sites?name=my-site&filter=all").await.expect(200).string("0.id"), "my-site");
        assert_eq!(site.string("account_slug"), agent.handle());
        assert_eq!(get(&agent, "/accounts?minimal=true").await.expect(200).string("0.slug"), agent.handle());
        let settings = get(&agent, &format!("/accounts/{}/env", agent.handle())).await;
        assert_eq!(settings.expect(200).json(), json!([]));
        assert_eq!(get(&agent, "/sites/Not_a_slug").await.expect(404).integer("code"), 404);
        agent.artifact("my-site").await.expect(404);

        let deploy = deploy(&agent, "my-site", false, &[("index.html", PAGE), ("css/app.css", STYLE)]).await;
        assert_eq!((deploy.sent, deploy.last.string("state")), (2, "ready".into()));
        let url = deploy.last.string("ssl_url");
        assert_eq!(url, agent.artifact("my-site").await.expect(200).string("url"));
        assert_eq!(deploy.last.string("deploy_ssl_url"), url);
        assert_serves(&world.visitor().open(&url).await, PAGE);
        let files = agent.get("/v1/artifacts/my-site/files").await.expect(200).json();
        assert_eq!(files.as_array().unwrap().len(), 2, "without netlify.toml: {files}");
    }

    async fn only_changed_files_are_required(world: World) {
        let agent = world.agent().await;
        let about = page_saying("About");
        let [style, copy] = [("css/app.css", STYLE), ("copy.css", STYLE)];
        let files = [("index.html", PAGE), style, ("about.html", &*about), copy];
        assert_eq!(deploy(&agent, "my-site", false, &files).await.sent, 4);
        let next = page_saying("next");
        let files = [("index.html", &*next), style, ("us.html", &about), copy];
        let second = deploy(&agent, "my-site", false, &files).await;
        assert_eq!((second.sent, second.last.string("state")), (1, "ready".into()));
        let url = second.last.string("ssl_url");
        assert_serves(&world.visitor().open(&url).await, &next);
        assert_serves(&world.visitor().open(&format!("{url}us.html")).await, &about);
        // Nothing is sent when nothing changed.
        assert_eq!(deploy(&agent, "my-site", false, &files).await.sent, 0);
        // The contents of another account and of another site do not count.
        let other = world.agent().await;
        assert_eq!(deploy(&other, "my-site", false, &files).await.sent, 4);
        assert_eq!(deploy(&agent, "other-site", false, &files).await.sent, 4);
    }

    async fn draft_deploy_stages_a_version(world: World) {
        let agent = world.agent().await;
        let url = deploy(&agent, "my-site", false, &[("index.html", PAGE)]).await.last.string("ssl_url");
        let draft = deploy(&agent, "my-site", true, &[("index.html", &page_saying("draft"))]).await;
        assert_eq!(draft.last.string("state"), "ready");
        assert_eq!(draft.last.string("ssl_url"), url);
        assert_serves(&world.visitor().open(&url).await, PAGE);
        let address = draft.last.string("deploy_ssl_url");
        assert_serves(&world.visitor().open(&address).await, &page_saying("draft"));
        let shown = agent.artifact("my-site").await.expect(200);
        assert_eq!((shown.integer("version"), shown.at("versions").as_array().unwrap().len()), (1, 2));
        agent.activate("my-site", 2).await.expect(200);
        assert_serves(&world.visitor().open(&url).await, &page_saying("draft"));
        // A draft may be the first deploy.
        let first = deploy(&agent, "new-site", true, &[("index.html", PAGE)]).await;
        assert_eq!(first.last.string("state"), "ready");
        let shown = agent.artifact("new-site").await.expect(200);
        assert_eq!((shown.at("version"), shown.integer("versions.0.seq")), (Value::Null, 1));
    }

    async fn file_must_have_the_digest_of_its_path(world: World) {
        let agent = world.agent().await;
        let id = begin(&agent, "my-site", false).await.expect(200).string("id");
        put_file(&agent, &id, "index.html", PAGE).await.expect(422);
        set_files(&agent, "my-site", &id, &[("index.html", PAGE)]).await.expect(200);
        for (path, content) in [("index.html", STYLE), ("other.html", PAGE), ("index.html", "")] {
            let refused = put_file(&agent, &id, path, content).await.expect(422);
            assert_eq!(refused.integer("code"), 422);
            assert!(!refused.string("message").is_empty());
        }
        let other = set_files(&agent, "my-site", &id, &[("index.html", STYLE)]).await.expect(400);
        assert!(other.string("message").contains("set already"), "{other:?}");
        assert_eq!(shown(&agent, "my-site", &id).await.string("state"), "uploading");
        put_file(&agent, &id, "index.html", PAGE).await.expect(200);
        assert_eq!(shown(&agent, "my-site", &id).await.string("state"), "ready");
        // A repetition changes nothing.
        put_file(&agent, &id, "index.html", PAGE).await.expect(200);
        set_files(&agent, "my-site", &id, &[("index.html", PAGE)]).await.expect(200);
        assert_eq!(agent.artifact("my-site").await.expect(200).at("versions").as_array().unwrap().len(), 1);
    }

    async fn refusals_have_the_form_of_netlify(world: World) {
        let agent = world.agent().await;
        let stranger = world.stranger();
        for path in ["/sites/my-site", "/accounts", "/sites/my-site/deploys/x"] {
            assert_eq!(get(&stranger, path).await.expect(401).integer("code"), 401, "{path}");
        }
        begin(&stranger, "my-site", false).await.expect(401);
        let reader = agent.minted(&json!({ "scopes": "artifacts:read" })).await;
        assert_eq!(begin(&reader, "my-site", false).await.expect(403).integer("code"), 403);
        let id = begin(&agent, "my-site", false).await.expect(200).string("id");
        let many: Vec<_> = (0..51).map(|number| (format!("{number}.html"), PAGE)).collect();
        let many: Vec<_> = many.iter().map(|(path, content)| (path.as_str(), *content)).collect();
        let refused = set_files(&agent, "my-site", &id, &many).await.expect(413);
        assert!(refused.string("message").contains("50 files"), "{refused:?}");
        set_files(&agent, "my-site", &id, &[]).await.expect(400);
        set_files(&agent, "other-site", &id, &[("index.html", PAGE)]).await.expect(404);
        // Nobody else finds the deploy.
        let other = world.agent().await;
        get(&other, &format!("/sites/my-site/deploys/{id}")).await.expect(404);
        put_file(&other, &id, "index.html", PAGE).await.expect(422);
        world.advance(HOUR);
    }

    async fn pinned_token_reaches_deploys_of_its_own_site_only(world: World) {
        let agent = world.agent().await;
        for site in ["own-site", "other-site"] {
            deploy(&agent, site, false, &[("index.html", PAGE)]).await;
        }
        let own = agent.artifact("own-site").await.expect(200).string("id");
        let pinned = agent.minted(&json!({ "artifact_id": own })).await;
        let id = begin(&agent, "other-site", false).await.expect(200).string("id");
        set_files(&agent, "other-site", &id, &[("index.html", STYLE)]).await.expect(200);
        put_file(&pinned, &id, "index.html", STYLE).await.expect(422);
        pinned.post(&format!("{API}/deploys/{id}/cancel")).await.expect(403);
        get(&pinned, &format!("/sites/other-site/deploys/{id}")).await.expect(403);
        assert_eq!(shown(&agent, "other-site", &id).await.string("state"), "uploading");
        put_file(&agent, &id, "index.html", STYLE).await.expect(200);
        assert_eq!(shown(&agent, "other-site", &id).await.string("state"), "ready");
        let own = deploy(&pinned, "own-site", false, &[("index.html", STYLE)]).await;
        assert_eq!(own.last.string("state"), "ready");
    }

    #[settings("HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES" = "1")]
    async fn deploy_without_credit_gets_the_price(world: World) {
        let agent = world.agent().await;
        let late = begin(&agent, "my-site", false).await.expect(200).string("id");
        deploy(&agent, "my-site", false, &[("index.html", PAGE)]).await;
        let refused = begin(&agent, "my-site", false).await.expect(402);
        assert!(refused.string("message").contains("0.005"), "{refused:?}");
        // One that began earlier ends with the same refusal.
        set_files(&agent, "my-site", &late, &[("index.html", STYLE)]).await.expect(200);
        put_file(&agent, &late, "index.html", STYLE).await.expect(200);
        let ended = shown(&agent, "my-site", &late).await;
        assert_eq!(ended.string("state"), "error");
        assert!(ended.string("error_message").contains("0.005"), "{ended:?}");
        assert_eq!(agent.artifact("my-site").await.expect(200).at("versions").as_array().unwrap().len(), 1);
    }

    async fn large_deploy_is_refused(world: World) {
        let agent = world.agent().await;
        let id = begin(&agent, "my-site", false).await.expect(200).string("id");
        let (one, other) = ("1".repeat(6 * 1_048_576), "2".repeat(6 * 1_048_576));
        set_files(&agent, "my-site", &id, &[("1.txt", &one), ("2.txt", &other)]).await.expect(200);
        put_file(&agent, &id, "1.txt", &one).await.expect(200);
        let refused = put_file(&agent, &id, "2.txt", &other).await.expect(422);
        assert!(refused.string("message").contains("10 MB"), "{refused:?}");
        agent.artifact("my-site").await.expect(404);
    }

    async fn old_and_superfluous_deploys_are_forgotten(world: World) {
        let agent = world.agent().await;
        let first = begin(&agent, "my-site", false).await.expect(200).string("id");
        let cancelled = begin(&agent, "my-site", false).await.expect(200).string("id");
        agent.post(&format!("{API}/deploys/{cancelled}/cancel")).await.expect(200);
        get(&agent, &format!("/sites/my-site/deploys/{cancelled}")).await.expect(404);
        let mut last = String::new();
        for _ in 0..5 {
            last = begin(&agent, "my-site", false).await.expect(200).string("id");
        }
        get(&agent, &format!("/sites/my-site/deploys/{first}")).await.expect(404);
        assert_eq!(shown(&agent, "my-site", &last).await.string("state"), "new");
    }
}

/// What a deploy sent, and its state afterwards.
struct Deployed {
    sent: usize,
    last: Reply,
}

/// A deploy as the command line does it.
async fn deploy(agent: &Agent, site: &str, is_draft: bool, files: &[(&str, &str)]) -> Deployed {
    let id = begin(agent, site, is_draft).await.expect(200).string("id");
    let set = set_files(agent, site, &id, files).await.expect(200).at("required");
    let required: Vec<&str> = set.as_array().unwrap().iter().map(|sha| sha.as_str().unwrap()).collect();
    let sent: Vec<_> = files.iter().filter(|(_, content)| required.contains(&&*sha1(content))).collect();
    for (path, content) in &sent {
        put_file(agent, &id, path, content).await.expect(200);
    }
    Deployed { sent: sent.len(), last: shown(agent, site, &id).await }
}

fn begin(agent: &Agent, site: &str, is_draft: bool) -> Call {
    let body = json!({ "draft": is_draft, "include_upload_url": false, "deploy_source": "cli" });
    agent.post(&format!("{API}/sites/{site}/deploys")).json(&body)
}

/// Says `draft: false` for every deploy, and has the settings of the command line among the files.
fn set_files(agent: &Agent, site: &str, id: &str, files: &[(&str, &str)]) -> Call {
    let mut digests: serde_json::Map<String, Value> =
        files.iter().map(|(path, content)| ((*path).to_owned(), json!(sha1(content)))).collect();
    digests.insert("netlify.toml".to_owned(), json!(sha1("plugins = []\n")));
    let body = json!({ "files": digests, "async": false, "draft": false, "framework": "unknown" });
    agent.call(Method::PUT, &format!("{API}/sites/{site}/deploys/{id}")).json(&body)
}

fn put_file(agent: &Agent, id: &str, path: &str, content: &str) -> Call {
    let call = agent.call(Method::PUT, &format!("{API}/deploys/{id}/files/{path}"));
    call.raw("application/octet-stream", content.to_owned())
}

fn get(agent: &Agent, path: &str) -> Call {
    agent.get(&format!("{API}{path}"))
}

async fn shown(agent: &Agent, site: &str, id: &str) -> Reply {
    get(agent, &format!("/sites/{site}/deploys/{id}")).await.expect(200)
}

fn sha1(content: &str) -> String {
    Sha1::digest(content.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
