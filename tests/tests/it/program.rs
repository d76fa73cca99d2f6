//! The program itself: how it starts, which settings it refuses, and how it stops.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::time::Duration;

use handbill_tests::{Mode, World, in_both_modes, program};

use crate::expectations::{PAGE, assert_serves, front_page};

/// The longest that a role may take to finish its work.
const GRACE: Duration = Duration::from_secs(30);

in_both_modes! {
    async fn every_process_stops_gracefully_and_its_pages_are_served_after_a_restart(world: World) {
        let agent = world.agent().await;
        let published = agent.publish("my-page", PAGE).await.expect(201);
        for process in [world.api(), world.edge(), world.worker()] {
            if process.is_running() {
                let stopped = process.terminate().await;
                assert_eq!(
                    stopped.status.code(),
                    Some(0),
                    "{} {stopped:?}\n{}",
                    process.name(),
                    process.log()
                );
                assert!(stopped.took < GRACE, "{} {stopped:?}", process.name());
            }
        }
        for process in [world.api(), world.edge(), world.worker()] {
            if !process.is_running() {
                process.restart().await;
            }
        }
        assert_serves(&front_page(&world.visitor(), &published).await, PAGE);
        assert_eq!(agent.publish("my-page", PAGE).await.expect(201).integer("version"), 2);
    }

    async fn killed_process_loses_nothing_acknowledged(world: World) {
        let agent = world.agent().await;
        let published = agent.publish("my-page", PAGE).await.expect(201);
        for process in [world.api(), world.edge(), world.worker()] {
            process.kill();
            process.restart().await;
        }
        assert_serves(&front_page(&world.visitor(), &published).await, PAGE);
        assert_eq!(agent.publish("my-page", PAGE).await.expect(201).integer("version"), 2);
    }
}

#[tokio::test]
async fn the_settings_in_effect_are_shown_without_their_secrets() {
    let world = World::with(Mode::Embedded, program!()).prepare().await;
    let env = [
        ("HANDBILL_DEV_MODE", "false"),
        ("HANDBILL_CARD__SECRET_KEY", "sk_do_not_show"),
        ("HANDBILL_LIMITS__FREE_VIEWS", "77"),
    ];
    let config = world.command(&["config"], &env).await;
    assert!(config.status.success(), "{config:?}");
    let line = |key: &str| config.output.lines().find(|line| line.contains(key)).expect(key).to_owned();
    assert!(line("limits.free_views").contains("77"), "{config:?}");
    assert!(line("limits.free_views").contains("HANDBILL_LIMITS__FREE_VIEWS"), "{config:?}");
    assert!(line("edge.domain").contains("localhost"), "{config:?}");
    assert!(!config.output.contains("sk_do_not_show"), "{config:?}");
    assert!(!config.output.contains(World::SIGNING_SECRET), "{config:?}");
}

#[tokio::test]
async fn all_bad_settings_prevent_the_start_with_one_line_each() {
    let world = World::with(Mode::Embedded, program!()).prepare().await;
    let env = [("HANDBILL_API__LISSTEN", "127.0.0.1:1"), ("HANDBILL_LIMITS__PROVISIONAL_LIFETIME", "soon")];
    let refused = world.command(&["serve"], &env).await;
    assert!(refused.status.code().is_some_and(|code| code != 0), "{refused:?}");
    for name in ["HANDBILL_API__LISSTEN", "HANDBILL_LIMITS__PROVISIONAL_LIFETIME"] {
        assert_eq!(refused.output.lines().filter(|line| line.contains(name)).count(), 1, "{refused:?}");
    }
    assert!(refused.output.contains("did you mean HANDBILL_API__LISTEN?"), "{refused:?}");
}

#[tokio::test]
async fn duplicate_queue_prevents_the_start() {
    let world = World::with(Mode::Embedded, program!()).prepare().await;
    let refused = world.command(&["worker", "--queues", "publish=2,publish=4"], &[]).await;
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert!(refused.output.contains("--queues contains the queue publish twice"), "{refused:?}");
}

#[tokio::test]
async fn panic_is_logged_with_its_location_and_never_with_its_message() {
    let world = World::with(Mode::Embedded, program!()).start().await;
    let agent = world.agent().await;
    let fault = [("HANDBILL_TEST_FAULTS", "publish.before_push:panic"), ("RUST_BACKTRACE", "1")];
    world.api().restart_with(&fault).await;
    agent.publish("my-page", PAGE).await.expect(500);
    let log = world.api().log();
    let reported = log.lines().find(|line| line.contains("panicked at")).expect("a line about the panic");
    assert!(reported.contains("ERROR") && reported.contains("faults/src/lib.rs:"), "{reported}");
    assert!(reported.contains("thread.name=\"tokio-"), "{reported}");
    assert!(!log.contains("the payload of a requested panic"), "{log}");
    // A world that ends by itself fails on every panic.
    std::fs::remove_dir_all(world.end_and_keep()).unwrap();
}

#[tokio::test]
async fn dev_mode_refuses_public_listeners() {
    let world = World::with(Mode::Embedded, program!()).prepare().await;
    let refused = world.command(&["serve"], &[("HANDBILL_API__LISTEN", "0.0.0.0:0")]).await;
    assert!(!refused.status.success() && refused.status.signal().is_none(), "{refused:?}");
    assert!(refused.output.contains("api.listen") && refused.output.contains("loopback"), "{refused:?}");
}

#[tokio::test]
async fn single_role_without_redis_reports_the_missing_setting() {
    let world = World::with(Mode::Embedded, program!()).prepare().await;
    for role in ["api", "edge", "worker"] {
        let refused = world.command(&[role], &[]).await;
        assert!(!refused.status.success() && refused.status.signal().is_none(), "{refused:?}");
        assert!(refused.output.contains("redis.url"), "{refused:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_single_role_refuses_an_old_schema_and_names_the_command() {
    let world = World::with(Mode::Production, program!()).prepare().await;
    let empty = format!("sqlite://{}?mode=rwc", world.folder().join("empty.db").display());
    for role in ["api", "edge", "worker"] {
        let env = [("HANDBILL_DATABASE__URL", empty.as_str()), ("HANDBILL_QUEUE__URL", empty.as_str())];
        let refused = world.command(&[role], &env).await;
        assert!(!refused.status.success() && refused.status.signal().is_none(), "{refused:?}");
        assert!(refused.output.contains("handbill migrate"), "{refused:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn roles_with_remote_data_need_no_data_directory() {
    let world = World::with(Mode::Production, program!()).without_folder().start().await;
    let migrated = world.command(&["migrate"], &[]).await;
    assert!(migrated.status.success(), "{migrated:?}");
    let agent = world.agent().await;
    let published = agent.publish("my-page", PAGE).await.expect(201);
    assert_serves(&front_page(&world.visitor(), &published).await, PAGE);
    let embedded =
        [("HANDBILL_DATABASE__URL", ""), ("HANDBILL_QUEUE__URL", ""), ("HANDBILL_STORAGE__URL", "")];
    let refused = world.command(&["migrate"], &embedded).await;
    assert!(!refused.status.success(), "{refused:?}");
    assert!(refused.output.contains("create the data directory ./data"), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn migrating_twice_changes_nothing() {
    let world = World::with(Mode::Production, program!()).start().await;
    let agent = world.agent().await;
    let published = agent.publish("my-page", PAGE).await.expect(201);
    assert!(world.command(&["migrate"], &[]).await.status.success());
    assert_serves(&front_page(&world.visitor(), &published).await, PAGE);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn database_connections_are_limited_by_the_settings() {
    let world = World::with(Mode::Production, program!())
        .with_ops()
        .env("HANDBILL_DATABASE__CONNECTIONS_MAX", "4")
        .env("HANDBILL_QUEUE__CONNECTIONS_MAX", "5")
        .start()
        .await;
    let agent = world.agent().await;
    for number in 1..=5 {
        let published = agent.publish(&format!("page-{number}"), PAGE).await.expect(201);
        assert_serves(&front_page(&world.visitor(), &published).await, PAGE);
    }
    for process in [world.api(), world.edge(), world.worker()] {
        let metrics = world.ask_ops(&process, "/metrics").await.expect(200).text();
        for line in [r#"{pool="database"} 4"#, r#"{pool="queue"} 5"#] {
            let line = format!("handbill_database_connections_max{line}");
            assert!(metrics.lines().any(|reported| reported == line), "{}: {metrics}", process.name());
        }
    }
}

/// Starts the program with a low soft limit of open files and a higher hard limit.
fn program_with_few_files(folder: &Path) -> &'static str {
    let script = folder.join("with-few-files");
    let text = format!("#!/bin/sh\nulimit -Sn 256 && ulimit -Hn 4096 && exec {} \"$@\"\n", program!());
    std::fs::write(&script, text).unwrap();
    std::fs::set_permissions(&script, Permissions::from_mode(0o755)).unwrap();
    script.display().to_string().leak()
}

#[tokio::test]
async fn process_raises_its_open_file_limit_and_warns_if_it_is_too_low() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::with(Mode::Embedded, program_with_few_files(folder.path())).with_ops().start().await;
    let metrics = world.ask_ops(&world.api(), "/metrics").await.expect(200).text();
    assert!(metrics.contains("process_max_fds 4096"), "{metrics}");
    // An embedded server warns only on request.
    let reported = "the limit of open files is below the limit of connections";
    assert!(!world.api().log().contains(reported), "{}", world.api().log());
    let doctor = world.command(&["doctor"], &[]).await;
    assert!(doctor.status.success() && doctor.output.contains("WARN  files: 4096 may be open"), "{doctor:?}");

    let few = [
        ("HANDBILL_API__CONNECTIONS_MAX", "10"),
        ("HANDBILL_EDGE__CONNECTIONS_MAX", "10"),
        ("HANDBILL_EDGE__STREAMED_ANSWERS_MAX", "1"),
    ];
    let doctor = world.command(&["doctor"], &few).await;
    assert!(doctor.output.contains("WARN  files"), "two doors want 3,072 each besides: {doctor:?}");
    let edge_alone = [
        ("HANDBILL_DEV_MODE", "false"),
        ("HANDBILL_SECRETS__SIGNING", ""),
        ("HANDBILL_SECRETS__LINKS", "the-secret-of-the-links-and-no-other"),
    ];
    let doctor = world.command(&["doctor"], &[&few[..], &edge_alone[..]].concat()).await;
    assert!(doctor.output.contains("ok    files: "), "{doctor:?}");
}

#[tokio::test]
async fn edge_only_machine_can_run_migrate_config_and_doctor() {
    let world = World::with(Mode::Embedded, program!()).prepare().await;
    let secret = "the-secret-of-the-links-and-no-other";
    let env = [
        ("HANDBILL_DEV_MODE", "false"),
        ("HANDBILL_SECRETS__SIGNING", ""),
        ("HANDBILL_SECRETS__LINKS", secret),
    ];
    for command in ["migrate", "config", "doctor"] {
        let done = world.command(&[command], &env).await;
        assert!(done.status.success(), "{command} {done:?}");
        assert!(!done.output.contains(secret), "{command} {done:?}");
        for reported in ["ok    secrets: secrets.links is set", "WARN  workers: no process is running"] {
            assert_eq!(done.output.contains(reported), command == "doctor", "{done:?}");
        }
    }
    let examined = world.command(&["doctor"], &env[..2]).await;
    assert_eq!(examined.status.code(), Some(1), "{examined:?}");
    assert!(examined.output.contains("FAULT secrets: neither"), "{examined:?}");
    let refused = world.command(&["edge"], &env[..2]).await;
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert!(refused.output.contains("HANDBILL_SECRETS__LINKS"), "{refused:?}");
}
