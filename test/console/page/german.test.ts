import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { later } from "../../../src/console/texts/en/later.ts";
import { en } from "../../../src/console/texts/en.ts";
import { connections } from "../../../src/northbound/web/api/gateway.ts";
import { busyRobot, dock, flatBattery, lostCommand } from "../busy-fleet.ts";
import { oneMission, standingRobot } from "../standing-robot.ts";
import { describePages, isLive } from "./page-harness.ts";

/** The gateway as its own pages show it. */
const facts = connections.parse({
  count: 1,
  next: null,
  connections: [
    {
      name: "fleet",
      state: "degraded",
      since: "2026-01-02T03:04:05.000Z",
      detail: "2 of 3 streams are open; no token: the service answers with 401",
      figures: {},
      peer_count: 1,
      peers: [
        {
          kind: "broker",
          name: "the embedded broker",
          client: "",
          address: "127.0.0.1:1883",
          state: "connected",
          since: null,
          detail: "",
        },
      ],
    },
  ],
  queues: [{ name: "mqtt", figures: { events_dropped: 2 } }],
  disk: { path: "/var/lib/fleetgate", free_bytes: 1, detail: "" },
  expiries: [],
});

/** What the gateway and the service say in English to everybody. */
const toAll = [
  ...["8 % are left", "the connection was lost", "the robot's way is blocked"],
  ...["the machine has not asked", "the service answers with 401"],
];

/** Every view, by its address. */
const views = [
  ...["/", "/?robot=cart-1", "/robots/cart-1", "/robots/none", "/alarms", "/commands", "/stations", "/tags"],
  ...["/commands/opcua%3Aline1%2Fr1", "/send?operation=CreateMission&robot=cart-1", "/connections"],
  ...["/simulator", "/nothing"],
];

/** English texts of more than two words, with anything for their names. */
const sentences = Object.values({ ...en, ...later })
  .flatMap((text: string) => text.split("|"))
  .filter(
    (text) =>
      text
        .replace(/\{\w+\}/g, "")
        .split(/\s+/)
        .filter((part) => /\p{L}/u.test(part)).length > 2,
  )
  .map((text) => new RegExp(`^${text.replace(/[.*+?()[\]\\^$|]/g, "\\$&").replace(/\{\w+\}/g, ".+")}$`, "s"));

/** Words that no German sentence has. */
const englishWord = /(?<![\w'-])(the|are|is|of|and|not|with|from|has|been|its|their)(?![\w'-])/i;

/** What a page says and shows on pointing, in its smallest parts and as a whole. */
const textsOf = (page: Page) =>
  page.evaluate<readonly string[]>(`[...document.querySelectorAll("body *")]
    .filter((element) => element.checkVisibility() && element.closest("script, .id, [lang=en]") === null)
    .flatMap((element) => [
      ...[...element.childNodes].filter(({ nodeType }) => nodeType === 3).map(({ data }) => data),
      element.textContent,
      ...["title", "aria-label", "placeholder"].map((name) => element.getAttribute(name) ?? ""),
    ])
    .map((text) => text.trim())`);

/** The widths of the panel at which a sign stands below the text that it belongs to. */
const signsAlone = `(() => {
  const panel = document.querySelector(".chosen-robot");
  const isAlone = (link) => {
    const text = document.createRange();
    text.setStart(link.parentElement, 0);
    text.setEndBefore(link);
    const lines = [...text.getClientRects()].filter(({ width }) => width > 4);
    return link.querySelector("svg").getBoundingClientRect().top >= Math.max(...lines.map(({ bottom }) => bottom));
  };
  return Array.from({ length: 170 }, (_, at) => 240 + at).filter((width) => {
    panel.style.width = width + "px";
    return [...panel.querySelectorAll("dd > a:has(svg)")].some(isAlone);
  });
})()`;

describePages("the page in German", (pages) => {
  const open = (path: string) =>
    pages.open(path, {
      locale: "de-AT",
      robots: [busyRobot("cart-1"), standingRobot("cart-2")],
      prepare(gateway) {
        gateway.alarms = [flatBattery];
      },
    });

  it("is that of a browser that wishes it", async () => {
    const { page } = await open("/?robot=cart-2");
    const chosen = page.getByRole("region", { name: "Gewählter Roboter: cart-2" });
    await chosen
      .getByText(/^Steht seit .* \d\d:\d\d:05: der Roboter hat keine laufende Mission\.$/)
      .waitFor();
    await chosen.getByText("81 %, Batterie entlädt sich").waitFor();
    await chosen.getByText("bei Station A, x 0,0, y 0,0, Karte Hall 1 (gut)").waitFor();
    await chosen.getByRole("button", { name: "cart-2 pausieren" }).waitFor();
    await chosen.getByRole("button", { name: "Sperren…" }).waitFor();
    expect(await page.title()).toBe("cart-2 – plant1");
  });

  it.each(views)("has no English sentence on %s", async (path) => {
    const { page } = await pages.open(path, {
      locale: "de-DE",
      robots: [busyRobot("cart-1"), standingRobot("cart-2")],
      addRoutes: (server) => void server.get("/api/v1/connections", async () => facts),
      prepare(gateway) {
        Object.assign(gateway, {
          isOpen: true,
          hasSimulator: true,
          stations: [dock],
          commands: [lostCommand],
        });
        gateway.alarms = [flatBattery];
      },
    });
    await expect.poll(() => page.getByText(/^Wird (geladen …|gelesen\.)$/).count()).toBe(0);
    const texts = (await textsOf(page)).map((text) =>
      toAll.reduce((rest, own) => rest.replaceAll(own, ""), text),
    );
    const found = texts.filter(
      (text) =>
        text.length < 200 && (englishWord.test(text) || sentences.some((sentence) => sentence.test(text))),
    );
    expect([...new Set(found)]).toEqual([]);
  });

  it("says of an alarm what to do, and sends by the same second step", async () => {
    const { page, gateway } = await open("/alarms");
    await page.getByText("Batterie fast leer").first().waitFor();
    await page.getByText("Was zu tun ist: jetzt laden; ein leerer Roboter muss geschoben werden").waitFor();
    await page.getByText("Roboter unterdessen: der Roboter kann fahren, bis er leer ist.").waitFor();
    await page.goto(`${gateway.url}/robots/cart-2`);
    await page.getByRole("button", { name: "Zum Laden schicken…" }).click();
    const step = page.getByRole("alertdialog", { name: "Zum Laden schicken: zweiter Schritt" });
    await step.getByText("Wirkung: er fährt zu einem Ladegerät.").waitFor();
    await step.getByRole("button", { name: "Zum Laden schicken: cart-2" }).click();
    await expect.poll(() => gateway.asked.length).toBeGreaterThan(0);
    expect(gateway.asked[0]).toMatchObject({ body: { operation: "ChargeRobot" } });
  });

  it("says what an operation does", async () => {
    const { page } = await open("/send?operation=CreateMission&robot=cart-2");
    await page.getByText("Gibt einem Roboter eine Mission, wenn keine läuft.", { exact: true }).waitFor();
  });

  it("does not ask for a resume of a mission that was just resumed", async () => {
    const { page, gateway } = await open("/robots/cart-2");
    const { idle } = standingRobot("cart-2");
    const paused = { ...idle, reason: "PAUSED", text: "its mission runs" } as const;
    const robots = [{ robot_id: "cart-2", mission: oneMission({}), idle: paused }];
    gateway.send("change", { at: idle.since, robots });
    await page.getByText(/: seine Mission läuft, in der neuesten Online-Liste ist er pausiert\.$/).waitFor();
  });

  it("has the sign of a value's tags on the line of its last word, however wide the panel is", async () => {
    const { page } = await open("/?robot=cart-2");
    await page.locator(".chosen-robot dd > a").first().waitFor();
    expect(await page.evaluate(signsAlone)).toEqual([]);
  });

  it("has no English word below a page that hangs", async () => {
    const { page } = await open("/");
    const word = "getComputedStyle(document.querySelector('.ticking'), '::after').content";
    expect(await page.evaluate(word)).toContain("✕ nicht aktuell");
  });

  it("is left, and chosen again, by the user", async () => {
    const { page } = await open("/");
    await page.getByRole("button", { name: "This page in English" }).click();
    await page.getByText("● live").waitFor();
    await page.reload();
    await page.getByText("● live").waitFor();
    await page.getByRole("button", { name: "Diese Seite auf Deutsch" }).click();
    await isLive(page);
    expect(await page.evaluate("document.documentElement.lang")).toBe("de");
  });

  it.each([
    { gateway: "is not reached", says: "Die Sprache bleibt: das Gateway ist nicht erreichbar." },
    { gateway: "does not answer", says: "Die Sprache bleibt: das Gateway antwortet nicht." },
  ])("is not lost by a change of the language while the gateway $gateway", async (way) => {
    const { page, gateway } = await open("/");
    const isCut = way.gateway === "is not reached";
    if (isCut) await page.route(`${gateway.url}/`, (route) => route.abort());
    else gateway.hang("all");
    const toEnglish = page.getByRole("button", { name: "This page in English" });
    await toEnglish.click();
    await page.getByRole("alert").filter({ hasText: way.says }).waitFor();
    await page.getByRole("list", { name: "Roboter" }).waitFor();
    await page.unrouteAll();
    gateway.hang("nothing");
    await toEnglish.click();
    await page.getByText("● live").waitFor();
  });
});
