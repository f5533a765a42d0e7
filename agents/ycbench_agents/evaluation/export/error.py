"""What cannot be exported."""

__all__ = ["ExportError"]


class ExportError(ValueError):
    """Records cannot be exported; the message says what was got, what was expected, and how to put it right."""
