"""Checks an address with REDbot and prints every response with its notes as JSON.

REDbot's own command line prints only the first response. This also prints those to its conditional and range requests.
"""

import configparser
import json
import sys

import thor
from redbot.resource import HttpResource


def told(note):
    """A note and those below it, as one list."""
    own = {"level": note.level.name, "id": type(note).__name__, "summary": str(note.summary)}
    return [own, *(below for child in note.subnotes for below in told(child))]


def summary_of(fetch):
    return {
        "check": str(fetch.check_name),
        "status": fetch.response.status_code,
        "error": fetch.fetch_error and str(fetch.fetch_error.desc),
        "notes": [line for note in fetch.response.notes for line in told(note)],
    }


settings = configparser.ConfigParser()
settings.read_dict({"redbot": {"enable_local_access": "true"}})
resource = HttpResource(settings["redbot"])
resource.set_request(sys.argv[1])
resource.on("check_done", thor.stop)
resource.check()
thor.run()
json.dump([summary_of(fetch) for fetch in (resource, *resource.subreqs.values())], sys.stdout)
