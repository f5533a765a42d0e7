"""``python -m ycbench_agents.cli`` is ``ycbench``."""

import sys

from ycbench_agents.cli import main

if __name__ == "__main__":
    sys.exit(main())
