//! Warnings about what will not work in a published site.

use std::collections::BTreeSet;

use handbill_tests::{Browser, Mode, PATIENCE, Value, World, eventually, in_both_modes, json, program};

use crate::expectations::{PAGE, assert_serves};
use crate::mcp::tool_result;

/// A page with resources from other hosts, one host for each. A script notes what the browser blocks.
const PAGE_OF_HOSTS: &str = r#"<!doctype html><html lang="en"><head><title>Hosts</title><script>
    window.blocked = [];
    addEventListener('securitypolicyviolation', event => blocked.push(event.blockedURI));
    </script>
    <script src="https://script.blocked.example/a.js"></script>
    <script src="https://script.allowed.example/a.js"></script>
    <script type="module">import 'https://module.blocked.example/a.js'</script>
    <script>import('https://late.blocked.example/a.js').catch(() => {})</script>
    <link rel="stylesheet" href="https://style.blocked.example/a.css">
    <link rel="stylesheet" href="css/app.css">
    <style>@import "https://import.blocked.example/a.css";
    @font-face { font-family: Blocked; src: url(https://font.blocked.example/a.woff2) }
    body { font-family: Blocked }</style></head>
    <body style="background: url(https://attribute.blocked.example/a.png)"><h1>Text</h1>
    <img src="https://image.blocked.example/a.png" alt="">
    <img src="https://image.allowed.example/a.png" alt="">
    <img srcset="https://set.blocked.example/a.png 1x" alt="">
    <input type="image" src="https://input.blocked.example/a.png" alt="">
    <video src="https://video.blocked.example/a.mp4" poster="https://poster.blocked.example/a.png"></video>
    <iframe src="https://frame.blocked.example/"></iframe>
    <iframe src="https://frame.allowed.example/"></iframe></body></html>"#;
const SHEET: &str = "h1 { background: url(https://sheet.blocked.example/a.png) }";

in_both_modes! {
    async fn a_broken_site_is_published_with_its_warnings(world: World) {
        let agent = world.agent().await;
        let page = "<link rel=stylesheet href=/css/app.css>\n<img src=Logo.png><a href=about>\n\
                    <script src=https://cdn.example/a.js></script>";
        let files: [(&str, &[u8]); 3] =
            [("index.html", page.as_bytes()), ("logo.png", b"image"), ("_headers", b"/*")];
        let published = agent.publish_files("my-page", &files).await.expect(201);
        let expected = json!([
            {
                "code": "bad_config",
                "path": "_headers",
                "line": 1,
                "message": "there are no headers below this path",
                "hint": "add lines such as: X-Name: value",
            },
            {
                "code": "absolute_path",
                "path": "index.html",
                "line": 1,
                "target": "/css/app.css",
                "message": "this leaves the site, which is served below /site/<host>/",
                "hint": "use a relative path, such as ./css/app.css",
            },
            {
                "code": "case_mismatch",
                "path": "index.html",
                "line": 2,
                "target": "Logo.png",
                "message": "the site has no Logo.png, but it has logo.png",
                "hint": "write logo.png: upper and lower case are different",
            },
            {
                "code": "missing_file",
                "path": "index.html",
                "line": 2,
                "target": "about",
                "message": "the site has no about",
                "hint": "add the file, or correct the reference",
            },
            {
                "code": "blocked_by_policy",
                "path": "index.html",
                "line": 3,
                "target": "https://cdn.example/a.js",
                "message": "published pages cannot load scripts from cdn.example; browsers will block it",
                "hint": "put the file into the site and use a relative path, or ask the operator to allow \
                         cdn.example in edge.script_hosts",
            },
        ]);
        assert_eq!(published.at("warnings"), expected);
        assert!(!published.field_names().contains(&"entry_url".to_owned()), "{published:?}");
        let content = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let files = files.map(|(path, bytes)| json!({ "path": path, "content": content(bytes) }));
        let tool = agent.call_tool("publish_artifact", &json!({ "slug": "by-tool", "files": files })).await;
        assert_eq!(tool_result(&tool)["warnings"], expected);
        let version = agent.add_version("my-page", page).await.expect(201);
        assert_eq!(version.at("warnings").as_array().unwrap().len(), 4, "{version:?}");
    }

    async fn the_root_of_a_site_without_a_front_page_is_its_only_page(world: World) {
        let agent = world.agent().await;
        let page = PAGE.as_bytes();
        let published = agent.publish_files("my-page", &[("a report.html", page)]).await.expect(201);
        let url = published.string("url");
        assert_eq!(published.string("entry_url"), format!("{url}a%20report.html"));
        assert_eq!(codes(&published.at("warnings")), ["no_index"]);
        for address in [&url, &published.string("entry_url")] {
            assert_serves(&world.visitor().open(address).await, PAGE);
        }
        let in_folder = agent.publish_files("in-folder", &[("dist/index.html", page)]).await.expect(201);
        let redirected = world.visitor().open(&in_folder.string("url")).await.expect(301);
        let address = format!("{}dist/index.html", in_folder.string("url"));
        let location = redirected.header("location");
        assert!(location.starts_with("/site/") && address.ends_with(location), "{redirected:?}");
        let files: [(&str, &[u8]); 2] = [("b.html", page), ("a.html", page)];
        let several = agent.publish_files("several", &files).await.expect(201);
        assert_eq!(several.string("entry_url"), format!("{}a.html", several.string("url")));
        assert_eq!(world.visitor().open(&several.string("url")).await.status, 404);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_browser_blocks_what_the_warnings_say() {
    let setup = World::with(Mode::Embedded, program!())
        .env("HANDBILL_EDGE__SCRIPT_HOSTS", "script.allowed.example")
        .env("HANDBILL_EDGE__IMAGE_HOSTS", "image.allowed.example")
        .env("HANDBILL_EDGE__FRAME_HOSTS", "frame.allowed.example");
    let world = setup.start().await;
    let files: [(&str, &[u8]); 2] =
        [("index.html", PAGE_OF_HOSTS.as_bytes()), ("css/app.css", SHEET.as_bytes())];
    let published = world.agent().await.publish_files("my-page", &files).await.expect(201);
    let warnings = published.at("warnings");
    assert!(codes(&warnings).iter().all(|code| code == "blocked_by_policy"), "{warnings}");
    let warned = hosts(warnings.as_array().unwrap().iter().map(|warning| &warning["target"]));
    assert_eq!(warned.len(), 14, "{warned:?}");
    let browser = Browser::start().await;
    browser.open(&published.string("url")).await;
    let blocked = eventually(PATIENCE, "the browser has blocked as much", async || {
        let blocked = browser.evaluate("window.blocked").await;
        let blocked = hosts(blocked.as_array().unwrap().iter());
        (blocked.len() >= warned.len()).then_some(blocked)
    })
    .await;
    assert_eq!(blocked, warned);
}

fn codes(warnings: &Value) -> Vec<String> {
    let warnings = warnings.as_array().expect("a list of warnings").iter();
    warnings.map(|warning| warning["code"].as_str().expect("a code").to_owned()).collect()
}

fn hosts<'v>(addresses: impl Iterator<Item = &'v Value>) -> BTreeSet<String> {
    let host =
        |address: &Value| address.as_str().and_then(|address| address.split('/').nth(2).map(str::to_owned));
    addresses.map(|address| host(address).expect("an address with a host")).collect()
}
