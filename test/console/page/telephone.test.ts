import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { busyRobot, dock, flatBattery, lostCommand } from "../busy-fleet.ts";
import { standingRobot } from "../standing-robot.ts";
import type { FakeGateway } from "./fake-gateway.ts";
import { describePages, isLive } from "./page-harness.ts";

/** The smallest side of what a finger must hit. */
const FINGER_PIXELS = 44;
/** The height of a line of text with its padding. */
const LINE_PIXELS = 32;
const viewport = { width: 390, height: 844 };
const views = [
  "/",
  "/?robot=cart-2",
  "/robots/cart-1",
  "/commands",
  `/commands/${encodeURIComponent("opcua:line1/r1")}`,
  "/send?operation=CreateMission&robot=cart-2",
  "/alarms",
  "/stations",
  "/tags",
  "/connections",
];

/** Two halls: each has a robot. */
const elsewhere = standingRobot("cart-3");
const robots = [
  busyRobot("cart-1"),
  standingRobot("cart-2"),
  { ...elsewhere, place: elsewhere.place && { ...elsewhere.place, map_id: 2, map_name: "Hall 2" } },
];

const prepare = (gateway: FakeGateway) => {
  gateway.alarms = [flatBattery, { ...flatBattery, id: "a2" }];
  gateway.commands = [lostCommand, { ...lostCommand, number: 2, request_id: "r2", outcome: "succeeded" }];
  gateway.stations = [dock];
  gateway.isOpen = true;
};

describePages("on a telephone", (pages) => {
  async function eachView(page: Page, url: string, look: (path: string) => Promise<void>): Promise<void> {
    for (const path of views) {
      await page.goto(`${url}${path}`);
      await isLive(page);
      await page.locator("main > *").first().waitFor();
      await look(path);
    }
  }

  it.each(["en-GB", "de-DE"])(
    "a finger hits each button, field and link of the navigation: %s",
    async (locale) => {
      const { page, gateway } = await pages.open("/", { viewport, locale, robots, prepare });
      const found: string[] = [];
      await eachView(page, gateway.url, async (path) => {
        for (const small of await page.evaluate<readonly string[]>(tooSmall)) found.push(`${path}: ${small}`);
      });
      expect(found).toEqual([]);
    },
  );

  it("each row of a table is a card, whose values have their names", async () => {
    const { page } = await pages.open("/commands", { viewport, robots, prepare });
    const row = page.getByRole("row").filter({ hasText: "CreateMission" }).first();
    await row.waitFor();
    const name = `getComputedStyle(document.querySelector("td[data-label=State]"), "::before").content`;
    expect(await page.evaluate(name)).toContain("State");
    const state = row.locator("td[data-label=State]");
    const [card, value] = [await row.boundingBox(), await state.boundingBox()];
    expect(value?.width).toBeGreaterThan((card?.width ?? Number.NaN) - 40);
    // A word with a ground ends where its text does.
    const word = await state.locator(".word").boundingBox();
    expect(word?.width).toBeLessThan((value?.width ?? Number.NaN) / 2);
    // Beside its name there is one value, and not a row for each part of it.
    expect(await page.evaluate(cellsOfSeveralParts)).toEqual([]);
  });

  it.each(["en-GB", "de-DE"])("the gateway has its whole name beside a user: %s", async (locale) => {
    const { page } = await pages.open("/", { viewport, locale, robots });
    const name = page.locator(".gateway");
    expect(await name.textContent()).toBe("plant1");
    expect(await name.evaluate(({ clientWidth, scrollWidth }) => scrollWidth - clientWidth)).toBe(0);
  });

  it("each notice is one line, with the link that it has", async () => {
    const { page, gateway } = await pages.open("/", { viewport, locale: "de-DE", robots, prepare });
    gateway.isFleetLinkUp = false;
    await page.getByRole("alert").waitFor();
    const heights = await page.evaluate<readonly number[]>(
      "[...document.querySelectorAll('.notices > *')].map((notice) => notice.offsetHeight)",
    );
    expect(heights).toHaveLength(2);
    for (const height of heights) expect(height).toBeLessThanOrEqual(LINE_PIXELS);
    // What does not fit is left out of its text, and not its link.
    const link = await page.getByRole("alert").getByRole("link").boundingBox();
    expect((link?.x ?? Number.NaN) + (link?.width ?? Number.NaN)).toBeLessThanOrEqual(viewport.width);
  });
});

describePages("the map", (pages) => {
  it("lies below its halls, which count their robots, and never under them", async () => {
    const { page, gateway } = await pages.open("/?map=1", { viewport, robots, prepare });
    const { points: _, ...summary } = gateway.map;
    gateway.send("change", { at: summary.read_at, maps: [{ ...summary, map_id: 2, name: "Hall 2" }] });
    const halls = page.getByRole("navigation", { name: "Maps" });
    await halls.waitFor();
    expect(await halls.getByRole("link").allTextContents()).toEqual(["Hall 1 2▲ 1", "Hall 2 1"]);
    const [row, map] = [await halls.boundingBox(), await page.locator("canvas").boundingBox()];
    expect(map?.y).toBeGreaterThanOrEqual((row?.y ?? Number.NaN) + (row?.height ?? Number.NaN) - 1);
  });
});

/** Not links within a text, nor rows of the list, which are taller than their names. */
const tooSmall = `[...document.querySelectorAll("button, select, input, summary, nav a, .button")]
  .filter((part) => part.checkVisibility() && !part.closest("[aria-hidden=true]"))
  .map((part) => [part.type === "checkbox" ? (part.closest("label") ?? part) : part, part])
  .filter(([target]) => target.getBoundingClientRect().height < ${FINGER_PIXELS})
  .map(([target, part]) => part.tagName + " " + (part.textContent || part.getAttribute("aria-label")) + " " +
    target.getBoundingClientRect().height)`;

/** Each part of a cell of a card is laid out as a row of its own. */
const cellsOfSeveralParts = `[...document.querySelectorAll(".table td")]
  .filter(({ childNodes }) => childNodes.length > 1)
  .map(({ innerHTML }) => innerHTML.slice(0, 120))`;
