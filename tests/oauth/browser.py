#!/usr/bin/env python3
"""The browser of a person without an account: opens the address in its only argument, continues without an account, and
follows the button that leads back to the client. Clients start it through the variable BROWSER. Like a browser, it runs
on its own, and a client may begin to listen only after it has started it."""

import os
import re
import sys
import time
from html import unescape
from urllib.error import URLError
from urllib.parse import urlencode, urljoin, urlsplit
from urllib.request import Request, urlopen


def opened(address, fields=None):
    """The text of a page; with fields, of the one that a form leads to."""
    headers = {"Accept": "text/html"}
    if fields is not None:
        parts = urlsplit(address)
        headers["Origin"] = f"{parts.scheme}://{parts.netloc}"
        fields = urlencode(fields).encode()
    with urlopen(Request(address, data=fields, headers=headers), timeout=30) as response:
        return response.read().decode()


def only(pattern, page):
    found = re.findall(pattern, page)
    assert found, f"{pattern} is not in {page}"
    return unescape(found[0])


def main(address):
    page = opened(address)
    assert "Continue with a new account" in page, page
    action = urljoin(address, only(r'<form method="post" action="([^"]+)"', page))
    page = opened(action, {"decision": "new_account"})
    assert "/claim/" in page, page
    back = only(r'<a class="button" href="([^"]+)"', page)
    until = time.monotonic() + 30
    while True:
        try:
            return opened(back)
        except URLError:
            assert time.monotonic() < until, "the client does not listen"
            time.sleep(0.1)


if os.fork() == 0:
    main(sys.argv[1])
