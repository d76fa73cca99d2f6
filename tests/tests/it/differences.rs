//! The differences between two versions: the list of files, and a unified diff that git applies.

use std::path::Path;
use std::process::Command;

use handbill_tests::{Agent, Call, Reply, Value, fields_of, in_both_modes, json};

use crate::expectations::{PAGE, page_saying};
use crate::mcp::tool_result;

type Site = Vec<(&'static str, Vec<u8>)>;

in_both_modes! {
    async fn files_that_differ_are_listed_with_their_sizes(world: World) {
        let agent = two_versions(&world.agent().await, before(), after()).await;
        let compared = diff(&agent, "from=1&to=live").await.expect(200);
        assert_eq!(compared.field_names(), ["files", "from", "to"]);
        assert_eq!((compared.integer("from"), compared.integer("to")), (1, 2));
        assert_eq!(compared.header("Vary"), "Accept");
        let files = compared.at("files");
        assert_eq!(fields_of(&files[0]), ["change", "path", "size_after", "size_before"]);
        let expected = [
            ("a b/ü \"q\".txt", "added", Value::Null, json!(8)),
            ("crlf.txt", "changed", json!(8), json!(10)),
            ("css/app.css", "changed", json!(48), json!(48)),
            ("empty.txt", "added", Value::Null, json!(0)),
            ("filled.txt", "changed", json!(0), json!(5)),
            ("gone/old.txt", "removed", json!(10), Value::Null),
            ("no-end.txt", "changed", json!(5), json!(4)),
        ];
        let listed: Vec<_> = files.as_array().unwrap().iter().map(|file| {
            let text = |name: &str| file[name].as_str().unwrap();
            (text("path"), text("change"), file["size_before"].clone(), file["size_after"].clone())
        }).collect();
        assert_eq!(listed, expected);

        assert_eq!(diff(&agent, "from=1").await.expect(200).json(), compared.json(), "to the live version");
        let back = diff(&agent, "from=live&to=1").await.expect(200);
        assert_eq!((back.integer("from"), back.integer("to")), (2, 1));
        assert_eq!(back.string("files.0.change"), "removed");
        assert_eq!(diff(&agent, "from=2&to=2").await.expect(200).at("files"), json!([]));
        let arguments = json!({ "slug": "my-site", "from": 1 });
        let tool = agent.call_tool("diff_versions", &arguments).await.expect(200);
        assert_eq!(tool_result(&tool), compared.json());
    }

    async fn git_apply_turns_one_version_into_the_other(world: World) {
        let agent = two_versions(&world.agent().await, before(), after()).await;
        for (query, from, to) in
            [("from=1&to=2", before(), after()), ("from=2&to=1", after(), before()), ("from=1&to=1", before(), before())]
        {
            let patch = unified(&agent, query).await.expect(200);
            assert_eq!(patch.header("Content-Type"), "text/x-diff; charset=utf-8");
            assert_eq!(applied(&from, &patch), sorted(to), "{query}: {patch:?}");
        }
        // The archive of one version becomes that of the other.
        let archived = async |seq| {
            let archive = agent.get(&format!("/v1/artifacts/my-site/archive?version={seq}&format=tar.gz"));
            unpacked(&archive.await.expect(200))
        };
        let patch = unified(&agent, "from=1&to=2").await.expect(200);
        assert_eq!(applied(&archived(1).await, &patch), archived(2).await);
        // Binary files are only named, and the rest still applies.
        let site = |dot: &[u8], text| {
            vec![("dot.png", dot.to_vec()), ("index.html", page_saying(text).into())]
        };
        let agent = two_versions(&world.agent().await, site(b"\0\x01", "one"), site(b"\0\x02", "two")).await;
        let patch = unified(&agent, "from=1").await.expect(200);
        assert_eq!(applied(&site(b"\0\x01", "one"), &patch), sorted(site(b"\0\x01", "two")));
    }

    async fn binary_files_and_long_diffs_are_marked(world: World) {
        let long = "a line of text\n".repeat(100_000);
        let one = vec![("dot.png", b"\0\x01".to_vec()), ("index.html", PAGE.into())];
        let (page, long) = (PAGE.into(), long.into());
        let two = vec![("dot.png", b"\0\x02".to_vec()), ("index.html", page), ("long.txt", long)];
        let agent = two_versions(&world.agent().await, one, two).await;
        let patch = unified(&agent, "from=1").await.expect(200).text();
        let binary = "# Binary files a/dot.png and b/dot.png differ\n";
        assert!(patch.starts_with(binary));
        assert!(patch.len() <= 1_048_576 && patch.len() > 1_000_000, "{}", patch.len());
        let last = patch.lines().last().unwrap();
        assert!(last.contains("longer than 1 MB"), "{last}");
    }

    async fn unknown_versions_and_malformed_parameters_are_refused(world: World) {
        let agent = two_versions(&world.agent().await, before(), after()).await;
        for query in ["from=3", "from=1&to=3", "from=999999999&to=live"] {
            diff(&agent, query).await.refused(404, "not_found");
        }
        for (query, name) in [("", "from"), ("to=live", "from"), ("from=", "from"), ("from=v1", "from"),
            ("from=0", "from"), ("from=1&from=1", "from"), ("from=1&to=x", "to")] {
            diff(&agent, query).await.refused(400, "invalid_request").naming(name);
        }
        agent.get("/v1/artifacts/other/diff?from=1").await.refused(404, "not_found");
        diff(&world.agent().await, "from=1").await.refused(404, "not_found");
        diff(&world.stranger(), "from=1").await.refused(401, "unauthorized");
        let writer = agent.minted(&json!({ "scopes": "artifacts:write" })).await;
        diff(&writer, "from=1").await.refused(403, "insufficient_scope");
        // A staged version is compared only by its number.
        let staged = agent.post("/v1/artifacts/my-site/versions?activate=false");
        staged.field("html", page_saying("staged")).await.expect(201);
        assert_eq!(diff(&agent, "from=1").await.expect(200).integer("to"), 2);
        assert_eq!(diff(&agent, "from=live&to=3").await.expect(200).integer("to"), 3);
    }
}

fn before() -> Site {
    let css: String = (0..12).map(|number| format!("p{number}\n")).chain(["a\n".repeat(5)]).collect();
    vec![
        ("index.html", PAGE.into()),
        ("css/app.css", css.into()),
        ("crlf.txt", "a\r\nb\rc\r\n".into()),
        ("filled.txt", vec![]),
        ("gone/old.txt", "one\ntwo\n\n\n".into()),
        ("no-end.txt", "x\nend".into()),
    ]
}

fn after() -> Site {
    let css: String = (0..12).map(|number| format!("q{number}\n")).chain(["a\n".repeat(5)]).collect();
    vec![
        ("index.html", PAGE.into()),
        ("css/app.css", css.into()),
        ("crlf.txt", "a\r\nb\rx\r\n\r\n".into()),
        ("filled.txt", "full\r".into()),
        ("no-end.txt", "end\n".into()),
        ("empty.txt", vec![]),
        ("a b/ü \"q\".txt", "text\nabc".into()),
    ]
}

async fn two_versions(agent: &Agent, one: Site, two: Site) -> Agent {
    for site in [one, two] {
        let files: Vec<(&str, &[u8])> = site.iter().map(|(path, content)| (*path, &content[..])).collect();
        publish(agent, &files).await.expect(201);
    }
    agent.clone()
}

/// As JSON, because a form cannot carry every name.
fn publish(agent: &Agent, files: &[(&str, &[u8])]) -> Call {
    let content = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let file = |(path, bytes): &(&str, &[u8])| json!({ "path": path, "content": content(bytes) });
    let files: Vec<Value> = files.iter().map(file).collect();
    agent.post("/v1/publish").json(&json!({ "slug": "my-site", "files": files }))
}

fn diff(agent: &Agent, query: &str) -> Call {
    agent.get(&format!("/v1/artifacts/my-site/diff?{query}"))
}

fn unified(agent: &Agent, query: &str) -> Call {
    diff(agent, query).header("Accept", "text/x-diff")
}

fn sorted(site: Site) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = site.into_iter().map(|(path, content)| (path.to_owned(), content)).collect();
    files.sort();
    files
}

/// The files of an archive.
fn unpacked(archive: &Reply) -> Vec<(String, Vec<u8>)> {
    let (folder, file) = (tempfile::tempdir().unwrap(), tempfile::NamedTempFile::new().unwrap());
    std::fs::write(&file, &archive.body).unwrap();
    let tar = Command::new("tar").arg("-xzf").arg(file.path()).arg("-C").arg(folder.path()).status();
    assert!(tar.unwrap().success());
    let mut files = Vec::new();
    gather(folder.path(), folder.path(), &mut files);
    files.sort();
    files
}

/// The files after `git apply`.
fn applied(site: &[(impl AsRef<Path>, Vec<u8>)], patch: &Reply) -> Vec<(String, Vec<u8>)> {
    let folder = tempfile::tempdir().unwrap();
    for (path, content) in site {
        let file = folder.path().join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, content).unwrap();
    }
    let patch_file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&patch_file, &patch.body).unwrap();
    if !patch.body.is_empty() {
        let mut git = Command::new("git");
        git.args(["-c", "core.autocrlf=false", "apply", "--whitespace=nowarn"]).arg(patch_file.path());
        git.current_dir(&folder).env("GIT_CEILING_DIRECTORIES", folder.path().parent().unwrap());
        let ran = git.output().unwrap();
        assert!(ran.status.success(), "{}\n{}", String::from_utf8_lossy(&ran.stderr), patch.text());
    }
    let mut files = Vec::new();
    gather(folder.path(), folder.path(), &mut files);
    files.sort();
    files
}

fn gather(root: &Path, folder: &Path, files: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            gather(root, &path, files);
        } else {
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            files.push((name, std::fs::read(&path).unwrap()));
        }
    }
}
