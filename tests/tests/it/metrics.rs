//! The metrics of a process as Prometheus reads them: they match what was done, and name no page.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::{Duration, Instant};

use handbill_tests::{
    Method, Mode, PATIENCE, Process, Reply, Value, World, eventually, in_both_modes, json, program,
};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use crate::expectations::{PAGE, front_page};
use crate::moderation::becomes;

/// A scrape waits two seconds for the components and one for current values. Then this test reads it.
const SCRAPED_WITHIN: Duration = Duration::from_secs(4);

in_both_modes! {
    #[given(with_ops)]
    #[settings("HANDBILL_TEST_FAULTS" = "scan.early:fail")]
    async fn operations_are_counted_in_metrics(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let before = Metrics::of(&world).await;
        let published = agent.publish("my-page", PAGE).await.expect(201);
        agent.get("/v1/artifacts/no-such-page").await.expect(404);
        agent.get("/no/such/path").await.expect(404);
        for _ in 0..3 {
            front_page(&visitor, &published).await.expect(200);
        }
        visitor.open("/site/nobody-here-a1b2/").await.expect(404);
        becomes(&agent, "my-page", "pass").await;
        let scanned = eventually(PATIENCE, "the scan's job is counted", async || {
            let now = Metrics::of(&world).await;
            (now.jobs("scan", "done") > before.jobs("scan", "done")).then_some(now)
        })
        .await;
        let rose = |name: &str, labels: &[(&str, &str)]| scanned.value(name, labels) - before.value(name, labels);

        let requests = |role, route, method, status| {
            let labels = [("role", role), ("route", route), ("method", method), ("status", status)];
            rose("handbill_http_requests_total", &labels)
        };
        assert_eq!(requests("api", "/v1/publish", "POST", "201"), 1.0);
        assert_eq!(requests("api", "/v1/artifacts/{slug}", "GET", "404"), 1.0);
        assert_eq!(requests("api", "-", "GET", "404"), 1.0);
        assert_eq!(requests("edge", "/site/{host}/*", "GET", "200"), 3.0);
        assert_eq!(requests("edge", "/site/{host}/*", "GET", "404"), 1.0);
        let answered = [("role", "api"), ("route", "/v1/publish")];
        assert_eq!(rose("handbill_http_request_duration_seconds_count", &answered), 1.0);

        assert_eq!(scanned.jobs("publish", "done") - before.jobs("publish", "done"), 1.0);
        let of_publish = [("queue", "publish"), ("kind", "publish")];
        assert_eq!(rose("handbill_job_duration_seconds_count", &of_publish), 1.0);
        assert_eq!(rose("handbill_ledger_batch_operations_count", &[]), 1.0);
        assert_eq!(rose("handbill_ledger_commit_seconds_count", &[]), 1.0);
        assert_eq!(rose("handbill_scan_verdicts_total", &[("verdict", "pass")]), 1.0);
        assert_eq!(rose("handbill_published_bytes_total", &[]), PAGE.len() as f64);

        assert_eq!(rose("handbill_views_total", &[]), 3.0);
        assert!(rose("handbill_served_bytes_total", &[]) > 3.0 * PAGE.len() as f64);
        let contents = [("cache", "contents")];
        assert_eq!(rose("handbill_edge_cache_misses_total", &contents), 1.0);
        assert_eq!(rose("handbill_edge_cache_hits_total", &contents), 2.0);
        assert!(rose("handbill_edge_cache_hits_total", &[("cache", "routes")]) >= 1.0);
        assert!(rose("handbill_edge_cache_misses_total", &[("cache", "routes")]) >= 2.0);
    }

    #[given(with_ops)]
    async fn metrics_report_queues_and_connections(world: World) {
        let worker = world.worker();
        let metrics = Metrics::at(&world, &worker).await;
        for queue in ["publish", "scan", "views", "upkeep", "rescan"] {
            for state in ["waiting", "running", "failed", "dead", "cancelled"] {
                assert!(metrics.find("handbill_queue_jobs", &[("queue", queue), ("state", state)]).is_some());
            }
            assert!(metrics.value("handbill_queue_oldest_waiting_seconds", &[("queue", queue)]) < 5.0);
            assert_eq!(metrics.value("handbill_queue_paused", &[("queue", queue)]), 0.0);
        }
        let (pools, redis): (&[_], _) = match world.mode() {
            Mode::Embedded => (&["writer", "reader", "queue"], None),
            Mode::Production => (&["database", "queue"], Some(1.0)),
        };
        for pool in pools {
            let of_pool = |state| metrics.value("handbill_database_connections", &[("pool", pool), ("state", state)]);
            let most = metrics.value("handbill_database_connections_max", &[("pool", pool)]);
            let open = of_pool("idle") + of_pool("in_use");
            assert!((1.0..=most).contains(&open), "{pool}: {open} of {most}");
        }
        assert_eq!(metrics.find("handbill_redis_connected", &[]), redis);
        for part in ["database", "queue", "storage"] {
            assert_eq!(metrics.find("handbill_part_ready", &[("part", part)]), Some(1.0), "{part}");
        }
        assert_eq!(metrics.find("handbill_part_ready", &[("part", "redis")]), redis);
        assert_eq!(metrics.value("handbill_build_info", &[("version", env!("CARGO_PKG_VERSION"))]), 1.0);
        assert!(metrics.value("process_resident_memory_bytes", &[]) > 1e6);

        let alive: &[_] = match world.mode() {
            Mode::Embedded => &[("serve", 1.0), ("api", 0.0), ("edge", 0.0), ("worker", 0.0)],
            Mode::Production => &[("serve", 0.0), ("api", 1.0), ("edge", 1.0), ("worker", 1.0)],
        };
        eventually(PATIENCE, "every process is reported, and every schedule ran", async || {
            let metrics = Metrics::at(&world, &worker).await;
            let is_so = |name, label, value, expected| metrics.find(name, &[(label, value)]) == Some(expected);
            let schedules = ["sweep-scans", "cleanup", "metering", "sweep-blobs", "sweep-records"];
            let last_done = |name| metrics.value("handbill_schedule_last_done_timestamp", &[("schedule", name)]);
            let is_done = schedules.iter().all(|name| last_done(name) > 1.7e9);
            let are_alive = alive.iter().all(|(role, count)| is_so("handbill_processes", "role", role, *count));
            let is_taken = is_so("handbill_queue_workers", "queue", "rescan", 1.0);
            (is_done && are_alive && is_taken).then_some(())
        })
        .await;

        let operator = world.operator();
        let paused = operator.post("/internal/queues/rescan/pause").header("X-Operator", "Ada").await;
        assert!((200..300).contains(&paused.status), "{paused:?}");
        eventually(PATIENCE, "the pause is reported", async || {
            let metrics = Metrics::at(&world, &worker).await;
            (metrics.value("handbill_queue_paused", &[("queue", "rescan")]) == 1.0).then_some(())
        })
        .await;
    }

    #[given(with_ops)]
    async fn metrics_report_the_review_backlog(world: World) {
        let (agent, api) = (world.agent().await, world.api());
        let metrics = Metrics::at(&world, &api).await;
        for name in ["handbill_moderation_waiting", "handbill_moderation_oldest_waiting_seconds", "handbill_reports_open"] {
            assert_eq!(metrics.find(name, &[]), Some(0.0), "{name}");
        }
        assert_eq!(metrics.find("handbill_checkouts_uncredited_total", &[]), Some(0.0));
        let host = agent.publish("my-page", PAGE).await.expect(201).string("host");
        becomes(&agent, "my-page", "pass").await;
        let report = json!({ "host": host, "reason": "it is not mine" });
        world.stranger().post("/v1/reports").json(&report).await.expect(201);
        eventually(PATIENCE, "the report is counted", async || {
            let metrics = Metrics::at(&world, &api).await;
            let waiting = metrics.find("handbill_moderation_waiting", &[]) == Some(1.0);
            (waiting && metrics.find("handbill_reports_open", &[]) == Some(1.0)).then_some(())
        })
        .await;
        let ruling = json!({ "action": "pass" });
        let ruled = world.operator().post(&format!("/internal/moderation/{host}")).header("X-Operator", "Ada");
        ruled.json(&ruling).await.expect(200);
        eventually(PATIENCE, "nothing waits any more", async || {
            let metrics = Metrics::at(&world, &api).await;
            (metrics.find("handbill_reports_open", &[]) == Some(0.0)).then_some(())
        })
        .await;
    }

    #[given(with_ops)]
    async fn every_metric_has_help_text_and_no_page_or_account_labels(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let published = agent.publish("very-own-page", PAGE).await.expect(201);
        front_page(&visitor, &published).await.expect(200);
        becomes(&agent, "very-own-page", "pass").await;
        agent.call(Method::GET, "/very/own/path?code=very-own-code").await.expect(404);
        let odd = agent.call(Method::from_bytes(b"VERYOWNMETHOD").unwrap(), "/v1/usage").await;
        assert_eq!(odd.status, 405, "{odd:?}");
        for process in [world.api(), world.edge(), world.worker()] {
            let scraped = world.ask_ops(&process, "/metrics").await.expect(200);
            assert_eq!(scraped.header("Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
            let text = scraped.text();
            for own in ["very-own", "very/own", "VERYOWN", &agent.handle(), agent.token()] {
                assert!(!text.contains(own), "{own} in {text}");
            }
            for family in read(&text).await {
                assert!(!family["help"].as_str().unwrap().is_empty(), "{family}");
                let kind = family["type"].as_str().unwrap();
                assert!(["counter", "gauge", "histogram"].contains(&kind), "{family}");
            }
        }
    }

    #[given(with_ops)]
    async fn api_metrics_are_for_the_operator_only(world: World) {
        let operator = world.operator();
        let reported = operator.call(Method::GET, "/metrics").await.expect(200);
        assert!(read(&reported.text()).await.iter().any(|family| family["name"] == "handbill_http_requests"));
        let unknown = world.stranger().get("/metricz").await.refused(404, "not_found");
        for stranger in [world.stranger().get("/metrics"), operator.call_knowing("wrong", Method::GET, "/metrics")] {
            assert_eq!(stranger.await.refused(404, "not_found").json(), unknown.json());
        }
        operator.post("/metrics").await.refused(404, "not_found");
        world.visitor().open("/metrics").await.expect(404);
    }

    #[given(with_ops)]
    async fn ops_address_serves_only_metrics_and_probes(world: World) {
        let api = world.api();
        for path in ["/", "/v1/status", "/metrics/", "/admin", "/site/my-page-a1b2/"] {
            world.ask_ops(&api, path).await.expect(404);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scrape_returns_the_available_metrics_without_the_database() {
    let world = World::with(Mode::Production, program!()).with_own_postgres().with_ops().start().await;
    world.agent().await.publish("my-page", PAGE).await.expect(201);
    let api = world.api();
    let publishes = [("role", "api"), ("route", "/v1/publish"), ("method", "POST"), ("status", "201")];
    assert!(Metrics::at(&world, &api).await.find("handbill_queue_jobs", &[("queue", "scan")]).is_some());
    world.postgres().stop();
    eventually(PATIENCE, "a scrape without the queue", async || {
        let started = Instant::now();
        let metrics = Metrics::at(&world, &api).await;
        assert!(started.elapsed() < SCRAPED_WITHIN, "{:?}", started.elapsed());
        assert_eq!(metrics.value("handbill_http_requests_total", &publishes), 1.0);
        let reported = ["handbill_queue_jobs", "handbill_processes", "handbill_moderation_waiting"];
        let is_reported = reported.iter().any(|name| metrics.find(name, &[]).is_some());
        let is_away = metrics.find("handbill_part_ready", &[("part", "database")]) == Some(0.0);
        (is_away && !is_reported).then_some(())
    })
    .await;
    world.postgres().start().await;
    eventually(PATIENCE, "the queue is reported again", async || {
        Metrics::at(&world, &api).await.find("handbill_queue_jobs", &[("queue", "scan")])
    })
    .await;
}

/// The metrics of all processes of a world, added up.
#[derive(Debug, Default)]
struct Metrics(Vec<(String, BTreeMap<String, String>, f64)>);

impl Metrics {
    /// Scrapes all processes. In embedded mode there is one.
    async fn of(world: &World) -> Self {
        let mut all = Self::default();
        let mut seen = Vec::new();
        for process in [world.api(), world.edge(), world.worker()] {
            if !seen.contains(&process.name().to_owned()) {
                all.0.extend(Self::at(world, &process).await.0);
                seen.push(process.name().to_owned());
            }
        }
        all
    }

    async fn at(world: &World, process: &Process) -> Self {
        let scraped: Reply = world.ask_ops(process, "/metrics").await.expect(200);
        let families = read(&scraped.text()).await;
        let samples = families.iter().flat_map(|family| family["samples"].as_array().unwrap());
        let sample = |it: &Value| {
            let labels = it["labels"].as_object().unwrap();
            let labels =
                labels.iter().map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned()));
            (it["name"].as_str().unwrap().to_owned(), labels.collect(), it["value"].as_f64().unwrap())
        };
        Self(samples.map(sample).collect())
    }

    /// The sum of the samples with these labels, or `None` without any.
    fn find(&self, name: &str, labels: &[(&str, &str)]) -> Option<f64> {
        let bears = |borne: &BTreeMap<String, String>| {
            labels.iter().all(|(name, value)| borne.get(*name).is_some_and(|borne| borne == value))
        };
        let found =
            self.0.iter().filter(|(it, borne, _)| it == name && bears(borne)).map(|(.., value)| *value);
        found.reduce(|sum, value| sum + value)
    }

    fn value(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        self.find(name, labels).unwrap_or(0.0)
    }

    fn jobs(&self, kind: &str, outcome: &str) -> f64 {
        self.value("handbill_jobs_total", &[("kind", kind), ("outcome", outcome)])
    }
}

/// The metric families in a text, as the reference implementation parses them.
async fn read(text: &str) -> Vec<Value> {
    let python = std::env::var_os("HANDBILL_TEST_METRICS")
        .expect("HANDBILL_TEST_METRICS names no program: run the tests by scripts/test");
    let mut reading = Command::new(python)
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/metrics/read.py"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("Prometheus' reader runs");
    reading.stdin.take().unwrap().write_all(text.as_bytes()).await.unwrap();
    let read = reading.wait_with_output().await.unwrap();
    assert!(read.status.success(), "Prometheus cannot read\n{text}");
    let families = serde_json::from_slice::<Value>(&read.stdout).unwrap_or_else(|_| json!([]));
    families.as_array().expect("a list of families").clone()
}
