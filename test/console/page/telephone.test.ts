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

const manyPlaces = (gateway: FakeGateway) => {
  const points = gateway.map.points ?? [];
  const place = (id: number) => ({
    ...(points[0] as (typeof points)[number]),
    id,
    code: `P${id}`,
    alias: `Place ${id}`,
  });
  const further = Array.from({ length: 30 }, (_, at) => place(at + 3));
  gateway.map = { ...gateway.map, points: [...points, ...further] };
};

const widthOf = (page: Page) => page.evaluate<number>("document.documentElement.scrollWidth");

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

  it("the notice of access is one line; that of a silent service has its time, and its link", async () => {
    const { page, gateway } = await pages.open("/", { viewport, locale: "de-DE", robots, prepare });
    gateway.isFleetLinkUp = false;
    gateway.silentSinceMs = Date.now();
    const alert = page.getByRole("alert").filter({ hasText: /seit \d\d:\d\d:\d\d/ });
    await alert.waitFor();
    const access = await page.getByRole("region", { name: "Zugang" }).boundingBox();
    expect(access?.height).toBeLessThanOrEqual(LINE_PIXELS);
    expect((await alert.boundingBox())?.height).toBeLessThanOrEqual(2 * LINE_PIXELS);
    expect(await page.evaluate(isTimeVisible)).toBe(true);
    // What does not fit is left out of its text, and not its link.
    const link = await alert.getByRole("link").boundingBox();
    expect((link?.x ?? Number.NaN) + (link?.width ?? Number.NaN)).toBeLessThanOrEqual(viewport.width);
  });

  it.each([
    { locale: "en-GB", reason: "the gateway is not reached", logOut: "Log out", problem: "Not logged out" },
    {
      locale: "de-DE",
      reason: "das Gateway ist nicht erreichbar",
      logOut: "Abmelden",
      problem: "Nicht abgemeldet",
    },
  ])("nothing is wider than the screen without a gateway: $locale", async ({ locale, reason, ...says }) => {
    const { page, gateway } = await pages.open("/?robot=cart-2", { viewport, locale, robots });
    await page.route("**/api/v1/**", (route) => route.abort());
    gateway.cut(true);
    const state = page.getByRole("status").filter({ hasText: reason });
    await state.waitFor();
    expect(await widthOf(page)).toBe(viewport.width);
    expect(await page.evaluate(cutParts)).toEqual([]);
    expect(await page.evaluate(isNameWhole)).toBe(true);
    expect(await state.getAttribute("title")).toBe(await state.textContent());
    await page.getByRole("button", { name: says.logOut }).click();
    await page.getByRole("alert").filter({ hasText: says.problem }).waitFor();
    expect(await widthOf(page)).toBe(viewport.width);
    await page.goto("about:blank");
  });

  it("the banner of a page that is not live has equal margins, and leaves Pause and the list", async () => {
    const { page, gateway } = await pages.open("/?robot=cart-2", { viewport, robots });
    gateway.cut(true);
    await page.getByText("✕ not live").waitFor();
    const banner = await page.locator(".veil p").boundingBox();
    const [left, right] = [banner?.x ?? Number.NaN, viewport.width - (banner?.x ?? 0) - (banner?.width ?? 0)];
    expect(Math.abs(left - right)).toBeLessThanOrEqual(1);
    const bottom = (banner?.y ?? Number.NaN) + (banner?.height ?? Number.NaN);
    expect(bottom).toBeLessThanOrEqual((await page.locator(".stop").boundingBox())?.y ?? Number.NaN);
    await page.evaluate("scrollTo(0, document.documentElement.scrollHeight)");
    const last = await page.getByRole("list", { name: "Robots" }).boundingBox();
    expect((last?.y ?? Number.NaN) + (last?.height ?? Number.NaN)).toBeLessThanOrEqual(banner?.y ?? 0);
  });

  it.each(["/?robot=cart-2", "/robots/cart-2"])("Go to… opens above Pause: %s", async (path) => {
    const { page } = await pages.open(path, { viewport, robots, prepare: manyPlaces });
    const goTo = page.getByRole("button", { name: "Go to…" });
    // As low as a finger reaches it.
    await goTo.evaluate((button) => button.scrollIntoView({ block: "end" }));
    await goTo.click();
    const list = page.getByRole("listbox");
    await list.getByRole("option").nth(10).waitFor();
    expect(await page.evaluate(isFocusOnTop)).toBe(true);
    const [field, places] = [await page.getByRole("combobox").boundingBox(), await list.boundingBox()];
    const [header, stop] = [
      await page.locator(".bar").boundingBox(),
      await page.locator(".stop").boundingBox(),
    ];
    expect(field?.y).toBeGreaterThanOrEqual(header?.height ?? Number.NaN);
    expect((places?.y ?? Number.NaN) + (places?.height ?? Number.NaN)).toBeLessThanOrEqual(stop?.y ?? 0);
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

/** A name that is a part of a pixel too wide ends with an ellipsis already. */
const isNameWhole = `(() => {
  const name = document.querySelector(".gateway");
  const text = document.createRange();
  text.selectNodeContents(name);
  return text.getBoundingClientRect().width <= name.getBoundingClientRect().width + 0.02;
})()`;

/** What of the header and of the stop, besides why it is not live, is not drawn, or beyond the screen. */
const cutParts = `[...document.querySelectorAll(".bar *, .stop *")]
  .filter((part) => part.checkVisibility() && !part.matches(".unseen, .lost span"))
  .filter((part) => part.getBoundingClientRect().right > innerWidth || part.scrollWidth > part.clientWidth + 1 &&
    part.clientWidth > 0 || part.scrollHeight > part.clientHeight + 1 && part.clientHeight > 1)
  .map((part) => part.outerHTML.slice(0, 120))`;

/** Whether the time in the alert lies within the part of its text that is drawn. */
const isTimeVisible = `(() => {
  const text = document.querySelector("[role=alert] span");
  const time = document.createRange();
  const at = text.textContent.search(/\\d\\d:\\d\\d:\\d\\d/);
  time.setStart(text.firstChild, at);
  time.setEnd(text.firstChild, at + 8);
  const [drawn, box] = [time.getBoundingClientRect(), text.getBoundingClientRect()];
  return drawn.right <= box.right + 1 && drawn.bottom <= box.bottom + 1;
})()`;

/** Whether a tap on the focused field hits it. */
const isFocusOnTop = `(() => {
  const { x, y, width, height } = document.activeElement.getBoundingClientRect();
  const hit = document.elementFromPoint(x + width / 2, y + height / 2);
  return document.activeElement.tagName === "INPUT" && hit === document.activeElement;
})()`;
