import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import type { MissionView } from "../../../src/models/robot.ts";
import type { Robot } from "../../../src/northbound/web/api/robot.ts";
import { dock, flatBattery, lostCommand } from "../busy-fleet.ts";
import { oneMission, standingRobot } from "../standing-robot.ts";
import { drawnPixels } from "./drawing.ts";
import type { FakeGateway } from "./fake-gateway.ts";
import { describePages } from "./page-harness.ts";

const at = "2026-01-02T03:04:05.000Z";
const succeeded = {
  status: 200,
  body: { id: "c", outcome: "succeeded", code: "OK", message: "", retry_safe: true, response: null },
};
const paused: Partial<Robot> = {
  idle: { reason: "PAUSED", text: "its mission is paused", since: at, for_ms: 0, not_ready: false },
};

/** Notes which role has the focus in the turn in which an element with that role is drawn. */
const noteFocus = `window.noted = [];
  new MutationObserver(() => {
    const role = document.activeElement?.getAttribute("role");
    for (const drawn of ["combobox", "alertdialog"])
      if (document.querySelector("[role=" + drawn + "]") && !window.noted.includes(drawn))
        window.noted.push(role === drawn ? drawn : drawn + " without the focus: " + role);
  }).observe(document.body, { childList: true, subtree: true });`;

describePages("beside the map", (pages) => {
  const open = (path = "/?robot=cart-1", prepare: (gateway: FakeGateway) => void = () => {}) =>
    pages.open(path, { prepare });
  const chosen = (page: Page) => page.getByRole("region", { name: "Chosen robot: cart-1" });

  it("stands the chosen robot, with why it stands, and closes again", async () => {
    const { page } = await open("/");
    await page.getByRole("list", { name: "Robots" }).getByRole("button").click();
    await chosen(page)
      .getByText(/^Stands since/)
      .waitFor();
    await chosen(page).getByRole("button", { name: "Pause cart-1" }).waitFor();
    await chosen(page).getByRole("button", { name: "Close" }).click();
    await chosen(page).waitFor({ state: "detached" });
    expect(new URL(page.url()).search).toBe("?map=1");
  });

  it("has the focus on its heading when it is chosen, by a click or by a key, and not when it is opened", async () => {
    const { page } = await open("/");
    const focused = () => page.evaluate("document.activeElement?.textContent");
    const row = page.getByRole("list", { name: "Robots" }).getByRole("button");
    await row.click();
    await expect.poll(focused).toBe("cart-1");
    await chosen(page).getByRole("button", { name: "Close" }).click();
    await row.press("Enter");
    await expect.poll(focused).toBe("cart-1");
    // The keyboard goes on where it was.
    await chosen(page).getByRole("button", { name: "Close" }).press("Enter");
    await expect.poll(focused).toBe("show cart-1 on the floor");
    await row.press("Enter");
    await chosen(page).getByRole("button", { name: "Go to…" }).press("Enter");
    await page.getByRole("combobox").press("Escape");
    await expect.poll(focused).toBe("Go to…");
    await page.reload();
    await chosen(page).waitFor();
    expect(await focused()).not.toBe("cart-1");
  });

  it("keeps the stop in sight at 1280 x 800, however far the panel is scrolled", async () => {
    const alarms = Array.from({ length: 8 }, (_, at) => ({ ...flatBattery, id: `a${at}` }));
    const { page } = await pages.open("/?robot=cart-1", {
      robots: [standingRobot("cart-1", { alarms })],
      viewport: { width: 1_280, height: 800 },
    });
    const panel = chosen(page);
    const pause = panel.getByRole("button", { name: "Pause cart-1" });
    await pause.waitFor();
    for (const share of [0, 0.5, 1]) {
      await panel.evaluate((element, part) => {
        element.scrollTop = part * element.scrollHeight;
      }, share);
      const [box, stop] = [await panel.boundingBox(), await pause.boundingBox()];
      expect(stop?.y).toBeGreaterThanOrEqual(box?.y ?? Number.NaN);
      const bottom = (box?.y ?? Number.NaN) + (box?.height ?? Number.NaN);
      expect((stop?.y ?? Number.NaN) + (stop?.height ?? Number.NaN)).toBeLessThanOrEqual(bottom);
    }
  });

  it("drops a notice and an ended command when they speak of the past", async () => {
    const { page, gateway } = await pages.open("/?robot=cart-1", { before: ({ clock }) => clock.install() });
    const pause = page.getByRole("button", { name: "Pause cart-1" });
    await pause.click();
    const notice = chosen(page).getByText("nothing was sent: neither a mission");
    await notice.waitFor();
    await page.clock.fastForward(31_000);
    await notice.waitFor({ state: "detached" });
    gateway.answer = succeeded;
    gateway.pause = [{ operation: "PauseRobot", request: { amrId: 101 } }];
    await pause.click();
    const ended = chosen(page).getByText(/Pause cart-1: succeeded/);
    await ended.waitFor();
    await page.clock.fastForward(601_000);
    await ended.waitFor({ state: "detached" });
  });

  it("leads from a value to its tags by one click", async () => {
    const { page } = await open();
    await chosen(page).getByRole("link", { name: "Tags of Battery of cart-1" }).click();
    const { pathname, search } = new URL(page.url());
    expect(pathname + search).toBe("/tags?text=battery&robot=cart-1");
  });

  it("has no list of places while those of its map are not known", async () => {
    const { page } = await open("/?robot=cart-1", (gateway) => {
      gateway.map = { ...gateway.map, points: null };
    });
    await page.getByRole("button", { name: "Go to…" }).click();
    await page.getByText("The places of its map are not known.").waitFor();
    expect(await page.getByText("No place on its map is called so.").count()).toBe(0);
  });

  it("is sent to a place that is found by letters, by the keyboard alone", async () => {
    const { page, gateway } = await open();
    gateway.answer = succeeded;
    await page.evaluate(noteFocus);
    await page.getByRole("button", { name: "Go to…" }).press("Enter");
    await page.keyboard.type("tion a");
    await expect.poll(() => page.getByRole("option").allTextContents()).toEqual(["Station A"]);
    await page.keyboard.press("Enter");
    const second = page.getByRole("alertdialog");
    expect(await second.textContent()).toMatch(
      /^cart-1 → Station A, at Station A\. Effect: the fleet service is asked to send it there\./,
    );
    expect(await page.evaluate("window.noted")).toEqual(["combobox", "alertdialog"]);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Space");
    await page.getByText(/Go to Station A: /).waitFor();
    const mission = { baseMission: { navigateMission: { goal: { destinationId: "Station A" } } } };
    await expect
      .poll(() => gateway.asked)
      .toMatchObject([{ body: { operation: "CreateMission", request: { robotId: "cart-1", mission } } }]);
  });

  it("says that it was taken, then drives, then has arrived, as its own mission goes", async () => {
    const { page, gateway } = await open();
    gateway.answer = { ...succeeded, body: { ...succeeded.body, response: { mission_id: "m1" } } };
    await page.getByRole("button", { name: "Go to…" }).click();
    await page.getByRole("option", { name: "P2" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Go to P2 cart-1" }).click();
    const said = page.getByRole("list", { name: "Asked from this browser" }).getByRole("listitem").first();
    const says = (text: string) =>
      expect.poll(() => said.textContent()).toMatch(new RegExp(`: ${text}( \\(command\\))?Answer`));
    await says("taken by the fleet service");
    const show = (changes: Partial<MissionView>, idle = standingRobot("cart-1").idle) =>
      gateway.send("change", {
        at,
        robots: [{ robot_id: "cart-1", mission: oneMission(changes), idle }],
      });
    show({ mission_id: "m0" });
    await page.getByRole("button", { name: "Cancel mission…" }).waitFor();
    expect(await said.textContent()).toMatch(/: taken by the fleet serviceAnswer/);
    show({}, { ...standingRobot("cart-1").idle, reason: "MOVING", text: "" });
    await says("taken by the fleet service → drives");
    show({ state: "STATE_FAILED" });
    await says("taken by the fleet service → failed");
    show({ state: "STATE_SUCCEEDED" });
    await says("taken by the fleet service → arrived");
    const [{ id } = { id: "" }] = gateway.asked;
    const own = { protocol: "web", user: "ann", request_id: id, outcome: "succeeded" } as const;
    gateway.send("change", { at, commands: [{ ...lostCommand, ...own }] });
    await said.getByRole("link", { name: "command" }).click();
    expect(new URL(page.url()).pathname).toBe(`/commands/${encodeURIComponent(`web:ann/${id}`)}`);
  });

  it("is not sent when the gateway refuses it, and says why", async () => {
    const { page } = await open("/?robot=cart-1", (gateway) => {
      const message = "request.mission: the robot is held";
      gateway.check = { outcome: "refused", code: "HELD", message, effect: "moves", robot_id: "cart-1" };
    });
    await page.getByRole("button", { name: "Go to…" }).click();
    await page.getByRole("option", { name: "P2" }).click();
    await page.getByText("Not sent: the robot is held").waitFor();
    expect(await page.getByRole("alertdialog").count()).toBe(0);
    expect(await page.evaluate("document.activeElement?.textContent")).toBe("Go to…");
  });

  it("is sent to a point that is pressed on the map", async () => {
    const { page } = await open();
    await chosen(page).getByRole("button", { name: "Hold…" }).waitFor();
    await pressP2(page);
    await page.getByRole("alertdialog").getByText("cart-1 → P2").waitFor();
  });

  it("is not sent to a point of another hall's map, by that press or a later one", async () => {
    const robot = standingRobot("cart-1");
    const elsewhere = { ...robot, place: robot.place && { ...robot.place, map_id: 2, map_name: "Hall 2" } };
    const { page, gateway } = await pages.open("/?map=1&robot=cart-1", { robots: [elsewhere] });
    await chosen(page).getByRole("button", { name: "Hold…" }).waitFor();
    await pressP2(page);
    gateway.send("change", { at, robots: [{ robot_id: "cart-1", place: robot.place }] });
    await chosen(page)
      .getByText(/map Hall 1/)
      .waitFor();
    expect(gateway.checked).toEqual([]);
    await pressP2(page);
    await page.getByRole("alertdialog").getByText("cart-1 → P2").waitFor();
  });

  it("is not offered a second mission, by the button or on the map", async () => {
    const { page, gateway } = await open();
    await page.getByRole("button", { name: "Go to…" }).waitFor();
    gateway.send("change", { at, robots: [{ robot_id: "cart-1", mission: oneMission({}) }] });
    await page.getByRole("button", { name: "Cancel mission…" }).waitFor();
    expect(await page.getByRole("button", { name: "Go to…" }).count()).toBe(0);
    await pressP2(page);
    expect(gateway.checked).toEqual([]);
  });

  it("is not sent to a place when another step has begun since", async () => {
    const { page } = await open();
    let answer = () => {};
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const checked = page.waitForResponse("**/api/v1/check");
    await page.route("**/api/v1/check", async (route) => {
      await held;
      await route.continue();
    });
    await page.getByRole("button", { name: "Go to…" }).click();
    await page.getByRole("option", { name: "P2" }).click();
    await page.getByRole("button", { name: "Hold…" }).click();
    answer();
    await (await checked).finished();
    // The page has read that answer when it reads a later one.
    await page.evaluate("fetch('/api/v1/rights').then((answer) => answer.text())");
    expect(await page.getByRole("alertdialog").getAttribute("aria-label")).toBe("Hold: second step");
  });

  it("is not sent to a place when a station has leased it since", async () => {
    const { page, gateway } = await open();
    await page.getByRole("button", { name: "Go to…" }).click();
    await page.getByRole("option", { name: "P2" }).click();
    await page.getByRole("alertdialog").waitFor();
    const lease = { station: "dock", owner: "opcua:line1", since: at };
    gateway.send("change", { at, robots: [{ robot_id: "cart-1", lease }] });
    await page.getByText("Go to P2: not sent, because the robot's state has changed.").waitFor();
    expect(gateway.asked).toEqual([]);
  });

  it("keeps the second step of a hold whatever the robot does, and Escape closes it", async () => {
    const { page, gateway } = await open();
    const hold = page.getByRole("button", { name: "Hold…" });
    await hold.press("Enter");
    await page.getByRole("alertdialog").waitFor();
    gateway.send("change", { at, robots: [{ robot_id: "cart-1", ...paused }] });
    await page.getByText("its mission is paused").first().waitFor();
    expect(await page.getByRole("alertdialog").count()).toBe(1);
    await page.keyboard.press("Escape");
    await page.getByRole("alertdialog").waitFor({ state: "detached" });
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Hold…");
  });

  it("leaves robots by chips, and finds them by state and place", async () => {
    const robots = [standingRobot("cart-1"), standingRobot("cart-2", paused), standingRobot("cart-3")];
    const { page } = await pages.open("/", { robots });
    const rows = page.getByRole("list", { name: "Robots" }).getByRole("listitem");
    await page.getByRole("button", { name: "Paused 1" }).click();
    await expect.poll(() => rows.allTextContents()).toEqual([expect.stringMatching(/^cart-2/)]);
    await page.getByText("1 of 3 robots").waitFor();
    await page.getByRole("button", { name: "Paused 1" }).click();
    await page.getByLabel("Search").fill("station idle");
    await expect.poll(() => rows.count()).toBe(2);
    await page.getByLabel("Search").fill("nowhere");
    await page.getByText("No robot matches.").waitFor();
  });

  it("says what to do where there is no robot yet", async () => {
    const { page } = await pages.open("/", { robots: [] });
    await page.getByText("There is no robot yet.").waitFor();
  });
});

describePages("other views", (pages) => {
  it("show who is at a station, and let an engineer end a lease", async () => {
    const { page, gateway } = await pages.open("/stations", {
      prepare: (prepared) => {
        prepared.isOpen = true;
        prepared.stations = [dock];
      },
    });
    const card = page.getByRole("region", { name: "dock" });
    await card.getByText("cart-1 is here, and is leased.").waitFor();
    await card.getByText("not given: the machine has not asked").waitFor();
    await card.getByText(/after 1 other goal/).waitFor();
    await card.getByRole("button", { name: "End lease… of cart-1" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "End lease cart-1" }).click();
    await expect.poll(() => gateway.leasesEnded).toEqual(["cart-1"]);
  });

  it("do not say that a robot without a lease waits for one, and show alarms by their priority", async () => {
    const low = { ...flatBattery, source: "station", station: "dock", robot_id: undefined } as const;
    const { page, gateway } = await pages.open("/stations", {
      prepare: (prepared) => {
        prepared.stations = [{ ...dock, leases: [], alarms: 1 }];
        prepared.alarms = [{ ...low, priority: "low" }];
      },
    });
    const card = page.getByRole("region", { name: "dock" });
    await card.getByText("cart-1 has arrived. No station has a lease on it.").waitFor();
    await card.getByText("◆ 1 alarm").waitFor();
    gateway.send("change", { at, alarms: { count: 1, alarms: [low] } });
    await card.getByText("▲ 1 alarm").waitFor();
    // One of the robot that is there counts, too, and it is over.
    gateway.send("change", { at, alarms: { count: 1, alarms: [{ ...flatBattery, active: false }] } });
    await card.getByText("● 1 alarm").waitFor();
  });

  it("acknowledge several alarms at once by a second step", async () => {
    const { page, gateway } = await pages.open("/alarms", {
      prepare: (prepared) => {
        const seen = { acknowledged_by: "web:eva", acknowledged_at: at };
        prepared.alarms = [
          { ...flatBattery, id: "a3", ...seen },
          flatBattery,
          { ...flatBattery, id: "a2", code: "MISSION_FAILED" },
        ];
      },
    });
    await page.getByRole("link", { name: "Alarms 2 unacknowledged" }).waitFor();
    const titles = page.getByRole("heading", { level: 2 });
    await expect.poll(() => titles.allTextContents()).toEqual(["Unacknowledged", "Acknowledged"]);
    await page.getByRole("button", { name: "Choose all 2" }).click();
    await page.getByRole("button", { name: "Acknowledge 2…" }).click();
    expect(gateway.acknowledged).toEqual([]);
    await page.getByRole("button", { name: "Acknowledge 2 alarms" }).click();
    await expect.poll(() => [...gateway.acknowledged].sort()).toEqual(["a1", "a2"]);
  });

  it("are dark or light as the user has it, also after a reload", async () => {
    const { page } = await pages.open("/", { colorScheme: "light" });
    const ground = () => page.evaluate("getComputedStyle(document.documentElement).backgroundColor");
    const light = await ground();
    await page.getByRole("button", { name: "Dark colours" }).click();
    await expect.poll(ground).not.toBe(light);
    const dark = await ground();
    await page.reload();
    await page.getByRole("button", { name: "Light colours" }).waitFor();
    expect(await ground()).toBe(dark);
  });

  it("show the map and the worst three on the first screen of a telephone", async () => {
    const robots = ["cart-1", "cart-2", "cart-3", "cart-4"].map((id) => standingRobot(id, paused));
    const { page } = await pages.open("/", {
      robots,
      viewport: { width: 390, height: 780 },
      prepare: (gateway) => {
        gateway.isOpen = true;
      },
    });
    const bottomOf = (box: { y: number; height: number } | null) =>
      (box?.y ?? Number.NaN) + (box?.height ?? 0);
    const rows = page.getByRole("list", { name: "Robots" }).getByRole("listitem");
    const navigation = await page.getByRole("navigation").first().boundingBox();
    expect(bottomOf(await rows.nth(2).boundingBox())).toBeLessThanOrEqual(navigation?.y ?? 0);
    expect((await page.locator("canvas").first().boundingBox())?.height).toBeGreaterThan(200);
  });

  it("keep Pause in reach on a telephone, whatever is scrolled", async () => {
    const { page } = await pages.open("/robots/cart-1", { viewport: { width: 390, height: 700 } });
    const pause = page.getByRole("button", { name: "Pause cart-1" });
    for (const top of [0, 10_000]) {
      await page.evaluate(`scrollTo(0, ${top})`);
      const box = await pause.boundingBox();
      expect(box?.height).toBeGreaterThanOrEqual(44);
      expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(700);
      await pause.click({ trial: true });
    }
  });
});

/** Presses the rightmost point of the map, from the right on until that begins a step. */
async function pressP2(page: Page): Promise<void> {
  const canvas = page.locator("canvas");
  const { width = 0 } = (await canvas.boundingBox()) ?? {};
  for (let step = 2; step < 30 && (await page.getByRole("alertdialog").count()) === 0; step += 1)
    await canvas.click({ position: { x: width - 8 * step, y: await heightOfP2(page) } });
}

/** The height of the upper point of the map: both are in the picture with the same distance to its edges. */
async function heightOfP2(page: Page): Promise<number> {
  const found = await page.evaluate<number>(`(() => {
    const { width, height, data } = ${drawnPixels};
    for (let y = 0; y < height; y += 1)
      for (let x = Math.round(width / 2); x < width; x += 1) {
        const at = 4 * (y * width + x);
        if (data[at] < 200 && data[at + 1] < 200) return y;
      }
    return 0;
  })()`);
  return found + 3;
}
