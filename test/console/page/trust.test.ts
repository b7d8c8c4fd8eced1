import type { Browser, CDPSession, Locator, Page } from "playwright-core";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { standingRobot } from "../standing-robot.ts";
import { isChromiumThere, openBrowser, sayIfMissing, watchForErrors } from "./browser.ts";
import { type FakeGateway, openFakeGateway } from "./fake-gateway.ts";

sayIfMissing();

/** From the last tick until all is grey (issue: gateway hung or killed to grey). */
const GREY_MS = 3_500;

describe.runIf(isChromiumThere)("values that are not known to be true now", () => {
  let browser: Browser;
  let gateway: FakeGateway;
  let page: Page;
  let errors: string[];

  beforeAll(async () => {
    browser = await openBrowser();
    return () => browser.close();
  });
  beforeEach(async () => {
    gateway = await openFakeGateway([standingRobot("cart-01")]);
    gateway.tick(true);
    page = await browser.newPage({ viewport: { width: 1_000, height: 700 } });
    errors = watchForErrors(page);
    await page.goto(gateway.url);
    await page.getByText("● live").waitFor();
    return async () => {
      await page.close();
      await gateway[Symbol.asyncDispose]();
      expect(errors).toEqual([]);
    };
  });

  const veil = () =>
    page.evaluate<number>("Number(getComputedStyle(document.querySelector('.veil')).opacity)");

  /** Watches from now on for how long after the last tick the values are grey. */
  function watchGrey(): Promise<number> {
    return page.evaluate<number>(greyAfterMs);
  }

  async function greysInTime(grey: Promise<number>): Promise<void> {
    expect(await grey).toBeLessThanOrEqual(GREY_MS);
    await page.getByText("✕ not live").waitFor();
    expect(await page.title()).toBe("not live: plant1");
  }

  it("are grey when the gateway hangs, and keeps its connections", async () => {
    await expect.poll(veil).toBe(0);
    const grey = watchGrey();
    gateway.tick(true);
    gateway.tick(false);
    await greysInTime(grey);
    expect(gateway.open()).toBe(1);
  });

  it("are grey when the gateway is killed, and live again when it is back", async () => {
    const grey = watchGrey();
    gateway.tick(true);
    gateway.cut(true);
    await greysInTime(grey);
    gateway.robots = [standingRobot("cart-02")];
    gateway.cut(false);
    await page.getByText("● live").waitFor();
    expect(await veil()).toBe(0);
    expect(await page.getByRole("list", { name: "Robots" }).textContent()).toMatch(/^cart-02/);
  });

  it("are grey while the page's script hangs, those in the header too", async () => {
    gateway.send("change", { at: new Date().toISOString(), alarms: { count: 7, alarms: [] } });
    const count = await boxOf(page.getByText("(7)"));
    const word = await boxOf(page.getByRole("status"));
    const session = await page.context().newCDPSession(page);
    const before = await colours(await frameOf(session), count, word);
    gateway.tick(true);
    let isHanging = true;
    const hangs = page
      .evaluate("{ const end = performance.now() + 8000; while (performance.now() < end); }")
      .then(() => {
        isHanging = false;
      });
    // Real time: nothing of a page that hangs can be awaited.
    await new Promise((resolve) => setTimeout(resolve, GREY_MS));
    const picture = await frameOf(session);
    expect(isHanging).toBe(true);
    const after = await colours(picture, count, word);
    await hangs;
    expect(before.map).toBeGreaterThan(250);
    expect(after.map).toBeLessThan(225);
    // The number of alarms is gone, and the red word stands where "live" stood.
    expect([before.darkest < 150, after.darkest > 230]).toEqual([true, true]);
    expect([before.red, after.red > 20]).toEqual([0, true]);
  });

  async function boxOf(part: Locator): Promise<Box> {
    const box = await part.boundingBox();
    if (box === null) throw new Error("it is not shown");
    // Its edges share pixels with what stands beside it.
    return { ...box, x: box.x + 3, width: box.width - 6 };
  }

  /** The next picture that the browser itself puts together: the page's script has no part in it. */
  async function frameOf(session: CDPSession): Promise<string> {
    const frame = new Promise<string>((resolve) => {
      session.once("Page.screencastFrame", ({ data }) => resolve(data));
    });
    await session.send("Page.startScreencast", { format: "png", everyNthFrame: 1 });
    const picture = await frame;
    await session.send("Page.stopScreencast");
    return picture;
  }

  async function colours(picture: string, dark: Box, red: Box): Promise<Colours> {
    const reader = await browser.newPage();
    const value = await reader.evaluate<Colours>(coloursOf(picture, dark, red));
    await reader.close();
    return value;
  }
});

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

interface Colours {
  /** The brightness of a place of the map that is white. */
  readonly map: number;
  /** The brightness of the darkest pixel of a box. */
  readonly darkest: number;
  /** How many pixels of another box are red. */
  readonly red: number;
}

/** What a browser does to find the colours of a picture of the page, 1,000 pixels wide. */
function coloursOf(picture: string, dark: Box, red: Box): string {
  return `(async () => {
    const image = new Image();
    image.src = "data:image/png;base64,${picture}";
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.width, image.height];
    const ink = canvas.getContext("2d");
    ink.drawImage(image, 0, 0);
    const scale = image.width / 1000;
    const pixels = ({ x, y, width, height }) => {
      const { data } = ink.getImageData(x * scale, y * scale, width * scale, height * scale);
      return Array.from({ length: data.length / 4 }, (_, at) => data.slice(4 * at, 4 * at + 3));
    };
    return {
      map: ink.getImageData(image.width / 3, image.height / 2, 1, 1).data[1],
      darkest: Math.min(...pixels(${JSON.stringify(dark)}).map(([, green]) => green)),
      red: pixels(${JSON.stringify(red)}).filter(([r, g]) => r > 150 && g < 90).length,
    };
  })()`;
}

/** By the page's own clock: a busy machine asks a browser late. */
const greyAfterMs = `new Promise((resolve) => {
  const root = document.documentElement;
  const veil = document.querySelector(".veil");
  let tickedAt = performance.now();
  new MutationObserver(() => {
    if (root.dataset.tick !== "none") tickedAt = performance.now();
  }).observe(root, { attributes: true });
  const look = () => {
    if (Number(getComputedStyle(veil).opacity) > 0.8) resolve(performance.now() - tickedAt);
    else requestAnimationFrame(look);
  };
  look();
})`;
