//! The documents by which programs find the others: `/server.json` for the registry of MCP servers,
//! `/.well-known/agent-skills/index.json`, and the API catalog of RFC 9727.

use bytes::Bytes;
use domain::BlobHash;
use serde_json::{Value, json};

use super::Facts;

pub const SERVER_JSON: &str = "/server.json";
pub const AGENT_SKILLS: &str = "/.well-known/agent-skills/index.json";
pub const API_CATALOG: &str = "/.well-known/api-catalog";

/// The content type of a set of links, with the profile of a catalog.
pub const LINKS: &str =
    "application/linkset+json; profile=\"https://www.rfc-editor.org/info/rfc9727\"; charset=utf-8";

const DESCRIPTION: &str = "Publishes static web pages and sites, and gives them a public URL.";

/// The server, in the format of the MCP registry.
pub fn server(facts: &Facts) -> Bytes {
    let authorization = json!({
        "name": "Authorization",
        "description": "Bearer and a token, from POST /v1/signup",
        "isRequired": false,
        "isSecret": true,
    });
    let url = format!("{}/mcp", facts.base_url);
    let server = json!({
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": format!("{}/handbill", reversed_host(&facts.base_url)),
        "title": "Handbill",
        "description": DESCRIPTION,
        "version": Facts::VERSION,
        "websiteUrl": facts.base_url,
        "remotes": [{ "type": "streamable-http", "url": url, "headers": [authorization] }],
    });
    server.to_string().into()
}

/// The name of the server's domain as the registry has it, from the top level down.
fn reversed_host(base_url: &str) -> String {
    let host = base_url.split_once("://").map_or(base_url, |(_, rest)| rest);
    let host = host.split(['/', ':']).next().unwrap_or_default();
    host.split('.').rev().collect::<Vec<_>>().join(".")
}

/// The only skill, with the hash of its text.
pub fn skills(facts: &Facts, skill: &str) -> Bytes {
    let description =
        skill.split_once("description: >-").and_then(|(_, rest)| rest.split_once("\ncompatibility"));
    let words = description.map(|(text, _)| text.split_whitespace().collect::<Vec<_>>().join(" "));
    let index = json!({
        "$schema": "https://schemas.agentskills.io/discovery/0.2.0/schema.json",
        "skills": [{
            "name": "handbill",
            "type": "skill-md",
            "description": words,
            "url": format!("{}/skill", facts.base_url),
            "digest": format!("sha256:{}", BlobHash::of(skill.as_bytes())),
        }],
    });
    index.to_string().into()
}

/// Where the API is described.
pub fn catalog(facts: &Facts) -> Bytes {
    let link = |path: &str, kind: &str| json!({ "href": format!("{}{path}", facts.base_url), "type": kind });
    let api: Value = json!({
        "anchor": format!("{}/", facts.base_url),
        "service-desc": [
            link("/openapi.json", "application/json"),
            link("/openapi-3.1.json", "application/json"),
        ],
        "service-doc": [
            link("/docs", "text/html"),
            link("/skill", "text/markdown"),
            link("/llms.txt", "text/plain"),
        ],
        "service-meta": [link(SERVER_JSON, "application/json"), link(AGENT_SKILLS, "application/json")],
        "status": [link("/v1/status", "application/json")],
    });
    json!({ "linkset": [api] }).to_string().into()
}

/// The `Link` header of the documents.
pub fn link_to_catalog() -> &'static str {
    "</.well-known/api-catalog>; rel=\"api-catalog\", </openapi.json>; rel=\"service-desc\", \
     </docs>; rel=\"service-doc\""
}

#[cfg(test)]
mod tests {
    use askama::Template;

    use super::*;
    use crate::documents::skill::Skill;

    fn parsed(document: &Bytes) -> Value {
        serde_json::from_slice(document).unwrap()
    }

    #[test]
    fn the_server_is_named_by_its_reversed_host() {
        assert_eq!(reversed_host("https://handbill.example.org:8443/api"), "org.example.handbill");
        let server = parsed(&server(&Facts::sample()));
        assert_eq!(server["remotes"][0]["url"], "http://127.0.0.1:8080/mcp");
        assert_eq!(server["version"], Facts::VERSION);
    }

    #[test]
    fn the_skill_is_listed_with_its_description_and_hash() {
        let text = Skill::new(Facts::sample()).render().unwrap();
        let index = parsed(&skills(&Facts::sample(), &text));
        let skill = &index["skills"][0];
        assert!(skill["description"].as_str().unwrap().starts_with("Publishes static HTML"), "{skill}");
        assert_eq!(skill["digest"], format!("sha256:{}", BlobHash::of(text.as_bytes())));
    }

    #[test]
    fn the_catalog_names_the_descriptions_of_the_api() {
        let catalog = parsed(&catalog(&Facts::sample()));
        assert_eq!(catalog["linkset"][0]["service-desc"][0]["href"], "http://127.0.0.1:8080/openapi.json");
    }
}
