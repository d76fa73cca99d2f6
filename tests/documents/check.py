"""Checks a folder of documents with third-party validators: the skill with skills-ref, its llms.txt with llms-txt.

The folder contains `handbill/SKILL.md` and `llms.txt`.
"""

import json
import sys
from pathlib import Path

from llms_txt import parse_llms_file
from skills_ref import read_properties, validate

folder = Path(sys.argv[1])
skill = folder / "handbill"
llms = parse_llms_file((folder / "llms.txt").read_text(encoding="utf-8"))

json.dump(
    {
        "skill": {"faults": validate(skill), "properties": read_properties(skill).to_dict()},
        "llms": {
            "title": llms.title,
            "summary": llms.summary,
            "info": llms.info,
            "sections": {
                name: [{"title": link.title, "url": link.url, "desc": link.desc} for link in links]
                for name, links in llms.sections.items()
            },
        },
    },
    sys.stdout,
)
