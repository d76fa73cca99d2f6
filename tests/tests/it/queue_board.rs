//! The queue board for programs and in a shell: the state of queues, processes and jobs, and the operator's
//! actions on them.

use std::time::Duration;

use domain::Time;
use handbill_tests::{
    Call, Finished, Method, Mode, PATIENCE, Reply, Value, World, eventually, in_both_modes, json,
};

use crate::expectations::{PAGE, assert_page, page_saying};
use crate::moderation::becomes;

/// Every scan fails, and a rescan that fails three times is dead.
pub const FAILING: (&str, &str) = ("HANDBILL_TEST_FAULTS", "scan.before_judge:fail");
/// Three attempts with their backoff, and the poll of the process.
const TO_DIE: Duration = Duration::from_secs(40);
const BROWSER: &str = "text/html,application/xhtml+xml";
const NO_JOB: &str = "01KC4GZJ2Q8W5T7RXN3VB6M9DE";

in_both_modes! {
    async fn failed_job_is_listed_as_dead_and_succeeds_after_a_retry(world: World) {
        let host = scanned_page(&world).await;
        world.worker().restart_with(&[FAILING]).await;
        let path = dead_rescan(&world, &host).await;

        let dead = get(&world, &path).await.expect(200);
        assert_eq!((dead.string("kind"), dead.string("state")), ("rescan".into(), "dead".into()), "{dead:?}");
        assert_eq!((dead.integer("attempts"), dead.integer("attempts_max")), (3, 3));
        assert!(dead.string("last_error").contains("scan.before_judge"), "{dead:?}");
        assert_eq!(counts(&world, "rescan").await["dead"], 1);
        let events = happened(&dead);
        assert_eq!((events[0].as_str(), events[events.len() - 1].as_str()), ("pushed", "died"), "{events:?}");
        assert_eq!(events.iter().filter(|event| *event == "failed").count(), 2, "{events:?}");
        let board = get(&world, "/internal/queues").await.expect(200);
        let problems = board.at("problems");
        assert!(problems.as_array().unwrap().contains(&json!("1 dead job in rescan")), "{problems}");
        let shown = page(&world, "/admin/queues/rescan").await;
        assert!(shown.contains(">Retry<span") && shown.contains("1 dead job"), "{shown}");
        assert!(shown.contains(&dead.string("id")) && shown.contains("scan.before_judge"), "{shown}");

        world.worker().restart().await;
        let retry = format!("{path}/retry");
        world.operator().post(&retry).await.refused(400, "invalid_request").naming("X-Operator");
        let retried = steer(&world, &retry).await.expect(200);
        assert_eq!(retried.json(), json!({ "queue": "rescan", "id": dead.string("id"), "retried": true }));
        let done = becomes_state(&world, &path, "done").await;
        let events = happened(&done);
        assert!(events.contains(&"retried".to_owned()) && events.last().unwrap() == "done", "{events:?}");
        let by =
            done.at("timeline").as_array().unwrap().iter().find(|event| event["what"] == "retried").cloned();
        assert_eq!(by.unwrap()["by"], "Ada");
        assert_eq!(counts(&world, "rescan").await["dead"], 0);
        for verb in ["retry", "cancel", "discard"] {
            let late = steer(&world, &format!("{path}/{verb}")).await.refused(409, "job_state");
            assert!(late.string("message").contains("done"), "{late:?}");
        }
    }

    async fn figures_of_the_last_hour_add_up_over_all_processes(world: World) {
        let agent = world.agent().await;
        let _second = match world.mode() {
            Mode::Embedded => None,
            Mode::Production => Some(world.start_worker(&[]).await),
        };
        for number in 0..6 {
            agent
                .publish(&format!("page-{number}"), page_saying(&number.to_string()))
                .paying("dev:0.005")
                .await
                .expect(201);
        }
        let publish = eventually(PATIENCE, "every publish is counted", async || {
            let publish = counts(&world, "publish").await;
            (publish["done_last_minute"] == 6).then_some(publish)
        })
        .await;
        let minutes = publish["minutes"].as_array().unwrap();
        assert_eq!(minutes.len(), 60);
        let sum = |field: &str| minutes.iter().filter_map(|minute| minute[field].as_u64()).sum::<u64>();
        assert_eq!((sum("done"), sum("failed")), (6, 0), "{publish}");
        let busy = minutes.iter().find(|minute| minute["done"] != 0).unwrap();
        assert!(
            busy["took_p50_ms"].as_u64() <= busy["took_p95_ms"].as_u64() && busy["took_p95_ms"].is_u64(),
            "{busy}"
        );
        eventually(PATIENCE, "the depth is recorded", async || {
            let publish = counts(&world, "publish").await;
            publish["minutes"].as_array().unwrap().iter().any(|minute| minute["depth"].is_u64()).then_some(())
        })
        .await;

        let board = get(&world, "/internal/queues").await.expect(200);
        assert_eq!(board.at("problems"), json!([]), "{board:?}");
        assert_eq!(board.at("versions"), json!([env!("CARGO_PKG_VERSION")]));
        let processes = list(&board, "processes");
        assert!(
            processes.iter().all(|process| process["memory_bytes"].as_u64() > Some(1 << 20)),
            "{processes:?}"
        );
        let slots: u64 = processes
            .iter()
            .flat_map(|process| process["takes"].as_array().unwrap().clone())
            .filter(|taken| taken["queue"] == "publish")
            .map(|taken| taken["concurrency"].as_u64().unwrap())
            .sum();
        assert_eq!(publish["slots"], slots);
        let shown = page(&world, "/admin/queues").await;
        assert!(
            shown.contains("All queues healthy")
                && shown.contains("Completed of publish in the last 60 minutes: 6,"),
            "{shown}"
        );
        let printed = admin(&world, &["queues"]).await.output;
        assert!(printed.contains("All queues healthy"), "{printed}");
    }

    #[settings("HANDBILL_TEST_FAULTS" = "scan.early:fail")]
    async fn jobs_are_found_by_id_account_and_host(world: World) {
        let agent = world.agent().await;
        let published = agent.publish("my-page", PAGE).await.expect(201);
        becomes(&agent, "my-page", "pass").await;
        let job = eventually(PATIENCE, "the scan is listed", async || {
            let done = get(&world, "/internal/queues/scan/jobs?state=done").await.expect(200);
            list(&done, "items").first().cloned()
        })
        .await;
        let id = job["id"].as_str().unwrap();
        let by_id =
            get(&world, &format!("/admin/queues?find={id}")).header("Accept", BROWSER).await.expect(302);
        assert_eq!(by_id.header("Location"), format!("/admin/queues/scan/{id}"));
        let detail = page(&world, by_id.header("Location")).await;
        let (_, rest) = detail.split_once("/admin/queues?find=").expect("a link to the account's jobs");
        let account = rest.split('"').next().unwrap();
        for sought in [account, published.string("host").as_str()] {
            let found = page(&world, &format!("/admin/queues?find={sought}")).await;
            assert!(
                found.contains(&format!("/admin/queues/scan/{id}"))
                    && found.contains("/admin/queues/publish/"),
                "{found}"
            );
        }
        let unknown = page(&world, "/admin/queues?find=%3Cb%3E").await;
        assert!(
            unknown.contains("No job, account or page is named") && !unknown.contains("<b>"),
            "{unknown}"
        );
    }

    #[settings("HANDBILL_TEST_FAULTS" = "answer.wait_ms:instead=1500")]
    async fn publish_that_is_not_settled_is_found_by_the_host_of_its_page(world: World) {
        let (agent, other) = (world.agent().await, world.agent().await);
        let host = agent.publish("my-page", PAGE).await.expect(201).string("host");
        other.publish("my-page", PAGE).await.expect(201);
        let failing = "publish.before_blob_put:fail,answer.wait_ms:instead=1500";
        world.worker().restart_with(&[("HANDBILL_TEST_FAULTS", failing)]).await;
        for agent in [&agent, &other] {
            agent.publish("my-page", "<h1>Changed</h1>").await.refused(503, "overloaded");
        }
        let found = page(&world, &format!("/admin/queues?find={host}")).await;
        let publishes = found.matches("href=\"/admin/queues/publish/").count();
        assert_eq!(publishes, 2, "one settled and one unsettled publish, none of the other account: {found}");
    }

    async fn dead_jobs_of_a_queue_are_requeued_together(world: World) {
        let host = scanned_page(&world).await;
        world.worker().restart_with(&[FAILING]).await;
        let path = dead_rescan(&world, &host).await;
        world.worker().restart().await;
        let requeued = steer(&world, "/internal/queues/rescan/requeue-dead").await.expect(200);
        assert_eq!(requeued.json(), json!({ "queue": "rescan", "requeued": 1 }));
        becomes_state(&world, &path, "done").await;
        let again = steer(&world, "/internal/queues/rescan/requeue-dead").await.expect(200);
        assert_eq!(again.integer("requeued"), 0);
    }

    async fn a_dead_job_is_discarded_and_counts_as_dead_no_more(world: World) {
        let host = scanned_page(&world).await;
        world.worker().restart_with(&[FAILING]).await;
        let path = dead_rescan(&world, &host).await;
        world.worker().restart().await;
        let discard = format!("{path}/discard");
        world.operator().post(&discard).await.refused(400, "invalid_request").naming("X-Operator");
        let discarded = steer(&world, &discard).await.expect(200);
        let id = discarded.string("id");
        assert_eq!(discarded.json(), json!({ "queue": "rescan", "id": id, "discarded": true }));
        let counted = counts(&world, "rescan").await;
        assert_eq!((&counted["dead"], &counted["cancelled"]), (&json!(0), &json!(1)), "{counted}");
        let late = steer(&world, &discard).await.refused(409, "job_state");
        assert!(late.string("message").contains("cancelled"), "{late:?}");
        let job = get(&world, &path).await.expect(200);
        assert_eq!(job.string("state"), "cancelled");
        assert!(job.string("last_error").contains("scan.before_judge"), "{job:?}");
        for verb in ["requeue-dead", "discard-dead"] {
            let none = steer(&world, &format!("/internal/queues/rescan/{verb}")).await.expect(200);
            assert_eq!(
                none.json().as_object().unwrap().values().filter(|it| **it == json!(0)).count(),
                1,
                "{none:?}"
            );
        }
        let listed = get(&world, "/internal/queues/rescan/jobs?state=cancelled").await.expect(200);
        assert_eq!(list(&listed, "items")[0]["id"], id.as_str());
        steer(&world, &format!("{path}/retry")).await.expect(200);
        becomes_state(&world, &path, "done").await;
    }

    async fn a_queue_that_is_paused_does_nothing_until_it_is_resumed(world: World) {
        let agent = world.agent().await;
        let paused = steer(&world, "/internal/queues/scan/pause").await.expect(200);
        assert_eq!(paused.json(), json!({ "queue": "scan", "paused": true }));
        // The first pause names the operator to ask.
        world.operator().post("/internal/queues/scan/pause").header("X-Operator", "Bea").await.expect(200);
        assert_eq!(counts(&world, "scan").await["paused"]["by"], "Ada");
        in_force(&world).await;

        agent.publish("my-page", PAGE).await.expect(201);
        let waiting = eventually(PATIENCE, "the scan waits", async || {
            let list = get(&world, "/internal/queues/scan/jobs?state=waiting").await.expect(200);
            list.at("items").as_array().unwrap().first().cloned()
        })
        .await;
        // Three polls of every worker.
        in_force(&world).await;
        assert_eq!(agent.artifact("my-page").await.expect(200).string("moderation_status"), "pending");
        let counted = counts(&world, "scan").await;
        assert_eq!((&counted["waiting"], &counted["depth"]), (&json!(1), &json!(1)), "{counted}");
        assert!(counted["oldest_waiting_since"].is_string(), "{counted}");

        // It can be cancelled while it waits, and retried later.
        let path = format!("/internal/queues/scan/jobs/{}", waiting["id"].as_str().unwrap());
        steer(&world, &format!("{path}/cancel")).await.expect(200);
        let cancelled = get(&world, &path).await.expect(200);
        assert_eq!(
            (cancelled.string("state"), cancelled.integer("attempts")),
            ("cancelled".into(), 0),
            "{cancelled:?}"
        );
        assert_eq!(happened(&cancelled), ["pushed", "cancelled"]);
        let counted = counts(&world, "scan").await;
        assert_eq!((&counted["dead"], &counted["cancelled"]), (&json!(0), &json!(1)), "{counted}");
        let resumed = steer(&world, "/internal/queues/scan/resume").await.expect(200);
        assert_eq!(resumed.json(), json!({ "queue": "scan", "paused": false }));
        in_force(&world).await;
        assert_eq!(get(&world, &path).await.string("state"), "cancelled", "what is cancelled stays so");
        steer(&world, &format!("{path}/retry")).await.expect(200);
        becomes(&agent, "my-page", "pass").await;
        assert_eq!(counts(&world, "scan").await["paused"], Value::Null);
    }

    async fn processes_are_listed_with_role_and_queues(world: World) {
        let board = get(&world, "/internal/queues").await.expect(200);
        let names: Vec<_> = list(&board, "queues").into_iter().map(|queue| queue["name"].clone()).collect();
        assert_eq!(names, ["publish", "scan", "views", "upkeep", "rescan"]);
        let roles = || async {
            let board = get(&world, "/internal/queues").await.expect(200);
            let mut roles: Vec<_> =
                list(&board, "processes").iter().map(|it| it["role"].as_str().unwrap().to_owned()).collect();
            roles.sort();
            roles
        };
        let all: &[&str] = match world.mode() {
            Mode::Embedded => &["serve"],
            Mode::Production => &["api", "edge", "worker"],
        };
        eventually(PATIENCE, "every process has a heartbeat", async || (roles().await == all).then_some(()))
            .await;
        let board = get(&world, "/internal/queues").await.expect(200);
        assert!(list(&board, "queues").iter().all(|queue| queue["taken"] == true), "{board:?}");
        let worker = list(&board, "processes").remove(0);
        assert_eq!(
            (&worker["lost"], &worker["version"]),
            (&json!(false), &json!(env!("CARGO_PKG_VERSION"))),
            "{worker}"
        );
        assert_eq!(worker["takes"].as_array().unwrap().len(), 5, "{worker}");
        assert!(worker["process_id"].as_u64() > Some(1) && worker["host"].as_str() > Some(""), "{worker}");
        if world.mode() == Mode::Production {
            // A worker that stops normally signs off. Then nobody takes the jobs.
            world.worker().terminate().await;
            eventually(PATIENCE, "the worker has signed off", async || {
                (roles().await == ["api", "edge"]).then_some(())
            })
            .await;
            assert_eq!(counts(&world, "publish").await["taken"], false);
        }
    }

    async fn job_details_show_no_published_content(world: World) {
        let agent = world.agent().await;
        let secret = "the recipe that nobody may know";
        agent.publish("my-page", page_saying(secret)).paying("dev:0.005").await.expect(201);
        let done = eventually(PATIENCE, "the publish is done", async || {
            let done = get(&world, "/internal/queues/publish/jobs?state=done").await.expect(200);
            list(&done, "items").first().cloned()
        })
        .await;
        let id = done["id"].as_str().unwrap();
        let shown = get(&world, &format!("/internal/queues/publish/jobs/{id}")).await.expect(200);
        assert_eq!(shown.string("payload.slug"), "my-page", "{shown:?}");
        let at_a_shell = admin(&world, &["job", "publish", id]).await.output;
        let on_a_page = page(&world, &format!("/admin/queues/publish/{id}")).await;
        for reported in [&shown.text(), &at_a_shell, &on_a_page] {
            // `PGh0bWw` is the beginning of the base64 of any page that begins with `<html`.
            for content in [secret, "PCFkb2N0", "PGh0bWw"] {
                assert!(!reported.contains(content), "{reported}");
            }
        }
    }

    async fn the_schedules_are_listed_and_run_by_hand(world: World) {
        let schedules = get(&world, "/internal/schedules").await.expect(200);
        let names: Vec<_> =
            schedules.json().as_array().unwrap().iter().map(|it| it["name"].clone()).collect();
        for name in ["sweep-scans", "cleanup", "metering", "sweep-blobs", "sweep-records"] {
            assert!(names.contains(&json!(name)), "{names:?}");
        }
        let ran = steer(&world, "/internal/schedules/sweep-records/run").await.expect(200);
        assert_eq!((ran.string("schedule"), ran.string("queue")), ("sweep-records".into(), "upkeep".into()));
        let path = format!("/internal/queues/upkeep/jobs/{}", ran.string("job_id"));
        becomes_state(&world, &path, "done").await;
        steer(&world, "/internal/schedules/sweep-nothing/run")
            .await
            .refused(404, "not_found")
            .naming("schedule");
    }

    async fn queue_board_is_not_found_without_the_secret(world: World) {
        let job = format!("/internal/queues/scan/jobs/{NO_JOB}");
        let unknown = world.operator().call_knowing("wrong", Method::GET, "/internal/nothing").await;
        for path in [
            "/internal/queues",
            "/internal/queues/scan/jobs",
            "/internal/queues/burnt/jobs",
            &job,
            &format!("{job}/retry"),
            &format!("{job}/cancel"),
            &format!("{job}/discard"),
            "/internal/queues/scan/pause",
            "/internal/queues/scan/resume",
            "/internal/queues/scan/requeue-dead",
            "/internal/queues/scan/discard-dead",
            "/internal/schedules",
            "/internal/schedules/cleanup/run",
        ] {
            for method in [Method::GET, Method::POST, Method::PUT] {
                for call in [
                    world.stranger().call(method.clone(), path),
                    world.operator().call_knowing("wrong", method.clone(), path).header("X-Operator", "Ada"),
                ] {
                    let reported = call.await.refused(404, "not_found");
                    assert_eq!(reported.json(), unknown.json(), "{path}");
                }
            }
        }
        assert_eq!(counts(&world, "scan").await["paused"], Value::Null);
    }

    async fn unknown_queue_job_and_state_are_named_in_the_error(world: World) {
        get(&world, "/internal/queues/burnt/jobs").await.refused(404, "not_found").naming("queue");
        let job = get(&world, &format!("/internal/queues/scan/jobs/{NO_JOB}"))
            .await
            .refused(404, "not_found")
            .naming("job");
        assert!(job.string("hint").contains("GET /internal/queues/{queue}/jobs"), "{job:?}");
        steer(&world, &format!("/internal/queues/scan/jobs/{NO_JOB}/retry"))
            .await
            .refused(404, "not_found")
            .naming("job");
        get(&world, "/internal/queues/scan/jobs/x").await.refused(400, "invalid_request").naming("id");
        get(&world, "/internal/queues/scan/jobs?state=burnt")
            .await
            .refused(400, "invalid_request")
            .naming("state");
        for name in ["after", "before"] {
            get(&world, &format!("/internal/queues/scan/jobs?{name}=x"))
                .await
                .refused(400, "invalid_request")
                .naming(name);
        }
        let wrong = world.operator().call(Method::GET, "/internal/queues/scan/pause").await;
        assert_eq!(wrong.refused(405, "method_not_allowed").header("Allow"), "POST");
    }

    async fn jobs_are_listed_in_pages(world: World) {
        let (agent, jobs) = (world.agent().await, "/internal/queues/publish/jobs?state=done");
        for slug in ["page-1", "page-2", "page-3"] {
            agent.publish(slug, PAGE).await.expect(201);
        }
        let all = eventually(PATIENCE, "the jobs are done", async || {
            let all = get(&world, jobs).await.expect(200);
            (list(&all, "items").len() >= 3).then_some(all)
        })
        .await;
        let newest: Vec<_> = list(&all, "items").iter().map(|job| job["id"].clone()).collect();
        let first = get(&world, &format!("{jobs}&limit=2")).await.expect(200);
        assert_eq!([&first.at("items.0.id"), &first.at("items.1.id")], [&newest[0], &newest[1]]);
        let next = first.string("next");
        let address = format!("{}{jobs}&limit=2&after={next}", world.base_url());
        assert_eq!(first.header("Link"), format!("<{address}>; rel=\"next\""));
        for name in ["after", "before"] {
            let second = get(&world, &format!("{jobs}&limit=2&{name}={next}")).await.expect(200);
            assert_eq!(second.at("items.0.id"), newest[2], "{second:?}");
        }
        get(&world, &format!("{jobs}&limit=0")).await.refused(400, "invalid_request").naming("limit");
    }

    async fn queue_pages_link_back_to_the_board(world: World) {
        let human = world.human();
        assert_page(&human.get("/admin/queues").header("Accept", BROWSER).await, 200);
        for (path, status) in [
            ("/admin/queues/burnt", 404),
            ("/admin/queues/scan?state=burnt", 400),
            ("/admin/queues/scan/x", 404),
            (&format!("/admin/queues/scan/{NO_JOB}"), 404),
        ] {
            let reported = human.get(path).header("Accept", BROWSER).await;
            assert_page(&reported, status);
            assert!(reported.text().contains("<a class=\"button\" href=\"/admin/queues\">"), "{reported:?}");
        }
        let pause = [("action", "pause")];
        human
            .on_a_page_of(&world.serve_url())
            .post("/admin/queues/scan")
            .form(&pause)
            .await
            .refused(403, "forbidden");
        assert_eq!(counts(&world, "scan").await["paused"], Value::Null);
        let led = human.post("/admin/queues/scan").form(&pause).await.expect(302);
        assert_eq!(led.header("Location"), "/admin/queues/scan?done=paused&queue=scan");
        let shown = page(&world, led.header("Location")).await;
        assert!(shown.contains("Queue scan paused") && shown.contains("value=\"resume\""), "{shown}");
        human.post("/admin/queues/scan").form(&[("action", "resume")]).await.expect(302);
        human.post("/admin/queues/scan").form(&[("action", "burn")]).await.refused(400, "invalid_request");
        let led = human.post("/admin/queues").form(&[("schedule", "sweep-records")]).await.expect(302);
        assert_eq!(led.header("Location"), "/admin/queues?done=ran&schedule=sweep-records&queue=upkeep");
        human.post("/admin/queues").form(&[("schedule", "burn")]).await.refused(404, "not_found");
        let done = eventually(PATIENCE, "a job that is done", async || {
            let done = get(&world, "/internal/queues/upkeep/jobs?state=done").await.expect(200);
            list(&done, "items").first().cloned()
        })
        .await;
        let path = format!("/admin/queues/upkeep/{}", done["id"].as_str().unwrap());
        let late = human.post(&path).header("Accept", BROWSER).form(&[("action", "retry")]).await;
        assert_page(&late, 409);
        assert!(late.text().contains("Nothing was changed: the job is now done."), "{late:?}");
        human.post(&path).form(&[("action", "retry")]).await.refused(409, "job_state");
    }

    async fn queues_are_managed_from_the_command_line(world: World) {
        let host = scanned_page(&world).await;
        let board = admin(&world, &["queues"]).await;
        assert!(board.output.contains("QUEUE") && board.output.contains("rescan"), "{board:?}");
        assert_eq!(in_json(&admin(&world, &["--json", "queues"]).await)["queues"][4]["name"], "rescan");

        let paused = admin(&world, &["pause", "rescan", "--as", "Bea"]).await;
        assert!(paused.output.contains("handbill admin resume rescan"), "{paused:?}");
        assert_eq!(counts(&world, "rescan").await["paused"]["by"], "Bea");
        in_force(&world).await;
        admin(&world, &["rescan", "--host", &host]).await;
        let waiting = in_json(&admin(&world, &["jobs", "rescan", "--state", "waiting", "--json"]).await);
        let id = waiting["items"][0]["id"].as_str().unwrap().to_owned();
        let listed = admin(&world, &["jobs", "rescan", "--state", "waiting"]).await;
        assert!(listed.output.contains(&id) && listed.output.contains("0 of 3"), "{listed:?}");

        admin(&world, &["cancel", "rescan", &id, "--as", "Bea"]).await;
        let job = admin(&world, &["job", "rescan", &id]).await;
        assert!(
            job.output.contains("by Bea") && job.output.contains("handbill admin retry rescan"),
            "{job:?}"
        );
        let late = world.command(&["admin", "cancel", "rescan", &id], &[]).await;
        assert!(late.status.code() == Some(1) && late.output.contains("the job is cancelled"), "{late:?}");
        let late = world.command(&["admin", "cancel", "rescan", &id, "--json"], &[]).await;
        assert!(late.status.code() == Some(1) && in_json(&late)["code"] == "job_state", "{late:?}");
        // A cancelled job stays so until it is retried by id.
        let requeued = admin(&world, &["requeue-dead", "rescan"]).await;
        assert!(requeued.output.contains("Nothing to do"), "{requeued:?}");
        let discarded = admin(&world, &["discard-dead", "rescan"]).await;
        assert!(discarded.output.contains("Nothing to do"), "{discarded:?}");
        let late = world.command(&["admin", "discard", "rescan", &id], &[]).await;
        assert!(late.status.code() == Some(1) && late.output.contains("the job is cancelled"), "{late:?}");
        let board = in_json(&admin(&world, &["--json", "queues"]).await);
        assert_eq!(
            (&board["queues"][4]["dead"], &board["queues"][4]["cancelled"]),
            (&json!(0), &json!(1)),
            "{board}"
        );
        assert!(!admin(&world, &["queues"]).await.output.contains("shows why its jobs died"));
        let listed = admin(&world, &["jobs", "rescan", "--state", "cancelled"]).await;
        assert!(listed.output.contains(&id), "{listed:?}");
        admin(&world, &["retry", "rescan", &id]).await;
        admin(&world, &["resume", "rescan"]).await;
        becomes_state(&world, &format!("/internal/queues/rescan/jobs/{id}"), "done").await;

        let schedules = admin(&world, &["schedules"]).await;
        assert!(
            schedules.output.contains("sweep-records") && schedules.output.contains("41 * * * *"),
            "{schedules:?}"
        );
        let ran = in_json(&admin(&world, &["run", "sweep-records", "--json"]).await);
        let path = format!("/internal/queues/upkeep/jobs/{}", ran["job_id"].as_str().unwrap());
        becomes_state(&world, &path, "done").await;
        for (wrong, reported) in [
            (&["jobs", "burnt"][..], "possible values: publish, scan"),
            (&["jobs", "scan", "--state", "burnt"], "possible values: waiting"),
            (&["run", "burnt"], "handbill admin schedules"),
            (&["retry", "scan", NO_JOB], "handbill admin jobs scan"),
        ] {
            let refused = world.command(&[&["admin"], wrong].concat(), &[]).await;
            assert!(!refused.status.success() && refused.output.contains(reported), "{refused:?}");
        }
    }
}

/// Publishes a page that passes. Returns its host.
pub async fn scanned_page(world: &World) -> String {
    let agent = world.agent().await;
    let host = agent.publish("my-page", PAGE).await.expect(201).string("host");
    becomes(&agent, "my-page", "pass").await;
    host
}

/// Rescans the page with failing workers until the job is dead. Returns its path.
async fn dead_rescan(world: &World, host: &str) -> String {
    admin(world, &["rescan", "--host", host]).await;
    let dead = eventually(TO_DIE, "the rescan is dead", async || {
        let dead = get(world, "/internal/queues/rescan/jobs").await.expect(200);
        list(&dead, "items").first().cloned()
    })
    .await;
    format!("/internal/queues/rescan/jobs/{}", dead["id"].as_str().unwrap())
}

/// Processes send a heartbeat every two seconds. Its time is exact to some milliseconds.
const NEXT_HEARTBEAT_AFTER_MS: i64 = 1_200;

/// Waits for two more heartbeats of every process, after which it knows the paused queues.
async fn in_force(world: &World) {
    for _ in 0..2 {
        let seen = heartbeats(world).await;
        eventually(PATIENCE, "another heartbeat of every process", async || {
            let again = heartbeats(world).await;
            seen.iter()
                .all(|(instance, at)| {
                    again.iter().any(|(one, later)| one == instance && later - at > NEXT_HEARTBEAT_AFTER_MS)
                })
                .then_some(())
        })
        .await;
    }
}

/// The time of each process's heartbeat, in milliseconds.
async fn heartbeats(world: &World) -> Vec<(String, i64)> {
    let board = get(world, "/internal/queues").await.expect(200);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let millis = |value: &Value| Time::parse_rfc3339(value.as_str().unwrap()).unwrap().millis();
    let alive = list(&board, "processes").into_iter().filter(|process| process["lost"] == false);
    alive.map(|process| (text(&process["instance"]), millis(&process["seen_at"]))).collect()
}

/// A queue of the board.
async fn counts(world: &World, queue: &str) -> Value {
    let board = get(world, "/internal/queues").await.expect(200);
    list(&board, "queues").into_iter().find(|one| one["name"] == queue).expect("the queue")
}

async fn becomes_state(world: &World, path: &str, state: &str) -> Reply {
    eventually(PATIENCE, &format!("{path} is {state}"), async || {
        let job = get(world, path).await.expect(200);
        (job.string("state") == state).then_some(job)
    })
    .await
}

/// The events of a job, in order.
fn happened(job: &Reply) -> Vec<String> {
    list(job, "timeline").iter().map(|event| event["what"].as_str().unwrap().to_owned()).collect()
}

fn list(reply: &Reply, path: &str) -> Vec<Value> {
    reply.at(path).as_array().expect("a list").clone()
}

fn get(world: &World, path: &str) -> Call {
    world.operator().call(Method::GET, path)
}

fn steer(world: &World, path: &str) -> Call {
    world.operator().post(path).header("X-Operator", "Ada")
}

async fn page(world: &World, path: &str) -> String {
    get(world, path).header("Accept", BROWSER).await.expect(200).text()
}

/// Runs `handbill admin`, which must succeed.
pub async fn admin(world: &World, args: &[&str]) -> Finished {
    let done = world.command(&[&["admin"], args].concat(), &[]).await;
    assert!(done.status.success(), "{done:?}");
    done
}

/// The JSON that a command printed among its logs.
fn in_json(done: &Finished) -> Value {
    let mut printed = done.output.lines().filter(|line| line.starts_with(['{', '[']));
    printed.find_map(|line| serde_json::from_str(line).ok()).unwrap_or_else(|| panic!("no JSON: {done:?}"))
}
