import type { Locator, Page } from "playwright-core";
import { expect, it } from "vitest";
import type { Robot } from "../../../src/northbound/web/api/robot.ts";
import { greyPng } from "../../support/png.ts";
import { flatBattery } from "../busy-fleet.ts";
import { oneMission, standingRobot } from "../standing-robot.ts";
import { drawnPixels } from "./drawing.ts";
import type { FakeGateway } from "./fake-gateway.ts";
import { describePages } from "./page-harness.ts";

const waits: Partial<Robot> = {
  idle: {
    reason: "WAITS_FOR_CONFIRMATION",
    text: "its task chain waits for a confirmation at P1",
    since: "2026-01-02T03:04:05.000Z",
    for_ms: 60_000,
    not_ready: false,
  },
};

describePages("the console", (pages) => {
  const open = (robots: readonly Robot[], path = "/", prepare: (gateway: FakeGateway) => void = () => {}) =>
    pages.open(path, { robots, prepare });
  const rows = (page: Page) => page.getByRole("list", { name: "Robots" }).getByRole("listitem");

  it("lists each robot with how it is, in the order of their numbers", async () => {
    const { page } = await open([standingRobot("cart-10"), standingRobot("cart-9", waits)]);
    await page.getByText("2 robots, 1 good, 1 to look at").waitFor();
    // The name of its place comes with the map.
    await rows(page).first().getByText("at Station A").waitFor();
    expect(await rows(page).allTextContents()).toEqual([
      expect.stringMatching(/^cart-9.*◆ waits for confirmation.*at Station A.*81 %$/s),
      expect.stringMatching(/^cart-10.*● idle/s),
    ]);
  });

  it("lists a robot that is new to the gateway", async () => {
    const { page, gateway } = await open([standingRobot("cart-1")]);
    gateway.send("change", { at: "2026-01-02T03:05:05.000Z", robots: [standingRobot("cart-2")] });
    await page.getByText("2 robots, 2 good").waitFor();
  });

  it("shows of a mission that has ended no report that is over, and no map to press on a page without one", async () => {
    const reported = (status: "STATUS_NAVIGATING" | "STATUS_ARRIVED") =>
      oneMission({ state: "STATE_SUCCEEDED", mission_feedback: { cart_feedback: { status } } });
    const robot = standingRobot("cart-1", { mission: reported("STATUS_NAVIGATING") });
    const { page, gateway } = await open([robot], "/robots/cart-1", (prepared) => {
      prepared.isOpen = true;
    });
    await page.getByRole("cell", { name: "succeeded", exact: true }).waitFor();
    await page.getByRole("button", { name: "Go to…" }).click();
    await page.getByRole("option", { name: "Station A" }).waitFor();
    expect(await page.getByText("press a place on the map").count()).toBe(0);
    const robots = [{ robot_id: "cart-1", mission: reported("STATUS_ARRIVED") }];
    gateway.send("change", { at: "2026-01-02T03:05:05.000Z", robots });
    await page.getByRole("cell", { name: "succeeded, arrived" }).waitFor();
  });

  it("finds a robot by a part of its name", async () => {
    const { page } = await open([standingRobot("cart-1"), standingRobot("serve-1")]);
    await page.getByLabel("Search").fill("SERVE");
    await page.getByText("1 of 2 robots").waitFor();
    expect(await rows(page).count()).toBe(1);
  });

  it("shows the map of a robot that is chosen from the list, and scrolls the list alone to it", async () => {
    const carts = Array.from({ length: 200 }, (_, at) => standingRobot(`cart-${at + 1}`));
    const robots = carts.map((robot) => {
      const { place } = robot;
      return robot.robot_id === "cart-200" && place !== null
        ? { ...robot, place: { ...place, map_id: 2 } }
        : robot;
    });
    const { page } = await open(robots);
    await page.getByLabel("Search").fill("cart-200");
    await rows(page).getByRole("button").click();
    await expect.poll(() => new URL(page.url()).search).toBe("?map=2&robot=cart-200");
    await page.getByLabel("Search").fill("");
    await expect.poll(() => rows(page).count()).toBe(200);
    const heightsOf = async (part: Locator) => {
      const { y = Number.NaN, height = Number.NaN } = (await part.boundingBox()) ?? {};
      return { top: y, bottom: y + height };
    };
    const list = await heightsOf(page.locator(".robots"));
    const row = () => heightsOf(page.locator(".robots .chosen"));
    await expect.poll(async () => (await row()).bottom).toBeLessThanOrEqual(list.bottom);
    expect((await row()).top).toBeGreaterThanOrEqual(list.top);
    expect(await page.evaluate("scrollY")).toBe(0);
  });

  it("says to a screen reader that it is live, and not also that it is not", async () => {
    const { page } = await open([standingRobot("cart-1")]);
    const said = await page.locator("header").ariaSnapshot();
    expect(said).toContain("● live");
    expect(said).not.toContain("not live");
  });

  it("says first why a robot stands, and since when", async () => {
    const { page, gateway } = await open([standingRobot("cart-9", waits)], "/robots/cart-9");
    const first = page.locator(".first");
    // As in every other time of the page, by the gateway's clock: a slow message changes nothing.
    expect(await first.textContent()).toMatch(
      /^Stands since Jan [12], 2026, \d\d:\d\d:05: its task chain waits for a confirmation at P1\.$/,
    );
    const idle = { reason: "MOVING", text: "", since: "2026-01-02T03:05:05.000Z", for_ms: 0 } as const;
    gateway.send("change", {
      at: "2026-01-02T03:05:05.000Z",
      robots: [{ robot_id: "cart-9", idle: { ...idle, not_ready: false } }],
    });
    await page.getByText(/^Moves since/).waitFor();
  });

  it("shows what happens to a robot, since when it listens, and what it has missed", async () => {
    const { page, gateway } = await open([standingRobot("cart-9")], "/robots/cart-9");
    await page.getByText(/^Events of this robot: none since .*\d\d:\d\d:\d\d/).waitFor();
    const at = "2026-01-02T03:05:05.000Z";
    const lease = { station: "<b>dock</b>", protocol: "opcua", user: "plc1", to: "leased", reason: "asked" };
    gateway.send("event", { kind: "lease", event_id: "e1", robot_id: "cart-9", at, ...lease });
    gateway.send("event", { kind: "lease", event_id: "e2", robot_id: "cart-8", at, ...lease });
    gateway.send("gap", { at, missing: 7 });
    const rows = page.getByRole("region", { name: "Events of this robot" }).getByRole("row");
    await expect
      .poll(() => rows.allTextContents())
      .toEqual([
        "TimeEventSays",
        expect.stringMatching(/missing7 events are missing here, of this robot or of others\.$/),
        expect.stringMatching(/leaseleased: station <b>dock<\/b> for opcua:plc1 \(asked\)$/),
      ]);
    await page.getByText(/^The newest 20 at most since/).waitFor();
  });

  it("says of a storm of alarms how many there are, and nothing of those that are not listed", async () => {
    const listed = Array.from({ length: 3 }, (_, at) => ({ ...flatBattery, id: `a${at}` }));
    const { page, gateway } = await open([standingRobot("cart-1")], "/alarms");
    gateway.send("change", { at: "2026-01-02T03:05:05.000Z", alarms: { count: 600, alarms: listed } });
    await page.getByText(/^600 alarms are active, or .* The 3 most urgent are listed\.$/).waitFor();
    await page.getByRole("button", { name: "Choose all 3" }).waitFor();
    expect(await page.getByText(/\d+ unacknowledged,/).count()).toBe(0);
  });

  it("shows names that are markup as text", async () => {
    const name = `<img src=x onerror="document.title='taken'">&amp;`;
    const { page } = await open([standingRobot(name, { quality: "stale" })]);
    expect(await rows(page).textContent()).toContain(name);
    await page.getByRole("link", { name }).click();
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toContain(name);
    expect(page.url()).toContain(`/robots/${encodeURIComponent(name)}`);
    await page.reload();
    await page.getByText("● live").waitFor();
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toContain(name);
    expect(await page.title()).toBe(`${name} – plant1`);
  });

  it("covers neither the robot's name nor its first line by saying that it is not live", async () => {
    const { page } = await open([standingRobot("cart-9", waits)], "/robots/cart-9");
    const bottomOf = (selector: string) =>
      page.evaluate<number>(`document.querySelector("${selector}").getBoundingClientRect().bottom`);
    const banner = await page.evaluate<number>(
      "document.querySelector('.veil p').getBoundingClientRect().top",
    );
    expect(banner).toBeGreaterThan(await bottomOf("h1"));
    expect(banner).toBeGreaterThan(await bottomOf(".first"));
  });

  it("says that places are not known where the online list is not polled", async () => {
    const { page } = await open([standingRobot("cart-1")], "/", (gateway) => {
      gateway.pollMs = null;
    });
    await page.getByText("Places are not known: the gateway does not poll the online list").waitFor();
    expect(await rows(page).textContent()).toContain("place not known");
  });

  it("says that a robot was somewhere, when no list has it any more", async () => {
    const robot = standingRobot("cart-1");
    const { page, gateway } = await open([robot]);
    expect(await rows(page).textContent()).not.toContain("seen");
    gateway.send("change", {
      at: "2026-01-02T03:05:05.000Z",
      robots: [
        {
          robot_id: "cart-1",
          quality: "lost",
          place: robot.place === null ? null : { ...robot.place, quality: "lost", listed: false },
        },
      ],
    });
    await page.getByText(/at Station A \(lost, seen \d+ s ago\)/).waitFor();
    await page.getByText("◆ lost").waitFor();
  });

  it("says that the fleet service is not reached", async () => {
    const { page } = await open([standingRobot("cart-1")], "/", (gateway) => {
      gateway.isFleetLinkUp = false;
    });
    await page.getByText("Fleet service not reached").waitFor();
  });

  it("says on every page that it is open", async () => {
    for (const path of ["/", "/robots/cart-1", "/commands", "/alarms"]) {
      const { page } = await open([standingRobot("cart-1")], path, (gateway) => {
        gateway.isOpen = true;
      });
      await page.getByText("Open: every program here may read and command.").waitFor();
    }
  });

  it("shows the drawing and the types of points that the configuration has, below what is reported", async () => {
    const { page } = await open([standingRobot("cart-1")], "/", (gateway) => {
      gateway.drawing = greyPng(40, 30);
      gateway.floor = {
        point_types: [{ type: 1, name: "station", shape: "square" }],
        drawings: [
          {
            map_id: 1,
            width: 40,
            height: 30,
            first: { pixel: { x: 0, y: 30 }, map: { x: 0, y: 0 } },
            second: { pixel: { x: 40, y: 0 }, map: { x: 20, y: 15 } },
          },
        ],
      };
    });
    await page.getByRole("list", { name: "Points" }).getByText("station").waitFor();
    // The middle of the canvas is that of the drawing, where nothing else lies.
    const middle = `(() => {
      const { width, height, data } = ${drawnPixels};
      return data[4 * (Math.round(height / 2) * width + Math.round(width / 2))];
    })()`;
    // Until the map is read, the robot is there alone.
    const isDrawing = (grey: number) => grey > 180 && grey < 200;
    await expect.poll(() => page.evaluate<number>(middle)).toSatisfy(isDrawing);
  });

  it("asks for the floor and the rights again when the gateway has another configuration", async () => {
    const { page, gateway } = await open([standingRobot("cart-1")]);
    const types = page.getByRole("list", { name: "Points" });
    gateway.floor = { point_types: [{ type: 1, name: "station", shape: "square" }], drawings: [] };
    gateway.configuration = 1;
    await types.getByText("station").waitFor();
    await page.getByRole("link", { name: "cart-1" }).click();
    await page.getByRole("button", { name: "Send to charge…" }).waitFor();
    gateway.rights = { robot: "rights[0] names only cart-2" };
    gateway.configuration = 2;
    await page.getByText("You may not command this robot: rights[0] names only cart-2.").waitFor();
  });

  it("is used by the keyboard alone", async () => {
    const { page } = await open([standingRobot("cart-1")]);
    const focused = () => page.evaluate<string>("document.activeElement.textContent");
    for (let press = 0; press < 20 && (await focused()) !== "cart-1"; press += 1) {
      await page.keyboard.press("Tab");
    }
    await page.keyboard.press("Enter");
    await page.getByText(/^Stands since/).waitFor();
    await page.goBack();
    await rows(page).waitFor();
  });
});
