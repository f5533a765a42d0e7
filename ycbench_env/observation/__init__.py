"""The observation function and the answers to commands, pure functions of state.

Nothing here reads a field marked "Hidden.".
"""

from ycbench_env.observation.answers import answer, encoded_answer
from ycbench_env.observation.events import wake_event
from ycbench_env.observation.info import MAX_JSON_LENGTH, Answer, TurnReport, cut_text
from ycbench_env.observation.observe import MAX_RUNWAY_MONTHS, MAX_TEXT_LENGTH, Observation, observe

__all__ = [
    "MAX_JSON_LENGTH",
    "MAX_RUNWAY_MONTHS",
    "MAX_TEXT_LENGTH",
    "Answer",
    "Observation",
    "TurnReport",
    "answer",
    "cut_text",
    "encoded_answer",
    "observe",
    "wake_event",
]
