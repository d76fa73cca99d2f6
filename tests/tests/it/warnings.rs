//! Warnings about what will not work in a published site.

use handbill_tests::{Value, in_both_modes, json};

use crate::expectations::{PAGE, assert_serves};
use crate::mcp::tool_result;

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
                "message": "browsers will block this script: pages cannot load scripts from cdn.example",
                "hint": "add the file to your site and link it by a relative path",
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

fn codes(warnings: &Value) -> Vec<String> {
    let warnings = warnings.as_array().expect("a list of warnings").iter();
    warnings.map(|warning| warning["code"].as_str().expect("a code").to_owned()).collect()
}
