import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import type { SimulatedFaultState } from "../../../src/northbound/web/api/simulator.ts";
import { standingRobot } from "../standing-robot.ts";
import type { FakeGateway } from "./fake-gateway.ts";
import { describePages, type PageOptions } from "./page-harness.ts";

const cut: SimulatedFaultState = { fault: "cut", robot_id: null, active_for_ms: 125_000 };
const block: SimulatedFaultState = { fault: "block", robot_id: "cart-9", active_for_ms: null };

describePages("the view of the simulator", (pages) => {
  const robots = [standingRobot("cart-10"), standingRobot("cart-9")];
  const open = (path: string, hasSimulator: boolean, options: PageOptions = {}) => {
    const prepare = (gateway: FakeGateway) => {
      gateway.hasSimulator = hasSimulator;
    };
    return pages.open(path, { robots, prepare, ...options });
  };
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
    await page.getByRole("button", { name: "End Block the robot cart-9" }).click();
    await page.getByText("Block the robot: cart-9 – ended.").waitFor();
    expect(gateway.faultsAsked).toEqual([["block", { active: false, robot_id: "cart-9" }]]);
    await expect.poll(() => row(page, "Block the robot", "cart-9").count()).toBe(0);
  });

  it("fits 320 pixels", async () => {
    const { page } = await open("/simulator", true, { viewport: { width: 320, height: 640 } });
    await row(page, "Silence", "the service").waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(320);
  });
});
