//! Spec 7 and 8: invalid input is refused with a message that names the fault, and changes nothing.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use handbill_tests::{Agent, Method, Reply, Value, World, in_both_modes, json};

use crate::expectations::PAGE;

const BOUNDARY: &str = "part-of-bad-input";

/// A part of a form: the rest of its header after `form-data; `, and its content.
type Part<'a> = (&'a [u8], &'a [u8]);

const HTML: Part<'static> = (b"name=\"html\"", b"<p>hello</p>");
const FILE: Part<'static> = (b"name=\"files\"; filename=\"a.txt\"", b"a");

in_both_modes! {
    async fn invalid_form_error_names_the_field_and_nothing_is_stored(world: World) {
        let agent = world.agent().await;
        agent.publish("my-page", PAGE).await.expect(201);
        let before = AccountSnapshot::of(&agent).await;
        for (number, (parts, field)) in bad_forms().iter().enumerate() {
            for path in ["/v1/publish", "/v1/artifacts/my-page/versions"] {
                let refused = agent.post(path).raw(&form_type(), form(parts)).await;
                let refused = refused.refused(400, "invalid_request");
                assert!(refused.string("message").starts_with(field), "form {number}, {field}: {refused:?}");
            }
        }
        before.assert_unchanged(&agent).await;
    }

    async fn invalid_path_error_names_the_path_and_nothing_is_stored(world: World) {
        let agent = world.agent().await;
        agent.publish("my-page", PAGE).await.expect(201);
        let before = AccountSnapshot::of(&agent).await;
        let (too_long, long_name) = (format!("{}.html", "a".repeat(510)), format!("d/{}", "ü".repeat(300)));
        let astray = [
            "../up.html", "a/../../b.html", "..", "./a.html", "a/./b.html", "/etc/passwd", "//host/a.html", "a//b.html",
            "a/", "a\\b.html", "C:\\a.html", "..\\up.html", "a\tb.html", "a\u{85}b.html", " /a.html", "a/ ../b.html",
            &too_long, &long_name,
        ];
        for path in astray {
            let call = agent.publish_files("my-page", &[("index.html", PAGE.as_bytes()), (path, b"x")]);
            call.await.refused(400, "invalid_request").naming("files: the file path");
        }
        let clashes: [[&str; 2]; 4] = [["a.txt", "a.txt"], ["a", "a/b"], ["a/b", "a"], ["a/b/c", "a/b"]];
        for [one, other] in clashes {
            let call = agent.publish_files("my-page", &[(one, b"1"), (other, b"2")]);
            call.await.refused(400, "invalid_request").naming("files: ");
        }
        before.assert_unchanged(&agent).await;
    }

    #[settings("HANDBILL_LIMITS__REGISTRATIONS_PER_MINUTE" = "1000", "HANDBILL_LIMITS__LOGINS_PER_MINUTE" = "1000")]
    async fn invalid_json_error_names_the_field_and_nothing_is_stored(world: World) {
        let (agent, human) = (world.agent().await, world.human());
        agent.publish("my-page", PAGE).await.expect(201);
        human.dev_login("ada").await.expect(200);
        human.claim(&agent.signup.as_ref().unwrap().string("claim_url")).await.expect(200);
        agent.buy_credit(5.0).paying("dev:5").await.expect(200);
        let before = AccountSnapshot::of(&agent).await;
        for (method, path, field, bad) in bad_json() {
            let call = |method: &Method| match path {
                "/v1/credits/checkout" | "/v1/moderation/my-page" => human.call(method.clone(), path),
                _ => agent.call(method.clone(), path),
            };
            for body in bad {
                let reply = call(&method).paying("dev:5").raw("application/json", *body).await;
                refused_naming(reply, field, body);
            }
            let unknown = call(&method).json(&json!({ "no_such_field": 1 })).await;
            refused_naming(unknown, "no_such_field", "an unknown field");
            for body in ["{", "[]", "null", "\"text\"", "{\"a\":1}}", "{'a':1}", "\u{feff}{}", "\u{0}"] {
                call(&method).raw("application/json", body).await.refused(400, "invalid_body");
            }
            call(&method).raw("text/plain", "{}").await.refused(415, "unsupported_media_type");
            let too_much = format!("{{\"no_such_field\":\"{}\"}}", "x".repeat(70_000));
            let refused = call(&method).raw("application/json", too_much).await.refused(413, "too_large");
            assert!(refused.string("hint").contains("send a shorter body"), "{refused:?}");
        }
        let empty = agent.post("/v1/artifacts/my-page/activate").raw("application/json", "");
        empty.await.refused(400, "invalid_body").naming("it is missing");
        let cut_off = agent.post("/v1/artifacts/my-page/activate").raw("application/json", "{");
        cut_off.await.refused(400, "invalid_body").naming("it ends too early, at line 1 column 1");
        before.assert_unchanged(&agent).await;
    }

    async fn invalid_utf_8_error_names_the_field_and_nothing_is_stored(world: World) {
        let agent = world.agent().await;
        agent.publish("my-page", PAGE).await.expect(201);
        let before = AccountSnapshot::of(&agent).await;
        let activate = || agent.post("/v1/artifacts/my-page/activate");
        let body: &[u8] = b"{\"version\": \"\xff\xfe\"}";
        activate().raw("application/json", body).await.refused(400, "invalid_body").naming("version");
        agent.artifact("%ff%fe%fd").await.refused(400, "invalid_request").naming("path");
        let add = agent.post("/v1/artifacts/my-page/versions?activate=%ff").field("html", PAGE);
        add.await.refused(400, "invalid_request").naming("activate");
        let add = agent.post("/v1/artifacts/my-page/versions?activate=FALSE").field("html", PAGE);
        assert_eq!(add.await.refused(400, "invalid_request").string("message"), "activate: must be true or false");
        for key in ["sch\u{fc}ssel", "with space"] {
            let call = agent.publish("my-page", PAGE).idempotency_key(key);
            call.await.refused(400, "invalid_request").naming("Idempotency-Key");
        }
        before.assert_unchanged(&agent).await;
    }

    async fn body_with_a_wrong_content_length_is_refused_and_nothing_is_stored(world: World) {
        let agent = world.agent().await;
        agent.publish("my-page", PAGE).await.expect(201);
        let before = AccountSnapshot::of(&agent).await;
        let whole = form(&[HTML]);
        let shorter = whole.len() - 20;
        for (path, kind, body, announced_bytes) in [
            ("/v1/publish", form_type(), whole.clone(), whole.len() + 1_000),
            ("/v1/publish", form_type(), whole.clone(), shorter),
            ("/v1/artifacts/my-page/activate", "application/json".to_owned(), b"{\"version\":1}".to_vec(), 500),
            ("/v1/artifacts/my-page/activate", "application/json".to_owned(), b"{\"version\":1}".to_vec(), 12),
        ] {
            let head = format!("Content-Type: {kind}\r\nContent-Length: {announced_bytes}");
            let answer = send_raw(&world, &agent, path, &head, &body).await;
            assert!(answer.starts_with("HTTP/1.1 400 "), "{path} of {announced_bytes} bytes: {answer}");
        }
        let head = format!("Content-Type: {}\r\nTransfer-Encoding: chunked", form_type());
        let answer = send_raw(&world, &agent, "/v1/publish", &head, b"ffff\r\nthis is no chunk of 65535 bytes").await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
        before.assert_unchanged(&agent).await;
    }
}

/// The state of an account, which a refused call must not change.
#[derive(Debug, PartialEq)]
struct AccountSnapshot(Vec<Value>);

impl AccountSnapshot {
    async fn of(agent: &Agent) -> Self {
        let mut seen = Vec::new();
        for path in ["/v1/artifacts", "/v1/account", "/v1/usage", "/v1/account/invites"] {
            seen.push(agent.get(path).await.expect(200).json());
        }
        let mut detail = agent.artifact("my-page").await.expect(200).json();
        // The scan runs concurrently with the test.
        for status in ["/moderation_status", "/moderation", "/versions/0/moderation_status"] {
            *detail.pointer_mut(status).expect("a status") = Value::Null;
        }
        seen[0][0]["moderation_status"] = Value::Null;
        seen.push(detail);
        let mut tokens = agent.tokens().await.expect(200).json();
        for token in tokens.as_array_mut().expect("a list") {
            token["last_used_at"] = Value::Null;
        }
        seen.push(tokens);
        Self(seen)
    }

    async fn assert_unchanged(self, agent: &Agent) {
        assert_eq!(self, Self::of(agent).await);
    }
}

/// Invalid forms, each with the beginning of its error message.
fn bad_forms() -> Vec<(Vec<Part<'static>>, &'static str)> {
    const SLUG: &[u8] = b"name=\"slug\"";
    vec![
        (vec![], "html: is missing"),
        (vec![(SLUG, b"my-page")], "html: is missing"),
        (vec![HTML, FILE], "html: "),
        (vec![FILE, HTML], "html: "),
        (vec![HTML, HTML], "html: occurs twice"),
        (vec![(SLUG, b"my-page"), (SLUG, b"my-page"), HTML], "slug: occurs twice"),
        (vec![(SLUG, b""), HTML], "slug: "),
        (vec![(SLUG, b"My Page"), HTML], "slug: "),
        (vec![(SLUG, b"\xff\xfe\xfd"), HTML], "slug: "),
        (vec![(SLUG, &[b'a'; 100_000]), HTML], "slug: "),
        (vec![(b"name=\"html\"", b"")], "html: is empty"),
        (vec![(b"name=\"html\"", b"caf\xe9")], "html: is not in UTF-8"),
        (vec![HTML, (b"name=\"title\"", b"x")], "title: "),
        (vec![(b"name=\"file\"; filename=\"a.txt\"", b"x")], "file: "),
        (vec![(b"name=\"\"", b"x")], ": "),
        (vec![(b"filename=\"a.txt\"", b"x")], "body: "),
        (vec![(b"name=\"\xff\"", b"x")], "body: "),
        (vec![(b"name=\"files\"", b"x")], "files: "),
        (vec![(b"name=\"files\"; filename=\"\"", b"x")], "files: "),
        (
            vec![(b"name=\"files\"; filename=\"caf\xe9.html\"", b"x")],
            "files: a part's filename is not in UTF-8",
        ),
        (vec![FILE, FILE], "files: "),
        (vec![(b"name=\"files\"; filename=\"a\x00.txt\"", b"x")], "files: "),
        (vec![(b"name=\"files\"; filename=\"a\x1b[2J.txt\"", b"x")], "files: "),
        (vec![(b"name=\"files\"; filename=\"a\nb.txt\"", b"x")], "files: "),
    ]
}

/// Invalid JSON, by the field at fault.
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn bad_json() -> Vec<(Method, &'static str, &'static str, &'static [&'static str])> {
    let post = || Method::POST;
    vec![
        (
            post(),
            "/v1/artifacts/my-page/activate",
            "version",
            &[
                "{}",
                r#"{"version":null}"#,
                r#"{"version":"1"}"#,
                r#"{"version":0}"#,
                r#"{"version":-1}"#,
                r#"{"version":1.5}"#,
                r#"{"version":99999999999999999999999}"#,
                r#"{"version":1e999}"#,
                r#"{"version":NaN}"#,
                r#"{"version":[1]}"#,
            ],
        ),
        (
            Method::PATCH,
            "/v1/artifacts/my-page",
            "visibility",
            &["{}", r#"{"visibility":"secret"}"#, r#"{"visibility":"Private"}"#, r#"{"visibility":1}"#],
        ),
        (
            post(),
            "/v1/credits",
            "amount_usd",
            &[
                "{}",
                r#"{"amount_usd":"5"}"#,
                r#"{"amount_usd":-5}"#,
                r#"{"amount_usd":0}"#,
                r#"{"amount_usd":0.99}"#,
                r#"{"amount_usd":100.000001}"#,
                r#"{"amount_usd":5.0000001}"#,
                r#"{"amount_usd":NaN}"#,
                r#"{"amount_usd":-Infinity}"#,
                r#"{"amount_usd":1e999}"#,
                r#"{"amount_usd":1e300}"#,
                r#"{"amount_usd":9223372036854775808}"#,
                r#"{"amount_usd":true}"#,
            ],
        ),
        (
            post(),
            "/v1/credits/checkout",
            "amount_usd",
            &[
                "{}",
                r#"{"amount_usd":"5"}"#,
                r#"{"amount_usd":4.99}"#,
                r#"{"amount_usd":500.01}"#,
                r#"{"amount_usd":-5}"#,
            ],
        ),
        (
            Method::PATCH,
            "/v1/account",
            "allow_agent_join",
            &[
                "{}",
                r#"{"allow_agent_join":"true"}"#,
                r#"{"allow_agent_join":1}"#,
                r#"{"allow_agent_join":null}"#,
            ],
        ),
        (
            Method::PATCH,
            "/v1/account",
            "versions_kept",
            &[r#"{"versions_kept":0}"#, r#"{"versions_kept":"3"}"#, r#"{"versions_kept":4294967297}"#],
        ),
        (
            post(),
            "/v1/account/invites",
            "max_uses",
            &[
                r#"{"max_uses":"1"}"#,
                r#"{"max_uses":0}"#,
                r#"{"max_uses":101}"#,
                r#"{"max_uses":-1}"#,
                r#"{"max_uses":1.5}"#,
                r#"{"max_uses":4294967297}"#,
            ],
        ),
        (
            post(),
            "/v1/account/invites",
            "ttl_hours",
            &[r#"{"ttl_hours":0}"#, r#"{"ttl_hours":721}"#, r#"{"ttl_hours":"72"}"#],
        ),
        (
            post(),
            "/v1/account/invites",
            "role",
            &[r#"{"role":"owner"}"#, r#"{"role":"Admin"}"#, r#"{"role":1}"#],
        ),
        (post(), "/v1/account/join", "code", &["{}", r#"{"code":5}"#, r#"{"code":null}"#]),
        (post(), "/v1/tokens", "name", &[r#"{"name":5}"#, r#"{"name":"a\u0000b"}"#]),
        (
            post(),
            "/v1/tokens",
            "scopes",
            &[r#"{"scopes":["artifacts:read"]}"#, r#"{"scopes":"artifacts:burn"}"#],
        ),
        (
            post(),
            "/v1/tokens",
            "expires_at",
            &[
                r#"{"expires_at":"tomorrow"}"#,
                r#"{"expires_at":5}"#,
                r#"{"expires_at":"2020-01-01T00:00:00Z"}"#,
            ],
        ),
        (post(), "/v1/tokens", "artifact_id", &[r#"{"artifact_id":5}"#]),
        (post(), "/v1/moderation/my-page", "action", &["{}", r#"{"action":"burn"}"#, r#"{"action":1}"#]),
        (post(), "/v1/reports", "host", &["{}", r#"{"host":5}"#, r#"{"host":"../x"}"#]),
        (
            post(),
            "/auth/register",
            "username",
            &[
                r#"{"password":"correct horse"}"#,
                r#"{"username":5,"password":"correct horse"}"#,
                r#"{"username":"a\u0000b","password":"correct horse"}"#,
            ],
        ),
        (
            post(),
            "/auth/register",
            "password",
            &[r#"{"username":"grace"}"#, r#"{"username":"grace","password":5}"#],
        ),
        (
            post(),
            "/auth/login",
            "password",
            &[r#"{"username":"grace"}"#, r#"{"username":"grace","password":["x"]}"#],
        ),
    ]
}

#[track_caller]
fn refused_naming(reply: Reply, field: &str, body: &str) {
    assert_eq!(reply.status, 400, "{body}: {reply:?}");
    let code = reply.string("code");
    assert!(code == "invalid_body" || code == "invalid_request", "{body}: {reply:?}");
    assert!(
        reply.string("message").contains(field),
        "{body} is not refused by the name of {field}: {reply:?}"
    );
}

fn form_type() -> String {
    format!("multipart/form-data; boundary={BOUNDARY}")
}

fn form(parts: &[Part<'_>]) -> Vec<u8> {
    let mut body = Vec::new();
    for (disposition, content) in parts {
        let head = format!("--{BOUNDARY}\r\nContent-Disposition: form-data; ");
        body.extend([head.as_bytes(), disposition, b"\r\n\r\n", content, b"\r\n"].concat());
    }
    body.extend(format!("--{BOUNDARY}--\r\n").bytes());
    body
}

/// Sends these bytes and closes its half of the connection, which no HTTP client does.
async fn send_raw(world: &World, agent: &Agent, path: &str, head: &str, body: &[u8]) -> String {
    let address = world.base_url().trim_start_matches("http://").to_owned();
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {}\r\n{head}\r\n\r\n",
        agent.token()
    );
    let bytes = [request.as_bytes(), body].concat();
    tokio::task::spawn_blocking(move || {
        let mut connection = TcpStream::connect(address).unwrap();
        connection.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        connection.write_all(&bytes).unwrap();
        connection.shutdown(Shutdown::Write).unwrap();
        let mut answer = Vec::new();
        let _ = connection.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    })
    .await
    .unwrap()
}
