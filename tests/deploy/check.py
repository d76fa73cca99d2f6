"""Prints the faults in the files of deploy/, and the settings that they give to processes, as JSON.

The checks are third-party: the schemas of Compose and Kubernetes, hadolint, a parser of PromQL. Its own checks only
compare several of our files with each other. It must never access anything outside of the repository.
"""

import json
import pathlib
import re
import subprocess
import sys

import kubernetes_validate
import promql_parser
import yaml

ROOT = pathlib.Path(sys.argv[1])
DEPLOY = ROOT / "deploy"
KUBERNETES = "1.34"
# Third-party kinds, whose schemas are not available.
FOREIGN = {"Kustomization", "Gateway", "HTTPRoute", "ScaledObject"}
# How long a process may take to finish its work.
STOP_SECONDS = 30

faults = []


def demand(holds, fault):
    if not holds:
        faults.append(fault)


def documents(path):
    try:
        return [document for document in yaml.safe_load_all(path.read_text()) if document is not None]
    except yaml.YAMLError as error:
        faults.append(f"{path.relative_to(ROOT)} is no YAML: {error}")
        return []


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    demand(done.returncode == 0, f"{command[0]}: {done.stdout}{done.stderr}")


def env_file(path):
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    # An empty value is a secret that the user fills in.
    pairs = (line.split("=", 1) for line in lines)
    return {name: value or "a-secret-that-somebody-filled-in-here" for name, value in pairs}


def check_dockerfile():
    text = (DEPLOY / "Dockerfile").read_text()
    run(str(pathlib.Path(sys.executable).parent / "hadolint"), str(DEPLOY / "Dockerfile"))
    environment = re.search(r"^ENV (.*?[^\\])$", text, re.MULTILINE | re.DOTALL).group(1)
    return dict(pair.split("=", 1) for pair in environment.replace("\\\n", " ").split())


def check_memory_is_returned(image):
    wanted = "MIMALLOC_PURGE_DELAY=10"
    demand(wanted in (f"{name}={value}" for name, value in image.items()), "the Dockerfile keeps freed memory")
    for role in ("api", "edge", "serve", "worker@"):
        unit = (DEPLOY / "systemd" / f"handbill-{role}.service").read_text()
        demand(f"\nEnvironment={wanted}\n" in unit, f"handbill-{role}.service keeps freed memory")


def check_compose(image):
    path = DEPLOY / "compose.yaml"
    run(sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(path))
    example = env_file(DEPLOY / "example.env")
    text = path.read_text()
    asked = set(re.findall(r"(?<!\$)\$\{([A-Z0-9_]+)", text)) - {"IMAGE_TAG"}
    demand(asked == set(example), f"compose.yaml and example.env differ: {sorted(asked ^ set(example))}")
    [compose] = documents(path)
    services = compose["services"]
    for name, service in services.items():
        for other, condition in (service.get("depends_on") or {}).items():
            has_check = "healthcheck" in services.get(other, {}) or condition["condition"] != "service_healthy"
            demand(other in services and has_check, f"{name} waits for what {other} never is")
    caddyfile = (DEPLOY / "caddy" / "Caddyfile").read_text()
    wanted = set(re.findall(r"\{\$([A-Z_]+)", caddyfile))
    demand(wanted == set(services["proxy"]["environment"]), "compose.yaml tells the proxy other than it asks for")

    def filled(value):
        value = re.sub(r"\$\{([A-Z0-9_]+)(:[-?][^}]*)?\}", lambda found: example[found.group(1)], str(value))
        demand("$" not in value, f"compose.yaml: {value} is left over")
        return value

    roles = {name: service for name, service in services.items() if service["image"].startswith("handbill:")}
    for name, service in roles.items():
        grace = int(service["stop_grace_period"].removesuffix("s"))
        demand(grace > STOP_SECONDS, f"compose.yaml: {name} is killed while it stops")
    return {
        f"compose.yaml: {name}": image | {key: filled(value) for key, value in service["environment"].items()}
        for name, service in roles.items()
    }


def check_manifest(path, manifest):
    where = f"{path.relative_to(ROOT)}: {manifest.get('kind')}"
    if manifest.get("kind") in FOREIGN:
        return
    try:
        kubernetes_validate.validate(manifest, KUBERNETES, strict=True)
    except kubernetes_validate.ValidationError as error:
        faults.append(f"{where}: {error.message}")
    if manifest["kind"] != "Deployment":
        return
    spec = manifest["spec"]
    labels = spec["template"]["metadata"]["labels"]
    demand(spec["selector"]["matchLabels"].items() <= labels.items(), f"{where} does not select its own pods")
    pod = spec["template"]["spec"]
    demand(pod["terminationGracePeriodSeconds"] > STOP_SECONDS, f"{where} is killed while it stops")
    [container] = pod["containers"]
    ports = {port["name"] for port in container["ports"]}
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        demand(container[probe]["httpGet"]["port"] in ports, f"{where}: {probe} asks no port of its own")


def check_kubernetes(image):
    folder = DEPLOY / "kubernetes"
    manifests = {path: documents(path) for path in sorted(folder.glob("*.yaml"))}
    every = manifests | {path: documents(path) for path in sorted((folder / "scaling").glob("*.yaml"))}
    adapter = folder / "scaling" / "prometheus-adapter.yaml"
    for path, found in every.items():
        for manifest in found if path != adapter else []:
            check_manifest(path, manifest)
    [kustomization] = manifests[folder / "kustomization.yaml"]
    listed = set(kustomization["resources"]) | {"kustomization.yaml", "ingress.yaml"}
    demand({path.name for path in manifests} == listed, "kustomization.yaml does not list what there is")
    everything = [manifest for found in every.values() for manifest in found]
    workloads = {m["metadata"]["name"]: m for m in everything if m.get("kind") in ("Deployment", "Job", "CronJob")}
    services = {m["metadata"]["name"]: m for m in everything if m.get("kind") == "Service"}
    for name, service in services.items():
        [container] = workloads[name]["spec"]["template"]["spec"]["containers"]
        ports = {port["name"] for port in container["ports"]}
        demand(all(port["targetPort"] in ports for port in service["spec"]["ports"]), f"{name} leads nowhere")
    for manifest in everything:
        for target in re.findall(r"'scaleTargetRef': \{[^}]*'name': '([^']+)'", str(manifest)):
            demand(target in workloads, f"there is no {target} to scale")
        for target in re.findall(r"'backendRefs': \[\{'name': '([^']+)'", str(manifest)):
            demand(target in services, f"there is no {target} to lead to")
    [settings] = manifests[folder / "settings.yaml"]
    secrets = {"handbill": "secrets.env", "handbill-edge": "edge-secrets.env"}
    environments = {}
    for name, workload in workloads.items():
        spec = workload["spec"].get("jobTemplate", workload)["spec"]
        [*_, container] = spec["template"]["spec"]["containers"]
        config, secret = container["envFrom"]
        demand(config["configMapRef"]["name"] == settings["metadata"]["name"], f"{name} is told nothing")
        own = env_file(folder / secrets[secret["secretRef"]["name"]])
        environments[f"kubernetes: {name}"] = image | settings["data"] | own
    return environments


def check_queries():
    """The queries of the autoscaler."""
    scaled = (DEPLOY / "kubernetes" / "scaling" / "keda.yaml").read_text()
    guide = (ROOT / "docs" / "operations" / "monitor.md").read_text()
    # The table of the metrics, which a test compares with the program's metrics.
    known = set(re.findall(r"^\| `(handbill_\w+)", guide, re.MULTILINE))
    for query in re.findall(r"query: (.*)", scaled):
        try:
            promql_parser.parse(query)
        except ValueError as error:
            faults.append(f"keda.yaml: {error}")
        for metric in re.findall(r"\bhandbill_\w+", query):
            demand(metric in known, f"keda.yaml: nothing reports {metric}")


def main():
    for path in sorted(DEPLOY.rglob("*.yaml")):
        documents(path)
    image = check_dockerfile()
    check_memory_is_returned(image)
    environments = check_compose(image) | check_kubernetes(image)
    for path in sorted((DEPLOY / "systemd").glob("*.env")):
        environments[f"systemd: {path.name}"] = env_file(path)
    check_queries()
    json.dump({"faults": faults, "environments": environments}, sys.stdout, indent=1)


main()
