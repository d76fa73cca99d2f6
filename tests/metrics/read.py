"""What Prometheus' own reader makes of metrics: every family with its samples, as JSON. What it cannot read ends this."""

import json
import sys

from prometheus_client.parser import text_string_to_metric_families

families = [
    {
        "name": family.name,
        "type": family.type,
        "help": family.documentation,
        "samples": [{"name": it.name, "labels": it.labels, "value": it.value} for it in family.samples],
    }
    for family in text_string_to_metric_families(sys.stdin.read())
]
json.dump(families, sys.stdout)
