//! Every key from every source, every fault at once, and no secret shown.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use domain::{CardTerms, Chance, ContentPolicy, DevPaymentTerms};
use tempfile::TempDir;

mod every_key;
mod refused_starts;

use every_key::EVERY_KEY;

use crate::reader::{DEFAULT_TOML, Reader, flatten, variable_of};
use crate::{Faults, LogFormat, Role, Settings, Source, Sources, Storage, load, load_apart};

/// 32 bytes.
const STRONG_SECRET: &str = "5f2b0c7e9a1d4388b6f0e2a7c1d9f354";

fn with_variables(variables: &[(&str, &str)]) -> Result<Settings, Faults> {
    let env = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    load(Sources { file: None, env })
}

/// Settings from a file with this text. The directory must outlive the use of the path.
fn with_file(text: &str) -> (TempDir, Result<Settings, Faults>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("handbill.toml");
    fs::write(&path, text).unwrap();
    (folder, load(Sources { file: Some(path), env: std::iter::empty() }))
}

/// The faults, one per line.
fn refused(loaded: Result<Settings, Faults>) -> Vec<String> {
    loaded.unwrap_err().to_string().lines().map(str::to_owned).collect()
}

fn shown(settings: &Settings, key: &str) -> (String, Source) {
    let line = settings.describe().iter().find(|line| line.key == key).unwrap();
    (line.value.clone(), line.source.clone())
}

#[test]
fn the_defaults_are_the_documented_ones() {
    let settings = with_variables(&[]).unwrap();
    assert!(settings.dev_mode);
    assert_eq!(settings.api.listen.to_string(), "127.0.0.1:8080");
    assert_eq!(settings.api.base_url, "http://127.0.0.1:8080");
    assert!(settings.api.trusted_proxies.is_empty());
    assert_eq!(settings.edge.serve_url, "http://127.0.0.1:8081");
    assert_eq!(settings.edge.domain, "localhost");
    assert_eq!(settings.edge.cache_bytes, 96 * 1024 * 1024);
    for connections in [&settings.api.connections, &settings.edge.connections] {
        assert_eq!((connections.max, connections.per_address_max), (10_000, 1_000));
        assert_eq!((connections.head_timeout.as_secs(), connections.idle_timeout.as_secs()), (30, 75));
        assert_eq!((connections.head_bytes_max, connections.headers_max), (64 * 1024, 100));
        assert_eq!((connections.streams_max, connections.answer_bytes_per_second_min), (32, 1024));
    }
    let load = &settings.api.load;
    assert_eq!((load.requests_max, load.sign_ins_max, load.publishes_max), (256, 64, 128));
    assert_eq!((load.uploads_max, load.waiting_max, load.wait_max.as_secs()), (64, 256, 2));
    assert_eq!((load.body_timeout.as_secs(), load.body_grace.as_secs()), (600, 30));
    assert_eq!((load.body_bytes_per_second_min, load.upload_bytes_max), (1024, 256 * 1024 * 1024));
    let edge = &settings.edge;
    assert_eq!((edge.route_reads_max, edge.content_reads_max, edge.streamed_answers_max), (64, 64, 1024));
    assert_eq!((edge.waiting_max, edge.wait_max.as_secs()), (256, 1));
    let policy = ContentPolicy {
        font_hosts: ContentPolicy::DEFAULT_FONT_HOSTS.map(str::to_owned).to_vec(),
        ..ContentPolicy::default()
    };
    assert_eq!(settings.edge.policy, policy);
    assert_eq!(settings.database.url.reveal(), "sqlite://./data/handbill.db");
    assert_eq!(settings.queue.url.reveal(), "sqlite://./data/queue.db");
    assert!(settings.redis.url.is_none());
    assert!(matches!(&settings.storage, Storage::Folder(folder) if folder == Path::new("./data/blobs")));
    assert!(settings.secrets.signing.is_none());
    assert_eq!(settings.limits.provisional_lifetime.as_secs(), 30 * 60);
    assert_eq!(settings.limits.purge_grace.as_secs(), 24 * 60 * 60);
    assert_eq!(settings.log.filter, "info");
    assert_eq!(settings.log.format, LogFormat::Text);
    let cores = std::thread::available_parallelism().unwrap().get();
    assert_eq!((settings.workers.concurrency, settings.workers.scan_concurrency), (cores * 16, cores * 4));
    assert_eq!((settings.workers.scan_memory_mb, settings.limits.scan_seconds_per_minute), (1200, 20));
    assert_eq!(settings.tariff().dev_rail, DevPaymentTerms::Open);
    assert_eq!(settings.tariff().claimed_free_publishes, 100);
    assert_eq!(settings.addresses().serve_url, "http://127.0.0.1:8081");
    assert!(settings.ops.listen.is_none() && settings.traces.otlp_url.is_none());
    assert_eq!(settings.traces.sample, 1.0);
}

#[test]
fn every_key_can_be_set_by_the_environment() {
    let env: Vec<_> =
        EVERY_KEY.iter().map(|(key, value, _)| (variable_of(key), (*value).to_owned())).collect();
    let settings = load(Sources { file: None, env: env.into_iter() }).unwrap();
    for (key, _, expected) in EVERY_KEY {
        assert_eq!(shown(&settings, key), (expected.to_owned(), Source::Environment(variable_of(key))));
    }
}

#[test]
fn every_key_can_be_set_by_the_file() {
    let lines: Vec<_> = EVERY_KEY.iter().map(|(key, value, _)| format!("{key} = {value:?}")).collect();
    let (folder, settings) = with_file(&lines.join("\n"));
    let settings = settings.unwrap();
    for (key, _, expected) in EVERY_KEY {
        let source = Source::File(folder.path().join("handbill.toml"));
        assert_eq!(shown(&settings, key), (expected.to_owned(), source));
    }
}

#[test]
fn the_default_file_names_exactly_the_known_keys() {
    let mut reader = Reader::new(None, std::iter::empty());
    assert!(crate::load::read(&mut reader).is_some());
    let is_setting = |rest: &str| {
        rest.split_once(" = ")
            .is_some_and(|(key, _)| key.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'))
    };
    let uncommented: String = DEFAULT_TOML
        .lines()
        .map(|line| line.strip_prefix("# ").filter(|rest| is_setting(rest)).unwrap_or(line))
        .flat_map(|line| [line, "\n"])
        .collect();
    let documented: BTreeSet<String> = flatten(uncommented.parse().unwrap()).into_keys().collect();
    let known: BTreeSet<String> = reader.known_keys().iter().map(|key| (*key).to_owned()).collect();
    let tested: BTreeSet<String> = EVERY_KEY.iter().map(|(key, _, _)| (*key).to_owned()).collect();
    assert_eq!(documented, known);
    assert_eq!(tested, known);
}

#[test]
fn toml_values_and_strings_are_parsed_alike() {
    let natural = "dev_mode = false\napi.trusted_proxies = ['10.0.0.0/8']\nlimits.free_views = 5";
    let texts = "dev_mode = 'false'\napi.trusted_proxies = '10.0.0.0/8'\nlimits.free_views = '5'";
    for text in [natural, texts] {
        let (_folder, settings) = with_file(text);
        let settings = settings.unwrap();
        assert!(!settings.dev_mode);
        assert_eq!(settings.api.trusted_proxies.len(), 1);
        assert_eq!(settings.limits.free_views, 5);
    }
}

#[test]
fn the_environment_wins_over_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    fs::write(&path, "[limits]\nfree_views = 5\nreports_per_minute = 6").unwrap();
    let env = [("HANDBILL_LIMITS__FREE_VIEWS".to_owned(), "7".to_owned())];
    let settings = load(Sources { file: Some(path), env: env.into_iter() }).unwrap();
    assert_eq!((settings.limits.free_views, settings.limits.reports_per_minute), (7, 6));
}

#[test]
fn all_faults_are_reported_together_with_key_source_and_expectation() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    fs::write(&path, "[api]\nlisten = 8080\nlissten = 'x'\n[limits]\nfree_views = -1\n[workes]\n").unwrap();
    let env = [
        ("HANDBILL_LIMITS__PROVISIONAL_LIFETIME", "soon"),
        ("HANDBILL_API_BASE_URL", "http://example.com"),
        ("HANDBILL_EDGE__SERVE_URL", "ftp://example.com"),
        ("HANDBILL_QUITE__OTHER", "1"),
    ];
    let env = env.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
    let faults = refused(load(Sources { file: Some(path.clone()), env }));
    let file = format!("file {}", path.display());
    let expected = [
        format!("api.listen ({file}): \"8080\" is invalid; expected an IP address with a port, such as 127.0.0.1:8080"),
        "edge.serve_url (environment variable HANDBILL_EDGE__SERVE_URL): \"ftp://example.com\" is invalid; \
         expected an address such as https://pages.example.com, without user, query or fragment"
            .to_owned(),
        "limits.provisional_lifetime (environment variable HANDBILL_LIMITS__PROVISIONAL_LIFETIME): \"soon\" is \
         invalid; expected a duration with its unit, such as 30m, 24h or 2s"
            .to_owned(),
        format!("limits.free_views ({file}): \"-1\" is invalid; expected a whole number from 0 to 9223372036854775807"),
        format!("api.lissten ({file}): unknown key; did you mean api.listen?"),
        format!("workes ({file}): unknown key; expected one of the keys that `handbill config` lists"),
        "api_base_url (environment variable HANDBILL_API_BASE_URL): unknown key; did you mean HANDBILL_API__BASE_URL?"
            .to_owned(),
        "quite.other (environment variable HANDBILL_QUITE__OTHER): unknown key; expected one of the keys that \
         `handbill config` lists"
            .to_owned(),
    ];
    assert_eq!(faults, expected);
}

#[test]
fn faults_and_values_are_single_lines_for_any_file_content() {
    let text = "\"two\\nlines\" = 1\n\"\" = 2\nlog = \"a\\nb\"\n[database]\nurl = \"sqlite://a\\tb\"\n";
    let (_folder, loaded) = with_file(text);
    let faults = refused(loaded);
    assert_eq!(faults.len(), 4, "{faults:?}");
    for (fault, expected) in faults.iter().zip([
        ("log (", "has a control character, such as a line break"),
        ("database.url (", "has a control character"),
        ("\"\" (", "unknown key"),
        ("two\\nlines (", "unknown key"),
    ]) {
        assert!(fault.starts_with(expected.0) && fault.contains(expected.1), "{fault}");
    }
}

#[test]
fn unrelated_environment_variables_are_ignored() {
    let names =
        ["HANDBILL_CONFIG", "HANDBILL_TOKEN", "HANDBILL_URL", "HANDBILL_TEST_CLOCK", "HANDBILLS", "PATH"];
    assert!(with_variables(&names.map(|name| (name, "x"))).is_ok());
}

#[test]
fn a_named_file_must_be_there_and_be_toml() {
    let faults = refused(load(Sources { file: Some("/no/such/file.toml".into()), env: std::iter::empty() }));
    assert!(faults[0].starts_with("settings file (file /no/such/file.toml): cannot be read"), "{faults:?}");
    let (_folder, loaded) = with_file("dev_mode = true\nsecrets.signing = 'swordfish");
    let faults = refused(loaded);
    assert!(faults[0].starts_with("line 2 (file "), "{faults:?}");
    assert!(!faults[0].contains("swordfish"), "{faults:?}");
}

#[test]
fn secrets_are_never_shown() {
    let env: Vec<_> =
        EVERY_KEY.iter().map(|(key, value, _)| (variable_of(key), (*value).to_owned())).collect();
    let settings = load(Sources { file: None, env: env.into_iter() }).unwrap();
    let everything = format!("{settings:?}");
    for secret in ["-secret", "dbpass", "redispass"] {
        assert!(!everything.contains(secret), "{secret} in {everything}");
    }
    let faults = refused(with_variables(&[
        ("HANDBILL_DATABASE__URL", "mysql://me:dbpass@db/x"),
        ("HANDBILL_REDIS__URL", "http://:redispass@cache"),
    ]))
    .join("\n");
    assert!(faults.contains("HANDBILL_DATABASE__URL") && faults.contains("HANDBILL_REDIS__URL"), "{faults}");
    assert!(!faults.contains("dbpass") && !faults.contains("redispass"), "{faults}");
}

#[test]
fn card_payments_need_a_processor_address_and_a_key() {
    let address = ("HANDBILL_CARD__API_URL", "https://cards.example");
    let key = ("HANDBILL_CARD__SECRET_KEY", "sk_test_0123456789");
    let closed = ("HANDBILL_DEV_MODE", "false");
    for (variables, rail) in [
        (&[closed, address, key][..], CardTerms::Open),
        (&[address], CardTerms::Closed),
        (&[], CardTerms::Closed),
    ] {
        assert_eq!(with_variables(variables).unwrap().tariff().card_rail, rail, "{variables:?}");
    }
}

#[test]
fn edge_needs_only_the_link_secret() {
    let with_links = |secret: &str| {
        with_variables(&[
            ("HANDBILL_DEV_MODE", "false"),
            ("HANDBILL_REDIS__URL", "redis://127.0.0.1:6379/0"),
            ("HANDBILL_SECRETS__LINKS", secret),
        ])
    };
    assert!(refused(with_links(&STRONG_SECRET[1..]))[0].starts_with("secrets.links"));
    let settings = with_links(STRONG_SECRET).unwrap();
    assert!(settings.check_role(Role::Edge).is_ok());
    assert!(settings.check_role(Role::Api).is_err());
    let lacking = |role| with_links("").unwrap().check_role(role).unwrap_err().to_string();
    assert!(lacking(Role::Edge).contains("HANDBILL_SECRETS__LINKS"), "{}", lacking(Role::Edge));
    assert!(!lacking(Role::Api).contains("HANDBILL_SECRETS__LINKS"), "it needs more than that");
    assert_eq!(settings.link_secret(&Chance::seeded(1)).unwrap().reveal(), STRONG_SECRET);
}

#[test]
fn a_bucket_needs_its_key_and_says_which_half_is_missing() {
    let bucket = [("HANDBILL_STORAGE__URL", "s3://pages"), ("HANDBILL_STORAGE__ACCESS_KEY_ID", "id")];
    let faults = refused(with_variables(&bucket));
    assert_eq!(faults.len(), 1);
    assert!(
        faults[0].starts_with("storage.secret_access_key (default): is not set, and storage.url is s3://")
    );
    let settings =
        with_variables(&[&bucket[..], &[("HANDBILL_STORAGE__SECRET_ACCESS_KEY", "key")]].concat()).unwrap();
    let Storage::Bucket(bucket) = settings.storage else { panic!("not a bucket") };
    assert_eq!(
        (bucket.name.as_str(), bucket.prefix.as_str(), bucket.region.as_str()),
        ("pages", "", "us-east-1")
    );
}

#[test]
fn component_urls_accept_only_their_schemes() {
    let wrong = [
        ("HANDBILL_DATABASE__URL", "redis://host"),
        ("HANDBILL_DATABASE__URL", "postgres:///nohost"),
        ("HANDBILL_QUEUE__URL", "file:///queue"),
        ("HANDBILL_QUEUE__URL", "sqlite://"),
        ("HANDBILL_REDIS__URL", "http://host"),
        ("HANDBILL_STORAGE__URL", "gs://bucket"),
        ("HANDBILL_STORAGE__URL", "s3:///prefix"),
        ("HANDBILL_API__BASE_URL", "http://user@host"),
        ("HANDBILL_EDGE__DOMAIN", "example.com:81"),
        ("HANDBILL_EDGE__FONT_HOSTS", "fonts.example.com; script-src *"),
        ("HANDBILL_WORKERS__CONCURRENCY", "0"),
        ("HANDBILL_API__CONNECTIONS_MAX", "0"),
        ("HANDBILL_EDGE__CONNECTIONS_MAX", "1000001"),
        ("HANDBILL_API__HEAD_BYTES_MAX", "8191"),
        ("HANDBILL_EDGE__HEAD_TIMEOUT", "0s"),
        ("HANDBILL_EDGE__IDLE_TIMEOUT", "2h"),
        ("HANDBILL_API__UPLOAD_BYTES_MAX", "1000000"),
        ("HANDBILL_EDGE__TRUSTED_PROXIES", "proxy.example.com"),
        ("HANDBILL_OPS__LISTEN", "9090"),
        ("HANDBILL_TRACES__OTLP_URL", "http://user:password@collector"),
        ("HANDBILL_TRACES__SAMPLE", "1.5"),
        ("HANDBILL_TRACES__SAMPLE", "NaN"),
    ];
    for (name, value) in wrong {
        assert_eq!(refused(with_variables(&[(name, value)])).len(), 1, "{name}={value}");
    }
}

#[test]
fn queue_database_defaults_to_the_postgres_database() {
    let settings = with_variables(&[("HANDBILL_DATABASE__URL", "postgres://me@db/handbill")]).unwrap();
    assert_eq!(settings.queue.url, settings.database.url);
    assert_eq!(shown(&settings, "queue.url").1, Source::Derived("database.url"));
    let settings = with_variables(&[("HANDBILL_DATA_DIR", "/srv/50% full?")]).unwrap();
    assert_eq!(settings.queue.url.reveal(), "sqlite:///srv/50%25 full%3F/queue.db");
}

#[test]
fn edge_trusted_proxies_default_to_those_of_the_api() {
    let api = ("HANDBILL_API__TRUSTED_PROXIES", "10.0.0.0/8");
    let closed = ("HANDBILL_DEV_MODE", "false");
    let settings = with_variables(&[closed, api]).unwrap();
    assert_eq!(settings.edge.trusted_proxies, settings.api.trusted_proxies);
    assert_eq!(shown(&settings, "edge.trusted_proxies").1, Source::Derived("api.trusted_proxies"));
    let own = with_variables(&[closed, api, ("HANDBILL_EDGE__TRUSTED_PROXIES", "192.0.2.1")]).unwrap();
    assert_eq!(own.edge.trusted_proxies, ["192.0.2.1/32".parse().unwrap()]);
}

#[test]
fn rate_limits_are_off_in_dev_mode_unless_set() {
    let off = with_variables(&[]).unwrap().limits;
    assert_eq!((off.claims_per_person, off.claims_per_address_per_day), (0, 0));
    assert_eq!((off.publishes_per_minute, off.edge_misses_per_minute), (0, 0));
    let settings = with_variables(&[("HANDBILL_DEV_MODE", "false")]).unwrap();
    let on = &settings.limits;
    assert_eq!((on.claims_per_person, on.claims_per_address_per_day), (20, 30));
    assert_eq!((on.publishes_per_minute, on.edge_misses_per_minute), (60, 120));
    let derived = ("60".to_owned(), Source::Derived("dev_mode"));
    assert_eq!(shown(&settings, "limits.publishes_per_minute"), derived);
    for dev_mode in ["true", "false"] {
        let set = [("HANDBILL_DEV_MODE", dev_mode), ("HANDBILL_LIMITS__PUBLISHES_PER_MINUTE", "7")];
        assert_eq!(with_variables(&set).unwrap().limits.publishes_per_minute, 7, "dev_mode={dev_mode}");
    }
}

#[test]
fn a_single_role_needs_redis_and_says_so() {
    let settings = with_variables(&[]).unwrap();
    assert!(settings.check_role(Role::Serve).is_ok());
    for (role, name) in [(Role::Api, "api"), (Role::Edge, "edge"), (Role::Worker, "worker")] {
        let faults = settings.check_role(role).unwrap_err().to_string();
        assert!(faults.starts_with("redis.url") && faults.contains(&format!("handbill {name}")), "{faults}");
    }
    let settings = with_variables(&[("HANDBILL_REDIS__URL", "redis://127.0.0.1:6379/0")]).unwrap();
    assert!(settings.check_role(Role::Api).is_ok());
}

#[test]
fn settings_loaded_for_another_directory_ignore_the_running_settings() {
    let folder = TempDir::new().unwrap();
    let bare = load_apart(folder.path()).unwrap();
    assert_eq!(bare.data_dir, folder.path());
    assert_eq!(bare.database.url.reveal(), format!("sqlite://{}/handbill.db", folder.path().display()));
    // The directory's own file is read, and the directory stays the data directory.
    fs::write(folder.path().join("handbill.toml"), "[storage]\nurl = \"file:///elsewhere\"\n").unwrap();
    let with_file = load_apart(folder.path()).unwrap();
    assert_eq!(with_file.data_dir, folder.path());
    assert!(matches!(with_file.storage, Storage::Folder(path) if path == Path::new("/elsewhere")));
    let file = folder.path().join("other.toml");
    fs::write(&file, "data_dir = \"/srv/other\"\n").unwrap();
    assert_eq!(load_apart(&file).unwrap().data_dir, Path::new("/srv/other"));
    assert!(load_apart(&folder.path().join("none.toml")).is_err());
}
