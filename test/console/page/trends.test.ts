import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { standingRobot } from "../standing-robot.ts";
import type { FakeGateway } from "./fake-gateway.ts";
import { describePages, nodeCounter, type PageOptions } from "./page-harness.ts";

/** How many pixels have the line's colour, in each hundredth of the chart's canvas. */
const inkOf = `(() => {
  const canvas = document.querySelector(".chart canvas");
  const { data, width, height } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const ink = Array.from({ length: 100 }, () => 0);
  for (let x = 0; x < width; x += 1)
    for (let y = 0; y < height; y += 1) {
      const at = (y * width + x) * 4;
      if (data[at] < 60 && data[at + 2] > 120 && data[at + 3] > 128) ink[Math.floor((x * 100) / width)] += 1;
    }
  return ink;
})()`;

describePages("trends", (pages) => {
  const robots = [standingRobot("cart-9")];
  const open = (path: string, prepare: (gateway: FakeGateway) => void, options: PageOptions = {}) =>
    pages.open(path, { robots, prepare, ...options });

  /** One that is known for five hours but for a part in the middle. */
  const withGap = Array.from({ length: 300 }, (_, at) => {
    if (at === 0) return 80;
    return at >= 100 && at < 200 ? null : 50;
  });

  it("draw no line over a time without known values, and say the same in words", async () => {
    const { page } = await open("/robots/cart-9", (gateway) => {
      gateway.charges = withGap;
    });
    await page.locator(".chart canvas").waitFor();
    await page
      .getByText(/^Charge: latest known 50 % at .+, lowest 50 % at .+, highest 80 % at .+ with 1 gap/)
      .waitFor();
    const ink = () => page.evaluate<number[]>(inkOf);
    await expect.poll(async () => (await ink()).slice(70, 95).every((count) => count > 0)).toBe(true);
    const found = await ink();
    expect(found.slice(15, 33).every((count) => count > 0)).toBe(true);
    expect(found.slice(42, 64).every((count) => count === 0)).toBe(true);
  });

  it("are not loaded before they are shown", async () => {
    const scripts: string[] = [];
    const before = (opening: Page) =>
      opening.on("request", (request) => void scripts.push(new URL(request.url()).pathname));
    const prepare = (gateway: FakeGateway) => {
      gateway.latency = [
        { commands: 3, unknown: 1, p50_ms: 250, p95_ms: 2_500 },
        null,
        { commands: 2, unknown: 0, p50_ms: 300, p95_ms: 3_000 },
      ];
    };
    const { page } = await open("/commands", prepare, { before });
    const summary = page.getByText("Duration over time");
    await summary.waitFor();
    expect(scripts.filter((path) => /trends|command-latency/.test(path))).toEqual([]);
    await summary.focus();
    await page.keyboard.press("Enter");
    await page.getByText("5 commands with a known outcome, 1 with the outcome unknown.").waitFor();
    await page.getByText(/p50, whole line\): latest known 0\.300 s at .+, lowest 0\.250 s/).waitFor();
    await page.locator(".chart canvas").waitFor();
    expect(scripts.some((path) => /trends.*\.js$/.test(path))).toBe(true);
  });

  it("draw other values when a robot is shown again", async () => {
    const { page, gateway } = await open("/robots/cart-9", (gateway) => {
      gateway.charges = withGap.map(() => 50);
    });
    const inkBetween = async (from: number, to: number) =>
      (await page.evaluate<number[]>(inkOf)).slice(from, to).filter((count) => count > 0).length;
    await page.locator(".chart canvas").waitFor();
    await expect.poll(() => inkBetween(42, 64)).toBe(22);
    await page.getByRole("link", { name: "Floor", exact: true }).click();
    gateway.charges = withGap;
    await page.locator(".robots").getByRole("link", { name: "cart-9" }).click();
    await page.locator(".chart canvas").waitFor();
    await expect.poll(() => inkBetween(42, 64)).toBe(0);
    expect(await inkBetween(70, 95)).toBe(25);
  });

  it("leave no chart behind in memory", async () => {
    const { page } = await open("/", (gateway) => {
      gateway.charges = [80, 79];
    });
    const nodesHeld = await nodeCounter(page);
    const listed = page.locator(".robots").getByRole("link", { name: "cart-9" });
    const visit = async (times: number) => {
      for (let time = 0; time < times; time += 1) {
        await listed.click();
        await page.locator(".chart canvas").waitFor();
        await page.getByRole("link", { name: "Floor", exact: true }).click();
        await listed.waitFor();
      }
    };
    await visit(2);
    const before = await nodesHeld();
    // The browser's engine keeps more of a function that was called often. A chart that stays is a node for
    // each visit.
    await visit(20);
    expect(await nodesHeld()).toBeLessThan(before + 20);
  });

  it("say that no value is known", async () => {
    const { page } = await open("/robots/cart-9", (gateway) => {
      gateway.charges = [null, null];
    });
    await page.getByText(/^Charge: no value is known since/).waitFor();
  });

  it("fit 320 pixels", async () => {
    const prepare = (gateway: FakeGateway) => {
      gateway.charges = [80, 79];
    };
    const { page } = await open("/robots/cart-9", prepare, { viewport: { width: 320, height: 640 } });
    await page.locator(".chart canvas").waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(320);
  });
});
