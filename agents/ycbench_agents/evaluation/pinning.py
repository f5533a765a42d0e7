"""The files of a suite's policies: their digests, and whether they still say what the suite was made of."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

import attrs

from ycbench_agents.evaluation.settings_table import SuiteError

if TYPE_CHECKING:
    from pathlib import Path

    from ycbench_agents.evaluation.old_suite import SuitePolicy

__all__ = ["pinned", "require_pinned"]

_SHORT: Final = 12  # digits of a digest, where people compare


def pinned(policy: SuitePolicy, place: str) -> SuitePolicy:
    """Return a policy with the digests of its files; one that has them is returned as it is.

    Args:
        policy: The policy.
        place: Where it stands, for errors.

    Raises:
        SuiteError: A file cannot be read.
    """
    has_prompt = policy.system_prompt is None or policy.system_prompt_sha256 is not None
    if has_prompt and len(policy.prices_sha256) == len(policy.prices):
        return policy
    where = f"{place}: policies: {policy.label!r}"
    prompt = policy.system_prompt
    return attrs.evolve(
        policy,
        system_prompt_sha256=None if prompt is None else _text_digest(prompt, f"{where}: system_prompt"),
        prices_sha256=tuple(_text_digest(path, f"{where}: prices") for path in policy.prices),
    )


def require_pinned(policy: SuitePolicy) -> None:
    """Refuse a policy whose files say something else than when its digests were made.

    Raises:
        SuiteError: One does, or cannot be read.
    """
    paths = [*([] if policy.system_prompt is None else [policy.system_prompt]), *policy.prices]
    expected = [*filter(None, [policy.system_prompt_sha256]), *policy.prices_sha256]
    place = f"policy {policy.label!r} of the suite"
    for path, digest in zip(paths, expected, strict=False):  # none where nobody has read them
        got = _text_digest(path, place)
        if got != digest:
            msg = (
                f"{place}: {path}: got a text with SHA-256 {got[:_SHORT]}..., expected {digest[:_SHORT]}..., as the "
                "suite has it; put that text back, or play the suite's TOML file"
            )
            raise SuiteError(msg)


def _text_digest(path: Path, place: str) -> str:
    """Return the SHA-256, as hex, of a file's text; a byte order mark and the kind of line breaks do not count."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        msg = f"{place}: {path}: cannot be read: {reason}; expected a text file beside the suite"
        raise SuiteError(msg) from None
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
