//! Settings that prevent the start because the service would not be safe in public.

use domain::DevPaymentTerms;

use super::{STRONG_SECRET, refused, with_variables};
use crate::{Role, Settings};

#[test]
fn dev_mode_refuses_public_listen_addresses_unless_allowed() {
    let public = [
        ("HANDBILL_API__LISTEN", "0.0.0.0:80"),
        ("HANDBILL_EDGE__LISTEN", "192.0.2.1:81"),
        ("HANDBILL_OPS__LISTEN", "192.0.2.1:82"),
    ];
    let faults = refused(with_variables(&public));
    assert_eq!(faults.len(), 3);
    assert!(
        faults[0].starts_with(
            "api.listen (environment variable HANDBILL_API__LISTEN): 0.0.0.0:80 is not loopback"
        )
    );
    assert!(faults[1].contains("HANDBILL_DEV_MODE"), "{faults:?}");
    let allowed = [&public[..], &[("HANDBILL_ALLOW_PUBLIC_DEV", "true")]].concat();
    assert!(with_variables(&allowed).unwrap().is_admin_for_this_machine_alone());
    let with_password = [&allowed[..], &[("HANDBILL_SECRETS__OPERATOR_PASSWORD", "short")]].concat();
    assert!(!with_variables(&with_password).unwrap().is_admin_for_this_machine_alone());
    assert!(!with_variables(&[]).unwrap().is_admin_for_this_machine_alone());
    assert!(with_variables(&[("HANDBILL_API__LISTEN", "[::1]:80")]).is_ok());
}

#[test]
fn dev_mode_refuses_public_settings() {
    for (name, value, key) in [
        ("HANDBILL_API__BASE_URL", "http://api.example.com", "api.base_url"),
        ("HANDBILL_API__BASE_URL", "http://192.0.2.1:8080", "api.base_url"),
        ("HANDBILL_API__BASE_URL", "https://localhost", "api.base_url"),
        ("HANDBILL_EDGE__SERVE_URL", "http://pages.example.net", "edge.serve_url"),
        ("HANDBILL_EDGE__SERVE_URL", "https://pages.localhost", "edge.serve_url"),
        ("HANDBILL_API__TRUSTED_PROXIES", "127.0.0.1/32", "api.trusted_proxies"),
        ("HANDBILL_EDGE__TRUSTED_PROXIES", "127.0.0.1/32", "edge.trusted_proxies"),
        ("HANDBILL_CARD__SECRET_KEY", "sk_live_hidden", "card.secret_key"),
    ] {
        let faults = refused(with_variables(&[(name, value)]));
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert!(faults[0].starts_with(&format!("{key} (environment variable {name}): ")), "{faults:?}");
        assert!(faults[0].contains("and dev mode is on; set dev_mode to false"), "{faults:?}");
        assert!(!faults[0].contains("sk_live"), "{faults:?}");
        assert!(with_variables(&[(name, value), ("HANDBILL_DEV_MODE", "false")]).is_ok(), "{name}");
        assert!(with_variables(&[(name, value), ("HANDBILL_ALLOW_PUBLIC_DEV", "true")]).is_ok(), "{name}");
    }
}

#[test]
fn dev_mode_starts_under_every_name_of_this_machine() {
    for address in
        ["http://localhost:8080", "http://handbill.localhost", "http://[::1]:8080", "http://127.0.0.2"]
    {
        let both = [("HANDBILL_API__BASE_URL", address), ("HANDBILL_EDGE__SERVE_URL", address)];
        assert!(with_variables(&both).is_ok(), "{address}");
    }
}

#[test]
fn outside_dev_mode_a_signing_secret_of_32_bytes_is_demanded() {
    let with_secret = |secret: &str| {
        with_variables(&[("HANDBILL_DEV_MODE", "false"), ("HANDBILL_SECRETS__SIGNING", secret)])
    };
    for role in [Role::Serve, Role::Api, Role::Edge, Role::Worker] {
        let faults = with_secret("").unwrap().check_role(role).unwrap_err().to_string();
        let expected = "secrets.signing (default): is not set, and dev mode is off";
        assert!(faults.starts_with(expected), "{faults}");
    }
    assert!(refused(with_secret(&STRONG_SECRET[1..]))[0].contains("has 31 bytes"));
    let settings = with_secret(STRONG_SECRET).unwrap();
    assert_eq!(settings.tariff().dev_rail, DevPaymentTerms::Closed);
}

#[test]
fn outside_dev_mode_an_operator_password_of_12_characters_is_demanded() {
    let with_password = |dev_mode, password: &str| {
        with_variables(&[("HANDBILL_DEV_MODE", dev_mode), ("HANDBILL_SECRETS__OPERATOR_PASSWORD", password)])
    };
    let faults = refused(with_password("false", &"ü".repeat(11)));
    assert!(faults[0].starts_with("secrets.operator_password"), "{faults:?}");
    assert!(faults[0].contains("has 11 characters") && !faults[0].contains('ü'), "{faults:?}");
    assert!(with_password("false", &"ü".repeat(12)).is_ok());
    assert!(with_password("true", "short").is_ok());
    assert!(with_password("false", "").is_ok(), "without one there is no sign-in");
}

const SECRETS: [&str; 2] = ["HANDBILL_SECRETS__SIGNING", "HANDBILL_SECRETS__LINKS"];

#[test]
fn outside_dev_mode_a_secret_of_few_different_bytes_is_refused() {
    for name in SECRETS {
        let with_secret = |secret: &str| with_variables(&[("HANDBILL_DEV_MODE", "false"), (name, secret)]);
        for weak in ["0".repeat(64), "secret".repeat(8), "change-me".repeat(4), "12345678".repeat(4)] {
            let faults = refused(with_secret(&weak));
            assert!(faults[0].contains("distinct bytes"), "{faults:?}");
            assert!(faults[0].contains("openssl rand -hex 32") && !faults[0].contains(&weak), "{faults:?}");
            assert!(with_variables(&[(name, &weak)]).is_ok(), "dev mode takes it");
        }
        assert!(with_secret(STRONG_SECRET).is_ok());
    }
}

#[test]
fn outside_dev_mode_a_common_operator_password_is_refused() {
    let with_password = |dev_mode, password: &str| {
        with_variables(&[("HANDBILL_DEV_MODE", dev_mode), ("HANDBILL_SECRETS__OPERATOR_PASSWORD", password)])
    };
    for common in ["password1234", "Password2026", "motherfucker", "123456789012", "qwertyuiop99"] {
        let faults = refused(with_password("false", common));
        assert!(faults[0].starts_with("secrets.operator_password"), "{faults:?}");
        assert!(faults[0].contains("is a common password"), "{faults:?}");
        assert!(faults[0].contains("openssl rand -hex 32") && !faults[0].contains(common), "{faults:?}");
        assert!(with_password("true", common).is_ok(), "{common}");
    }
    assert!(with_password("false", "a password of the operator's own").is_ok());
}

/// The settings of a service outside dev mode with these addresses.
fn under(base_url: &str, serve_url: &str, domain: &str, url_style: &str, more: &[(&str, &str)]) -> Settings {
    let addresses = [
        ("HANDBILL_DEV_MODE", "false"),
        ("HANDBILL_SECRETS__SIGNING", STRONG_SECRET),
        ("HANDBILL_REDIS__URL", "redis://127.0.0.1:6379/0"),
        ("HANDBILL_API__BASE_URL", base_url),
        ("HANDBILL_EDGE__SERVE_URL", serve_url),
        ("HANDBILL_EDGE__DOMAIN", domain),
        ("HANDBILL_EDGE__URL_STYLE", url_style),
    ];
    with_variables(&[&addresses[..], more].concat()).unwrap()
}

/// The keys that prevent the start.
fn stopped_by(settings: &Settings) -> Vec<String> {
    let faults = settings.check_role(Role::Serve).err();
    faults.map_or_else(Vec::new, |faults| faults.0.into_iter().map(|fault| fault.key).collect())
}

#[test]
fn outside_dev_mode_pages_and_the_api_must_be_different_sites() {
    let of = |base_url, serve_url, domain, style| stopped_by(&under(base_url, serve_url, domain, style, &[]));
    let both = ["edge.serve_url", "edge.domain"];
    assert!(
        of("https://api.example.com", "https://pages.example.net", "pages.example.net", "host").is_empty()
    );
    assert!(of("https://github.io", "https://p.github.io", "p.github.io", "host").is_empty());
    assert_eq!(of("https://api.example.com", "https://pages.example.com", "pages.example.com", "host"), both);
    assert_eq!(of("https://api.example.co.uk", "https://example.co.uk", "example.co.uk", "host"), both);
    assert_eq!(
        of("https://example.com", "https://example.com:8443", "pages.example.net", "host"),
        ["edge.serve_url"]
    );
    assert_eq!(
        of("https://example.com", "https://pages.example.net", "pages.example.com", "host"),
        ["edge.domain"]
    );
    assert_eq!(
        of("https://api.example.com", "https://pages.example.net", "pages.example.net", "path"),
        ["edge.url_style"]
    );
    assert_eq!(
        of("http://192.0.2.1:8080", "http://192.0.2.1:8081", "localhost", "path"),
        ["edge.url_style", "edge.serve_url"]
    );
}

#[test]
fn the_fault_of_a_shared_site_names_the_domain_and_the_setting_that_allows_it() {
    let settings = under("https://example.com", "https://pages.example.com", "localhost", "host", &[]);
    assert_eq!(
        settings.check_role(Role::Api).unwrap_err().to_string(),
        "edge.serve_url (environment variable HANDBILL_EDGE__SERVE_URL): pages.example.com and example.com of \
         api.base_url are the same site for browsers: example.com; expected different registrable domains for pages and \
         the API, or edge.allow_same_site=true if what is published is as trusted as the API"
    );
}

#[test]
fn shared_site_is_allowed_locally_or_by_setting_or_for_workers() {
    let here = under("http://127.0.0.1:8080", "http://localhost:8081", "localhost", "path", &[]);
    assert!(stopped_by(&here).is_empty());
    let allowed = [("HANDBILL_EDGE__ALLOW_SAME_SITE", "true")];
    let wanted = under("https://example.com", "https://example.com", "example.com", "path", &allowed);
    assert!(stopped_by(&wanted).is_empty());
    let shared = under("https://example.com", "https://example.com", "example.com", "path", &[]);
    for (role, is_refused) in
        [(Role::Serve, true), (Role::Api, true), (Role::Edge, true), (Role::Worker, false)]
    {
        assert_eq!(shared.check_role(role).is_err(), is_refused, "{role:?}");
    }
}
