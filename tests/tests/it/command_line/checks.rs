//! Warnings about what will not work, from `handbill check` and `handbill publish`.

use handbill_tests::{Value, json};

use super::shell::{Shell, world};

#[tokio::test]
async fn a_folder_is_checked_without_a_server() {
    // Nothing listens there.
    let shell = Shell::at("http://127.0.0.1:9");
    shell.write("site/index.html", "<img src=/a.png><img src=none.png>");
    shell.write("site/a.png", "image");
    let checked = shell.run(&["check", "site", "--json"]).await;
    assert_eq!(checked.code, Some(1), "{checked:?}");
    let codes = checked.json()["warnings"].as_array().unwrap().iter().map(|it| it["code"].clone()).collect();
    assert_eq!(Value::Array(codes), json!(["absolute_path", "missing_file"]));
    let checked = shell.run(&["check", "site", "--site-url", "https://a-b1c2.pages.example"]).await;
    assert_eq!(checked.code, Some(1), "{checked:?}");
    assert_eq!(
        checked.line(),
        "index.html:1: none.png: the site has no none.png; add the file, or correct the reference"
    );
    shell.write("site/index.html", "<img src=a.png>");
    shell.run(&["check", "site"]).await.ok();
    assert_eq!(shell.run(&["check", "site", "--json"]).await.ok().json(), json!({ "warnings": [] }));
    shell.run(&["check", "site", "--site-url", "nowhere"]).await.failed(2);
}

#[tokio::test]
async fn a_check_reports_what_a_publish_reports() {
    let world = world().await;
    let (agent, shell) = (world.agent().await, Shell::at("http://127.0.0.1:9"));
    let page = format!(
        "<img src=none.png>\n<img src=Big.jpg><a href=/b>b</a>\n\
         <script src=https://cdn.example.test/a.js></script>\n\
         <script>const key = 'ghp_{}'</script>",
        "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    );
    let (page, image) = (page.as_bytes(), vec![b'x'; 1_048_577]);
    let files: [(&str, &[u8]); 4] = [
        ("a.html", page),
        ("big.jpg", &image),
        ("deep/b.html", b"<style>\n@import '../none.css';</style><img src=../BIG.jpg>"),
        ("netlify.toml", b""),
    ];
    for (path, content) in files {
        shell.write(&format!("site/{path}"), content);
    }
    let published = agent.publish_files("my-page", &files).await.expect(201);
    let checked = shell.run(&["check", "site", "--json"]).await;
    assert_eq!(checked.code, Some(1), "{checked:?}");
    assert_eq!(checked.json(), json!({ "warnings": published.at("warnings") }));
    let codes: Vec<_> =
        checked.json()["warnings"].as_array().unwrap().iter().map(|it| it["code"].clone()).collect();
    assert_eq!(
        Value::Array(codes),
        json!([
            "secret",
            "no_index",
            "unused_config",
            "missing_file",
            "case_mismatch",
            "absolute_path",
            "blocked_by_policy",
            "large_image",
            "missing_file",
            "case_mismatch",
        ])
    );
}

#[tokio::test]
async fn a_publish_on_the_command_line_shows_its_warnings() {
    let world = world().await;
    let shell = Shell::signed_up(&world).await;
    shell.write("site/report.html", "<img src=none.png>");
    shell.write("site/a.txt", "text");
    let published = shell.run(&["publish", "site"]).await.ok();
    assert!(published.line().ends_with("/report.html"), "{published:?}");
    assert!(published.err.contains("report.html:1: none.png: the site has no none.png"), "{published:?}");
    assert!(published.err.contains("rename report.html to index.html"), "{published:?}");
}
