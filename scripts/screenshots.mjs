// Makes the pictures of the console in docs/images/, from the demo's fleet: npm run screenshots
// With a folder it also makes one of every page at three widths, light and dark, to look at them one by one:
// npm run screenshots -- --all FOLDER
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const images = join(root, "docs", "images");
const { values: options } = parseArgs({
  options: {
    // The demo takes five ports in a row.
    "base-port": { type: "string", default: "23443" },
    all: { type: "string" },
    // Of all pages, in another language: de-DE.
    locale: { type: "string", default: "en-GB" },
  },
});
const basePort = options["base-port"];
/** Long enough for a robot to have left a trail. */
const DRIVE_MS = 14_000;
/** For the lists of a page, which it reads after it is live. */
const SETTLE_MS = 1_500;

const viewport = { width: 1_200, height: 680 };
const telephone = { width: 390, height: 780 };
const screens = [{ width: 1_440, height: 900 }, { width: 1_024, height: 768 }, telephone];
const pages = {
  floor: "/",
  chosen: "/?robot=cart-02",
  robot: "/robots/cart-01",
  commands: "/commands",
  command: "/commands/web%3Aopen%2Fshift-1",
  send: "/send?operation=CreateMission&robot=cart-02",
  alarms: "/alarms",
  stations: "/stations",
  tags: "/tags?robot=cart-01",
  connections: "/connections",
  simulator: "/simulator",
};
const goals = (...names) => names.map((destinationId) => ({ destinationId }));
const traverse = (robotId, ...names) => ({
  operation: "CreateMission",
  request: { robotId, mission: { cartMission: { traverseMission: { goals: goals(...names) } } } },
});

const folder = mkdtempSync(join(tmpdir(), "fleetgate-screenshots-"));
// With --json no robot goes anywhere by chance.
const args = ["demo", "--json", "--base-port", basePort, "--data", folder];
const demo = spawn(process.execPath, [join(root, "dist", "main.js"), ...args], {
  stdio: ["ignore", "pipe", "inherit"],
});
const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium-headless-shell",
  args: ["--no-sandbox", "--disable-dev-shm-usage"],
});
try {
  const gone = once(demo, "exit").then(() => Promise.reject(new Error("the demo has ended")));
  const [line] = await Promise.race([once(createInterface(demo.stdout), "line"), gone]);
  const { web } = JSON.parse(line);
  const page = await browser.newPage({ viewport });
  page.setDefaultTimeout(120_000);
  await page.goto(web);
  await page.getByText("● live").waitFor();
  await page.getByText(/robots, [1-9]\d* good/).waitFor();
  const send = async (id, command) => {
    const data = { ...command, expires_in_ms: 10_000 };
    const answer = await page.request.put(`${web}/api/v1/commands/${id}`, { data });
    if (!answer.ok()) throw new Error(await answer.text());
  };
  await send("shift-1", traverse("cart-01", "Station D", "Station A", "Station B"));
  await send("shift-2", traverse("cart-02", "Station C", "Station B"));
  await page.goto(`${web}/?robot=cart-01`);
  await page.getByText("● live").waitFor();
  await page.waitForTimeout(DRIVE_MS);
  const show = async (path, size, colorScheme, locale = "en-GB") => {
    const other = await browser.newPage({ viewport: size, colorScheme, locale });
    other.setDefaultTimeout(120_000);
    await other.goto(`${web}${path}`);
    await other.getByText(/^● (live|aktuell)$/).waitFor();
    return other;
  };
  const dark = await show("/robots/cart-02", viewport, "dark");
  await dark.getByRole("button", { name: "Pause cart-02" }).click();
  await dark.getByText(/Stands since .*: its mission is paused/).waitFor();
  await page.getByText("◆ paused").first().waitFor();
  const inHand = await show("/?robot=cart-02", telephone, "light");
  const stations = await show("/stations", viewport, "light");
  mkdirSync(images, { recursive: true });
  const pictures = { floor: page, robot: dark, telephone: inHand, stations };
  await page.waitForTimeout(SETTLE_MS);
  for (const [name, shown] of Object.entries(pictures))
    await shown.screenshot({ path: join(images, `${name}.png`) });
  if (options.all !== undefined) {
    mkdirSync(options.all, { recursive: true });
    for (const size of screens)
      for (const theme of ["light", "dark"])
        for (const [name, path] of Object.entries(pages)) {
          const shown = await show(path, size, theme, options.locale);
          await shown.waitForTimeout(SETTLE_MS);
          await shown.screenshot({ path: join(options.all, `${name}-${size.width}-${theme}.png`) });
          await shown.close();
        }
  }
} finally {
  await browser.close();
  if (demo.kill()) await once(demo, "exit");
  rmSync(folder, { recursive: true });
}
