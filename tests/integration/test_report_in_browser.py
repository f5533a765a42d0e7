"""A report in headless Chromium: nothing leaves, nothing fails, tables sort, and it fits dark screens and phones."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from ycbench_agents.evaluation.backend import Pool
from ycbench_agents.evaluation.folder import EvaluationFolder
from ycbench_agents.evaluation.job import Job, JobReport
from ycbench_agents.evaluation.player import scripted_player
from ycbench_agents.evaluation.report import write_report
from ycbench_agents.evaluation.running import EvaluationPlan, evaluate
from ycbench_agents.evaluation.suite_file import load_suite
from ycbench_agents.evaluation.worker import play_job
from ycbench_env import load_config

CHROMIUM, DRIVER = Path("/usr/bin/chromium"), Path("/usr/bin/chromedriver")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
SUITE = """
name = "browser"
description = "<script>document.title = 'run'</script>"
presets = ["default"]
seeds = [1, 2]
limits = { max_turns = 30 }
policies = [
    { name = "greedy" },
    { name = "idle" },
    { name = "conservative", label = "<img src='https://example.org/x.png' onerror=alert(1)>" },
    { name = "random", label = "not played" },
]
"""
ROWS = "Array.from(document.querySelectorAll('#leaderboard tbody tr'))"
ORDERS = f"return {ROWS}.map(r => r.cells[{{}}].textContent)"
SCORES = f"return {ROWS}.map(r => r.cells[1].dataset.order ?? null)"
# As texts these would be sorted 9, 20, 100.
RENUMBER = (
    f"{ROWS}.filter(r => r.cells[1].dataset.order).forEach((r, i) => {{r.cells[1].dataset.order = [20, 100, 9][i]}})"
)
PAINTED = (("body", "backgroundColor"), ("body", "color"), ('figure [style*="stroke: #00795c"]', "stroke"))
PAINT = "return getComputedStyle(document.querySelector('{}')).{}"


class Here(Pool):
    """Plays in this process."""

    @property
    def is_local(self) -> bool:
        return False

    def play(self, jobs: Sequence[Job]) -> Iterator[JobReport]:
        yield from (play_job(job) for job in jobs)


class Nobody:
    """Is told how far it is, and does not care."""

    def begin(self, costs: object, *, reused: int, tried_again: int) -> None: ...

    def end(self, key: object, failure: object) -> None: ...

    def tell(self, message: str) -> None: ...


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a report of real episodes, with names that would do harm if they could."""
    folder = tmp_path_factory.mktemp("evaluation")
    file = folder / "suite.toml"
    file.write_text(SUITE, encoding="utf-8")
    loaded = load_suite(file, lambda source: load_config(source, environ={}), {})
    players = {
        (policy.label, preset.label): scripted_player(policy, preset.config)
        for policy in loaded.suite.policies
        for preset in loaded.suite.presets
    }
    chosen = frozenset(policy.label for policy in loaded.suite.policies[:-1])
    out = EvaluationFolder(folder / "out")
    played = evaluate(EvaluationPlan(loaded, players, out, chosen), Here(1), Nobody())
    return write_report(played.evaluation, out.path).html.as_uri()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    if not (CHROMIUM.exists() and DRIVER.exists()):
        message = f"{CHROMIUM} and {DRIVER} are not there; install chromium and chromium-driver"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    options = Options()
    options.binary_location = str(CHROMIUM)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    driver = Chrome(options=options, service=Service(str(DRIVER)))
    yield driver
    driver.quit()


def test_a_report_works_in_a_browser_without_a_network(browser: Chrome, page: str) -> None:
    emulate = browser.execute_cdp_cmd
    browser.get("about:blank")
    browser.get_log("performance")  # Chromium's own start page has asked for its parts
    browser.get(page)

    sizes = browser.execute_script(
        "return Array.from(document.querySelectorAll('figure svg')).map(s => [s.getBoundingClientRect().width, "
        "s.getBoundingClientRect().height, s.querySelectorAll('text').length])"
    )
    assert len(sizes) >= 7
    assert min(min(size) for size in sizes) > 1
    assert browser.title == "YC-Bench evaluation: browser"
    assert browser.find_elements(By.TAG_NAME, "img") == []

    score = browser.find_element(By.XPATH, "//section[@id='leaderboard']//button[text()='Score']")
    policy = browser.find_element(By.XPATH, "//section[@id='leaderboard']//button[text()='Policy']")
    before = browser.execute_script(ORDERS.format(0))
    score.click()
    assert browser.execute_script(ORDERS.format(0))[-1] == "not played"  # has no score, and comes last either way
    score.click()
    upwards = browser.execute_script(ORDERS.format(1))
    assert upwards[-1] == "\u2013"
    amounts = [float(text.strip("$").replace(",", "")) for text in upwards[:-1]]
    assert amounts == sorted(amounts)
    assert score.find_element(By.XPATH, "..").get_attribute("aria-sort") == "ascending"
    policy.send_keys(Keys.ENTER)
    assert browser.execute_script(ORDERS.format(0)) == sorted(before, key=str.casefold)
    policy.send_keys(Keys.SPACE)
    assert browser.execute_script(ORDERS.format(0)) == sorted(before, key=str.casefold, reverse=True)
    assert policy.find_element(By.XPATH, "..").get_attribute("aria-sort") == "descending"
    assert score.find_element(By.XPATH, "..").get_attribute("aria-sort") == "none"

    browser.execute_script(RENUMBER)
    score.click()
    assert browser.execute_script(SCORES) == ["100", "20", "9", None]

    light = [browser.execute_script(PAINT.format(*what)) for what in PAINTED]
    emulate("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]})
    dark = [browser.execute_script(PAINT.format(*what)) for what in PAINTED]
    assert light == ["rgb(255, 255, 255)", "rgb(28, 37, 44)", "rgb(0, 121, 92)"]
    assert dark == ["rgb(18, 24, 30)", "rgb(230, 237, 243)", "rgb(47, 191, 151)"]

    emulate("Emulation.setDeviceMetricsOverride", {"width": 375, "height": 800, "deviceScaleFactor": 2, "mobile": True})
    browser.get(page)
    assert browser.execute_script("return [innerWidth, document.documentElement.scrollWidth]") == [375, 375]
    boxes = browser.execute_script(
        "return Array.from(document.querySelectorAll('.box')).filter(b => b.scrollWidth > b.clientWidth).length"
    )
    assert boxes > 0  # wide tables scroll in a box of their own

    printed = base64.b64decode(emulate("Page.printToPDF", {})["data"])
    assert printed.startswith(b"%PDF")

    assert browser.get_log("browser") == []
    entries = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = {entry["params"]["request"]["url"] for entry in entries if entry["method"] == "Network.requestWillBeSent"}
    assert asked == {page}
