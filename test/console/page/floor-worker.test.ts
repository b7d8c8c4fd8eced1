import type { Page, Worker } from "playwright-core";
import { expect, it } from "vitest";
import { standingRobot } from "../standing-robot.ts";
import { describePages } from "./page-harness.ts";

/** How much a press on the button zooms in. */
const STEP = 1.5;
const PRESSES = 8;

describePages("the worker that draws the floor", (pages) => {
  it("holds neither the page nor more than the newest scene while it draws", async () => {
    let [hold, release] = [() => {}, () => {}];
    const held = new Promise<void>((resolve) => {
      hold = resolve;
    });
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { page } = await pages.open("/", {
      robots: Array.from({ length: 1_000 }, (_, at) => robotAt(at)),
      before: noteScenes,
      addRoutes: (server) => {
        server.get("/hold", async () => {
          hold();
          await released;
          return {};
        });
      },
    });
    const worker = await workerOf(page);
    const scales = () => page.evaluate<readonly number[]>("scales");
    await standsStill(scales);
    const draws = worker.evaluate(`{
      const request = new XMLHttpRequest();
      request.open("GET", "/hold", false);
      request.send();
    }`);
    await held;
    const before = await scales();
    await page.evaluate(zoomInEachFrame);
    const whileHeld = (await scales()).length;
    // None, if a scene was on its way when the worker stood still.
    expect(whileHeld).toBeLessThanOrEqual(before.length + 1);
    release();
    await draws;
    await expect.poll(async () => (await scales()).length).toBe(whileHeld + 1);
    expect((await scales()).at(-1)).toBeCloseTo((before.at(-1) ?? 0) * STEP ** PRESSES);
  });

  it("goes on when the window had no room for it", async () => {
    const { page } = await pages.open("/", { before: noteScenes });
    await workerOf(page);
    const scales = (): Promise<readonly number[]> => page.evaluate("scales");
    await standsStill(scales);
    const giveHeight = (height: string) =>
      page.evaluate(`document.querySelector("canvas").style = "min-height: 0; height: ${height}"`);
    await giveHeight("0");
    await standsStill(scales);
    await giveHeight("300px");
    await standsStill(scales);
    const before = (await scales()).length;
    await page.getByRole("button", { name: "Zoom in" }).click();
    await expect.poll(async () => (await scales()).length).toBeGreaterThan(before);
    expect(await page.getByText("The map cannot be drawn.").count()).toBe(0);
  });

  it("is missed in words when it does not start", async () => {
    const { page } = await pages.open("/", {
      before: (opened) => opened.route("**/assets/worker-*.js", (route) => route.abort()),
    });
    await page.getByText("The map cannot be drawn.").waitFor();
    await page.getByRole("list", { name: "Robots" }).getByRole("link", { name: "cart-1" }).waitFor();
  });
});

function robotAt(at: number) {
  const robot = standingRobot(`cart-${at}`);
  const place = robot.place && { ...robot.place, x: at % 40, y: Math.floor(at / 40) };
  return { ...robot, place };
}

async function workerOf(page: Page): Promise<Worker> {
  return page.workers()[0] ?? page.waitForEvent("worker");
}

/** Until all that the page reads at first is drawn: ten looks see the same scenes. */
async function standsStill(scales: () => Promise<readonly number[]>): Promise<void> {
  let [count, same] = [0, 0];
  const looks = async () => {
    const { length } = await scales();
    same = length > 0 && length === count ? same + 1 : 0;
    count = length;
    return same;
  };
  await expect.poll(looks).toBeGreaterThanOrEqual(10);
}

/** Notes the scale of each scene that the page has drawn. */
function noteScenes(page: Page): Promise<unknown> {
  return page.addInitScript(`{
    globalThis.scales = [];
    const { postMessage } = Worker.prototype;
    Worker.prototype.postMessage = function (message, ...given) {
      scales.push(message.moving.camera.pixelsPerUnit);
      return postMessage.call(this, message, ...given);
    };
  }`);
}

const zoomInEachFrame = `new Promise((resolve) => {
  let presses = 0;
  const press = () => {
    if (presses === ${PRESSES}) return resolve();
    presses += 1;
    document.querySelector(".zoom button").click();
    requestAnimationFrame(press);
  };
  press();
})`;
