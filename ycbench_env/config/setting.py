"""What the configuration classes say about each of their settings, and how they hold them to it."""

from types import EllipsisType
from typing import Annotated, TypeVar, cast, dataclass_transform, get_args, get_origin

import attrs

from ycbench_env.config.kind import Kind, SettingValue, UnfitError
from ycbench_env.errors import ConfigError

__all__ = ["DistributionSetting", "Setting", "annotation_of", "show", "value_class"]

_Class = TypeVar("_Class", bound=type)
_LONGEST_VALUE = 80


@attrs.frozen
class Setting:
    """The one description of a setting, written beside its type as ``Annotated[type, Setting(...)]``.

    Attributes:
        kind: Which values are legal, and their normal form.
        description: One line for the reader, with the unit.
        source: Section of the rules page, or empty where the rules do not know the setting.
        neutral: Of a setting that came later, the value with which all is as it was before; ``...`` for the others. A
            digest leaves it out, so that records of earlier versions still have theirs.
    """

    kind: Kind
    description: str
    source: str = ""
    neutral: SettingValue | EllipsisType = ...


@attrs.frozen
class DistributionSetting:
    """The one description of a distribution: which numbers it may draw.

    Attributes:
        kind: Legal values of ``low``, ``high``, ``mode`` and ``value``.
        description: One line for the reader, with the unit of a draw.
        source: Section of the rules page.
    """

    kind: Kind
    description: str
    source: str


def annotation_of(field: "attrs.Attribute[object]") -> tuple[type, Setting | DistributionSetting | None]:
    """Returns the type of a class field and its setting; None where the field holds a whole table."""
    if get_origin(field.type) is Annotated:
        held, setting = get_args(field.type)
        return held, setting
    return cast("type", field.type), None


def show(value: object) -> str:
    """Returns a value as it should stand in a message: Python's notation, cut where it is long."""
    try:
        text = repr(value)
    except ValueError:  # Python refuses to print an int of more than 4300 digits
        text = "a number of thousands of digits"
    except Exception:  # noqa: BLE001 -- nested too deeply to print, or of a class whose own repr fails
        text = f"a {type(value).__name__}"
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}..."


@dataclass_transform(frozen_default=True)
def value_class(cls: _Class) -> _Class:
    """Returns ``cls`` as a frozen attrs class whose settings are read by their kinds when an instance is made.

    So no instance holds a value that the loader would refuse, and equal settings make equal instances.
    """
    return attrs.frozen(cls, field_transformer=_with_readers)


def _with_readers(_cls: type, fields: "list[attrs.Attribute[object]]") -> "list[attrs.Attribute[object]]":
    """Returns the fields with a converter for each setting."""
    return [
        field.evolve(converter=attrs.Converter(_read, takes_field=True))
        if isinstance(annotation_of(field)[1], Setting)
        else field
        for field in fields
    ]


def _read(value: object, field: "attrs.Attribute[object]") -> object:
    """Returns the normal form of the value of one field.

    Raises:
        ConfigError: The value is not legal; the message shows the field, the value and what was expected.
    """
    setting = cast("Setting", annotation_of(field)[1])  # only such fields get this converter
    try:
        return setting.kind.read(value)
    except UnfitError as error:
        message = f"argument: {field.name} = {show(value)}: {error}"
        raise ConfigError(message) from None
