"""Pictures of a state for people: text, a terminal, frames of a video.

Whatever is shown comes from ``ycbench_env.viewer.dashboard``, so nothing hidden can appear in a picture.
"""

import numpy as np
from numpy.typing import NDArray

from ycbench_env.errors import ConfigError, needs_extra
from ycbench_env.types.state import State
from ycbench_env.viewer.ansi import dashboard_text
from ycbench_env.viewer.dashboard import dashboard

__all__ = ["render_state"]


def render_state(state: State, mode: str) -> str | NDArray[np.uint8] | None:
    """Return the picture of a state: "ansi" is plain text, "rgb_array" an array of shape (720, 1280, 3).

    "human" prints to the terminal and returns None.

    Raises:
        ConfigError: There is no such mode.
        MissingExtraError: "human" needs rich, "rgb_array" needs matplotlib; the message names what to install.
    """
    match mode:
        case "ansi":
            return dashboard_text(dashboard(state))
        case "human":
            with needs_extra("render", f"render mode {mode} needs rich"):
                from ycbench_env.viewer.human import print_dashboard  # noqa: PLC0415 -- of an extra
            return print_dashboard(dashboard(state))
        case "rgb_array":
            with needs_extra("render", f"render mode {mode} needs matplotlib"):
                from ycbench_env.viewer.rgb import dashboard_pixels  # noqa: PLC0415 -- of an extra
            return dashboard_pixels(dashboard(state))
        case _:
            msg = f"render mode: got {mode!r}, expected one of ansi, human, rgb_array"
            raise ConfigError(msg)
