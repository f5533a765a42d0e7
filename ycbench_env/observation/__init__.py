"""What an agent may see: the observation function and the answers to commands, pure functions of state.

Nothing here reads a field marked "Hidden.".
"""

from ycbench_env.observation.answers import answer
from ycbench_env.observation.levels import Json, JsonObject
from ycbench_env.observation.observe import MAX_RUNWAY_MONTHS, MAX_TEXT_LENGTH, Observation, observe
from ycbench_env.observation.report import MAX_JSON_LENGTH, Answer, TurnReport, cut_text, to_json
from ycbench_env.observation.wake import wake_event

__all__ = [
    "MAX_JSON_LENGTH",
    "MAX_RUNWAY_MONTHS",
    "MAX_TEXT_LENGTH",
    "Answer",
    "Json",
    "JsonObject",
    "Observation",
    "TurnReport",
    "answer",
    "cut_text",
    "observe",
    "to_json",
    "wake_event",
]
