"""Adds what the OpenAPI description cannot express to the generated requests."""

import itertools
import json
import os

import schemathesis
from schemathesis.transport.requests import REQUESTS_TRANSPORT, multipart_serializer

OWN_IDS = set(json.loads(os.environ["HANDBILL_TEST_OWN_IDS"]))
NOBODY_S_ID = "00000000000000000000000000"
# Existing objects for requests, by operation.
THERE_IS = json.loads(os.environ["HANDBILL_TEST_THERE_IS"])
CALLS = itertools.count()
PAUSE = "POST /internal/queues/{queue}/pause"
SUSPEND = "POST /internal/accounts/{handle}/suspend"
QUEUES = ["publish", "scan", "views", "upkeep", "rescan"]


def is_good(case):
    return case.meta is not None and case.meta.generation.mode.is_positive


@REQUESTS_TRANSPORT.serializer("multipart/form-data")
def send_a_site(context, value):
    """The files of a site need different paths. Generated ones all have the same."""
    sent = multipart_serializer(context, value)
    if sent.get("files"):
        sent["files"] = [
            (name, (f"{number}-{part[0]}", *part[1:]) if name == "files" and part[0] else part)
            for number, (name, part) in enumerate(sent["files"])
        ]
    return sent


@schemathesis.hook
def before_call(context, case, kwargs):
    # A publish has one of them, which the schema does not say.
    if is_good(case) and isinstance(case.body, dict) and "html" in case.body and "files" in case.body:
        del case.body["html"]
    # A queue stays paused during all other requests, so that it must be one that nothing waits for.
    if case.operation.label == PAUSE and case.path_parameters.get("queue") in QUEUES:
        case.path_parameters["queue"] = "rescan"
    # A suspended account could not make the other requests.
    if case.operation.label == SUSPEND:
        case.path_parameters["handle"] = "acct_000000000000"
    there_is = THERE_IS.get(case.operation.label, {})
    holders = [holder for holder in (case.path_parameters, case.body) if isinstance(holder, dict)]
    for holder in holders:
        for name, value in holder.items():
            # Revoking the caller's own token, or leaving the account, would make the other requests fail.
            if isinstance(value, str) and value in OWN_IDS:
                holder[name] = NOBODY_S_ID
            # A generated id never exists, so that every other valid request names an existing object.
            elif name in there_is and is_good(case) and next(CALLS) % 2:
                holder[name] = there_is[name]
