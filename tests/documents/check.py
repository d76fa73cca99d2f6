"""What the judges from outside find in a folder of documents: skills-ref in the skill, llms-txt in its llms.txt.

The folder holds `handbill/SKILL.md` and `llms.txt`.
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
