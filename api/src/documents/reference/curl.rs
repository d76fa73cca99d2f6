//! The curl command of an endpoint, made from the document's examples. Credentials come from a file or a
//! variable, so that none ends up in a command line.

use serde_json::Value;

use crate::documents::examples;

/// Where a command takes the token from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenSource {
    /// The file in which the skill stores it.
    File,
    /// The variable that the command line reads too.
    Variable,
}

impl TokenSource {
    fn words(self) -> &'static str {
        match self {
            Self::File => "-K ~/.handbill/curl",
            Self::Variable => r#"-H "Authorization: Bearer $HANDBILL_TOKEN""#,
        }
    }
}

/// A body of any content type.
const A_FILE: &str = "--data-binary @page.html";

pub fn curl(base_url: &str, method: &str, path: &str, operation: &Value, token: TokenSource) -> String {
    let mut words = vec!["curl".to_owned()];
    if method != "get" {
        words.push(format!("-X {}", method.to_uppercase()));
    }
    words.extend(credential(operation, token));
    words.extend(required_headers(operation));
    words.extend(body(operation));
    words.push(quoted(&format!("{base_url}{}{}", filled(path), required_query(operation))));
    words.join(" ")
}

fn credential(operation: &Value, token: TokenSource) -> Option<String> {
    let first = operation["security"][0].as_object()?.keys().next()?;
    match first.as_str() {
        "token" => Some(token.words().to_owned()),
        "session" => Some(r#"-b "svc_sess=$SESSION""#.to_owned()),
        "operator" => Some(r#"-H "X-Internal-Secret: $SIGNING_SECRET""#.to_owned()),
        _ => None,
    }
}

fn required_headers(operation: &Value) -> Vec<String> {
    let headers = required(operation, "header");
    headers.map(|(name, example)| format!("-H {}", quoted(&format!("{name}: {example}")))).collect()
}

fn required_query(operation: &Value) -> String {
    let pairs: Vec<_> =
        required(operation, "query").map(|(name, example)| format!("{name}={example}")).collect();
    if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
}

/// The required parameters of one kind, each with an example.
fn required<'a>(operation: &'a Value, kind: &'static str) -> impl Iterator<Item = (&'a str, String)> {
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    let needed = parameters.filter(move |it| it["in"] == kind && it["required"] == true);
    needed.filter_map(|it| {
        let name = it["name"].as_str()?;
        let example = it["schema"]["example"].as_str().map(str::to_owned);
        Some((name, example.or_else(|| examples::of_field(name))?))
    })
}

fn body(operation: &Value) -> Vec<String> {
    // A form needs no escaping, so it is the first choice.
    let bodies = || operation["requestBody"]["content"].as_object().into_iter().flatten();
    let is_form =
        |kind: &str, media: &Value| kind.starts_with("multipart/") && media.get("example").is_some();
    let content = bodies().find(|(kind, media)| is_form(kind, media)).or_else(|| bodies().next());
    let Some((content_type, media)) = content else { return Vec::new() };
    if media["schema"]["format"] == "binary" {
        return vec![format!("-H {}", quoted(&format!("Content-Type: {content_type}"))), A_FILE.to_owned()];
    }
    let Some(example) = media.get("example") else { return Vec::new() };
    if content_type.starts_with("multipart/") {
        let fields = example.as_object().into_iter().flatten();
        let value = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        // Not `-F`, which reads a file if the value begins with `<`.
        return fields
            .map(|(name, it)| format!("--form-string {}", quoted(&format!("{name}={}", value(it)))))
            .collect();
    }
    let content_type = content_type.split(';').next().unwrap_or(content_type);
    vec![
        format!("-H {}", quoted(&format!("Content-Type: {content_type}"))),
        format!("-d {}", quoted(&example.to_string())),
    ]
}

/// The path with an example for each parameter.
fn filled(path: &str) -> String {
    let segments = path.split('/').map(|segment| {
        let name = segment.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        name.and_then(examples::of_field).unwrap_or_else(|| segment.to_owned())
    });
    segments.collect::<Vec<_>>().join("/")
}

/// One quoted word of a POSIX shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn curl_examples_have_credential_body_and_required_parameters() {
        let operation = json!({
            "security": [{ "token": [] }, { "session": [] }],
            "parameters": [
                { "in": "header", "name": "X-Needed", "required": true, "schema": { "example": "it's" } },
                { "in": "query", "name": "user", "required": true, "schema": {} },
                { "in": "header", "name": "X-PAYMENT", "required": false, "schema": { "example": "dev:5" } },
            ],
            "requestBody": { "content": { "application/json; charset=utf-8": { "example": { "version": 1 } } } },
        });
        assert_eq!(
            curl("http://x", "post", "/v1/artifacts/{slug}/activate", &operation, TokenSource::File),
            r#"curl -X POST -K ~/.handbill/curl -H 'X-Needed: it'\''s' "#.to_owned()
                + r#"-H 'Content-Type: application/json' -d '{"version":1}' 'http://x/v1/artifacts/my-page/activate?user=ada'"#
        );
    }

    #[test]
    fn curl_examples_send_binary_bodies_from_a_file() {
        let content = json!({ "application/octet-stream": { "schema": { "format": "binary" } } });
        assert_eq!(
            curl(
                "http://x",
                "put",
                "/v1/uploads/{id}",
                &json!({ "requestBody": { "content": content } }),
                TokenSource::File
            )
            .split(" 'http")
            .next(),
            Some("curl -X PUT -H 'Content-Type: application/octet-stream' --data-binary @page.html")
        );
    }

    #[test]
    fn of_several_bodies_the_form_is_shown() {
        let content = json!({
            "application/gzip": { "schema": { "format": "binary" } },
            "application/json": { "example": { "html": "x" } },
            "multipart/form-data": { "example": { "html": "x" } },
        });
        let operation = json!({ "requestBody": { "content": content } });
        assert_eq!(
            curl("", "post", "/v1/publish", &operation, TokenSource::Variable),
            "curl -X POST --form-string 'html=x' '/v1/publish'"
        );
    }

    #[test]
    fn curl_examples_send_forms_as_text_and_plain_gets_without_options() {
        let operation = json!({ "requestBody": { "content": { "multipart/form-data": {
            "example": { "html": "<h1>Hello</h1>" },
        } } } });
        assert_eq!(
            curl("http://x", "post", "/v1/publish", &operation, TokenSource::Variable),
            "curl -X POST --form-string 'html=<h1>Hello</h1>' 'http://x/v1/publish'"
        );
        assert_eq!(
            curl("http://x", "get", "/v1/status", &json!({}), TokenSource::File),
            "curl 'http://x/v1/status'"
        );
    }
}
