import type { Browser, Page } from "playwright-core";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import type { SimulatedFaultState } from "../../../src/northbound/web/api/simulator.ts";
import { standingRobot } from "../standing-robot.ts";
import { isChromiumThere, openBrowser, sayIfMissing, watchForErrors } from "./browser.ts";
import { type FakeGateway, openFakeGateway } from "./fake-gateway.ts";

sayIfMissing();

const cut: SimulatedFaultState = { fault: "cut", robot_id: null, active_for_ms: 125_000 };
const block: SimulatedFaultState = { fault: "block", robot_id: "cart-9", active_for_ms: null };

describe.runIf(isChromiumThere)("the view of the simulator", () => {
  let browser: Browser;
  const closers: Array<() => Promise<void>> = [];

  beforeAll(async () => {
    browser = await openBrowser();
    return () => browser.close();
  });
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  async function open(
    path: string,
    hasSimulator: boolean,
    viewport = { width: 1_000, height: 700 },
  ): Promise<{ readonly page: Page; readonly gateway: FakeGateway }> {
    const gateway = await openFakeGateway([standingRobot("cart-10"), standingRobot("cart-9")]);
    gateway.hasSimulator = hasSimulator;
    gateway.tick(true);
    closers.push(async () => gateway[Symbol.asyncDispose]());
    const page = await browser.newPage({ viewport });
    const errors = watchForErrors(page);
    closers.push(async () => {
      await page.close();
      expect(errors).toEqual([]);
    });
    await page.goto(`${gateway.url}${path}`);
    await page.getByText("● live").waitFor();
    return { page, gateway };
  }

  const row = (page: Page, fault: string, of: string) =>
    page.getByRole("row").filter({ hasText: fault }).filter({ hasText: of });

  it("is offered only by a gateway that has a simulator", async () => {
    const without = await open("/", false);
    await without.page.getByRole("link", { name: "Alarms" }).waitFor();
    expect(await without.page.getByRole("link", { name: "Simulator" }).count()).toBe(0);
    const typed = await open("/simulator", false);
    await typed.page.getByText("There is no such page.").waitFor();
    const { page } = await open("/", true);
    await page.getByRole("link", { name: "Simulator" }).click();
    await page.getByText("These are faults of the simulated fleet service of this demo.").waitFor();
    expect(new URL(page.url()).pathname).toBe("/simulator");
  });

  it("begins a fault of the service and of the chosen robot", async () => {
    const { page, gateway } = await open("/simulator", true);
    await row(page, "Cut the link", "the service").getByText("● off").waitFor();
    gateway.faults = [{ ...cut, active_for_ms: 0 }];
    await page.getByRole("button", { name: "Begin Cut the link" }).click();
    await page.getByRole("status").getByText("Cut the link – begun.").waitFor();
    expect(gateway.faultsAsked).toEqual([["cut", { active: true }]]);
    await row(page, "Cut the link", "the service").getByText("◆ active, for").waitFor();
    await page.getByLabel("Robot").selectOption("cart-10");
    await page.getByRole("button", { name: "Begin Flat battery cart-10" }).click();
    await page.getByText("Flat battery: cart-10 – begun.").waitFor();
    expect(gateway.faultsAsked[1]).toEqual(["flat_battery", { active: true, robot_id: "cart-10" }]);
  });

  it("says for how long a fault has lasted, of other robots too, and ends it", async () => {
    const { page, gateway } = await open("/simulator", true);
    gateway.faults = [cut, block];
    const cutRow = row(page, "Cut the link", "the service");
    await cutRow.getByText("◆ active, for 2 min").waitFor();
    await page.getByLabel("Robot").selectOption("cart-10");
    await row(page, "Block the robot", "cart-10").getByText("● off").waitFor();
    await row(page, "Block the robot", "cart-9").getByText("◆ active, did not begin here").waitFor();
    gateway.faults = [cut];
    await page.getByRole("button", { name: "End Block the robot cart-9" }).click();
    await page.getByText("Block the robot: cart-9 – ended.").waitFor();
    expect(gateway.faultsAsked).toEqual([["block", { active: false, robot_id: "cart-9" }]]);
    await expect.poll(() => row(page, "Block the robot", "cart-9").count()).toBe(0);
  });

  it("fits 320 pixels", async () => {
    const { page } = await open("/simulator", true, { width: 320, height: 640 });
    await row(page, "Silence", "the service").waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(320);
  });
});
