"""The command line ``ycbench``: run policies, play by hand, look at worlds and configurations.

Exit codes: 0 done, 1 an episode is not finished or a record does not replay, 2 wrong usage, configuration or file, 3
``validate`` could not check something, 130 interrupted. Results go to stdout and depend on the arguments alone;
everything else goes to stderr.
"""

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code.

    Args:
        arguments: The words after ``ycbench``; None for those of the process.
    """
    try:
        from ycbench_agents.cli.app import run_command  # noqa: PLC0415 -- needs the extra
    except ModuleNotFoundError as error:
        library = (error.name or "").partition(".")[0]
        if library not in {"cattrs", "cyclopts", "rich"}:
            raise
        install = "pip install '.[cli]' in the folder of this project"
        print(f"ycbench: error: {library} is not installed; the command line needs it: {install}", file=sys.stderr)  # noqa: T201 -- the command line
        return 2
    return run_command(sys.argv[1:] if arguments is None else arguments)
