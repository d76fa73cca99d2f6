//! Names, paths and redirects of sites.

use super::*;

fn names(url_style: UrlStyle) -> Names {
    let serve_url = Url::parse("http://publishing.pages.example:8081").unwrap();
    Names::new("Pages.Example", &serve_url, url_style)
}

fn find(target: &str, host: &str) -> Result<(Mount, String, String), Closed> {
    find_in(UrlStyle::Path, target, host)
}

fn find_in(url_style: UrlStyle, target: &str, host: &str) -> Result<(Mount, String, String), Closed> {
    let uri: Uri = target.parse().unwrap();
    let mut headers = HeaderMap::new();
    headers.insert(header::HOST, host.parse().unwrap());
    let name = name_of(&uri, &headers, Version::HTTP_11)?;
    match names(url_style).find(&uri, name)? {
        SiteMatch::Site(a) => Ok((a.mount, a.label.to_string(), a.path.to_owned())),
        SiteMatch::Alive => Ok((Mount::Path, "alive".into(), String::new())),
        SiteMatch::Ready => Ok((Mount::Path, "ready".into(), String::new())),
        SiteMatch::Icon => Ok((Mount::Path, "icon".into(), String::new())),
    }
}

#[test]
fn a_site_is_found_by_its_name_with_any_port_in_any_case() {
    for host in [
        "my-page-a1b2.pages.example",
        "my-page-a1b2.pages.example:8081",
        "MY-Page-A1B2.PAGES.example:80",
        "my-page-a1b2.pages.example.",
        "my-page-a1b2.pages.example.:8081",
    ] {
        let found = find("/site/x", host).unwrap();
        assert_eq!(found, (Mount::Name, "my-page-a1b2".into(), "/site/x".into()), "{host}");
    }
}

#[test]
fn a_site_is_found_by_path_on_any_other_name() {
    for host in
        ["127.0.0.1:8081", "[::1]:8081", "pages.example", "publishing.pages.example:8081", "other.example"]
    {
        let found = find("/site/my-page-a1b2/css/app.css", host).unwrap();
        assert_eq!(found, (Mount::Path, "my-page-a1b2".into(), "/css/app.css".into()), "{host}");
    }
    assert_eq!(find("/site/my-page-a1b2", "x").unwrap().2, "", "the slash is missing");
    assert_eq!(find("/site/my%2Dpage-a1b2/", "x").unwrap().1, "my-page-a1b2");
    assert_eq!(find("/healthz", "x").unwrap().1, "alive");
    assert_eq!(find("/readyz", "x").unwrap().1, "ready");
    assert_eq!(find("/favicon.ico", "x").unwrap().1, "icon");
    assert_eq!(
        find("/readyz", "my-page-a1b2.pages.example").unwrap().1,
        "my-page-a1b2",
        "a path of the site"
    );
}

#[test]
fn invalid_site_names_and_paths_are_not_found() {
    for (target, host) in [
        ("/site", "127.0.0.1"),
        ("/site/", "127.0.0.1"),
        ("/site//index.html", "127.0.0.1"),
        ("//site/my-page-a1b2/", "127.0.0.1"),
        ("/Site/my-page-a1b2/", "127.0.0.1"),
        ("/site/../my-page-a1b2/", "127.0.0.1"),
        ("/site/my-page-a1b2%2F/", "127.0.0.1"),
        ("/site/my-page-a1b2%00/", "127.0.0.1"),
        ("/site/%ff%fe/", "127.0.0.1"),
        ("/site/my_page-a1b2/", "127.0.0.1"),
        ("/", "www.my-page-a1b2.pages.example"),
        ("/", ".pages.example"),
        ("/", "evil@my-page-a1b2.pages.example"),
        ("/", "a.pages.example"),
        ("/healthz", "my--nowhere.x.pages.example"),
    ] {
        assert_eq!(find(target, host).unwrap_err(), Closed::Missing, "{target} at {host}");
    }
}

#[test]
fn host_style_serves_site_paths_only_on_the_edges_own_names() {
    for own in [
        "publishing.pages.example:8081",
        "Publishing.Pages.Example.",
        "pages.example",
        "PAGES.example.:443",
        "127.0.0.1:8081",
        "127.9.9.9",
        "[::1]:8081",
        "[::1]",
        "localhost:8081",
        "edge.localhost",
        "",
    ] {
        let found = find_in(UrlStyle::Host, "/site/my-page-a1b2/a", own).unwrap();
        assert_eq!(found, (Mount::Path, "my-page-a1b2".into(), "/a".into()), "{own}");
        assert_eq!(find_in(UrlStyle::Host, "/favicon.ico", own).unwrap().1, "icon", "{own}");
        assert_eq!(find_in(UrlStyle::Host, "/", own).unwrap_err(), Closed::Root, "{own}");
    }
    for foreign in ["login.bank.example", "xpages.example", "192.0.2.1:8081", "localhost.example", "::"] {
        for target in ["/", "/site/my-page-a1b2/", "/favicon.ico"] {
            let refused = find_in(UrlStyle::Host, target, foreign).unwrap_err();
            assert_eq!(refused, Closed::Misdirected, "{target} at {foreign}");
        }
        assert_eq!(find_in(UrlStyle::Host, "/healthz", foreign).unwrap().1, "alive");
        assert_eq!(find_in(UrlStyle::Host, "/readyz", foreign).unwrap().1, "ready");
    }
    let by_name = find_in(UrlStyle::Host, "/favicon.ico", "my-page-a1b2.pages.example").unwrap();
    assert_eq!(by_name, (Mount::Name, "my-page-a1b2".into(), "/favicon.ico".into()));
    let unknown = find_in(UrlStyle::Host, "/", "www.my-page-a1b2.pages.example");
    assert_eq!(unknown.unwrap_err(), Closed::Missing, "below the domain");
}

#[test]
fn host_style_redirects_site_paths_to_the_sites_own_name() {
    let own_name = |url_style, mount, host: &str, path| {
        let address = Address { mount, label: host.parse().unwrap(), path };
        names(url_style).own_name_of(&address)
    };
    for (path, location) in [
        ("", "http://my-page-a1b2.pages.example:8081/"),
        ("/", "http://my-page-a1b2.pages.example:8081/"),
        ("/docs/a%20b", "http://my-page-a1b2.pages.example:8081/docs/a%20b"),
        ("//evil.example/", "http://my-page-a1b2.pages.example:8081//evil.example/"),
    ] {
        let found = own_name(UrlStyle::Host, Mount::Path, "my-page-a1b2", path);
        assert_eq!(found.as_deref(), Some(location), "{path}");
    }
    assert_eq!(own_name(UrlStyle::Path, Mount::Path, "my-page-a1b2", "/"), None);
    assert_eq!(own_name(UrlStyle::Host, Mount::Name, "my-page-a1b2", "/"), None);
    for no_label in ["-my-page-a1b2", "xn--page-a1b2"] {
        assert_eq!(own_name(UrlStyle::Host, Mount::Path, no_label, "/"), None, "{no_label}");
    }
}

#[test]
fn versions_have_names_and_paths_of_their_own() {
    let version = "my-page-a1b2-0z9y8x7w";
    for (target, host, mount) in [
        ("/docs".to_owned(), format!("{}.pages.example", version.to_uppercase()), Mount::Name),
        (format!("/site/{version}/docs"), "127.0.0.1".to_owned(), Mount::Path),
    ] {
        let uri: Uri = target.parse().unwrap();
        let Ok(SiteMatch::Site(address)) = names(UrlStyle::Host).find(&uri, &host) else {
            panic!("{target} at {host}")
        };
        assert_eq!((address.mount, address.label.to_string()), (mount, version.to_owned()));
        let names = names(UrlStyle::Host);
        let live = names.live_address_of(&address);
        assert_eq!(live.as_deref(), Some("http://my-page-a1b2.pages.example:8081/docs"));
        let own_name = (mount == Mount::Path).then(|| format!("http://{version}.pages.example:8081/docs"));
        assert_eq!(names.own_name_of(&address), own_name);
        let root = if mount == Mount::Path { format!("/site/{version}/") } else { "/".to_owned() };
        assert_eq!(address.with_slash(), format!("{root}docs/"));
    }
}

#[test]
fn host_name_with_the_domain_as_plain_suffix_is_not_a_subdomain() {
    assert_eq!(find("/", "my-page-a1b2.evilpages.example").unwrap_err(), Closed::Root);
    assert_eq!(find("/site/my-page-a1b2/", "xpages.example").unwrap().0, Mount::Path);
    assert_eq!(find("/site/my-page-a1b2/", "pages.example.evil").unwrap().0, Mount::Path);
}

#[test]
fn absolute_request_target_overrides_the_host_header() {
    let found = find("http://my-page-a1b2.pages.example/a", "other-page-c3d4.pages.example").unwrap();
    assert_eq!(found, (Mount::Name, "my-page-a1b2".into(), "/a".into()));
}

#[test]
fn missing_duplicate_and_non_ascii_host_headers_are_malformed() {
    let uri: Uri = "/".parse().unwrap();
    let mut headers = HeaderMap::new();
    assert_eq!(name_of(&uri, &headers, Version::HTTP_11), Err(Closed::Malformed));
    assert_eq!(name_of(&uri, &headers, Version::HTTP_10), Ok(""));
    let absolute: Uri = "http://my-page-a1b2.pages.example/".parse().unwrap();
    assert_eq!(name_of(&absolute, &headers, Version::HTTP_11), Err(Closed::Malformed));
    for version in [Version::HTTP_10, Version::HTTP_2] {
        assert_eq!(name_of(&absolute, &headers, version), Ok("my-page-a1b2.pages.example"));
    }
    headers.append(header::HOST, poem::http::HeaderValue::from_bytes(b"\xff").unwrap());
    assert_eq!(name_of(&uri, &headers, Version::HTTP_11), Err(Closed::Malformed));
    headers.append(header::HOST, "b".parse().unwrap());
    assert_eq!(name_of(&uri, &headers, Version::HTTP_11), Err(Closed::Malformed));
}

#[test]
fn trailing_slash_redirect_never_leaves_the_host() {
    let with_slash =
        |mount, path| Address { mount, label: "my-page-a1b2".parse().unwrap(), path }.with_slash();
    assert_eq!(with_slash(Mount::Path, ""), "/site/my-page-a1b2/");
    assert_eq!(with_slash(Mount::Path, "/docs"), "/site/my-page-a1b2/docs/");
    assert_eq!(with_slash(Mount::Name, "/docs"), "/docs/");
    assert_eq!(with_slash(Mount::Name, "//evil.example"), "/evil.example/");
}

#[test]
fn the_depth_is_counted_from_the_site_root() {
    let depth = |path| Address { mount: Mount::Path, label: "my-page-a1b2".parse().unwrap(), path }.depth();
    assert_eq!([depth(""), depth("/"), depth("/a.html"), depth("/a/"), depth("/a/b/c")], [0, 0, 0, 1, 2]);
}
