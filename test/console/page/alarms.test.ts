import { expect, it } from "vitest";
import type { AlarmView } from "../../../src/models/alarm.ts";
import { flatBattery } from "../busy-fleet.ts";
import { standingRobot } from "../standing-robot.ts";
import { describePages } from "./page-harness.ts";

const low = { ...flatBattery, code: "BATTERY_LOW", priority: "low", severity: 300, occurrences: 1 } as const;
const many: readonly AlarmView[] = Array.from({ length: 200 }, (_, at) => ({
  ...low,
  id: `low-${at + 1}`,
  robot_id: `cart-${at + 1}`,
}));
const lost: AlarmView = { ...flatBattery, id: "lost-1", code: "ROBOT_LOST", robot_id: "cart-300" };

describePages("200 alarms of one code", (pages) => {
  const open = (alarms: readonly AlarmView[], width = 1_000) =>
    pages.open("/alarms", {
      viewport: { width, height: 780 },
      prepare: (gateway) => {
        gateway.alarms = [...alarms];
      },
    });

  it.each([1_440, 390])("are one card on a screen of %i pixels, which one press opens", async (width) => {
    const { page } = await open([...many, lost], width);
    const cards = page.locator(".alarms > li");
    await expect.poll(() => cards.count()).toBe(2);
    const group = cards.first();
    await group.getByText("cart-1, cart-2, cart-3, cart-4, cart-5 and 195 more").waitFor();
    expect(await group.textContent()).toMatch(/battery low.*200 robots/);
    const { height = 0 } = (await group.boundingBox()) ?? {};
    expect(height).toBeLessThan(400);
    await group.getByRole("button", { name: "Show each battery low" }).click();
    await expect.poll(() => group.locator(".each > li").count()).toBe(200);
    await group.locator(".each").getByRole("link", { name: "cart-17", exact: true }).waitFor();
    await group.getByRole("button", { name: "Show as one battery low" }).click();
    await expect.poll(() => group.locator(".each > li").count()).toBe(0);
  });

  it("are acknowledged at once by a second step, and no others", async () => {
    const { page, gateway } = await open([...many, lost]);
    await page.getByRole("button", { name: "Acknowledge 200… battery low" }).click();
    const step = page.getByRole("alertdialog");
    await step.getByText("Acknowledge: battery low, 200 robots").waitFor();
    await step.getByText("the list says in your name that somebody looks after them.").waitFor();
    expect(gateway.acknowledged).toEqual([]);
    await step.getByRole("button", { name: "Acknowledge battery low, 200 robots" }).click();
    await expect.poll(() => gateway.acknowledged.length).toBe(200);
    expect(gateway.acknowledged).not.toContain("lost-1");
  });

  it("say what robots do only while they are active, and their last state on a page that is not live", async () => {
    const returned = { ...flatBattery, id: "over", active: false, returned_at: "2026-01-02T03:04:05.000Z" };
    const { page, gateway } = await open([lost, returned]);
    await page.getByText("active, unacknowledged", { exact: true }).waitFor();
    expect(await page.getByText("Robots meanwhile").count()).toBe(1);
    // What the alarm says of now is over.
    await page.getByText(`last: ${returned.text} (2 times)`, { exact: true }).waitFor();
    expect(await page.getByText("last:").count()).toBe(1);
    await page
      .getByText(/^What to do: .*[^.]\. Usual cause: /)
      .first()
      .waitFor();
    gateway.tick(false);
    await page.getByText("last: active, unacknowledged", { exact: true }).waitFor();
  });

  it("are counted in the navigation, in red only while one of them stands", async () => {
    const returned = { ...lost, id: "over", active: false, returned_at: "2026-01-02T03:04:05.000Z" };
    const { page, gateway } = await open([lost, returned]);
    const count = page.locator(".rail .badge");
    const isRed = () => count.evaluate((badge) => badge.classList.contains("alarm"));
    await expect.poll(isRed).toBe(true);
    gateway.send("change", { at: new Date().toISOString(), alarms: { count: 1, alarms: [returned] } });
    await expect.poll(isRed).toBe(false);
    expect(await count.textContent()).toMatch(/^1/);
  });

  it("are chosen together", async () => {
    const { page } = await open([...many, lost]);
    await page.getByRole("checkbox", { name: "Choose battery low of 200 robots" }).check();
    await page.getByRole("button", { name: "Acknowledge 200…", exact: true }).waitFor();
    await page.getByRole("checkbox", { name: "Choose robot lost of cart-300" }).check();
    await page.getByRole("button", { name: "Acknowledge 201…", exact: true }).waitFor();
    await page.getByRole("checkbox", { name: "Choose battery low of 200 robots" }).uncheck();
    await page.getByRole("button", { name: "Acknowledge 1…", exact: true }).waitFor();
  });

  it("are one card also when somebody looks after them", async () => {
    const seen = { acknowledged_by: "web:eva", acknowledged_at: low.since };
    const { page } = await open(many.map((alarm) => ({ ...alarm, ...seen })));
    await expect.poll(() => page.locator(".alarms > li").count()).toBe(1);
    await page.getByRole("button", { name: "Show each battery low" }).click();
    await page.getByText("active, acknowledged by web:eva").first().waitFor();
    expect(await page.getByRole("button", { name: /^Acknowledge/ }).count()).toBe(0);
  });
});

describePages("an alarm that an acknowledgement ends", (pages) => {
  const unknown: AlarmView = { ...flatBattery, id: "u1", code: "OUTCOME_UNKNOWN" };

  it.each(["/alarms", "/robots/cart-1"])("takes a second step on %s", async (path) => {
    const { page, gateway } = await pages.open(path, {
      robots: [standingRobot("cart-1", { alarms: [unknown] })],
      prepare: (prepared) => {
        prepared.alarms = [unknown];
      },
    });
    await page.getByRole("button", { name: "Acknowledge… outcome unknown" }).click();
    const step = page.getByRole("alertdialog");
    await step.getByText("Acknowledge outcome unknown of cart-1", { exact: true }).waitFor();
    await step.getByText("Nothing else shows that the robot may have acted", { exact: false }).waitFor();
    expect(gateway.acknowledged).toEqual([]);
    await step.getByRole("button", { name: "Acknowledge cart-1" }).click();
    await expect.poll(() => gateway.acknowledged).toEqual(["u1"]);
  });
});
