"""Pictures of a state for people: text, a terminal, frames of a video.

Whatever is shown comes from ``ycbench_env.viewer.dashboard``, so nothing hidden can appear in a picture.
"""

import numpy as np
from numpy.typing import NDArray

from ycbench_env.errors import ConfigError, MissingExtraError
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
    try:
        match mode:
            case "ansi":
                return dashboard_text(dashboard(state))
            case "human":
                from ycbench_env.viewer.human import print_dashboard  # noqa: PLC0415 -- rich is an extra

                return print_dashboard(dashboard(state))
            case "rgb_array":
                from ycbench_env.viewer.rgb import dashboard_pixels  # noqa: PLC0415 -- matplotlib is an extra

                return dashboard_pixels(dashboard(state))
            case _:
                msg = f"render mode: got {mode!r}, expected one of ansi, human, rgb_array"
                raise ConfigError(msg)
    except ImportError as error:  # its text is quoted, for a library that is installed and broken looks the same
        library = "rich" if mode == "human" else "matplotlib"
        how = "pip install '.[render]' in this project's folder"
        msg = f"render mode {mode} needs {library} ({error}); install it with {how}"
        raise MissingExtraError(msg) from error
