"""A report as one HTML file that needs nothing else; the only importer of jinja2, when one is made."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from ycbench_env import MissingExtraError

if TYPE_CHECKING:
    from ycbench_agents.evaluation.report.content import Report

__all__ = ["html_of"]

_TEMPLATES: Final = files("ycbench_agents.evaluation.report") / "template"


def html_of(report: Report) -> str:
    """Return a report as an HTML document.

    All text is escaped; only this package's style, script and figures are not. The page forbids itself to fetch
    anything, and to run any other script.

    Raises:
        MissingExtraError: jinja2 is not installed.
    """
    try:
        import jinja2  # noqa: PLC0415 -- an extra
    except ImportError as error:
        msg = f"reports need jinja2 ({error}); install it with: pip install 'ycbench-env[evaluation]'"
        raise MissingExtraError(msg) from error
    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    script = _read("report.js")
    # The hash is that of the text between the tags, of which the line breaks are a part.
    digest = base64.b64encode(hashlib.sha256(f"\n{script}".encode()).digest()).decode("ascii")
    template = environment.from_string(_read("report.html.jinja"))
    return template.render(report=report, style=_read("report.css"), script=script, script_hash=f"sha256-{digest}")


def _read(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")
