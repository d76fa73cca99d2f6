//! The alert rules, their runbook and the dashboards of `deploy/`: they name only metrics that the program
//! has, and each alert fires when it should and leads to its first steps.

use handbill_tests::Value;
use tokio::process::Command;

#[tokio::test]
async fn alerts_and_dashboards_use_existing_metrics_and_alerts_fire_as_tested() {
    let python = std::env::var_os("HANDBILL_TEST_DEPLOY")
        .expect("HANDBILL_TEST_DEPLOY names no program: run the tests by scripts/test");
    let checked = Command::new(python)
        .args([
            concat!(env!("CARGO_MANIFEST_DIR"), "/deploy/monitoring.py"),
            concat!(env!("CARGO_MANIFEST_DIR"), "/.."),
        ])
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .kill_on_drop(true)
        .output()
        .await
        .expect("monitoring.py runs");
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    let faults: Value = serde_json::from_slice(&checked.stdout).expect("JSON from monitoring.py");
    assert_eq!(faults, Value::Array(vec![]), "{faults:#}");
}
