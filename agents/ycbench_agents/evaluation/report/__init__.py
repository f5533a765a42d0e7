"""Reports of an evaluation: one HTML file, Markdown and figures (docs/report.md)."""

from ycbench_agents.evaluation.report.content import Report, ReportError, report_of
from ycbench_agents.evaluation.report.html import html_of
from ycbench_agents.evaluation.report.markdown import markdown_of
from ycbench_agents.evaluation.report.writing import WrittenReport, write_report

__all__ = ["Report", "ReportError", "WrittenReport", "html_of", "markdown_of", "report_of", "write_report"]
