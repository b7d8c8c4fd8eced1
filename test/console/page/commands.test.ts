import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import type { Command } from "../../../src/northbound/web/api/command.ts";
import { oneMission, standingRobot } from "../standing-robot.ts";
import type { FakeGateway } from "./fake-gateway.ts";
import { describePages } from "./page-harness.ts";

const at = "2026-01-02T03:04:05.000Z";

function command(number: number, changes: Partial<Command> = {}): Command {
  return {
    number,
    protocol: "web",
    user: "anna",
    request_id: `c${number}`,
    operation: "ChargeRobot",
    robot_id: "cart-1",
    request: '{"robotId":"cart-1"}',
    on_behalf_of: null,
    stage: "final",
    accepted_at: at,
    sent_at: at,
    final_at: at,
    age_ms: 0,
    outcome: "succeeded",
    code: "OK",
    message: "",
    meaning: "the service says that it took the command",
    mission_id: null,
    evidence: null,
    found_later: null,
    ...changes,
  };
}

const lost = command(2, {
  protocol: "opcua",
  user: "plc1",
  operation: "CreateMission",
  outcome: "unknown",
  code: "UNAVAILABLE",
  message: "the connection was lost; the robot may have acted, or may act later",
  meaning: "the robot may have acted, or may act later. Look at it before anything is sent again",
  evidence: "no mission of it was seen",
});

describePages("the log of commands", (pages) => {
  const prepare = (gateway: FakeGateway) => {
    gateway.commands = [lost, command(1)];
  };
  const open = (path: string) => pages.open(path, { prepare });
  const operations = (page: Page) => page.locator("tbody td:first-child").allTextContents();

  it("shows each stage with its time, as the stream brings it, and what an unknown outcome asks for", async () => {
    const { page, gateway } = await open("/commands");
    await page.getByText("CreateMission").waitFor();
    const row = page.getByRole("row", { name: /CreateMission/ });
    expect(await row.textContent()).toMatch(
      /▲ unknown.*opcua:plc1.*the connection was lost; the robot may have acted, or may act later\. Look at it[^;]*; no mission of it was seen/,
    );
    expect(await row.locator("time").count()).toBe(3);
    await page.getByText(/^All times are in \S+\.$/).waitFor();
    const when = row.locator("time").first();
    expect(await when.textContent()).toMatch(/ ago$/);
    expect(await when.getAttribute("title")).toMatch(/ 20\d\d, \d\d:\d\d:\d\d, .* UTC\)$/);
    const going = { stage: "sent", outcome: null, final_at: null } as const;
    gateway.send("change", { at, commands: [command(3, { ...going, operation: "SkipGoal" })] });
    const live = page.getByRole("row", { name: /SkipGoal/ });
    await live.getByText("sent", { exact: false }).first().waitFor();
    expect(await live.locator("time").count()).toBe(2);
    gateway.send("change", { at, commands: [command(3, { operation: "SkipGoal" })] });
    await expect.poll(() => live.locator("time").count()).toBe(3);
  });

  it("says nothing of the log before it is read", async () => {
    let answer = () => {};
    const asked = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const { page } = await pages.open("/commands", {
      before: (opened) =>
        opened.route("**/api/v1/commands?*", async (route) => {
          await asked;
          await route.continue();
        }),
    });
    await page.getByText("Reading the log.").waitFor();
    expect(await page.getByText("Commands, the newest first: none.").count()).toBe(0);
    answer();
    await page.getByText("Commands, the newest first: none.").waitFor();
  });

  it("shows of a mission that was taken whether the robot has arrived, and leads to the robot", async () => {
    const going = command(3, { operation: "CreateMission", mission_id: "m1" });
    const mission = oneMission({ mission_id: "m1" });
    const moves = { ...standingRobot("cart-1").idle, reason: "MOVING" } as const;
    const { page, gateway } = await pages.open("/commands", {
      robots: [standingRobot("cart-1", { mission, idle: moves })],
      prepare: (opened) => {
        opened.commands = [going, command(1)];
      },
    });
    const row = page.getByRole("row", { name: /CreateMission/ });
    await row.getByText("● succeeded → drives").waitFor();
    // Its mission is not known.
    await page
      .getByRole("row", { name: /ChargeRobot/ })
      .getByText("● succeeded → arrival not known")
      .waitFor();
    const ended = oneMission({ mission_id: "m1", state: "STATE_SUCCEEDED" });
    gateway.send("change", { at, robots: [{ robot_id: "cart-1", mission: ended }] });
    await row.getByRole("link", { name: "arrived" }).click();
    expect(new URL(page.url()).pathname).toBe("/robots/cart-1");
  });

  it("says on the page of a command whether the robot has arrived, and leads to the robot", async () => {
    const made = command(3, { operation: "CreateMission", mission_id: "m1" });
    const mission = oneMission({ mission_id: "m1", state: "STATE_SUCCEEDED" });
    const { page } = await pages.open(`/commands/${encodeURIComponent("web:anna/c3")}`, {
      robots: [standingRobot("cart-1", { mission })],
      prepare: (opened) => {
        opened.commands = [made];
      },
    });
    const heading = page.getByRole("heading", { name: /^CreateMission\s+succeeded → arrived$/ });
    await heading.getByRole("link", { name: "arrived" }).click();
    expect(new URL(page.url()).pathname).toBe("/robots/cart-1");
  });

  it("has its filter in the address, so that it can be shared", async () => {
    const { page } = await open("/commands");
    await page.getByLabel("Source").fill("PLC");
    await expect.poll(() => operations(page)).toEqual(["CreateMission"]);
    expect(new URL(page.url()).search).toBe("?source=PLC");
    await page.reload();
    await expect.poll(() => operations(page)).toEqual(["CreateMission"]);
    expect(await page.getByLabel("Source").inputValue()).toBe("PLC");
    await page.getByLabel("State").selectOption("succeeded");
    await page.getByText("Commands, the newest first: none.").waitFor();
  });

  it("finds a command by a part of its request id", async () => {
    const { page } = await open("/commands");
    await page.getByText("CreateMission").waitFor();
    await page.getByLabel("Request id").fill("2");
    await expect.poll(() => operations(page)).toEqual(["CreateMission"]);
    expect(new URL(page.url()).search).toBe("?id=2");
  });

  it("is downloaded as lines of JSON, as far as the filter leaves it", async () => {
    const { page } = await open("/commands?operation=charge");
    const coming = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download as JSON lines" }).click();
    const download = await coming;
    expect(download.suggestedFilename()).toBe("commands.jsonl");
    const chunks: Buffer[] = [];
    for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
    expect(Buffer.concat(chunks).toString()).toBe(`${JSON.stringify(command(1))}\n`);
  });

  it("has one command's whole life, and leads to the robot that an unknown outcome concerns", async () => {
    const { page } = await open(`/commands/${encodeURIComponent("opcua:plc1/c2")}`);
    await page.getByText("the robot may have acted, or may act later.", { exact: false }).waitFor();
    await page.getByText("no mission of it was seen").waitFor();
    const look = page.getByRole("paragraph").filter({ hasText: "Look at cart-1 before anything is sent" });
    await look.getByRole("link", { name: "cart-1" }).click();
    expect(new URL(page.url()).pathname).toBe("/robots/cart-1");
  });
});

describePages("a paused robot", (pages) => {
  const ofMission = (number: number, user: string, missionCommand: string) =>
    command(number, {
      user,
      operation: "UpdateMission",
      request: JSON.stringify({
        missionCommand: { command: missionCommand, missionId: "m1" },
        robotId: "cart-1",
      }),
      accepted_at: new Date().toISOString(),
    });
  const idle = {
    reason: "PAUSED",
    text: "its mission is paused",
    since: at,
    for_ms: 0,
    not_ready: false,
  } as const;
  const robots = [standingRobot("cart-1", { idle, mission: oneMission({ state: "STATE_PAUSED" }) })];

  it("names who paused it before the page was opened, also in the second step, or sends one to look", async () => {
    const prepare = (gateway: FakeGateway) => {
      gateway.commands = [ofMission(4, "bert", "COMMAND_PAUSE")];
    };
    const { page, gateway } = await pages.open("/robots/cart-1", { robots, prepare });
    await page.getByText(/its mission is paused\. By the log: paused by web:bert, /).waitFor();
    await page.getByRole("button", { name: "Resume mission…" }).click();
    await page.getByText(/In the last two minutes: UpdateMission.* by web:bert\./).waitFor();
    gateway.send("change", { at, commands: [ofMission(5, "anna", "COMMAND_RESUME")] });
    await page.getByText(/The log has no pause of it: .* Go and look\./).waitFor();
  });

  it("is named in the list with who paused it, and found by that name", async () => {
    const user = "bert-of-the-night-shift-at-the-second-packing-line";
    const prepare = (gateway: FakeGateway) => {
      gateway.commands = [ofMission(4, user, "COMMAND_PAUSE")];
    };
    const { page, gateway } = await pages.open("/", { robots, prepare });
    const row = page.getByRole("listitem").filter({ hasText: "cart-1" });
    const why = row.getByText(`its mission is paused, by web:${user}`, { exact: true });
    expect(await why.evaluate(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)).toBe(false);
    await page.getByRole("searchbox").fill("bert");
    await row.waitFor();
    await page.getByRole("searchbox").fill("");
    gateway.send("change", { at, commands: [ofMission(5, "anna", "COMMAND_RESUME")] });
    await row.getByText("its mission is paused", { exact: true }).waitFor();
  });
});
