"""Publishes with the client that openapi-python-client generated."""

import os
import sys

sys.path.insert(0, os.environ["HANDBILL_TEST_GENERATED"])

from handbill_client import AuthenticatedClient
from handbill_client.api.artifacts import list_artifacts, publish
from handbill_client.models import PublishResult, SiteInForm, SiteInJson
from handbill_client.types import File

client = AuthenticatedClient(base_url=os.environ["HANDBILL_TEST_BASE_URL"], token=os.environ["HANDBILL_TEST_TOKEN"])
with client:
    published = publish.sync(client=client, body=SiteInJson(slug="by-python", html="<h1>By Python</h1>"))
    assert isinstance(published, PublishResult), published
    again = publish.sync(
        client=client,
        body=SiteInForm(
            slug="by-python",
            files=[File(payload=b"<h1>By Python</h1>", file_name="index.html", mime_type="text/html")],
        ),
    )
    assert isinstance(again, PublishResult) and again.version == 2, again
    assert "by-python" in [artifact.slug for artifact in list_artifacts.sync(client=client)]
    print("published", again.url)
