//! The page in a real browser: no errors, nothing outside the screen, every switch works. Needs Chromium or Chrome.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{Room, assert_texts, skip};

/// A page that shows the report in frames of these widths, plays with it, and writes down what it finds. Frames,
/// because a window cannot be as narrow as a phone.
const BENCH: &str = r#"<!doctype html><meta charset="utf-8"><body><script>
const report = decodeURIComponent("REPORT");
const failed = [];
async function look(width, theme) {
  const frame = document.createElement("iframe");
  frame.style.cssText = "border:0;height:900px;width:" + width + "px";
  frame.srcdoc = report;
  document.body.append(frame);
  await new Promise((done) => frame.addEventListener("load", done));
  const page = frame.contentDocument, view = frame.contentWindow;
  const must = (what, holds) => { if (!holds) failed.push(width + " " + theme + ": " + what); };
  const button = page.getElementById("theme");
  if (button.textContent === theme) button.click();
  const [red] = view.getComputedStyle(page.body).backgroundColor.match(/\d+/g);
  must("theme, red " + red, (theme === "dark") === (red < 128));
  must("width " + page.documentElement.scrollWidth, page.documentElement.scrollWidth <= width);
  const seen = (part) => part.getClientRects().length > 0;
  const count = (css) => [...page.querySelectorAll(css)].filter(seen).length;
  must("one table per group", count("table.results") === 2);
  must("one curve per group", count("svg[aria-label='MRR over test steps']") === 2);
  must("answers with reasons", count(".why .card") >= 3);
  const wide = [...page.querySelectorAll(".why .card")].filter((card) => card.scrollWidth > card.clientWidth);
  must("reasons inside their cards", wide.length === 0);
  must("checks", count(".checklist tbody tr") === CHECKS);
  page.querySelector("[data-show=raw]").click();
  must("raw", count("[data-filter=raw] table") === 1 && count("table.results") === 2);
  page.querySelector("[data-show=time]").click();
  const table = page.querySelector("[data-filter=time] table");
  const names = () => [...table.tBodies[0].rows].map((row) => row.cells[0].textContent).join();
  const before = names();
  table.tHead.rows[0].cells[1].click();
  must("sorted already: " + names(), names() === before);
  table.tHead.rows[0].cells[1].click();
  must("turned: " + names(), names() === before.split(",").reverse().join());
  page.querySelector(".column").dispatchEvent(new view.PointerEvent("pointerenter", { clientX: 99, clientY: 99 }));
  must("values under the pointer", page.getElementById("tip").textContent.includes("queries\n"));
}
(async () => {
  for (const width of [390, 1024, 1600]) for (const theme of ["light", "dark"]) await look(width, theme);
  document.body.innerHTML = "<p id=verdict>" + (failed.join("; ") || "all is well") + "</p>";
})().catch((error) => { document.body.innerHTML = "<p id=verdict>" + error + "</p>"; });
</script>"#;

/// Milliseconds of its own time that the browser may take.
const BUDGET: u32 = 20_000;

fn browser() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let path = std::env::var_os("PATH")?;
    let places: Vec<PathBuf> = std::env::split_paths(&path).collect();
    names.iter().find_map(|name| places.iter().map(|place| place.join(name)).find(|file| file.is_file()))
}

fn percent_encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric();
    text.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}

/// Shows a report of the room on every screen and plays with it. It has two groups and this many checks.
fn assert_works(room: &Room, browser: &Path, report: &str, checks: usize) {
    let page = percent_encoded(&room.text(report));
    room.write("bench.html", BENCH.replace("REPORT", &page).replace("CHECKS", &checks.to_string()));
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"])
        .args(["--disable-sync", "--disable-component-update", "--no-first-run", "--window-size=1700,1000"])
        .args(["--enable-logging=stderr", "--v=0", "--dump-dom"])
        .arg(format!("--virtual-time-budget={BUDGET}"))
        .arg(format!("--user-data-dir={}", room.path("profile").display()))
        .arg(format!("file://{}", room.path("bench.html").display()))
        .output()
        .expect("the browser starts");
    let said = String::from_utf8_lossy(&output.stderr);
    let console: Vec<&str> = said.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert!(console.is_empty(), "{console:?}");
    assert_texts(&String::from_utf8_lossy(&output.stdout), &["<p id=\"verdict\">all is well</p>"]);
}

#[test]
fn page_works_on_every_screen() {
    let Some(browser) = browser() else { return skip("no browser") };
    let room = Room::with_runs();
    room.quadcast("report combined strict relaxed multi --out report.html").success();
    assert_works(&room, &browser, "report.html", 10);
}

#[test]
fn page_of_the_demonstration_works_on_every_screen() {
    let Some(browser) = browser() else { return skip("no browser") };
    let room = Room::new();
    room.quadcast("demo").success();
    assert_works(&room, &browser, "quadcast-demo/report.html", 14);
}
