"""What REDbot thinks of an address: every answer that it got there, with its notes, as JSON.

Its own command line shows the first answer alone; the 304 and the 206 that it provokes are worth a look too.
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


def told_of(fetch):
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
json.dump([told_of(fetch) for fetch in (resource, *resource.subreqs.values())], sys.stdout)
