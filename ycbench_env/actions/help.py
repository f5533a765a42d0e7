"""Help for the agent and the lists of commands in prompt and docs, all made from the table."""

from ycbench_env.actions.grammar import DEFAULT_GRAMMAR, Grammar

_HOW = (
    "A command is two words, then its options as --name value or --name=value in any order; [ ] marks what may be left "
    'out. Values with blanks stand in quotes. Several commands are separated by new lines, ";" or "&&". '
    "Write --help after one or two words for more, like: task accept --help"
)


def command_list(grammar: Grammar = DEFAULT_GRAMMAR) -> str:
    """Return one line a command with its options, in the order of the table, for a prompt."""
    return "\n".join(spec.usage for spec in grammar.commands)


def help_text(topic: tuple[str, ...], grammar: Grammar = DEFAULT_GRAMMAR) -> str:
    """Return the answer to ``--help`` behind (), ("task",) or ("task", "accept").

    Raises:
        ValueError: No command begins with these words; the message lists what does.
    """
    found = grammar.find(topic)
    match topic:
        case _ if not found:
            message = f"no help on {' '.join(topic)!r}; there is help on {', '.join(grammar.entries)}"
            raise ValueError(message)
        case _, _:
            (spec,) = found
            first, last = [f"{spec.name}: {spec.summary}", f"Usage: {spec.usage}"], []
            rows = [(f"  {option.usage}", f"{option.help} ({option.kind.expected})") for option in spec.options]
        case _:
            first, last = [], ["", _HOW]
            rows = [(spec.usage, spec.summary) for spec in found]
    width = max((len(left) for left, _ in rows), default=0)
    return "\n".join([*first, *(f"{left:<{width}}  {right}" for left, right in rows), *last])


def command_table(grammar: Grammar = DEFAULT_GRAMMAR) -> str:
    """Return the commands and their options as a Markdown table, for docs/commands.md."""
    lines = ["| command | option | value | required |", "|---|---|---|---|"]
    for spec in grammar.commands:
        if not spec.options:
            lines.append(f"| `{spec.name}` | | | |")
        for option in spec.options:
            need = "yes" if option.required else "one of these" if option.name in spec.one_of else ""
            lines.append(f"| `{spec.name}` | `{option.usage}` | {option.kind.expected} | {need} |")
    return "\n".join(lines)
