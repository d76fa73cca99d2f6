"""Parses metrics with Prometheus' own parser and prints every family with its samples as JSON. Fails on invalid input."""

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
