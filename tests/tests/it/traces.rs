//! One trace from the request through the queue to the scan, as a collector receives it, and what no trace
//! may contain.

use std::time::{Duration, Instant};

use handbill_tests::{Agent, Mode, PATIENCE, TracedSpan, World, eventually, in_both_modes, json, program};

use crate::expectations::{PAGE, front_page, page_saying};
use crate::moderation::becomes;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PROXY_SPAN: &str = "00f067aa0ba902b7";
/// A page of so many words is scanned by a job of its own.
const LARGE_WORDS: usize = 60_000;

in_both_modes! {
    #[given(with_collector)]
    async fn a_publish_is_one_trace_from_the_request_to_the_scan(world: World) {
        world.agent().await.publish("my-page", page_saying(&"word ".repeat(LARGE_WORDS))).await.expect(201);
        let trace = whole_trace(&world, "POST /v1/publish").await;
        let way = [
            "POST /v1/publish", "publish", "push publish", "job publish", "push scan", "job scan", "scan",
        ];
        for (parent, child) in way.iter().zip(&way[1..]) {
            assert_eq!(span(&trace, child).parent, span(&trace, parent).id, "{child} hangs below {parent}");
        }
        for part in ["store blobs", "ledger operation", "edge notice"] {
            assert_eq!(span(&trace, part).parent, span(&trace, "job publish").id, "{part}");
        }
        assert_eq!(span(&trace, "ledger commit").parent, span(&trace, "ledger operation").id);

        let request = span(&trace, "POST /v1/publish");
        assert_eq!(request.attributes["http.route"], "/v1/publish");
        assert_eq!(request.attributes["http.request.method"], "POST");
        assert_eq!(request.attributes["http.response.status_code"], "201");
        assert_eq!(request.attributes["service.name"], "handbill");
        let role = |name| span(&trace, name).attributes["handbill.role"].clone();
        let expected = match world.mode() {
            Mode::Embedded => ["serve", "serve"],
            Mode::Production => ["api", "worker"],
        };
        assert_eq!([role("POST /v1/publish"), role("job scan")], expected);
        assert_eq!(span(&trace, "scan").attributes["moderation.status"], "pass");
        assert!(trace.iter().all(|span| !span.is_failed), "{trace:#?}");
    }

    #[given(with_collector)]
    async fn scan_of_a_small_page_is_part_of_the_job_of_its_publish(world: World) {
        world.agent().await.publish("my-page", PAGE).await.expect(201);
        let trace = whole_trace(&world, "POST /v1/publish").await;
        // On a busy machine the scan may take too long, and is queued.
        if !trace.iter().any(|span| span.name == "job scan") {
            let scan = span(&trace, "scan");
            assert_eq!(scan.parent, span(&trace, "job publish").id);
            assert_eq!(scan.attributes["moderation.status"], "pass");
        }
        assert!(trace.iter().all(|span| !span.is_failed), "{trace:#?}");
    }

    #[given(with_collector)]
    async fn a_publish_by_a_tool_is_one_trace_as_well(world: World) {
        let agent = world.agent().await;
        let files = json!([{ "path": "index.html", "content": PAGE }]);
        agent.call_tool("publish_artifact", &json!({ "slug": "my-page", "files": files })).await.expect(200);
        let trace = whole_trace(&world, "POST /mcp").await;
        assert_eq!(span(&trace, "publish").parent, span(&trace, "POST /mcp").id);
    }

    #[given(with_collector)]
    async fn traceparent_of_an_untrusted_client_is_ignored(world: World) {
        let agent = world.agent().await;
        let traceparent = format!("00-{TRACE}-{PROXY_SPAN}-01");
        agent.publish("my-page", PAGE).header("traceparent", traceparent).await.expect(201);
        let trace = whole_trace(&world, "POST /v1/publish").await;
        assert_ne!(trace[0].trace, TRACE);
    }

    #[given(with_collector)]
    #[settings("HANDBILL_DEV_MODE" = "false", "HANDBILL_API__TRUSTED_PROXIES" = "127.0.0.0/8")]
    async fn traceparent_of_a_trusted_proxy_is_used(world: World) {
        let agent = world.agent().await;
        let traceparent = format!("00-{TRACE}-{PROXY_SPAN}-01");
        agent.publish("my-page", PAGE).header("traceparent", traceparent).await.expect(201);
        let request = eventually(PATIENCE, "the request's span", async || {
            let spans = world.collector().spans();
            spans.into_iter().find(|span| span.name == "POST /v1/publish")
        })
        .await;
        assert_eq!((request.trace.as_str(), request.parent.as_str()), (TRACE, PROXY_SPAN));
        eventually(PATIENCE, "the scan's span", async || {
            let spans = world.collector().spans();
            spans.into_iter().find(|span| span.name == "scan" && span.trace == TRACE)
        })
        .await;
    }

    #[given(with_collector)]
    async fn traces_contain_no_secrets_and_no_published_content(world: World) {
        let agent = world.agent().await;
        let signup = agent.signup.clone().unwrap();
        let claim_url = signup.string("claim_url");
        let code = claim_url.rsplit('/').next().unwrap().to_owned();
        let published = agent.publish("my-page", page_saying("very own words")).await.expect(201);
        let private = agent.set_visibility("my-page", "private").paying("dev:0.5").await.expect(200);
        let signature = private.string("signed_url").split_once("sig=").unwrap().1.to_owned();
        world.visitor().open(&private.string("signed_url")).await.expect(200);
        front_page(&world.visitor(), &published).await.expect(403);
        let minted = agent.mint(&json!({ "name": "very own name" })).await.expect(201).string("token");
        agent.get(&format!("/claim/{code}")).await.expect(200);
        agent.get("/v1/usage?key=very-own-query").await.expect(200);
        becomes(&agent, "my-page", "pass").await;
        whole_trace(&world, "POST /v1/publish").await;
        eventually(PATIENCE, "the last call's span", async || {
            world.collector().trace_of("GET /v1/usage")
        })
        .await;
        let reported = format!("{:?}", world.collector().spans());
        let secrets = [
            agent.token(), &minted, &code, &signature, World::SIGNING_SECRET, "svc_sk_", "very own", "very-own",
            "my-page", "dev:0.5", &agent.handle(),
        ];
        for secret in secrets {
            assert!(!reported.contains(secret), "{secret} stands in a trace: {reported}");
        }
    }

    #[given(with_collector)]
    async fn stop_flushes_pending_spans(world: World) {
        let agent = world.agent().await;
        agent.get("/v1/usage").await.expect(200);
        assert!(world.api().terminate().await.status.success());
        assert!(world.collector().trace_of("GET /v1/usage").is_some(), "{:#?}", world.collector().spans());
    }

    #[settings("HANDBILL_TRACES__OTLP_URL" = "http://127.0.0.1:9")]
    async fn unreachable_collector_delays_nothing(world: World) {
        let agent = world.agent().await;
        for number in 0..3 {
            agent.publish("my-page", page_saying(&format!("number {number}"))).await.expect(201);
        }
        let api = world.api();
        eventually(PATIENCE, "the log says so", async || api.log().contains("refuses traces").then_some(())).await;
        let stopping = Instant::now();
        assert!(api.terminate().await.status.success());
        assert!(stopping.elapsed() < Duration::from_secs(15), "{:?}", stopping.elapsed());
        assert_eq!(api.log().matches("refuses traces").count(), 1, "once is enough");
    }

    #[given(with_collector)]
    #[settings("HANDBILL_TRACES__SAMPLE" = "0")]
    async fn unsampled_traces_are_not_sent(world: World) {
        let agent: Agent = world.agent().await;
        agent.publish("my-page", PAGE).await.expect(201);
        becomes(&agent, "my-page", "pass").await;
        for process in [world.api(), world.worker()] {
            if process.is_running() {
                assert!(process.terminate().await.status.success());
            }
        }
        assert_eq!(world.collector().spans(), []);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failed_job_and_its_retry_are_in_the_same_trace() {
    let setup = World::with(Mode::Embedded, program!()).with_collector();
    let world = setup.env("HANDBILL_TEST_FAULTS", "scan.before_judge:fail").start().await;
    let agent = world.agent().await;
    agent.publish("my-page", PAGE).await.expect(201);
    let failed = scan_job(&world, |job| job.is_failed).await;
    world.api().restart_with(&[("HANDBILL_TEST_FAULTS", "")]).await;
    becomes(&agent, "my-page", "pass").await;
    let done = scan_job(&world, |job| !job.is_failed).await;
    assert_eq!((&done.trace, &done.parent), (&failed.trace, &failed.parent));
    assert!(done.attributes["job.attempt"] > failed.attributes["job.attempt"]);
}

async fn scan_job(world: &World, is_wanted: impl Fn(&TracedSpan) -> bool) -> TracedSpan {
    eventually(PATIENCE, "an attempt at a scan", async || {
        let spans = world.collector().spans();
        spans.into_iter().find(|span| span.name == "job scan" && is_wanted(span))
    })
    .await
}

/// The trace with this root, once it contains the spans that end last: those of the publish's job and of a
/// scan with a verdict.
async fn whole_trace(world: &World, root: &str) -> Vec<TracedSpan> {
    let what = format!("the whole trace of {root}");
    eventually(PATIENCE, &what, async || {
        let trace = world.collector().trace_of(root)?;
        let is_scan =
            |span: &TracedSpan| span.name == "scan" && span.attributes.contains_key("moderation.status");
        let job_of = |scan: &TracedSpan| trace.iter().any(|span| span.id == scan.parent);
        trace.iter().find(|span| is_scan(span)).is_some_and(job_of).then_some(trace)
    })
    .await
}

#[track_caller]
fn span<'t>(trace: &'t [TracedSpan], name: &str) -> &'t TracedSpan {
    trace.iter().find(|span| span.name == name).unwrap_or_else(|| panic!("no {name} in {trace:#?}"))
}
