"""A server with the chat-completions interface on this machine, with scripted models and faults to order.

It needs no key and no network: for tests of agents over real connections, and to try everything before paying for a
model::

    with LoopbackServer(greedy_model) as server:
        chat = OpenAIChat(LLMSettings(model="greedy", base_url=server.base_url))

``python -m ycbench_agents.llm.loopback --model greedy --port 8080`` serves a model until it is interrupted.
"""

from ycbench_agents.llm.loopback.chaotic import chaotic_model
from ycbench_agents.llm.loopback.fault import (
    SOME_OF_EACH,
    Answer,
    Drop,
    FaultPlan,
    LoopbackFault,
    Stall,
    Status,
    Trickle,
    Truncate,
    html_page,
)
from ycbench_agents.llm.loopback.greedy import greedy_model, text_model
from ycbench_agents.llm.loopback.request import request_problems
from ycbench_agents.llm.loopback.scripted import Model, ScriptedReply
from ycbench_agents.llm.loopback.server import LoggedRequest, LoopbackServer

__all__ = [
    "SOME_OF_EACH",
    "Answer",
    "Drop",
    "FaultPlan",
    "LoggedRequest",
    "LoopbackFault",
    "LoopbackServer",
    "Model",
    "ScriptedReply",
    "Stall",
    "Status",
    "Trickle",
    "Truncate",
    "chaotic_model",
    "greedy_model",
    "html_page",
    "request_problems",
    "text_model",
]
