"""Data sets made of records: Parquet for analysis, Minari for offline reinforcement learning (docs/datasets.md)."""

from ycbench_agents.evaluation.export.error import ExportError
from ycbench_agents.evaluation.export.hiding import held_out_keys, refuse_held_out

__all__ = ["ExportError", "held_out_keys", "refuse_held_out"]
