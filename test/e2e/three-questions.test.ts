import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describePages } from "../console/page/page-harness.ts";
import { type E2eHarness, openE2eHarness } from "./e2e-harness.ts";

const ROBOT = "cart-03";
/** Within which the console must have answered, from its first view. */
const MOST_MS = 10_000;
const MOST_CLICKS = 2;
/** Between two keys, of a person who does not hurry. */
const TYPING = { delay: 120 };

describePages("a new user of the console finds within ten seconds", (pages) => {
  let harness: E2eHarness;

  beforeAll(async () => {
    // With the times of a plant: where the online list is asked for five times a second, it is soon late.
    harness = await openE2eHarness({ timeFactor: 1 }, { fleet: { times: {} } });
    await harness.plc.shows(`Robots.${ROBOT}.Valid`, true);
    const goals = [{ destinationId: "Station D" }, { destinationId: "Station A" }];
    const mission = { cartMission: { traverseMission: { goals } } };
    await harness.mqtt.send("CreateMission", "three-1", { robotId: ROBOT, mission });
    const page = await pages.browser.newPage();
    await page.goto(`${harness.webUrl}/robots/${ROBOT}`);
    await page.getByText(/^Moves since/).waitFor();
    await page.getByRole("button", { name: `Pause ${ROBOT}` }).click();
    await page.getByText(/^Stands since .*: its mission is paused/).waitFor();
    await page.close();
  });
  afterAll(() => harness.close());

  /** Gives what the page says, if it has said it in time and after few clicks. */
  async function answer(find: (page: Page) => Promise<string>): Promise<string> {
    let [began, clicks] = [0, 0];
    const { page } = await pages.openPage(harness.webUrl, {
      viewport: { width: 1_200, height: 680 },
      async before(shown) {
        await shown.exposeFunction("countClick", () => {
          clicks += 1;
        });
        await shown.addInitScript("addEventListener('click', () => countClick(), true)");
        began = performance.now();
      },
    });
    const said = await find(page);
    expect(performance.now() - began).toBeLessThan(MOST_MS);
    expect(clicks).toBeGreaterThan(0);
    expect(clicks).toBeLessThanOrEqual(MOST_CLICKS);
    return said;
  }

  it("where a robot is, and why it stands", async () => {
    const said = await answer(async (page) => {
      await page.getByLabel("Search").pressSequentially(ROBOT, TYPING);
      const row = page.getByRole("list", { name: "Robots" }).getByRole("listitem");
      await row.getByRole("button").click();
      const where = await row.textContent();
      await row.getByRole("link").click();
      return `${where} | ${await page.locator(".first").textContent()}`;
    });
    expect(said).toMatch(
      /^cart-03.*◆ paused.*(at \S|x -?[\d.]+, y -?[\d.]+).* \| Stands since [\d:]+: its mission is paused/s,
    );
  });

  it("which tag is that, and what it says now", async () => {
    const said = await answer(async (page) => {
      await page.getByRole("link", { name: "Tags" }).click();
      await page.getByLabel("Search").pressSequentially(`${ROBOT} battery charge`, TYPING);
      const tag = page.getByRole("row").filter({ hasText: /cart-03\S*Battery\S*Charge/ });
      return (await tag.first().textContent()) ?? "";
    });
    expect(said).toMatch(/cart-03.*Charge.*\d+.*● good/s);
  });

  it("who sent what, and what became of it", async () => {
    const said = await answer(async (page) => {
      await page.getByRole("link", { name: "Commands" }).click();
      await page.getByLabel("Robot", { exact: true }).pressSequentially(ROBOT, TYPING);
      const command = page.getByRole("row").filter({ hasText: "CreateMission" });
      const sent = await command.textContent();
      await command.getByRole("link").first().click();
      await page.getByRole("heading", { name: /^CreateMission: → .+\s+succeeded → paused$/ }).waitFor();
      return `${sent} | ${await page.locator(".first").textContent()}`;
    });
    expect(said).toMatch(/^CreateMission.*cart-03.*succeeded → paused.*mqtt:e2e.* \| ./s);
  });
});
