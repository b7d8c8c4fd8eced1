import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import type { Command } from "../../../src/northbound/web/api/command.ts";
import { type FakeGateway, PRESS_TICK } from "./fake-gateway.ts";
import { describePages, isLive, timeUntilSaid } from "./page-harness.ts";

const at = "2026-01-02T03:04:05.000Z";
const pauseMission = {
  operation: "UpdateMission",
  request: { robotId: "cart-1", missionCommand: { missionId: "m1", command: "COMMAND_PAUSE" } },
};
const succeeded = {
  status: 200,
  body: { id: "c", outcome: "succeeded", code: "OK", message: "", retry_safe: true, response: null },
};

/** Of a command whose answer is lost. */
const NOT_REACHED =
  "not known whether it was taken: the gateway is not reached; this page asks again for a minute";

/** As the log has it before its outcome is known. */
function sentCommand(id: string): Command {
  return {
    ...{ number: 1, protocol: "web", user: "ann", request_id: id, robot_id: "cart-1", on_behalf_of: null },
    operation: pauseMission.operation,
    request: JSON.stringify(pauseMission.request),
    ...{ stage: "sent", accepted_at: at, sent_at: at, final_at: null, age_ms: 0 },
    ...{ outcome: null, code: null, message: null, meaning: null },
    ...{ mission_id: null, evidence: null, found_later: null },
  };
}

describePages("a robot's page", (pages) => {
  const prepare = (gateway: FakeGateway) => {
    gateway.pause = [pauseMission];
  };
  const open = () => pages.open("/robots/cart-1", { prepare });
  const says = (page: Page) => page.getByRole("list", { name: "Asked from this browser" });

  it("pauses it by one click, and a double click is one command", async () => {
    const { page, gateway } = await open();
    gateway.answer = succeeded;
    await page.getByRole("button", { name: "Pause cart-1" }).dblclick();
    await says(page)
      .getByText(/Pause cart-1: succeeded/)
      .waitFor();
    expect(gateway.asked).toMatchObject([{ body: { ...pauseMission, tick: PRESS_TICK } }]);
    await page.getByText("Not an emergency stop.").waitFor();
  });

  it("says that nothing was sent when the gateway is not reached", async () => {
    const { page, gateway } = await open();
    await page.route("**/pause", (route) => route.abort());
    await page.getByRole("button", { name: "Pause cart-1" }).click();
    await page.getByText("nothing was sent: the gateway is not reached").waitFor();
    expect(gateway.asked).toEqual([]);
  });

  it("says soon that a gateway hangs, and sends nothing when it goes on", async () => {
    const { page, gateway } = await open();
    gateway.answer = succeeded;
    gateway.tick(false);
    gateway.hang("all");
    const pause = page.getByRole("button", { name: "Pause cart-1" });
    const said = timeUntilSaid(page, "nothing was sent: the gateway does not answer. Press again");
    await pause.click();
    expect(await said).toBeLessThan(4_000);
    gateway.hang("nothing");
    gateway.tick(true);
    await isLive(page);
    await pause.click();
    await says(page)
      .getByText(/Pause cart-1: succeeded/)
      .waitFor();
    expect(gateway.asked).toHaveLength(1);
  });

  it("does not know whether a gateway has taken it that hangs meanwhile, and can be pressed again", async () => {
    const { page, gateway } = await open();
    gateway.hang("commands");
    const pause = page.getByRole("button", { name: "Pause cart-1" });
    const said = timeUntilSaid(page, "not known whether it was taken: the gateway does not answer");
    await pause.click();
    await says(page)
      .getByText(/Pause cart-1: asked$/)
      .waitFor();
    expect(await pause.isDisabled()).toBe(true);
    expect(await said).toBeLessThan(8_000);
    await says(page)
      .getByText(/Pause cart-1: not known whether it was taken: the gateway does not answer/)
      .waitFor();
    expect(await pause.isEnabled()).toBe(true);
    const detail = "UpdateMission comes too late: press again: the tick that it names is older than 5 s";
    gateway.answer = { status: 400, body: { detail } };
    gateway.hang("nothing");
    await says(page).getByText(`Pause cart-1: not taken: ${detail}`).waitFor();
    expect(new Set(gateway.asked.map((each) => JSON.stringify(each))).size).toBe(1);
  });

  it("pauses it while the stream is cut", async () => {
    const { page, gateway } = await open();
    gateway.answer = succeeded;
    gateway.cut(true);
    await page.getByText("✕ not live").waitFor();
    await page.getByRole("button", { name: "Pause cart-1" }).click();
    await says(page)
      .getByText(/Pause cart-1: succeeded/)
      .waitFor();
    expect(gateway.asked).toMatchObject([{ body: { tick: PRESS_TICK } }]);
  });

  it("says of a command that waits for the session that it is not sent yet", async () => {
    const { page, gateway } = await open();
    gateway.isFleetLinkUp = false;
    gateway.tick(true);
    gateway.answer = { status: 202, body: { id: "c", stage: "accepted", duplicate: false } };
    await page.getByRole("button", { name: "Pause cart-1" }).click();
    await says(page)
      .getByText(/Pause cart-1: taken \(not sent yet: it waits for the session to the fleet service\)$/)
      .waitFor();
    gateway.isFleetLinkUp = true;
    await says(page)
      .getByText(/Pause cart-1: taken \(not sent yet\)$/)
      .waitFor();
    gateway.answer = { status: 202, body: { id: "c", stage: "sent", duplicate: false } };
    await says(page)
      .getByText(/Pause cart-1: taken \(sent\)$/)
      .waitFor();
  });

  it("says that there is nothing to pause", async () => {
    const { page, gateway } = await open();
    gateway.pause = [];
    await page.getByRole("button", { name: "Pause cart-1" }).click();
    await page
      .getByText("nothing was sent: neither a mission nor a task chain is known to be under way")
      .waitFor();
    expect(gateway.asked).toEqual([]);
  });

  it("asks for the same command again after a lost answer and after a reload", async () => {
    const { page, gateway } = await open();
    await page.getByRole("button", { name: "Pause cart-1" }).click();
    await says(page).getByText(`Pause cart-1: ${NOT_REACHED}`).waitFor();
    await page.reload();
    gateway.answer = succeeded;
    await says(page)
      .getByText(/Pause cart-1: succeeded/)
      .waitFor();
    expect(gateway.asked.length).toBeGreaterThan(1);
    expect(new Set(gateway.asked.map((each) => JSON.stringify(each))).size).toBe(1);
  });

  it("does not send an old pause when its page is opened again, and offers another", async () => {
    const { page, gateway } = await open();
    gateway.answer = null;
    await page.getByRole("button", { name: "Pause cart-1" }).click();
    await says(page).getByText(`Pause cart-1: ${NOT_REACHED}`).waitFor();
    // The page is closed for an hour: an address of the API has no script.
    await page.goto(`${gateway.url}/api/v1/nothing`);
    const anHourAgo = "Date.now() - 3600000";
    await page.evaluate(`{
      const asked = JSON.parse(localStorage.getItem("fleetgate.asked"));
      const old = asked.map((command) => ({ ...command, askedAtMs: ${anHourAgo} }));
      localStorage.setItem("fleetgate.asked", JSON.stringify(old));
    }`);
    gateway.answer = succeeded;
    const before = gateway.asked.length;
    await page.goto(`${gateway.url}/robots/cart-1`);
    await says(page)
      .getByText(/Pause cart-1: not known whether it was sent: the gateway's log does not have it/)
      .waitFor();
    expect(gateway.asked.length).toBe(before);
    await page.getByRole("button", { name: "Pause cart-1" }).click();
    await says(page)
      .getByText(/Pause cart-1: succeeded/)
      .waitFor();
    expect(gateway.asked[before]?.id).not.toBe(gateway.asked[0]?.id);
  });

  it("says that a command was sent, from the log, while the answer does not come", async () => {
    const { page, gateway } = await open();
    await page.getByRole("button", { name: "Pause cart-1" }).click();
    await says(page).getByText(`Pause cart-1: ${NOT_REACHED}`).waitFor();
    const [{ id } = { id: "" }] = gateway.asked;
    gateway.send("change", { at, commands: [sentCommand(id)] });
    await says(page)
      .getByText(/Pause cart-1: taken \(sent\)/)
      .waitFor();
    await page.getByRole("link", { name: "UpdateMission: pause" }).waitFor();
  });

  it("sends all else by a second step, which names what would happen", async () => {
    const { page, gateway } = await open();
    gateway.answer = succeeded;
    await page.getByRole("button", { name: "Send to charge…" }).click();
    const second = page.getByRole("alertdialog");
    expect(await second.textContent()).toMatch(
      /Send to charge: cart-1, at Station A\. Effect: it drives to a charger\.No station has a lease on it\./,
    );
    expect(gateway.asked).toEqual([]);
    const send = second.getByRole("button", { name: "Send to charge cart-1" });
    await send.press("Enter");
    expect([await second.count(), gateway.asked.length]).toEqual([1, 0]);
    await send.click();
    await says(page)
      .getByText(/Send to charge: taken by the fleet service$/)
      .waitFor();
    expect(gateway.asked).toMatchObject([
      { body: { operation: "ChargeRobot", request: { robotId: "cart-1" } } },
    ]);
  });

  it("lets the second step lapse when the robot's state changes", async () => {
    const { page, gateway } = await open();
    await page.getByRole("button", { name: "Send to charge…" }).click();
    gateway.send("change", { at, robots: [{ robot_id: "cart-1", quality: "stale" }] });
    await page.getByText("Send to charge: not sent, because the robot's state has changed.").waitFor();
    expect([await page.getByRole("alertdialog").count(), gateway.asked.length]).toEqual([0, 0]);
  });

  it("lets the second step lapse when the values are not live", async () => {
    const { page, gateway } = await open();
    await page.getByRole("button", { name: "Send to charge…" }).click();
    gateway.cut(true);
    await page.getByText("Send to charge: not sent, because the values are not live.").waitFor();
    expect(await page.getByRole("button", { name: "Send to charge…" }).isDisabled()).toBe(true);
    expect(await page.getByRole("button", { name: "Pause cart-1" }).isDisabled()).toBe(false);
  });

  it("lets the second step lapse after 15 s", async () => {
    const { page, gateway } = await open();
    await page.getByRole("button", { name: "Send to charge…" }).click();
    await page.getByText("Send to charge: not sent, because 15 s have passed.").waitFor();
    expect(gateway.asked).toEqual([]);
  });

  it("acknowledges an alarm", async () => {
    const { page, gateway } = await open();
    gateway.send("change", {
      at,
      alarms: {
        count: 1,
        alarms: [
          {
            id: "a1",
            code: "BATTERY_CRITICAL",
            source: "robot",
            robot_id: "cart-1",
            priority: "high",
            severity: 600,
            text: "8 % are left",
            cause: "it was not charged",
            advice: "charge it now",
            robots: "can still drive until it is empty",
            active: true,
            since: at,
            returned_at: null,
            occurrences: 1,
            acknowledged_by: null,
            acknowledged_at: null,
            comment: null,
            commented_by: null,
            commented_at: null,
          },
        ],
      },
    });
    await page.getByRole("link", { name: "Alarms 1 unacknowledged" }).click();
    await page.getByText("active, unacknowledged").waitFor();
    await page.getByText("Robots meanwhile: can still drive until it is empty.").waitFor();
    await page.getByRole("button", { name: "Acknowledge battery critical" }).click();
    await expect.poll(() => gateway.acknowledged).toEqual(["a1"]);
  });
});
