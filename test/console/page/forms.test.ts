import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import type { FakeGateway } from "./fake-gateway.ts";
import { describePages } from "./page-harness.ts";

const at = "2026-01-02T03:04:05.000Z";
const response = { mission_id: "m7" };
const succeeded = {
  status: 200,
  body: { id: "c", outcome: "succeeded", code: "OK", message: "", retry_safe: true, response },
};

describePages("a command by a form", (pages) => {
  const open = (path: string, prepare?: (gateway: FakeGateway) => void) => pages.open(path, { prepare });
  const mission = "/send?operation=CreateMission&robot=cart-1";
  /** The places of an example, and one more. */
  const withStations = (gateway: FakeGateway) => {
    const added = ["B", "C"].map((letter, at) => ({
      ...{ id: 3 + at, code: `P${3 + at}`, alias: `Station ${letter}` },
      ...{ x: 5 + at, y: 5, theta: 0, type: 1 },
    }));
    gateway.map = { ...gateway.map, points: [...(gateway.map.points ?? []), ...added] };
  };
  const says = (page: Page) => page.getByRole("list", { name: "Asked from this browser" });
  const next = (page: Page) => page.getByRole("button", { name: "CreateMission…" });

  it("is found from the robot, offers destinations, and ends in its outcome", async () => {
    const { page, gateway } = await open("/robots/cart-1");
    gateway.answer = succeeded;
    await page.getByRole("link", { name: "Another command…" }).click();
    await page.getByLabel("Operation").selectOption("CreateMission");
    expect(await page.getByLabel("robot id (required)").inputValue()).toBe("cart-1");
    await page.getByLabel("mission", { exact: true }).first().selectOption("baseMission");
    await page.getByLabel("mission", { exact: true }).nth(1).selectOption("navigateMission");
    await page.getByLabel("goal", { exact: true }).selectOption("destinationId");
    const destination = page.getByLabel("destination id");
    const list = await destination.getAttribute("list");
    const offered = page.locator(`datalist[id="${list}"] option`);
    expect(await offered.evaluateAll((all) => all.map((each) => each.getAttribute("value")))).toEqual([
      "P2",
      "Station A",
    ]);
    await destination.fill("Station A");
    await next(page).click();
    const second = page.getByRole("alertdialog");
    expect(await second.textContent()).toMatch(
      /CreateMission: cart-1, at Station A\. Effect: the robot may move\. Gives a mission.*"destinationId":"Station A"/,
    );
    expect(gateway.asked).toEqual([]);
    await second.getByRole("button", { name: "CreateMission cart-1" }).click();
    await says(page)
      .getByText(/CreateMission \(cart-1\): taken by the fleet service/)
      .waitFor();
    const goal = { destinationId: "Station A" };
    const request = { robotId: "cart-1", mission: { baseMission: { navigateMission: { goal } } } };
    expect(gateway.checked).toEqual([{ operation: "CreateMission", request }]);
    expect(gateway.asked).toMatchObject([{ body: { operation: "CreateMission", request } }]);
    await page.getByText("Answer").click();
    await page.getByText('{"mission_id":"m7"}').waitFor();
  });

  it("begins with an example, for the robot that was chosen", async () => {
    const { page } = await open(mission);
    await page.getByRole("button", { name: "traverse destinations (cart)" }).click();
    const goals = page.getByLabel("destination id");
    expect(await Promise.all((await goals.all()).map((each) => each.inputValue()))).toEqual([
      "Station A",
      "Station B",
    ]);
    expect(await page.getByLabel("robot id (required)").inputValue()).toBe("cart-1");
    await page.getByRole("button", { name: "Remove goals 2" }).click();
    await expect.poll(() => goals.count()).toBe(1);
    await page.getByRole("button", { name: "Add goals" }).click();
    await expect.poll(() => page.getByLabel("goal", { exact: true }).count()).toBe(2);
  });

  it("has the message about bad input at its field, and no second step", async () => {
    const { page, gateway } = await open("/send?operation=ControlConveyor&robot=cart-1");
    gateway.check = {
      outcome: "refused",
      code: "MALFORMED",
      message: 'request.commands.0.index: should be a whole number of 32 bits, and is "one"',
      effect: null,
      robot_id: null,
    };
    await page.getByRole("button", { name: "Add commands" }).click();
    const field = page.getByLabel("index", { exact: true });
    await field.fill("one");
    await page.getByRole("button", { name: "ControlConveyor…" }).click();
    const problem = page.getByRole("alert");
    expect(await problem.textContent()).toContain('should be a whole number of 32 bits, and is "one"');
    expect([
      await field.getAttribute("aria-invalid"),
      await field.getAttribute("aria-describedby"),
      await page.getByRole("alertdialog").count(),
    ]).toEqual(["true", await problem.getAttribute("id"), 0]);
    await field.fill("1");
    expect([await problem.count(), gateway.asked.length]).toEqual([0, 0]);
  });

  it("is refused at the field of a destination that no map has, before the gateway is asked", async () => {
    const { page, gateway } = await open(mission, withStations);
    await page.getByRole("button", { name: "traverse destinations (cart)" }).click();
    const last = page.getByLabel("destination id").last();
    await expect.poll(() => page.locator("datalist option").count()).toBeGreaterThan(0);
    await last.fill("Station Q");
    await next(page).click();
    expect(await page.getByRole("alert").textContent()).toContain('no map has a place "Station Q"');
    expect(await last.getAttribute("aria-invalid")).toBe("true");
    expect([gateway.checked.length, await page.getByRole("alertdialog").count()]).toEqual([0, 0]);
    await last.fill("P4");
    await next(page).click();
    await page.getByRole("alertdialog").waitFor();
  });

  it("does not say of conveyors that the robot may move", async () => {
    const { page } = await open("/send?operation=ControlConveyor&robot=cart-1");
    await page.getByRole("button", { name: "ControlConveyor…" }).click();
    await page
      .getByRole("alertdialog")
      .getByText(/Effect: conveyors may roll\. /)
      .waitFor();
  });

  it("ends the second step when the form is changed: what it shows is what is sent", async () => {
    const { page, gateway } = await open(mission, withStations);
    gateway.answer = succeeded;
    await page.getByRole("button", { name: "traverse destinations (cart)" }).click();
    await next(page).click();
    const second = page.getByRole("alertdialog");
    await second.waitFor();
    await page.getByLabel("destination id").first().fill("Station C");
    await second.waitFor({ state: "detached" });
    await page.getByText("CreateMission: not sent, because the form has changed.").waitFor();
    expect(gateway.asked).toEqual([]);
    await next(page).click();
    await second.getByRole("button", { name: "CreateMission cart-1" }).click();
    await says(page)
      .getByText(/CreateMission \(cart-1\): taken by the fleet service/)
      .waitFor();
    expect(JSON.stringify(gateway.asked)).toContain('"destinationId":"Station C"');
  });

  it("has no second step for what the form showed when the gateway was asked, and not any more", async () => {
    const { page } = await open(mission, withStations);
    await page.getByRole("button", { name: "traverse destinations (cart)" }).click();
    let answer = () => {};
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page.route("**/api/v1/check", async (route) => {
      await held;
      await route.continue();
    });
    await next(page).click();
    await page.getByLabel("destination id").first().fill("Station C");
    answer();
    await expect.poll(() => next(page).isEnabled()).toBe(true);
    expect(await page.getByRole("alertdialog").count()).toBe(0);
  });

  it("shows the second step on a small screen where it is seen", async () => {
    const { page } = await pages.open(mission, {
      prepare: withStations,
      viewport: { width: 390, height: 844 },
    });
    await page.getByRole("button", { name: "traverse destinations (cart)" }).click();
    await next(page).click();
    const second = page.getByRole("alertdialog");
    await second.waitFor();
    const bottom = async () => {
      const box = await second.boundingBox();
      return box === null ? Number.POSITIVE_INFINITY : box.y + box.height;
    };
    await expect.poll(bottom).toBeLessThanOrEqual(844);
  });

  it("is not sent by Enter, in a field or on the button of the second step", async () => {
    const { page, gateway } = await open(mission);
    await page.getByLabel("robot id (required)").press("Enter");
    expect([gateway.checked.length, await page.getByRole("alertdialog").count()]).toEqual([0, 0]);
    await next(page).click();
    const send = page.getByRole("alertdialog").getByRole("button", { name: "CreateMission cart-1" });
    await send.press("Enter");
    expect([await page.getByRole("alertdialog").count(), gateway.asked.length]).toEqual([1, 0]);
  });

  it("names what another operator has just sent, and lapses when the robot's state changes", async () => {
    const { page, gateway } = await open(mission);
    await next(page).click();
    gateway.send("change", {
      at,
      commands: [
        {
          number: 7,
          protocol: "web",
          user: "bert",
          request_id: "b1",
          operation: "ChargeRobot",
          robot_id: "cart-1",
          request: "{}",
          on_behalf_of: null,
          stage: "sent",
          accepted_at: new Date().toISOString(),
          sent_at: at,
          final_at: null,
          age_ms: 0,
          outcome: null,
          code: null,
          message: null,
          meaning: null,
          mission_id: null,
          evidence: null,
          found_later: null,
        },
      ],
    });
    await page.getByText("In the last two minutes: ChargeRobot by web:bert.").waitFor();
    const idle = {
      reason: "MOVING",
      text: "",
      since: at,
      for_ms: 0,
      not_ready: false,
    } as const;
    gateway.send("change", { at, robots: [{ robot_id: "cart-1", idle }] });
    await page.getByText("CreateMission: not sent, because the robot's state has changed.").waitFor();
    expect(gateway.asked).toEqual([]);
  });

  it("says that the last commands are not read yet, and then that there are none", async () => {
    const { page } = await open(mission);
    let answer = () => {};
    const asked = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page.route("**/api/v1/commands?*", async (route) => {
      await asked;
      await route.continue();
    });
    await next(page).click();
    const second = page.getByRole("alertdialog");
    await second.getByText("The commands of the last two minutes are not read yet.").waitFor();
    const send = second.getByRole("button", { name: "CreateMission cart-1" });
    const before = await send.boundingBox();
    answer();
    await second.getByText("No command to it in the last two minutes.").waitFor();
    // Nothing moves away below the pointer.
    expect(await send.boundingBox()).toEqual(before);
  });

  it("offers only what the rights allow, and says why the rest is not", async () => {
    const { page } = await open(mission, (gateway) => {
      gateway.rights = {
        operations: [
          { name: "CreateMission", refused: 'web "anna" may not send CreateMission' },
          { name: "GetMap", refused: null },
        ],
      };
    });
    await page.getByText("1 operation is not offered to you").click();
    await page.getByText('CreateMission: web "anna" may not send CreateMission').waitFor();
    const options = page.getByLabel("Operation").locator("option");
    expect(await options.allTextContents()).toEqual(["choose one", "GetMap"]);
    expect(await next(page).count()).toBe(0);
  });

  it("is not offered by buttons that would be refused, and the robot's page says so", async () => {
    const moves = "web.commands.from does not name the address 127.0.0.1";
    const { page } = await open("/robots/cart-1", (gateway) => {
      gateway.rights = { moves };
    });
    await page.getByText(`You may stop it, and not move it: ${moves}.`).waitFor();
    expect(await page.getByRole("button", { name: "Send to charge…" }).count()).toBe(0);
    expect(await page.getByRole("button", { name: "Pause cart-1" }).count()).toBe(1);
  });

  it("is not offered at all for a robot that the user may not command", async () => {
    const { page } = await open("/robots/cart-1", (gateway) => {
      gateway.rights = { robot: "rights[0] names only cart-2" };
    });
    await page.getByText("You may not command this robot: rights[0] names only cart-2.").waitFor();
    expect(await page.getByRole("region", { name: "Commands to cart-1" }).getByRole("button").count()).toBe(
      0,
    );
  });

  it("holds a robot, and lifts the user's own hold", async () => {
    const { page, gateway } = await open("/robots/cart-1");
    await page.getByRole("button", { name: "Hold…" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Hold cart-1" }).click();
    await expect.poll(() => gateway.held).toEqual([{ hold: true }]);
    const hold = { held: true, by: ["web:anna"], stored: true };
    gateway.send("change", { at, robots: [{ robot_id: "cart-1", hold }] });
    await page.getByRole("button", { name: "Lift your hold…" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Lift your hold cart-1" }).click();
    await expect.poll(() => gateway.held).toEqual([{ hold: true }, { hold: false }]);
  });

  it("lets an engineer lift another's hold, by a second step that names whose it is", async () => {
    const { page, gateway } = await open("/robots/cart-1", (opening) => {
      opening.rights = { lift: null, lift_all: null };
    });
    const heldBy = (...by: readonly string[]) =>
      gateway.send("change", {
        at,
        robots: [{ robot_id: "cart-1", hold: { held: true, by, stored: true } }],
      });
    heldBy("opcua:plc1", "web:omar (all)");
    const lift = page.getByRole("button", { name: "Lift the hold of opcua:plc1…" });
    await lift.click();
    const second = page.getByRole("alertdialog");
    expect(await second.textContent()).toMatch(
      /^Lift the hold of opcua:plc1: cart-1, at Station A\. Effect: opcua:plc1 has said that it must not move/,
    );
    heldBy("opcua:plc2", "web:omar (all)");
    await page
      .getByText("Lift the hold of opcua:plc1: not sent, because the robot's state has changed.")
      .waitFor();
    expect([await lift.count(), gateway.held.length]).toEqual([0, 0]);
    await page.getByRole("button", { name: "Lift the hold of opcua:plc2…" }).click();
    await second.getByRole("button", { name: "Lift the hold of opcua:plc2 cart-1" }).click();
    await expect.poll(() => gateway.held).toEqual([{ hold: false, user: "opcua:plc2" }]);
    await page.getByRole("button", { name: "Lift the hold of web:omar on all robots…" }).click();
    await second.getByRole("button", { name: "Lift the hold of web:omar all robots" }).click();
    await expect.poll(() => gateway.heldAll).toEqual([{ hold: false, user: "web:omar" }]);
  });
});
