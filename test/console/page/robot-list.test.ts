import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { busyRobot } from "../busy-fleet.ts";
import { oneMission, standingRobot } from "../standing-robot.ts";
import type { FakeGateway } from "./fake-gateway.ts";
import { describePages, type PageOptions } from "./page-harness.ts";

const at = "2026-01-02T03:04:05.000Z";
const ids = Array.from({ length: 300 }, (_, index) => `cart-${index + 1}`);

/** Of the rows of the list, those that name the goal. */
const rowsWith = (goal: string) =>
  `[...document.querySelectorAll(".robots .row")].filter((row) => row.textContent.includes("${goal}")).length`;

/** How many rows name the goal when the first one does. */
const countAtFirst = (goal: string) => `new Promise((resolve) => {
  const observer = new MutationObserver(() => {
    if (!document.querySelector(".robots .row").textContent.includes("${goal}")) return;
    observer.disconnect();
    resolve(${rowsWith(goal)});
  });
  observer.observe(document.querySelector(".robots"), { subtree: true, childList: true, characterData: true });
})`;

/**
 * When the first row names the goal: whether the last row does, and after how many frames it does once it is
 * scrolled into sight.
 */
const framesToSee = (goal: string) => `new Promise((resolve) => {
  const list = document.querySelector(".robots");
  const has = (row) => row.textContent.includes("${goal}");
  const observer = new MutationObserver(() => {
    if (!has(list.querySelector(".row"))) return;
    observer.disconnect();
    const last = [...list.querySelectorAll(".row")].at(-1);
    const wasNew = has(last);
    list.scrollTop = list.scrollHeight;
    let frames = 0;
    const look = () => {
      if (has(last)) return resolve({ wasNew, frames });
      frames += 1;
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
  observer.observe(list, { subtree: true, childList: true, characterData: true });
})`;

describePages("the list of robots", (pages) => {
  let sent = 0;
  /** All robots get another goal. Returns its name. */
  const changeAll = (gateway: FakeGateway) => {
    sent += 1;
    const goal = `Goal ${sent}.`;
    const mission = oneMission({ goals: [{ destination_id: goal }] });
    gateway.send("change", { at, robots: ids.map((id) => ({ robot_id: id, mission })) });
    return goal;
  };
  /** Changes all robots. Returns how many rows are changed together with the first one. */
  const changedAtOnce = async (page: Page, gateway: FakeGateway) => {
    const counted = page.evaluate<number>(countAtFirst(`Goal ${sent + 1}.`));
    await page.evaluate("0");
    changeAll(gateway);
    return counted;
  };
  const open = (before?: PageOptions["before"]) =>
    pages.open("/", { robots: ids.map((id) => standingRobot(id)), before });

  it("changes rows in sight at once, and the others soon", async () => {
    const { page, gateway } = await open();
    // The browser has told by then which rows nobody sees.
    await expect.poll(() => changedAtOnce(page, gateway)).toBeLessThan(150);
    await expect.poll(() => page.evaluate(rowsWith(`Goal ${sent}.`)), { timeout: 10_000 }).toBe(ids.length);
  });

  it("has what is new in a row that comes into sight, within two frames", async () => {
    const { page, gateway } = await open();
    await expect.poll(() => changedAtOnce(page, gateway)).toBeLessThan(150);
    const seen = async () => {
      await page.evaluate("document.querySelector('.robots').scrollTop = 0");
      await expect.poll(() => changedAtOnce(page, gateway)).toBeLessThan(150);
      const found = page.evaluate<{ wasNew: boolean; frames: number }>(framesToSee(`Goal ${sent + 1}.`));
      await page.evaluate("0");
      changeAll(gateway);
      return found;
    };
    // In one round of eight, the last row is rendered with the first.
    let found = await seen();
    while (found.wasNew) found = await seen();
    expect(found.frames).toBeLessThanOrEqual(2);
  });

  it("changes all rows at once in a browser that does not say which are in sight", async () => {
    const before = (page: Page) =>
      page.addInitScript(
        "addEventListener('contentvisibilityautostatechange', (event) => event.stopPropagation(), true)",
      );
    const { page, gateway } = await open(before);
    for (let round = 0; round < 3; round += 1) expect(await changedAtOnce(page, gateway)).toBe(ids.length);
  });

  it("marks all rows at once when the service is silent", async () => {
    const { page, gateway } = await open();
    await expect.poll(() => changedAtOnce(page, gateway)).toBeLessThan(150);
    const marked = "document.querySelectorAll('.robots .row.silent').length";
    const counted = page.evaluate<number>(`new Promise((resolve) => {
      const observer = new MutationObserver(() => {
        if (${marked} === 0) return;
        observer.disconnect();
        resolve(${marked});
      });
      observer.observe(document.querySelector(".robots"), { subtree: true, attributes: true });
    })`);
    gateway.silentSinceMs = Date.now();
    expect(await counted).toBe(ids.length);
  });

  it("has a robot in its place at once when another one needs somebody", async () => {
    const { page, gateway } = await open();
    await expect.poll(() => changedAtOnce(page, gateway)).toBeLessThan(150);
    const idle = { ...standingRobot("").idle, reason: "PAUSED", text: "its mission is paused" } as const;
    gateway.send("change", { at, robots: [{ robot_id: "cart-299", idle }] });
    await page.getByText("300 robots, 299 good, 1 to look at").waitFor();
    const names = await page.locator(".robots .row > a").allTextContents();
    expect(names).toEqual(["cart-299", ...ids.filter((id) => id !== "cart-299")]);
  });

  it("keeps three rows in sight beside a chosen robot on a low screen", async () => {
    const robots = [busyRobot("cart-1"), ...ids.slice(1, 6).map((id) => standingRobot(id))];
    const { page } = await pages.open("/?robot=cart-1", { robots, viewport: { width: 1_024, height: 768 } });
    await page.getByRole("button", { name: "Pause cart-1" }).waitFor();
    const list = page.getByRole("list", { name: "Robots" });
    const [box, row] = [await list.boundingBox(), await list.getByRole("listitem").last().boundingBox()];
    expect(box?.height).toBeGreaterThanOrEqual(3 * (row?.height ?? Number.NaN));
  });

  it("says that there is none below the search, and not at the lower edge", async () => {
    const { page } = await pages.open("/", { robots: [], viewport: { width: 1_440, height: 900 } });
    const said = await page.getByText("There is no robot yet.").boundingBox();
    expect(said?.y).toBeLessThan(450);
  });
});
