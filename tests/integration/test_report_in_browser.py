"""A report in headless Chromium: nothing is fetched, nothing fails, tables sort, dark screens and phones work."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from ycbench_agents.evaluation import play_suite
from ycbench_agents.evaluation.report import write_report

CHROMIUM, DRIVER = Path("/usr/bin/chromium"), Path("/usr/bin/chromedriver")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
SUITE = {
    "name": "browser",
    "description": "<script>document.title = 'run'</script>",
    "presets": ["default"],
    "seeds": [1, 2],
    "limits": {"max_turns": 30},
    "policies": [
        {"name": "greedy"},
        {"name": "idle"},
        {"name": "conservative", "label": "<img src='https://example.org/x.png' onerror=alert(1)>"},
        {"name": "random", "label": "not played"},
    ],
}
ROWS = "Array.from(document.querySelector('#leaderboard table').tBodies[0].rows)"
CELLS = f"return {ROWS}.map(r => r.cells[{{}}].textContent)"
ORDERS = f"return {ROWS}.map(r => r.cells[1].dataset.order ?? null)"
# As texts these would be sorted 9, 20, 100.
RENUMBER = (
    f"{ROWS}.filter(r => r.cells[1].dataset.order).forEach((r, i) => {{r.cells[1].dataset.order = [20, 100, 9][i]}})"
)
PAINT = "const s = getComputedStyle(document.body); return [s.backgroundColor, s.color]"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a report of short episodes, with names that would do harm if they could."""
    folder = tmp_path_factory.mktemp("evaluation")
    labels = [str(policy.get("label", policy["name"])) for policy in SUITE["policies"] if isinstance(policy, dict)]
    play_suite(SUITE, folder, policies=labels[:-1], workers=1)
    return write_report(folder)[0].as_uri()


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

    sizes = browser.execute_script("return Array.from(document.images).map(i => [i.naturalWidth, i.clientWidth])")
    assert len(sizes) >= 7
    assert min(min(size) for size in sizes) > 100
    assert browser.title == "YC-Bench evaluation: browser"

    score = browser.find_element(By.XPATH, "//section[@id='leaderboard']//button[text()='Score']")
    policy = browser.find_element(By.XPATH, "//section[@id='leaderboard']//button[text()='Policy']")
    before = browser.execute_script(CELLS.format(0))
    score.click()
    assert browser.execute_script(CELLS.format(0))[-1] == "not played"  # has no score, and comes last either way
    score.click()
    assert browser.execute_script(CELLS.format(1))[-1] == "\u2013"
    assert score.find_element(By.XPATH, "..").get_attribute("aria-sort") == "ascending"
    policy.send_keys(Keys.ENTER)
    assert browser.execute_script(CELLS.format(0)) == sorted(before, key=str.casefold)
    policy.send_keys(Keys.SPACE)
    assert browser.execute_script(CELLS.format(0)) == sorted(before, key=str.casefold, reverse=True)
    browser.execute_script(RENUMBER)
    score.click()
    assert browser.execute_script(ORDERS) == ["100", "20", "9", None]

    assert browser.execute_script(PAINT) == ["rgb(255, 255, 255)", "rgb(28, 37, 44)"]
    emulate("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]})
    assert browser.execute_script(PAINT) == ["rgb(18, 24, 30)", "rgb(230, 237, 243)"]

    emulate("Emulation.setDeviceMetricsOverride", {"width": 375, "height": 800, "deviceScaleFactor": 2, "mobile": True})
    browser.get(page)
    assert browser.execute_script("return [innerWidth, document.documentElement.scrollWidth]") == [375, 375]

    assert browser.get_log("browser") == []
    entries = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = {entry["params"]["request"]["url"] for entry in entries if entry["method"] == "Network.requestWillBeSent"}
    assert {url for url in asked if not url.startswith("data:")} == {page}
