import type { Locator, Page } from "playwright-core";
import { beforeEach, expect, it } from "vitest";
import { standingRobot } from "../standing-robot.ts";
import type { FakeGateway } from "./fake-gateway.ts";
import { describePages, watchGrey } from "./page-harness.ts";

/** From the last tick until all is grey (issue: gateway hung or killed to grey). */
const GREY_MS = 3_500;

describePages("values that are not known to be true now", (pages) => {
  let gateway: FakeGateway;
  let page: Page;
  let reader: Page | null = null;

  beforeEach(async () => {
    ({ gateway, page } = await pages.open("/", { robots: [standingRobot("cart-01")] }));
  });

  const veil = () =>
    page.evaluate<number>("Number(getComputedStyle(document.querySelector('.veil')).opacity)");

  async function greysInTime(grey: Promise<number>): Promise<void> {
    expect(await grey).toBeLessThanOrEqual(GREY_MS);
    await page.getByText("✕ not live").waitFor();
    expect(await page.title()).toBe("not live: plant1");
  }

  it("are grey when the gateway hangs, and keeps its connections", async () => {
    await expect.poll(veil).toBe(0);
    const grey = watchGrey(page);
    gateway.tick(true);
    gateway.tick(false);
    await greysInTime(grey);
    expect(gateway.open()).toBe(1);
  });

  it("are grey when the gateway is killed, and live again when it is back", async () => {
    const grey = watchGrey(page);
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
    await page.evaluate(movingDot);
    gateway.send("change", { at: new Date().toISOString(), alarms: { count: 7, alarms: [] } });
    const count = await boxOf(page.locator(".badge").filter({ hasText: "7" }));
    const word = await boxOf(page.getByRole("status"));
    const taken = await takePictures();
    const hung = page.evaluate<number>(hangAtNextTick);
    gateway.tick(true);
    const tickedAtMs = await hung;
    const endedAtMs = Date.now();
    // What was shown while it hung is looked at when it hangs no more: the browser may be busy.
    const shown = taken.filter((picture) => picture.atMs < endedAtMs).sort((a, b) => a.atMs - b.atMs);
    const seen: Colours[] = [];
    for (const { data } of shown) {
      const colours = await coloursIn(data, count, word);
      seen.push(colours);
      if (isGrey(colours)) break;
    }
    const lastLiveMs = drawnMs(shown.slice(0, seen.length - 1), tickedAtMs);
    expect(seen[0]).toMatchObject({ map: 255, red: 0 });
    expect(seen[0]?.darkest).toBeLessThan(150);
    expect(seen.at(-1)).toSatisfy(isGrey);
    expect(lastLiveMs).toBeLessThanOrEqual(GREY_MS);
  });

  async function boxOf(part: Locator): Promise<Box> {
    const box = await part.boundingBox();
    if (box === null) throw new Error("it is not shown");
    // Its edges share pixels with what stands beside it.
    return { ...box, x: box.x + 3, width: box.width - 6 };
  }

  /**
   * The pictures that the browser itself puts together from now on: the page's script has no part in them.
   */
  async function takePictures(): Promise<readonly Picture[]> {
    const session = await page.context().newCDPSession(page);
    const taken: Picture[] = [];
    const first = new Promise<void>((resolve) => {
      session.on("Page.screencastFrame", ({ data, metadata, sessionId }) => {
        taken.push({ data, atMs: 1_000 * (metadata.timestamp ?? Number.NaN) });
        resolve();
        session.send("Page.screencastFrameAck", { sessionId }).catch(() => {});
      });
    });
    await session.send("Page.startScreencast", { format: "png", everyNthFrame: 1 });
    await first;
    return taken;
  }

  async function coloursIn(picture: string, dark: Box, red: Box): Promise<Colours> {
    reader ??= await pages.browser.newPage();
    return reader.evaluate<Colours>(coloursOf(picture, dark, red));
  }
});

/**
 * A dot that the browser moves without the page's script, ten times a second. The browser gives no picture to
 * a busy receiver, so the last one of a change might be missing; with the dot there is always a next one.
 */
const movingDot = `{
  const dot = document.body.appendChild(document.createElement("i"));
  const style = { position: "fixed", right: "9px", bottom: 0, width: "3px", height: "3px", background: "blue" };
  Object.assign(dot.style, style, { willChange: "transform" });
  const steps = [{ transform: "translateX(0)" }, { transform: "translateX(9px)" }];
  dot.animate(steps, { duration: 1000, iterations: Infinity, easing: "steps(10)" });
}`;

/** Lets the page's script hang for eight seconds once the next tick is shown. Resolves with that time. */
const hangAtNextTick = `new Promise((resolve) => {
  new MutationObserver((_, observer) => {
    observer.disconnect();
    const tickedAtMs = Date.now();
    requestAnimationFrame(() => {
      setTimeout(() => {
        const end = performance.now() + 8000;
        while (performance.now() < end);
        resolve(tickedAtMs);
      });
    });
  }).observe(document.documentElement, { attributes: true });
})`;

/** How long the browser drew, from a time until the last picture; at least ten pictures are due a second. */
function drawnMs(pictures: readonly Picture[], fromMs: number): number {
  let [sumMs, lastMs] = [0, fromMs];
  for (const { atMs } of pictures) {
    if (atMs <= fromMs) continue;
    // What a busy machine adds is no time in which a user sees anything new.
    sumMs += Math.min(atMs - lastMs, 150);
    lastMs = atMs;
  }
  return sumMs;
}

interface Picture {
  /** A PNG in base64. */
  readonly data: string;
  /** By the wall clock. */
  readonly atMs: number;
}

/** The number of alarms is gone, and the red word stands where "live" stood. */
function isGrey({ map, darkest, red }: Colours): boolean {
  return map < 225 && darkest > 230 && red > 20;
}

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
