import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { watchForErrors } from "../console/page/browser.ts";
import { describePages, isLive } from "../console/page/page-harness.ts";
import { type E2eHarness, openE2eHarness } from "./e2e-harness.ts";

const ROBOT = "cart-01";

describePages("the console of a gateway", (pages) => {
  let harness: E2eHarness;
  let page: Page;
  let errors: string[];

  beforeAll(async () => {
    harness = await openE2eHarness({ timeFactor: 1 });
    await harness.plc.shows(`Robots.${ROBOT}.Valid`, true);
    page = await pages.browser.newPage();
    errors = watchForErrors(page);
  });
  afterAll(async () => {
    await page.close();
    await harness.close();
    expect(errors).toEqual([]);
  });

  const rows = () => page.getByRole("list", { name: "Robots" }).getByRole("listitem");

  it("lists every robot with its place", async () => {
    await page.goto(harness.webUrl);
    await isLive(page);
    const { count } = (await (await fetch(`${harness.webUrl}/api/v1/robots`)).json()) as { count: number };
    expect(count).toBeGreaterThan(1);
    await expect.poll(() => rows().count()).toBe(count);
    await expect.poll(async () => (await rows().allTextContents()).join()).not.toContain("not known");
  });

  it("shows a robot drive, and what became of the command that sent it", async () => {
    await page.getByRole("link", { name: ROBOT, exact: true }).click();
    await page.getByText(/^Stands since/).waitFor();
    // Far enough for it to drive until the last of these tests.
    const goals = ["Station D", "Station A", "Station D", "Station A"].map((destinationId) => ({
      destinationId,
    }));
    const request = { robotId: ROBOT, mission: { cartMission: { traverseMission: { goals } } } };
    await harness.mqtt.send("CreateMission", "console-1", request);
    await page.getByText(/^Moves since/).waitFor();
    await page.getByRole("link", { name: "CreateMission" }).click();
    await page
      .getByRole("heading", { name: /^CreateMission: → Station D.*\s+succeeded → drives$/ })
      .waitFor();
    await page.getByText("mqtt:e2e").waitFor();
  });

  it("pauses it by one click", async () => {
    await page.goto(`${harness.webUrl}/robots/${ROBOT}`);
    await page.getByText(/^Moves since/).waitFor();
    await page.getByRole("button", { name: `Pause ${ROBOT}` }).click();
    await page.getByText(`Pause ${ROBOT}: succeeded`).waitFor();
    await page.getByText(/^Stands since \d\d:\d\d:\d\d: its mission is paused/).waitFor();
  });

  it("resumes it by a second step", async () => {
    await page.getByRole("button", { name: "Resume mission…" }).click();
    await page.getByRole("button", { name: `Resume mission ${ROBOT}` }).click();
    await page.getByText(/Resume mission: succeeded/).waitFor();
    await page.getByText(/^Moves since/).waitFor();
  });

  it("says that the fleet service is away, and shows no robot as good", async () => {
    await page.goto(harness.webUrl);
    await isLive(page);
    await harness.stopService();
    await page.getByText("Fleet service not reached").waitFor();
    await page.getByText(/robots, none known to be good now/).waitFor();
    await harness.startService();
    await page.getByText(/robots, [1-9]\d* good/).waitFor();
  });
});
