"""Prints the faults in the alert rules, their runbook and the dashboards, as JSON.

The metrics and their labels come from the source of the program. Prometheus' own promtool checks the rules and runs
their tests. It must never access anything outside of the repository.
"""

import json
import pathlib
import re
import subprocess
import sys

import promql_parser
import yaml

ROOT = pathlib.Path(sys.argv[1])
RULES = ROOT / "deploy" / "prometheus" / "alerts.yaml"
RUNBOOK = "docs/operations/alerts.md"
# Labels that Prometheus adds to each target: see deploy/prometheus/scrape.yaml.
TARGET_LABELS = {"job", "instance", "component"}
# Metrics of other programs, and those that every Prometheus client has.
FOREIGN = {
    "up": set(),
    "ALERTS": {"alertname", "alertstate"},
    "node_systemd_unit_state": {"name", "state"},
    "node_systemd_timer_last_trigger_seconds": {"name"},
    "kube_cronjob_status_last_successful_time": {"cronjob"},
    **{
        f"process_{name}": set()
        for name in ("cpu_seconds_total", "resident_memory_bytes", "open_fds", "max_fds", "start_time_seconds")
    },
}
# https://grafana.com/docs/grafana/latest/panels-visualizations/configure-standard-options/#unit
UNITS = {"short", "s", "bytes", "Bps", "reqps", "percentunit"}
SCHEMA_OF_GRAFANA_10 = 38
PANEL_TYPES = {"stat", "timeseries", "table", "bargauge", "gauge", "heatmap", "state-timeline"}
DATA_SOURCE = {"type": "prometheus", "uid": "${datasource}"}
FIRST_STEP = re.compile(r"^\*\*Symptom:\*\* .+?\n\n1\. .+`.+`.*?^2\. ", re.MULTILINE | re.DOTALL)

faults = []


def demand(holds, fault):
    if not holds:
        faults.append(fault)


def declared():
    """The names of all series, each with its labels."""
    source = (ROOT / "telemetry" / "src" / "meters" / "declared.rs").read_text()
    row = re.compile(r'^    \w+: (\w+) = "(handbill_\w+)"(?: by \[([^\]]*)\])?', re.MULTILINE)
    series = {name: labels | TARGET_LABELS for name, labels in FOREIGN.items()}
    series["handbill_build_info"] = {"version"} | TARGET_LABELS
    for kind, name, labels in row.findall(source):
        labels = set(re.findall(r'"(\w+)"', labels)) | TARGET_LABELS
        if kind.startswith("Histogram"):
            series |= {f"{name}_bucket": labels | {"le"}, f"{name}_sum": labels, f"{name}_count": labels}
        else:
            series[name] = labels
    assert len(series) > 40, "declared.rs has another form than this test expects"
    return series


def check_guide(series):
    """The guide lists each metric with its labels. A test of the program compares the names."""
    guide = (ROOT / "docs" / "operations" / "monitor.md").read_text()
    for name, labels in re.findall(r"^\| `(handbill_\w+)(?:\{([\w,]+)\})?`", guide, re.MULTILINE):
        known = series.get(name) or series.get(f"{name}_sum", set())
        listed = set(filter(None, labels.split(",")))
        demand(listed == known - TARGET_LABELS, f"monitor.md: {name} has the labels {sorted(known - TARGET_LABELS)}")


def children(node):
    found = [getattr(node, name, None) for name in ("expr", "lhs", "rhs", "param", "vector_selector")]
    return [child for child in found + list(getattr(node, "args", [])) if child is not None]


def check_labels(where, node, series):
    """The labels that may be in the result of an expression. Unknown metrics and labels are faults."""
    if isinstance(node, promql_parser.VectorSelector):
        demand(node.name in series, f"{where}: nothing reports {node.name}")
        known = series.get(node.name, set())
        asked = {matcher.name for matcher in node.matchers.matchers}
        demand(asked <= known, f"{where}: {node.name} has no label {sorted(asked - known)}")
        return known
    known = set().union(*(check_labels(where, child, series) for child in children(node)))
    modifier = getattr(node, "modifier", None)
    if isinstance(node, promql_parser.AggregateExpr) and modifier is not None:
        grouped = set(modifier.labels)
        demand(grouped <= known, f"{where}: groups by {sorted(grouped - known)}, which no metric there has")
        return grouped
    return known


def check_expression(where, expression, series):
    """Parses an expression, whose variables get a value as in Grafana, and checks its names. Returns its labels."""
    expression = expression.replace("$__rate_interval", "5m")
    expression = re.sub(r"\$\w+", ".*", expression)
    try:
        parsed = promql_parser.parse(expression)
    except ValueError as error:
        faults.append(f"{where}: {error}")
        return set()
    for route in re.findall(r'route=~?"([^"]+)"', expression):
        paths = json.loads((ROOT / "docs" / "openapi.json").read_text())["paths"]
        unknown = [path for path in route.split("|") if path != ".*" and path not in paths]
        demand(not unknown, f"{where}: there is no route {unknown}")
    return check_labels(where, parsed, series)


def promtool(*arguments):
    done = subprocess.run(["promtool", *arguments], capture_output=True, text=True, check=False, timeout=480)
    demand(done.returncode == 0, f"promtool {arguments[0]}: {done.stdout}{done.stderr}")


def check_rules(series):
    promtool("check", "rules", str(RULES))
    tests = sorted((ROOT / "tests" / "deploy" / "rules").glob("*.yaml"))
    promtool("test", "rules", *map(str, tests))
    tested = "".join(path.read_text() for path in tests)
    rules = [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]
    for rule in rules:
        if "record" in rule:
            series.setdefault(rule["record"], TARGET_LABELS | set(rule.get("labels", {})) | {"cache"})
    sections = runbook()
    alerts = [rule for rule in rules if "alert" in rule]
    for rule in rules:
        check_expression(rule.get("alert") or rule["record"], rule["expr"], series)
    for alert in alerts:
        check_alert(alert, sections)
        demand(f'"{alert["alert"]}"' in tested or f' {alert["alert"]}\n' in tested, f"{alert['alert']} has no test")
    named = {alert["alert"] for alert in alerts}
    demand(named == set(sections), f"alerts and their sections differ: {sorted(named ^ set(sections))}")


def runbook():
    text = (ROOT / RUNBOOK).read_text()
    return dict(re.findall(r"^### (Handbill\w+)\n\n(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL))


def check_alert(alert, sections):
    name, annotations = alert["alert"], alert["annotations"]
    demand(alert["labels"]["severity"] in ("page", "ticket"), f"{name} calls nobody")
    wanted = '{{ or $externalLabels.runbooks "' + RUNBOOK + '" }}#' + name.lower()
    demand(annotations.get("runbook_url") == wanted, f"{name}: runbook_url is not {wanted}")
    steps = sections.get(name, "")
    demand(FIRST_STEP.search(steps), f"{name}: its section has no symptom and numbered steps with a command")


def panels_of(dashboard):
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


def check_variables(path, dashboard):
    """Every name after a dollar sign in the file is a variable of the dashboard, or Grafana's own."""
    variables = {variable["name"]: variable for variable in dashboard["templating"]["list"]}
    demand(len(variables) == len(dashboard["templating"]["list"]), f"{path.name}: two variables have one name")
    used = set(re.findall(r"\$\{?(\w+)", json.dumps(dashboard))) - {"__rate_interval", "__all"}
    demand(used == set(variables), f"{path.name}: variables and their uses differ: {sorted(used ^ set(variables))}")
    demand(next(iter(variables)) == "datasource", f"{path.name}: the data source is chosen after it is used")
    source = variables["datasource"]
    demand((source["type"], source["query"]) == ("datasource", "prometheus"), f"{path.name} has a fixed data source")
    demand("__inputs" not in dashboard, f"{path.name}: provisioning does not fill __inputs")
    return variables


def check_panel(where, panel, series):
    demand(re.fullmatch(r"[A-Z0-9].*\.", panel.get("description", "")), f"{where} has no description in sentences")
    demand(panel["fieldConfig"]["defaults"].get("unit") in UNITS, f"{where} has no unit")
    demand(panel["type"] in PANEL_TYPES, f"{where}: Grafana has no panel {panel['type']}")
    for part in [panel, *panel["targets"]]:
        demand(part["datasource"] == DATA_SOURCE, f"{where} has a data source of its own")
    demand(panel["targets"], f"{where} shows nothing")
    refs = [target["refId"] for target in panel["targets"]]
    demand(len(refs) == len(set(refs)), f"{where}: two queries have one refId")
    for target in panel["targets"]:
        labels = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
        known = check_expression(where, target["expr"], series)
        demand(labels <= known, f"{where}: its legend has {sorted(labels - known)}, which its series lack")


def overlaps(panels):
    cells = set()
    for grid in (panel["gridPos"] for panel in panels):
        own = {(x, y) for x in range(grid["x"], grid["x"] + grid["w"]) for y in range(grid["y"], grid["y"] + grid["h"])}
        if cells & own or max(x for x, _ in own) > 23:
            return True
        cells |= own
    return False


def check_dashboard(path, series):
    dashboard = json.loads(path.read_text())
    demand(dashboard["id"] is None and dashboard["uid"] == f"handbill-{path.stem}", f"{path.name}: id and uid")
    demand(dashboard["schemaVersion"] == SCHEMA_OF_GRAFANA_10, f"{path.name} is not for Grafana 10")
    variables = check_variables(path, dashboard)
    ids = [panel["id"] for panel in dashboard["panels"]]
    demand(len(ids) == len(set(ids)) and not overlaps(dashboard["panels"]), f"{path.name}: panels overlap")
    for panel in panels_of(dashboard):
        check_panel(f"{path.name}: {panel['title']}", panel, series)
    for name, variable in variables.items():
        if variable["type"] == "query":
            demand(variable["datasource"] == DATA_SOURCE, f"{path.name}: {name} has a data source of its own")
            demand(variable["definition"] == variable["query"]["query"], f"{path.name}: {name} has two queries")
            metric, label = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["query"]["query"]).groups()
            check_expression(f"{path.name}: {name}", f"sum by ({label}) ({metric})", series)


def check_dashboards(series):
    paths = sorted((ROOT / "deploy" / "grafana").glob("*.json"))
    guide = (ROOT / "docs" / "operations" / "monitor.md").read_text()
    for path in paths:
        check_dashboard(path, series)
        demand(f"deploy/grafana/{path.name})" in guide, f"monitor.md does not mention {path.name}")
    shown = "".join(path.read_text() for path in paths)
    hidden = {name for name in series if name.startswith("handbill_") and not name.endswith(("_sum", "_count"))}
    hidden -= set(re.findall(r"\bhandbill_\w+", shown))
    demand(hidden <= {"handbill_dev_mode", "handbill_ledger_batch_operations_bucket"}, f"no panel: {sorted(hidden)}")


def main():
    series = declared()
    check_guide(series)
    check_rules(series)
    check_dashboards(series)
    json.dump(faults, sys.stdout, indent=1)


main()
