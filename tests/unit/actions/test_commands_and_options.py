"""Commands, options, values, lists and help: what is taken, and what the errors say."""

import datetime as dt

import pytest

from ycbench_env.actions import ParsedCommand, help_text, parse_turn
from ycbench_env.types.command import (
    AcceptTask,
    AssignTask,
    BrowseMarket,
    CancelTask,
    ClearScratchpad,
    ClientHistory,
    Command,
    CompanyStatus,
    DispatchTask,
    FinanceLedger,
    Help,
    InspectTask,
    ListClients,
    ListEmployees,
    ListTasks,
    ReadScratchpad,
    ReportMonthly,
    Resume,
    WriteScratchpad,
)


def only(text: str) -> ParsedCommand:
    (parsed,) = parse_turn(text)
    return parsed


def error_of(text: str) -> str:
    parsed = only(text)
    assert parsed.error is not None, parsed.command
    return parsed.error


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("company status", CompanyStatus()),
        ("employee list", ListEmployees()),
        ("market browse", BrowseMarket()),
        (
            "market browse --domain data_environment --reward-min-cents 0 --limit 1 --offset 0",
            BrowseMarket("data_environment", 0, 1, 0),
        ),
        ("market browse --limit 999999999999999999", BrowseMarket(limit=10**18 - 1)),
        ("task list", ListTasks()),
        ("task list --status completed_fail", ListTasks("completed_fail")),
        ("task inspect --task-id Task-3", InspectTask("Task-3")),
        ("task accept --task-id=Task-3", AcceptTask("Task-3")),
        ("task accept --task-id=a=b", AcceptTask("a=b")),
        ("task accept --task-id -3", AcceptTask("-3")),
        ("task dispatch --task-id Task-3", DispatchTask("Task-3")),
        ("task assign --employees Emp_1,Emp_4,Emp_1 --task-id T", AssignTask("T", ("Emp_1", "Emp_4", "Emp_1"))),
        ('task cancel --reason "" --task-id T', CancelTask("T", "")),
        ("client list", ListClients()),
        ("client history", ClientHistory()),
        ("finance ledger", FinanceLedger()),
        (
            "finance ledger --from 02/29/2024 --to 2025-03-31 --category task_fail_penalty",
            FinanceLedger(dt.date(2024, 2, 29), dt.date(2025, 3, 31), "task_fail_penalty"),
        ),
        (
            "report monthly --from-month 2025-01 --to-month=2025-12",
            ReportMonthly(dt.date(2025, 1, 1), dt.date(2025, 12, 1)),
        ),
        ("sim resume", Resume()),
        ("scratchpad read", ReadScratchpad()),
        ("scratchpad clear", ClearScratchpad()),
        ("scratchpad write --content x", WriteScratchpad("x")),
        ("scratchpad write --content=--foo", WriteScratchpad("--foo")),
    ],
)
def test_each_command_is_understood_with_and_without_the_program_name(text: str, command: Command) -> None:
    for spelling in (text, f"yc-bench {text}"):
        assert only(spelling) == ParsedCommand(spelling, command, None, chained=False)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("yc-bench", ["--help"]),
        ("yc-bench yc-bench task list", ['"yc-bench task"']),
        ("task", ['"task" needs a second word', "dispatch"]),
        ("task --task-id T", ['"task" needs a second word']),
        ("task acept --task-id T", ['"task acept"', "task takes: list", "Did you mean task accept?"]),
        ("acept Task-3", ["The commands are: company status", "Did you mean task accept?"]),
        ("SIM RESUME", ["Did you mean sim resume?"]),
        ("Task List", ["case matters", "Did you mean task list?"]),
        ("--task-id T task accept", ["begins with two words", '"--task-id"']),
        ("task accept", ["needs --task-id TASK", "Usage: task accept --task-id TASK"]),
        ("task cancel", ["needs --task-id TASK and --reason TEXT"]),
        ("task cancel --task-id T", ["needs --reason TEXT."]),
        ("task accept --task T", ['unknown option "--task"', "it takes --task-id", "Did you mean --task-id?"]),
        ("task accept --Task-Id T", ['"--Task-Id"', "Did you mean --task-id?"]),
        ("task accept -task-id T", ['stray word "-task-id"', "Did you mean --task-id?"]),
        ("task accept Task-3", ['stray word "Task-3"', "it takes --task-id"]),
        ("company status --verbose", ["it takes no options"]),
        ("sim resume now", ['stray word "now"', "it takes no options"]),
        ("task accept --", ['unknown option "--"']),
        ("task list --status active --status planned", ["--status is given twice"]),
        ("task list --status=active --status active", ["--status is given twice"]),
        ("task assign --task-id T --employees A --employees B", ["--employees is given twice"]),
        ("task accept --task-id", ["--task-id needs a value", "Task-3"]),
        ("task accept --task-id=", ["--task-id needs a value"]),
        ("task accept --task-id= T", ["no blank after the = of --task-id; write --task-id=T or --task-id T."]),
        ("task accept --task-id =T", ["no blank before the = of --task-id; write --task-id=T or --task-id T."]),
        ("task accept --task-id = T", ["no blank before the = of --task-id; write --task-id=T or --task-id T."]),
        ("market browse --limit = 2", ["write --limit=2 or --limit 2."]),
        ("market browse --limit = --offset 2", ["no blank before the = of --limit; write --limit N."]),
        ("market browse --limit= --offset 2", ["--limit needs a value"]),
        ("market browse --limit =", ["write --limit N."]),
        ("task cancel --reason = 'too late' --task-id T", ['write --reason="too late" or --reason "too late".']),
        ("task cancel --reason =--x --task-id T", ['write --reason="--x" or --reason "--x".']),
        ('task accept --task-id ""', ['--task-id got ""']),
        ("scratchpad write --content", ['an empty one is written --content ""']),
        ("scratchpad write --content --foo", ['write --content="--foo" or --content "--foo"']),
        ("scratchpad write --content --foo=x", ['write --content="--foo=x"']),
        ("scratchpad write --content two words", ['stray word "words"', "needs quotes"]),
        ("market browse --domain Research", ['got "Research"', "research, inference, data_environment, training"]),
        ("market browse --domain ''", ['got ""', "research"]),
        ("task list --status market", ['got "market"', "planned, active"]),
        ("finance ledger --category payroll", ["monthly_payroll, task_reward, task_fail_penalty"]),
        *(
            (f"market browse --limit {value}", [f'--limit got "{value}"', "at least 1 in plain digits"])
            for value in ("0", "1.5", "-3", "+3", "1e3", "1_000", "0x1", "\uff11", "\u0661", "\u00b2", "9" * 19, "1,0")
        ),
        ("market browse --offset -1", ["at least 0"]),
        ("market browse --reward-min-cents '1 000'", ["at least 0"]),
        *(
            (f"finance ledger --from {value}", ["a date that exists, as MM/DD/YYYY or YYYY-MM-DD"])
            for value in ("02/30/2025", "2025-13-01", "13/01/2025", "2/3/2025", "0000-01-01", "20250101", "today")
        ),
        *(
            (f"report monthly --to-month {value}", ["a month that exists, as YYYY-MM"])
            for value in ("2025-13", "2025-00", "0000-01", "01/2025", "2025-1", "2025-01-01", "\uff12025-01")
        ),
    ],
)
def test_a_mistake_is_told_with_what_was_got_and_what_is_valid(text: str, parts: list[str]) -> None:
    error = error_of(text)
    for part in parts:
        assert part in error


def test_an_error_echoes_little_of_a_long_text_and_stays_on_one_line() -> None:
    for text in ("x" * 500, "task " + "x" * 500, "task accept --" + "x" * 500, "task accept " + "x" * 500,
                 "market browse --limit " + "9" * 500, 'market browse --limit "' + "\n\t" * 500 + '"'):  # fmt: skip
        error = error_of(text)
        assert "xxxxxxxxxx" * 7 not in error
        assert "9" * 61 not in error
        assert error.isprintable()


def test_hints_stop_after_many_mistakes_because_they_cost_time() -> None:
    errors = [str(parsed.error) for parsed in parse_turn("task acept\n" * 60)]
    assert "Did you mean" in errors[0]
    assert "Did you mean" not in errors[-1]
    assert "task takes: list" in errors[-1]


# ---- lists


@pytest.mark.parametrize(
    "value",
    [
        *("Emp_1,Emp_4", "Emp_1, Emp_4", "Emp_1 ,Emp_4", "Emp_1 , Emp_4", '"Emp_1, Emp_4"', "'Emp_1 ,\n Emp_4 '"),
        *('"Emp_1", "Emp_4"', '"Emp_1","Emp_4"', '"Emp_1" ,Emp_4', "Emp_1,'Emp_4'", "Emp_1\xa0,\\\nEmp_4"),
        "\u201cEmp_1\u201d, \u201cEmp_4\u201d",
    ],
)
def test_blanks_and_quotes_around_names_do_not_count(value: str) -> None:
    expected = AssignTask("T", ("Emp_1", "Emp_4"))
    assert only(f"task assign --task-id T --employees {value}").command == expected
    assert only(f"task assign --employees={value} --task-id T").command == expected


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (",", "an entry is empty"),
        ('","', "an entry is empty"),
        ("''", "the list is empty"),
        ('" "', "an entry is empty"),
        ("Emp_1,", "ends in a comma"),
        ("Emp_1 ,", "ends in a comma"),
        ('"Emp_1,"', "ends in a comma"),
        (",Emp_1", "an entry is empty"),
        ("Emp_1,,Emp_4", "an entry is empty"),
        ("Emp_1, ,Emp_4", "an entry is empty"),
        ('Emp_1,"",Emp_4', "an entry is empty"),
        ("Emp_1 Emp_4", 'got "Emp_1 Emp_4"'),
        ("Emp_1  Emp_4", 'no comma between "Emp_1" and "Emp_4"'),
        ('"Emp_1" Emp_4', 'no comma between "Emp_1" and "Emp_4"'),
        ("Emp_1,Emp_2 Emp_4", 'no comma between "Emp_2" and "Emp_4"'),
        ("a," * 6000 + "a", "at most 5,000"),
        ("'a'," * 6000 + "a", "at most 5,000"),
    ],
)
def test_a_list_with_a_hole_is_refused_and_nothing_is_dropped(value: str, reason: str) -> None:
    assert reason in error_of(f"task assign --task-id T --employees {value}")


def test_a_comma_before_the_next_option_is_a_missing_name() -> None:
    assert "ends in a comma" in error_of("task assign --employees Emp_1, --task-id T")


def test_a_backslash_in_a_quoted_list_keeps_a_comma_or_a_blank() -> None:
    command = only("task assign --task-id T --employees 'a\\,b,c\\\\,d\\e,\\ f\\ '").command
    assert command == AssignTask("T", ("a,b", "c\\", "d\\e", " f "))
    for value in ("'a\\'", "'a\\\\'", "'a\\\\ '"):
        assert only(f"task assign --task-id T --employees {value}").command == AssignTask("T", ("a\\",))


# ---- help


@pytest.mark.parametrize(
    ("texts", "topic"),
    [
        (["--help", "help", "help --help", "yc-bench --help", "yc-bench help", "\u2014help"], ()),
        (["task --help", "help task", "task --help accept"], ("task",)),
        (["task accept --help", "help task accept", "task accept --help --task-id"], ("task", "accept")),
        (["task accept --task-id --help", "task accept --task-id 3 --bogus --help"], ("task", "accept")),
        (["task accept Task-3 --help", "task accept --content '--help' --help"], ("task", "accept")),
    ],
)
def test_help_can_be_asked_for_anywhere(texts: list[str], topic: tuple[str, ...]) -> None:
    assert [only(text).command for text in texts] == [Help(topic)] * len(texts)
    assert help_text(topic)


@pytest.mark.parametrize("text", ["foo --help", "task foo --help", "help foo", "help task accept now", "help task foo"])
def test_help_on_what_does_not_exist_is_an_unknown_command(text: str) -> None:
    assert "Unknown command" in error_of(text)


def test_help_takes_no_value() -> None:
    assert "--help takes no value" in error_of("task --help=yes")
