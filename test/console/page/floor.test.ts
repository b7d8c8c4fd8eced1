import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import type { Robot } from "../../../src/northbound/web/api/robot.ts";
import { standingRobot } from "../standing-robot.ts";
import { drawnPixels } from "./drawing.ts";
import type { FakeGateway } from "./fake-gateway.ts";
import { describePages, isLive, nodeCounter, type PageOptions, watchGrey } from "./page-harness.ts";
import { openSilentLink } from "./silent-link.ts";

const ROBOT = "cart-1";

/** At a place of its map, between the points A (0, 0) and P2 (20, 10). */
function placed(x: number, y: number, receivedAt: string): NonNullable<Robot["place"]> {
  const { place } = standingRobot(ROBOT);
  if (place === null) throw new Error("a standing robot has a place");
  return { ...place, point: "", x, y, received_at: receivedAt };
}

/** A pixel column of the drawing by the map's x. */
interface Seen {
  readonly x: number;
  /** Whether the middle of the mark has its colour. */
  readonly isFull: boolean;
}

describePages("the floor in a browser", (pages) => {
  const before = ({ clock }: Page) => clock.install();
  const prepare = (gateway: FakeGateway) => {
    gateway.pollMs = 2_000;
  };
  const open = (options: PageOptions = {}) => pages.open("/", { prepare, before, ...options });

  it("moves a mark from report to report within a poll, and never beyond", async () => {
    const { page, gateway } = await open();
    const from = await markAtRest(page);
    const way = page.evaluate<readonly Seen[]>(wayOf(from, 2_600));
    gateway.send("change", { at: at(1), robots: [{ robot_id: ROBOT, place: placed(8, 4, at(1)) }] });
    const xs = (await way).map(({ x }) => x);
    const to = xs.at(-1) ?? 0;
    expect(to).toBeGreaterThan(from.x + 50);
    // A pixel is what rounding takes.
    expect(xs.every((x, index) => x >= (xs[index - 1] ?? from.x) - 1 && x <= to + 1)).toBe(true);
    expect(xs.filter((x) => x > from.x + 5 && x < to - 5).length).toBeGreaterThan(3);
  });

  it("draws once for each pixel of a movement, and not while all stand", async () => {
    const { page, gateway } = await open({ before: countDrawings });
    await markAtRest(page);
    const drawings = () => page.evaluate<number>("drawings");
    const shows = async (second: number, change: Partial<Robot>, row: string) => {
      gateway.send("change", { at: at(second), robots: [{ robot_id: ROBOT, ...change }] });
      await page.getByRole("list", { name: "Robots" }).getByText(row).waitFor();
      await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    };
    const before = await drawings();
    await shows(1, { out_of_service: true }, "out of service");
    expect(await drawings()).toBe(before);
    await shows(2, { place: placed(0.1, 0, at(2)) }, "x 0.1, y 0.0");
    await markAtRest(page);
    await page.clock.fastForward(2_500);
    const during = (await drawings()) - before;
    expect(during).toBeGreaterThan(1);
    expect(during).toBeLessThan(15);
  });

  it("keeps nothing of a list of robots that the page has left", async () => {
    const { page } = await open();
    const nodesHeld = await nodeCounter(page);
    const listed = page.locator(".robots").getByRole("link", { name: ROBOT });
    const toRobotAndBack = async () => {
      await listed.click();
      await page.getByRole("heading", { name: ROBOT }).waitFor();
      await page.getByRole("link", { name: "Floor", exact: true }).click();
      await listed.waitFor();
    };
    await listed.waitFor();
    const before = await nodesHeld();
    await toRobotAndBack();
    // Some nodes are those of the robot's name in the title and of the drawing: a list has twenty.
    expect(await nodesHeld()).toBeLessThan(before + 15);
  });

  it("jumps for a user whose system asks for less motion", async () => {
    const { page, gateway } = await open({ reducedMotion: "reduce" });
    const from = await markAtRest(page);
    const way = page.evaluate<readonly Seen[]>(wayOf(from, 500));
    gateway.send("change", { at: at(1), robots: [{ robot_id: ROBOT, place: placed(8, 4, at(1)) }] });
    const xs = (await way).map(({ x }) => x);
    const to = xs.at(-1) ?? 0;
    expect(to).toBeGreaterThan(from.x + 50);
    expect(xs.filter((x) => x > from.x + 5 && x < to - 5)).toEqual([]);
  });

  it("hollows its marks while the online list is silent, though all robots are good", async () => {
    const { page, gateway } = await open();
    await expect.poll(() => page.evaluate<Seen>(markSeen)).toMatchObject({ isFull: true });
    gateway.pollAgeMs = 5_001;
    gateway.tick(true);
    await page.getByText(/at Station A \(seen \d+ s ago\)/).waitFor();
    await expect.poll(() => page.evaluate<Seen>(markSeen)).toMatchObject({ isFull: false });
    await page.getByText("1 robot, none known to be good now").waitFor();
    await page.getByText("● live").waitFor();
  });

  it("greys when the link falls silent, and nobody is told", async () => {
    const gateway = await pages.openGateway({ prepare });
    const link = await openSilentLink(gateway.url);
    pages.closeAfter(async () => link[Symbol.asyncDispose]());
    const { page } = await pages.openPage(link.url);
    await isLive(page);
    const grey = watchGrey(page);
    gateway.tick(true);
    link.silence();
    expect(await grey).toBeLessThanOrEqual(3_500);
    await page.getByText("✕ not live").waitFor();
    expect(gateway.open()).toBe(1);
  });

  it("shows nothing as true that a hidden tab has missed", async () => {
    const { page, gateway } = await open();
    await page.evaluate(hide(true));
    await page.clock.fastForward(30_000);
    await expect.poll(() => gateway.open()).toBe(0);
    await page.getByText("✕ not live").waitFor();
    const veiled = "Number(getComputedStyle(document.querySelector('.veil')).opacity) > 0.8";
    await expect.poll(() => page.evaluate<boolean>(veiled)).toBe(true);
    gateway.robots = [standingRobot("cart-2")];
    gateway.tick(false);
    await page.evaluate(hide(false));
    // It has a snapshot, and no tick: nothing of it is known to be true now.
    await page.getByRole("link", { name: "cart-2", exact: true }).waitFor();
    expect(await page.evaluate<boolean>(veiled)).toBe(true);
    gateway.tick(true);
    await page.getByText("● live").waitFor();
    await expect.poll(() => page.evaluate<boolean>(veiled)).toBe(false);
    expect(gateway.opened()).toBe(2);
  });
});

/** Counts how often the page has its floor drawn. */
async function countDrawings(page: Page): Promise<void> {
  await page.clock.install();
  await page.addInitScript(`{
    globalThis.drawings = 0;
    const { postMessage } = Worker.prototype;
    Worker.prototype.postMessage = function (...message) {
      drawings += 1;
      return postMessage.apply(this, message);
    };
  }`);
}

/** Where the mark is when the page has found its layout: ten looks see it in one place. */
async function markAtRest(page: Page): Promise<Seen> {
  let seen: Seen = { x: Number.NaN, isFull: false };
  let same = 0;
  const looks = async () => {
    const last = seen;
    seen = await page.evaluate<Seen>(markSeen);
    same = seen.isFull && seen.x === last.x ? same + 1 : 0;
    return same;
  };
  await expect.poll(looks).toBeGreaterThanOrEqual(10);
  return seen;
}

function at(second: number): string {
  return `2026-01-02T03:04:${`${second}`.padStart(2, "0")}.000Z`;
}

/** The columns of the drawing where the mark's own colour is, which no point has. */
const markSeen = `(() => {
  const { width, height, data } = ${drawnPixels};
  const is = (at) => data[at] === 0x4c && data[at + 1] === 0x5c && data[at + 2] === 0x6b;
  let [sumX, sumY, count] = [0, 0, 0];
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1)
      if (is(4 * (y * width + x))) [sumX, sumY, count] = [sumX + x, sumY + y, count + 1];
  if (count === 0) return { x: Number.NaN, isFull: false };
  return { x: sumX / count, isFull: count > 100 };
})()`;

/** Where the mark was in each frame, until so long after it has left where it was. */
const wayOf = (from: Seen, ms: number) => `new Promise((resolve) => {
  const seen = [];
  let endMs = Number.POSITIVE_INFINITY;
  const look = () => {
    seen.push(${markSeen});
    const hasLeft = Math.abs(seen.at(-1).x - ${from.x}) > 1;
    if (hasLeft && endMs === Number.POSITIVE_INFINITY) endMs = performance.now() + ${ms};
    if (performance.now() > endMs) resolve(seen);
    else requestAnimationFrame(look);
  };
  look();
})`;

/** A browser that is driven shows all of its tabs, so the page is told what another browser would tell it. */
const hide = (isHidden: boolean) => `{
  Object.defineProperty(document, "hidden", { configurable: true, get: () => ${isHidden} });
  document.dispatchEvent(new Event("visibilitychange"));
}`;
