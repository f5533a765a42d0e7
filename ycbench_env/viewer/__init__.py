"""Pictures of a state for people: text, a terminal, frames of a video.

Whatever is shown comes from ``ycbench_env.observation.dashboard``, so nothing hidden can appear in a picture.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ycbench_env.errors import ConfigError, MissingExtraError
from ycbench_env.observation.dashboard import dashboard
from ycbench_env.viewer.ansi import dashboard_text
from ycbench_env.viewer.wording import presentable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ycbench_env.observation.dashboard import Dashboard
    from ycbench_env.types.state import State

__all__ = ["render_state"]


def render_state(state: State, mode: str) -> str | NDArray[np.uint8] | None:
    """Return the picture of a state that a render mode names.

    Args:
        state: Any state of an episode, its end included.
        mode: "ansi", "human" or "rgb_array".

    Returns:
        "ansi": lines of plain text without control characters other than line feeds.
        "rgb_array": an array of shape (720, 1280, 3), a frame for ``gymnasium.wrappers.RecordVideo``.
        "human": None, after printing to the terminal.

    Raises:
        ConfigError: There is no such mode; the message lists them.
        MissingExtraError: "human" needs rich, "rgb_array" needs matplotlib; the message says what to install.
    """
    board = presentable(dashboard(state))
    match mode:
        case "ansi":
            return dashboard_text(board)
        case "human":
            return _print_dashboard(board)
        case "rgb_array":
            return _draw_dashboard(board)
        case _:
            msg = f"render mode: got {mode!r}, expected one of ansi, human, rgb_array"
            raise ConfigError(msg)


def _print_dashboard(board: Dashboard) -> None:
    try:
        from ycbench_env.viewer.human import print_dashboard  # noqa: PLC0415 -- rich is an extra
    except ImportError as error:
        raise MissingExtraError(_install_hint("rich", error)) from error
    print_dashboard(board)


def _draw_dashboard(board: Dashboard) -> NDArray[np.uint8]:
    try:
        from ycbench_env.viewer.rgb import dashboard_pixels  # noqa: PLC0415 -- matplotlib is an extra
    except ImportError as error:
        raise MissingExtraError(_install_hint("matplotlib", error)) from error
    return dashboard_pixels(board)


def _install_hint(library: str, error: ImportError) -> str:
    # The cause is quoted, for a library that is installed and broken looks the same from here.
    return f"this render mode needs {library} ({error}); install it with: pip install 'ycbench-env[render]'"
