"""Figures of an evaluation: each a function that draws a tidy frame into axes (docs/report.md)."""

from ycbench_agents.evaluation.figure.canvas import Frame, Panels, applied, new_panels, png_of, svg_of
from ycbench_agents.evaluation.figure.catalogue import FigurePlan, figure_plans
from ycbench_agents.evaluation.figure.context import draw_funds_by_context, funds_by_context
from ycbench_agents.evaluation.figure.failure import draw_failure_causes
from ycbench_agents.evaluation.figure.funds import FundsScale, draw_funds_by_month, draw_legend, funds_scale
from ycbench_agents.evaluation.figure.grid import draw_calls, draw_client_policy, draw_final_trust
from ycbench_agents.evaluation.figure.order import ordered
from ycbench_agents.evaluation.figure.range import (
    draw_adversarial_share,
    draw_final_funds,
    draw_revenue_per_dollar,
    draw_trusted_share,
)
from ycbench_agents.evaluation.figure.seeds import funds_by_seed
from ycbench_agents.evaluation.figure.short_name import short_names
from ycbench_agents.evaluation.figure.style import HOUSE_STYLE, FigureStyle, PolicyLook, looks

__all__ = [
    "HOUSE_STYLE",
    "FigurePlan",
    "FigureStyle",
    "Frame",
    "FundsScale",
    "Panels",
    "PolicyLook",
    "applied",
    "draw_adversarial_share",
    "draw_calls",
    "draw_client_policy",
    "draw_failure_causes",
    "draw_final_funds",
    "draw_final_trust",
    "draw_funds_by_context",
    "draw_funds_by_month",
    "draw_legend",
    "draw_revenue_per_dollar",
    "draw_trusted_share",
    "figure_plans",
    "funds_by_context",
    "funds_by_seed",
    "funds_scale",
    "looks",
    "new_panels",
    "ordered",
    "png_of",
    "short_names",
    "svg_of",
]
