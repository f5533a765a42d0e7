"""The command line ``ycbench``: run policies, play by hand, look at worlds and configurations.

Exit codes: 0 done, 1 a recorded run is not finished or not as recorded, 2 wrong usage, configuration or file, 130
interrupted. What went wrong stands on stderr in words; results stand on stdout and depend on the arguments alone.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from ycbench_agents.cli.failure import INTERRUPTED, USAGE, UsageError
from ycbench_agents.cli.streams import complain, drop_output, make_output_total

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]

_EXTRA: Final = ("cyclopts", "matplotlib", "prompt_toolkit", "rich")  # what the extra `cli` brings


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code.

    Args:
        arguments: The words after ``ycbench``; None for those of the process.
    """
    make_output_total()
    try:
        code = _dispatch(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
    except UsageError as error:
        complain(f"error: {error}")
        return USAGE
    except ImportError as error:  # MissingExtraError of ycbench_env is one, too
        return _missing_extra(error)
    except KeyboardInterrupt:
        complain("interrupted")
        return INTERRUPTED
    except BrokenPipeError:  # the reader, like head, has seen enough
        drop_output()
        return 0
    except OSError as error:
        drop_output()
        complain(f"error: {error.filename or 'standard output'}: {error.strerror or error}")
        return USAGE
    return code


def _dispatch(arguments: Sequence[str]) -> int:
    from ycbench_agents.cli.app import dispatch  # noqa: PLC0415 -- needs the extra

    return dispatch(arguments)


def _missing_extra(error: ImportError) -> int:
    """Say in one line which extra brings a library that is not there."""
    missing = (error.name or "").partition(".")[0]
    if missing in _EXTRA:
        complain(f"error: {missing} is not installed; the command line needs it: pip install 'ycbench-env[cli]'")
        return USAGE
    from ycbench_env import MissingExtraError  # noqa: PLC0415 -- slow to import, and --help does not need it

    if not isinstance(error, MissingExtraError):
        raise error
    complain(f"error: {error}")
    return USAGE
