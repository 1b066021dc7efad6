"""A verdict as JUnit XML, which CI systems show as tests: a test case a check."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from ..records.reading.problems import shown
from .checks import message
from .verdict import Verdict

_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(verdict: Verdict) -> bytes:
    """One suite: failures where a check failed, errors where too little was judged to check."""
    failed = [check for check in verdict.checks if not check.is_passed]
    n_errors = sum(not check.measure for check in failed)
    counts = {"tests": len(verdict.checks), "failures": len(failed) - n_errors, "errors": n_errors}
    about = {name: str(n) for name, n in counts.items()}
    suites = ElementTree.Element("testsuites", about)
    suite = ElementTree.SubElement(suites, "testsuite", {"name": "judge gate", **about})
    for check in verdict.checks:
        of = {"classname": _plain(check.run_id or "results"), "name": _plain(check.wanted)}
        case = ElementTree.SubElement(suite, "testcase", {**of, "time": "0"})
        if not check.is_passed:
            kind = "failure" if check.measure else "error"
            what = {"message": _plain(check.found), "type": kind}
            ElementTree.SubElement(case, kind, what).text = _plain(message(check, verdict.folder))
        else:
            ElementTree.SubElement(case, "system-out").text = _plain(check.found)
    if verdict.notes:
        ElementTree.SubElement(suite, "system-out").text = _plain("\n".join(verdict.notes))
    ElementTree.indent(suites)
    text: bytes = ElementTree.tostring(suites, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _plain(text: str) -> str:
    return _NO_XML.sub("?", shown(text))
