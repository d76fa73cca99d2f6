//! The OpenAPI document and the texts made from it.

mod served;

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::routes::openapi_document;

const BASE_URL: &str = "http://127.0.0.1:8080";

/// Section 4 of the specification, with the pages that it describes below its table.
const SPECIFIED: [&str; 42] = [
    "get /v1/status",
    "post /v1/signup",
    "post /v1/publish",
    "get /v1/artifacts",
    "get /v1/artifacts/{slug}",
    "patch /v1/artifacts/{slug}",
    "delete /v1/artifacts/{slug}",
    "post /v1/artifacts/{slug}/versions",
    "post /v1/artifacts/{slug}/activate",
    "get /v1/account",
    "patch /v1/account",
    "get /v1/usage",
    "post /v1/account/claim-link",
    "post /v1/account/invites",
    "get /v1/account/invites",
    "delete /v1/account/invites/{code}",
    "post /v1/account/join",
    "get /v1/account/members",
    "delete /v1/account/members/{user_id}",
    "post /auth/register",
    "post /auth/login",
    "post /auth/logout",
    "get /auth/me",
    "get /v1/tokens",
    "post /v1/tokens",
    "delete /v1/tokens/{id}",
    "post /v1/credits",
    "post /v1/credits/checkout",
    "post /webhooks/card-processor",
    "post /v1/reports",
    "post /v1/moderation/{slug}",
    "get /claim/{code}",
    "post /claim/{code}",
    "get /invite/{code}",
    "post /invite/{code}",
    "get /signin",
    "get /report",
    "post /mcp",
    "get /skill",
    "get /skill/reference.md",
    "get /llms.txt",
    "get /openapi.json",
];

/// Their requests may have members that the schema does not list; the server ignores them.
const IGNORES_UNKNOWN_FIELDS: [&str; 3] = ["post /claim/{code}", "post /signin", "post /mcp"];

fn document() -> Value {
    serde_json::from_str(&openapi_document(BASE_URL)).unwrap()
}

/// One operation of the document.
struct Operation<'a> {
    /// Such as `post /v1/publish`.
    name: String,
    described: &'a Value,
}

impl Operation<'_> {
    fn of(document: &Value) -> Vec<Operation<'_>> {
        let paths = document["paths"].as_object().unwrap().iter();
        paths
            .flat_map(|(path, item)| {
                item.as_object()
                    .unwrap()
                    .iter()
                    .map(move |(method, described)| Operation { name: format!("{method} {path}"), described })
            })
            .collect()
    }

    fn has(&self, status: &str) -> bool {
        self.described["responses"].get(status).is_some()
    }

    fn parameters(&self) -> impl Iterator<Item = &Value> {
        self.described["parameters"].as_array().into_iter().flatten()
    }

    fn has_parameter(&self, name: &str) -> bool {
        self.parameters().any(|parameter| parameter["name"] == name)
    }

    /// The JSON bodies of refusals, with their status. Pages also return errors as HTML.
    fn errors(&self) -> impl Iterator<Item = (&str, &Value)> {
        let is_error =
            |status: &str, kind: &str| status.starts_with(['4', '5']) && kind.starts_with("application/json");
        let errors = self.bodies().filter(move |(status, kind, _)| is_error(status, kind));
        errors.map(|(status, _, media)| (status, media))
    }

    /// Every body of the operation: `request` or the status, the content type and the media object.
    fn bodies(&self) -> impl Iterator<Item = (&str, &str, &Value)> {
        let request = [("request", &self.described["requestBody"])];
        let responses = self.described["responses"].as_object().unwrap().iter();
        request.into_iter().chain(responses.map(|(status, response)| (status.as_str(), response))).flat_map(
            |(name, holder)| {
                let content = holder["content"].as_object().into_iter().flatten();
                content.map(move |(kind, media)| (name, kind.as_str(), media))
            },
        )
    }
}

#[test]
fn every_operation_of_the_specification_is_listed() {
    let document = document();
    let listed: HashSet<_> = Operation::of(&document).into_iter().map(|operation| operation.name).collect();
    let missing: Vec<_> = SPECIFIED.into_iter().filter(|name| !listed.contains(*name)).collect();
    assert!(missing.is_empty(), "not in the document: {missing:?}");
    assert_eq!(document["info"]["title"], "Handbill");
    assert_eq!(document["info"]["version"], "0.1.0");
    assert_eq!(document["servers"][0]["url"], BASE_URL);
}

#[test]
fn every_operation_has_a_description_and_a_unique_id() {
    let (document, mut ids) = (document(), HashSet::new());
    for operation in Operation::of(&document) {
        let (name, described) = (&operation.name, operation.described);
        for field in ["summary", "description", "operationId"] {
            assert!(described[field].as_str().is_some_and(|text| !text.is_empty()), "{field} of {name}");
        }
        assert!(described["tags"][0].is_string(), "{name} has no tag");
        assert!(ids.insert(&described["operationId"]), "{name} has the id of another");
        for parameter in operation.parameters() {
            assert!(parameter["description"].is_string(), "{} of {name} is not described", parameter["name"]);
        }
        for (status, response) in described["responses"].as_object().unwrap() {
            let text = response["description"].as_str();
            assert!(text.is_some_and(|text| !text.is_empty()), "{status} of {name} is not described");
        }
    }
}

#[test]
fn every_json_body_has_an_example() {
    let document = document();
    let mut without = Vec::new();
    for operation in Operation::of(&document) {
        let bodies = operation.bodies().filter(|(_, kind, _)| kind.starts_with("application/json"));
        without.extend(
            bodies
                .filter(|(_, _, media)| media.get("example").is_none())
                .map(|(body, _, media)| format!("{body} of {}: {}", operation.name, media["schema"])),
        );
    }
    assert!(without.is_empty(), "add an example to documents/examples.rs for: {without:#?}");
}

#[test]
fn every_operation_lists_its_required_responses() {
    let document = document();
    for operation in Operation::of(&document) {
        let (name, described) = (&operation.name, operation.described);
        let must =
            |status: &str, why: &str| assert!(operation.has(status), "{name} lists no {status}: {why}");
        // Spec 4.13: without the operator's secret their routes return 404.
        let needs_credential = described["security"].as_array().is_some_and(|ways| !ways.is_empty());
        if needs_credential && !name.contains(" /internal/") {
            must("401", "it needs a credential");
            let is_read_of_a_person =
                name.starts_with("get ") && described["security"] == json!([{ "session": [] }]);
            assert!(
                is_read_of_a_person || operation.has("403"),
                "{name} lists no 403: a credential may not be enough"
            );
        }
        if described.get("requestBody").is_some() {
            must("400", "it takes a body");
            must("413", "its body is bounded");
            // The webhook is verified by its signature and accepts any content type. An upload is a form, or
            // a page of any other content type.
            let has_a_type = !name.contains(" /webhooks/") && !name.contains(" /v1/uploads/");
            assert!(!has_a_type || operation.has("415"), "{name} lists no 415: its body has a type");
        }
        if name.contains('{') {
            must("404", "it names something");
        }
        if operation.has_parameter("X-PAYMENT") {
            must("402", "it takes a payment");
            let mut responses = described["responses"].as_object().unwrap().values();
            let has_receipt = responses.any(|response| response["headers"]["X-PAYMENT-RESPONSE"].is_object());
            assert!(has_receipt, "{name} does not list X-PAYMENT-RESPONSE");
        }
        if operation.has_parameter("Idempotency-Key") {
            must("409", "a key may have been used for another request");
        }
        for status in ["429", "503"].into_iter().filter(|status| operation.has(status)) {
            let headers = &described["responses"][status]["headers"];
            assert!(headers["Retry-After"].is_object(), "{status} of {name} does not list Retry-After");
        }
    }
}

/// The codes in the description of a status.
fn codes_of(described: &Value, status: &str) -> Vec<String> {
    let description = described["responses"][status]["description"].as_str().unwrap_or_default();
    description.lines().filter_map(|line| line.split('`').nth(1)).map(str::to_owned).collect()
}

#[test]
fn documented_error_codes_match_the_catalogue_and_examples_use_them() {
    let document = document();
    let entries = super::errors::entries();
    for operation in Operation::of(&document) {
        for (status, media) in operation.errors() {
            let (name, codes) = (&operation.name, codes_of(operation.described, status));
            assert!(!codes.is_empty(), "{status} of {name} names no code");
            for code in &codes {
                let is_known = |entry: &super::errors::Entry| {
                    entry.code == code.as_str() && entry.status.to_string() == status
                };
                assert!(entries.iter().any(is_known), "{name}: {code} is no {status}");
            }
            let shown = media["example"]["code"].as_str().unwrap_or_default();
            assert!(codes.iter().any(|code| code == shown), "{status} of {name} shows {shown:?}");
        }
    }
}

#[test]
fn an_operation_lists_its_own_codes_and_no_others() {
    let document = document();
    for (path, method, status, codes) in [
        ("/auth/login", "post", "401", &["invalid_credentials"][..]),
        ("/auth/register", "post", "400", &["invalid_request", "invalid_body", "weak_password"]),
        ("/auth/register", "post", "409", &["username_taken"]),
        ("/v1/account/join", "post", "409", &["invite_revoked", "invite_expired", "invite_used_up"]),
        ("/v1/account/join", "post", "403", &["account_suspended", "agent_join_disabled", "quota_exceeded"]),
        ("/v1/uploads/{ticket}", "post", "409", &["upload_taken"]),
        ("/v1/account/claim-link", "post", "409", &["already_claimed"]),
        ("/v1/artifacts/{slug}/private-link", "post", "409", &["not_private"]),
        (
            "/v1/credits/checkout",
            "post",
            "403",
            &["session_required", "forbidden", "account_expired", "account_suspended"],
        ),
        ("/v1/account", "get", "403", &["insufficient_scope", "forbidden"]),
        ("/v1/artifacts/{slug}", "get", "403", &["insufficient_scope", "forbidden"]),
        ("/v1/publish", "post", "409", &["idempotency_conflict", "content_missing"]),
        ("/v1/publish", "post", "404", &["not_found"]),
        ("/v1/publish", "post", "412", &["version_conflict"]),
        ("/v1/artifacts/{slug}/versions", "post", "412", &["version_conflict"]),
        ("/claim/{code}", "post", "409", &["username_taken", "already_claimed"]),
        ("/claim/{code}", "get", "410", &["account_expired"]),
        ("/invite/{code}", "post", "401", &["unauthorized"]),
    ] {
        assert_eq!(codes_of(&document["paths"][path][method], status), codes, "{status} of {method} {path}");
    }
}

#[test]
fn error_responses_have_the_error_schema_and_402_and_412_have_their_own() {
    let document = document();
    for operation in Operation::of(&document) {
        for (status, media) in operation.errors() {
            // A malformed message gets a JSON-RPC error.
            if (operation.name.as_str(), status) == ("post /mcp", "400") {
                continue;
            }
            let body = match status {
                "402" => "Challenge",
                "412" => "VersionConflict",
                _ => "Error",
            };
            let reference = format!("#/components/schemas/{body}");
            assert_eq!(media["schema"]["$ref"], reference, "{status} of {}", operation.name);
        }
    }
}

#[test]
fn request_schemas_forbid_unknown_fields_and_limit_integers() {
    let document = document();
    for operation in Operation::of(&document) {
        for (_, kind, media) in operation.bodies().filter(|(body, ..)| *body == "request") {
            let schema = match media["schema"]["$ref"].as_str() {
                Some(reference) => document.pointer(reference.trim_start_matches('#')).unwrap(),
                None => &media["schema"],
            };
            if schema["type"] != "object" {
                continue;
            }
            if !IGNORES_UNKNOWN_FIELDS.contains(&operation.name.as_str()) {
                assert_eq!(schema["additionalProperties"], false, "{kind} of {}", operation.name);
            }
            for (field, property) in schema["properties"].as_object().unwrap() {
                let is_bounded = property["minimum"].is_number() && property["maximum"].is_number();
                assert!(property["type"] != "integer" || is_bounded, "{field} of {}", operation.name);
            }
        }
    }
}

#[test]
fn pages_documents_and_mcp_are_described_with_their_content_types_and_credentials() {
    let document = document();
    let operation = |path: &str, method: &str| &document["paths"][path][method];
    for (path, method, status, kind) in [
        ("/claim/{code}", "get", "200", "text/html; charset=utf-8"),
        ("/claim/{code}", "get", "404", "text/html; charset=utf-8"),
        ("/claim/{code}", "get", "404", "application/json; charset=utf-8"),
        ("/claim/{code}", "post", "200", "application/json; charset=utf-8"),
        ("/skill", "get", "200", "text/markdown; charset=utf-8"),
        ("/llms.txt", "get", "200", "text/plain; charset=utf-8"),
        ("/mcp", "post", "200", "application/json"),
    ] {
        let content = &operation(path, method)["responses"][status]["content"];
        assert!(content[kind].is_object(), "{status} of {method} {path}: {content}");
    }
    for (path, method, security) in [
        ("/skill", "get", json!([])),
        ("/v1/signup", "post", json!([])),
        ("/invite/{code}", "get", json!([])),
        ("/invite/{code}", "post", json!([{ "session": [] }])),
        ("/claim/{code}", "post", json!([{ "session": [] }, {}])),
        ("/mcp", "post", json!([{ "token": [] }])),
    ] {
        assert_eq!(operation(path, method)["security"], security, "{method} {path}");
    }
    let refused = &operation("/claim/{code}", "get")["responses"]["404"]["content"];
    assert!(refused["text/html; charset=utf-8"]["example"].is_null(), "{refused}");
}

#[test]
fn a_publish_is_described_with_its_bodies_and_its_parameters() {
    let document = document();
    let publish = &document["paths"]["/v1/publish"]["post"];
    let form = &document["components"]["schemas"]["SiteInForm"];
    assert_eq!(form["properties"]["slug"]["pattern"], "^[a-z0-9-]{3,40}$");
    assert_eq!(form["properties"]["files"]["items"]["format"], "binary");
    let json = &document["components"]["schemas"]["SiteInJson"];
    let reference = &publish["requestBody"]["content"]["application/json"]["schema"]["$ref"];
    assert_eq!(reference, "#/components/schemas/SiteInJson");
    assert_eq!(json["properties"]["files"]["items"]["additionalProperties"], false);
    assert_eq!(json.get("anyOf"), None, "generators cannot read it");
    assert_eq!(json["properties"]["slug"]["nullable"], true);
    let kinds: Vec<_> = publish["requestBody"]["content"].as_object().unwrap().keys().collect();
    assert_eq!(kinds, ["application/json", "multipart/form-data"], "archives are described in the text");
    let text = publish["description"].as_str().unwrap();
    for archive in ["application/zip", "application/x-tar", "application/gzip", "application/zstd"] {
        assert!(text.contains(archive), "{archive}");
    }
    let successes: Vec<_> =
        publish["responses"].as_object().unwrap().keys().filter(|it| it.starts_with('2')).collect();
    assert_eq!(successes, ["201", "2XX"], "generated clients return the lowest");
    let names: Vec<_> = publish["parameters"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
    let (headers, parameters) = names.split_at(4);
    assert_eq!(headers, ["X-PAYMENT", "Idempotency-Key", "If-Match", "If-None-Match"]);
    assert_eq!(parameters, ["activate", "dry_run", "wait", "slug", "message"]);
    assert!(publish["security"].as_array().unwrap().contains(&json!({ "token": [] })));
    assert_eq!(document["paths"]["/v1/signup"]["post"]["security"], json!([]));
    let example = &publish["responses"]["402"]["content"]["application/json; charset=utf-8"]["example"];
    assert_eq!(example["accepts"][0]["scheme"], "dev");
}

/// Fails if the file under docs/ is not this text. With `HANDBILL_TEST_UPDATE=1` it rewrites the file.
#[track_caller]
pub fn assert_committed(name: &str, text: &str) {
    let path = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs")).join(name);
    if std::env::var_os("HANDBILL_TEST_UPDATE").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == text, "docs/{name} is out of date: run HANDBILL_TEST_UPDATE=1 cargo test -p api");
}

/// `HANDBILL_TEST_UPDATE=1 cargo test -p api` rewrites the file.
#[test]
fn committed_openapi_document_matches_the_served_one() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/openapi.json");
    let served = document();
    if std::env::var_os("HANDBILL_TEST_UPDATE").is_some() {
        std::fs::write(path, format!("{}\n", serde_json::to_string_pretty(&served).unwrap())).unwrap();
    }
    let committed: Value =
        serde_json::from_str(&std::fs::read_to_string(path).unwrap_or_default()).unwrap_or_default();
    assert!(
        committed == served,
        "docs/openapi.json is out of date: run HANDBILL_TEST_UPDATE=1 cargo test -p api"
    );
}
