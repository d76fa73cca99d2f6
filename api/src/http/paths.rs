//! Facts about each path from the OpenAPI document, for responses and logs that need them: the methods for a
//! 405, the content type for a 415, the name of a parameter, the path in the log. They are read from the
//! document once, never listed by hand.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

/// The listed paths, by poem's routing pattern.
#[derive(Debug, Default)]
pub struct Paths(HashMap<String, ListedPath>);

#[derive(Debug)]
pub struct ListedPath {
    /// As in the document: `/v1/artifacts/{slug}`. It holds no value from a request.
    pub path: String,
    parameters: Vec<String>,
    /// The content types of each method's body, if it has one.
    body_types: BTreeMap<String, Option<String>>,
}

impl Paths {
    pub fn listed_in(openapi: &str) -> Self {
        let document: Value = serde_json::from_str(openapi).unwrap_or_default();
        let paths = document["paths"].as_object().into_iter().flatten();
        Self(paths.map(|(path, item)| (pattern_of(path), ListedPath::new(path, item))).collect())
    }

    /// Adds poem's routes, by pattern, with the methods of each. The document describes some of them. The
    /// methods given here take precedence, because a described method may not exist (`GET /mcp`).
    #[must_use]
    pub fn with_pages(mut self, pages: &[(&str, Vec<&str>)]) -> Self {
        for (pattern, methods) in pages {
            let body_types = methods.iter().map(|method| (method.to_uppercase(), None)).collect();
            let page = ListedPath { path: (*pattern).to_owned(), parameters: Vec::new(), body_types };
            self.0.insert((*pattern).to_owned(), page);
        }
        self
    }

    /// The path without its trailing slash, if only that one is a known path.
    pub fn without_slash<'p>(&self, path: &'p str) -> Option<&'p str> {
        let shorter = path.strip_suffix('/').filter(|path| !path.is_empty())?;
        let is_listed = |path: &str| self.0.keys().any(|pattern| fits(pattern, path));
        (is_listed(shorter) && !is_listed(path)).then_some(shorter)
    }

    pub fn find(&self, pattern: &str) -> Option<&ListedPath> {
        self.0.get(pattern)
    }
}

impl ListedPath {
    fn new(path: &str, item: &Value) -> Self {
        let operations = item.as_object().into_iter().flatten();
        Self {
            path: path.to_owned(),
            parameters: path.split('/').filter_map(parameter).map(str::to_owned).collect(),
            body_types: operations.map(|(method, it)| (method.to_uppercase(), body_type(it))).collect(),
        }
    }

    /// The value of an `Allow` header.
    pub fn allowed(&self) -> String {
        let mut methods: Vec<&str> = self.body_types.keys().map(String::as_str).collect();
        if let Some(get) = methods.iter().position(|method| *method == "GET") {
            methods.insert(get + 1, "HEAD");
        }
        methods.join(", ")
    }

    /// The content types that the method's body may have, as a list in English.
    pub fn body_type(&self, method: &str) -> Option<&str> {
        self.body_types.get(method)?.as_deref()
    }

    /// The name of a path parameter, which poem-openapi calls `param0`, `param1` and so on.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let at: usize = name.strip_prefix("param")?.parse().ok()?;
        self.parameters.get(at).map(String::as_str)
    }
}

/// Encodes the slashes in the rest of a path, which `pattern` ends with, because poem-openapi has no
/// parameter for several segments. `None` if there is nothing to encode.
pub fn with_encoded_rest(pattern: &str, path: &str) -> Option<String> {
    if !fits(pattern, path) {
        return None;
    }
    let (last_slash, _) = path.match_indices('/').nth(pattern.matches('/').count() - 1)?;
    let (before, rest) = path.split_at(last_slash + 1);
    rest.contains('/').then(|| format!("{before}{}", rest.replace('/', "%2F")))
}

/// Whether poem would route the path by the pattern.
pub fn fits(pattern: &str, path: &str) -> bool {
    let (mut wanted, mut given) = (pattern.split('/'), path.split('/'));
    loop {
        match (wanted.next(), given.next()) {
            (None, None) => return true,
            (Some(name), Some(value)) if name.starts_with(':') => {
                if value.is_empty() {
                    return false;
                }
            }
            (Some(name), Some(_)) if name.starts_with('*') => return true,
            (Some(segment), Some(value)) if segment == value => {}
            _ => return false,
        }
    }
}

fn parameter(segment: &str) -> Option<&str> {
    segment.strip_prefix('{')?.strip_suffix('}')
}

// poem-openapi numbers the parameters of a path: `/v1/artifacts/{slug}` is routed as `/v1/artifacts/:param0`.
fn pattern_of(path: &str) -> String {
    let mut numbers = 0..;
    let segments = path.split('/').map(|segment| match parameter(segment) {
        Some(_) => format!(":param{}", numbers.next().unwrap_or(0)),
        None => segment.to_owned(),
    });
    segments.collect::<Vec<_>>().join("/")
}

fn body_type(operation: &Value) -> Option<String> {
    let content = operation["requestBody"]["content"].as_object()?;
    let kinds: Vec<&str> = content.keys().map(|kind| kind.split(';').next().unwrap_or(kind)).collect();
    let (last, others) = kinds.split_last()?;
    Some(if others.is_empty() { (*last).to_owned() } else { format!("{} or {last}", others.join(", ")) })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn paths() -> Paths {
        let body = json!({"requestBody": {"content": {"application/json; charset=utf-8": {}}}});
        let document = json!({"paths": {
            "/v1/artifacts/{slug}/files/{name}": {"get": {}, "delete": {}, "patch": body},
            "/v1/signup": {"post": {}},
        }});
        Paths::listed_in(&document.to_string())
    }

    #[test]
    fn allowed_methods_match_the_openapi_document_plus_head_for_get() {
        let paths = paths();
        let artifact = paths.find("/v1/artifacts/:param0/files/:param1").unwrap();
        assert_eq!(artifact.allowed(), "DELETE, GET, HEAD, PATCH");
        assert_eq!(paths.find("/v1/signup").unwrap().allowed(), "POST");
    }

    #[test]
    fn slashes_in_the_rest_of_a_path_are_encoded() {
        let encoded = |path| with_encoded_rest("/v1/artifacts/:slug/files/*path", path);
        for (path, expected) in [
            ("/v1/artifacts/my-page/files/a/b.css", "/v1/artifacts/my-page/files/a%2Fb.css"),
            ("/v1/artifacts/my-page/files/a/b/", "/v1/artifacts/my-page/files/a%2Fb%2F"),
            ("/v1/artifacts/my-page/files//a", "/v1/artifacts/my-page/files/%2Fa"),
        ] {
            assert_eq!(encoded(path).as_deref(), Some(expected));
        }
        for path in [
            "/v1/artifacts/my-page/files/a.css",
            "/v1/artifacts/my-page/files/",
            "/v1/artifacts/a/b/c",
            "/a/b",
        ] {
            assert_eq!(encoded(path), None, "{path}");
        }
    }

    #[test]
    fn trailing_slash_is_removed_from_known_paths() {
        let paths = paths().with_pages(&[
            ("/", vec!["get"]),
            ("/signin", vec!["get"]),
            ("/board", vec!["get"]),
            ("/board/", vec!["get"]),
        ]);
        for (path, expected) in [
            ("/signin/", Some("/signin")),
            ("/v1/signup/", Some("/v1/signup")),
            ("/v1/artifacts/my-page/files/a.css/", Some("/v1/artifacts/my-page/files/a.css")),
            ("/v1/artifacts//files/a.css/", None),
            ("/signin", None),
            ("/board/", None),
            ("/signin//", None),
            ("//evil.example/", None),
            ("/nothing/", None),
            ("/", None),
        ] {
            assert_eq!(paths.without_slash(path), expected, "{path}");
        }
    }

    #[test]
    fn parameters_and_body_types_have_their_documented_names() {
        let paths = paths();
        let artifact = paths.find("/v1/artifacts/:param0/files/:param1").unwrap();
        assert_eq!(artifact.parameter("param1"), Some("name"));
        assert_eq!(artifact.parameter("param2"), None);
        assert_eq!(artifact.body_type("PATCH"), Some("application/json"));
        assert_eq!(artifact.body_type("GET"), None);
        let content = json!({"image/gif": {}, "image/png; x=y": {}, "text/css": {}});
        let document = json!({"paths": {"/a": {"put": {"requestBody": {"content": content}}}}});
        let several = Paths::listed_in(&document.to_string());
        assert_eq!(several.find("/a").unwrap().body_type("PUT"), Some("image/gif, image/png or text/css"));
    }

    #[test]
    fn the_methods_of_a_route_take_precedence_over_the_described_ones() {
        let document = json!({"paths": {
            "/mcp": {"get": {}, "post": {}},
            "/claim/{code}": {"get": {}, "post": {}},
        }});
        let methods = &[("/mcp", vec!["post"]), ("/claim/:code", vec!["get", "post"])];
        let paths = Paths::listed_in(&document.to_string()).with_pages(methods);
        assert_eq!(paths.find("/mcp").unwrap().allowed(), "POST");
        assert_eq!(paths.find("/claim/:code").unwrap().allowed(), "GET, HEAD, POST");
    }

    #[test]
    fn invalid_document_lists_no_paths() {
        assert!(Paths::listed_in("").find("/v1/signup").is_none());
    }
}
