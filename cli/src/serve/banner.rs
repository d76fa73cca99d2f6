//! What a server in one process prints when it is ready.

use client::show::paragraph;
use config::Settings;
use serde_json::{Value, json};

use super::Roles;

/// Printed and logged at the start, so that dev mode is never public by accident.
pub(super) const DEV_MODE: &str = "DEV MODE: anyone on this machine can sign in as any user, and payments move no money. Set \
                        HANDBILL_DEV_MODE=false before others can reach it.";

/// Printed at a terminal where only warnings are logged.
pub(super) const REDUCED_LOG: &str =
    "At a terminal, only warnings are logged. Set HANDBILL_LOG=info to log every request.";

/// How to use a server in one process: from a browser, and from a shell. The commands name an address that is
/// not their default.
pub(super) fn banner(settings: &Settings, about_log: Option<&str>) -> String {
    let base = &settings.api.base_url;
    let url = if base == client::DEFAULT_URL { String::new() } else { format!(" --url {base}") };
    let dev_mode = if settings.dev_mode { format!("\n{}\n", paragraph(DEV_MODE)) } else { String::new() };
    let about_log = about_log.map(|text| format!("{}\n", paragraph(text))).unwrap_or_default();
    format!(
        "Handbill is running. Open {base} in your browser.\n\n  API    {base}\n  pages  {pages}\n{dev_mode}\n\
         Publish from another terminal:\n  handbill signup{url}\n  handbill publish page.html\n\n\
         Or with curl:\n  TOKEN=$(curl -s -X POST {base}/v1/signup | grep -o 'svc_[[:alnum:]_]*')\n  \
         curl -s -H \"Authorization: Bearer $TOKEN\" {base}/v1/publish \\\n    \
         -F slug=hello --form-string html='<h1>Hello</h1>'\n\n\
         {about_log}Press Ctrl-C to stop.\n",
        pages = settings.edge.serve_url,
    )
}

/// The same for programs.
pub(super) fn ready(settings: &Settings, roles: &Roles) -> Value {
    json!({
        "role": roles.name(),
        "api_url": roles.api.then_some(&settings.api.base_url),
        "pages_url": roles.edge.then(|| settings.edge.serve_url.to_string()),
        "dev_mode": settings.dev_mode,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(set: &[(&str, &str)]) -> Settings {
        let env = set.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        config::load(config::Sources { file: Some("/dev/null".into()), env }).unwrap()
    }

    #[test]
    fn banner_names_the_address_for_the_browser_first() {
        let shown = banner(&settings(&[]), None);
        assert!(
            shown.starts_with("Handbill is running. Open http://127.0.0.1:8080 in your browser.\n"),
            "{shown}"
        );
        assert!(shown.contains("  handbill signup\n") && shown.contains("DEV MODE"), "{shown}");
        assert!(shown.contains("curl -s -X POST http://127.0.0.1:8080/v1/signup"), "{shown}");
        assert!(shown.ends_with("\n\nPress Ctrl-C to stop.\n"), "{shown}");
        let shown = banner(&settings(&[("HANDBILL_API__LISTEN", "127.0.0.1:9090")]), Some(REDUCED_LOG));
        assert!(shown.contains("only warnings are logged"), "{shown}");
        assert!(shown.contains("handbill signup --url http://127.0.0.1:9090\n"), "{shown}");
    }
}
