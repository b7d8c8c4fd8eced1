// Makes the pictures of the console in docs/images/, from the demo's fleet: npm run screenshots
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const images = join(root, "docs", "images");
/** The demo takes five ports in a row. */
const basePort = process.argv[2] ?? "23443";
/** Long enough for a robot to have left a trail. */
const DRIVE_MS = 14_000;

const viewport = { width: 1_200, height: 680 };
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
  executablePath: "/usr/bin/chromium",
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
  const other = await browser.newPage({ viewport });
  other.setDefaultTimeout(120_000);
  await other.goto(`${web}/robots/cart-02`);
  await other.getByRole("button", { name: "Pause cart-02" }).click();
  await other.getByText(/Stands since .*: its mission is paused/).waitFor();
  mkdirSync(images, { recursive: true });
  await other.screenshot({ path: join(images, "robot.png") });
  await page.getByText("◆ paused").waitFor();
  await page.screenshot({ path: join(images, "floor.png") });
} finally {
  await browser.close();
  if (demo.kill()) await once(demo, "exit");
  rmSync(folder, { recursive: true });
}
