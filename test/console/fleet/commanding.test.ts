import { describe, expect, it } from "vitest";
import { actionsOf, basisOf, goToBasisOf, whyNotStarted } from "../../../src/console/commanding/actions.ts";
import {
  type Asked,
  createAskedCommands,
  type Storage,
  withLog,
} from "../../../src/console/commanding/asked.ts";
import { ASKED_FOR_MS, sendUntilKnown } from "../../../src/console/commanding/send.ts";
import type { MissionView } from "../../../src/models/robot.ts";
import type { Command } from "../../../src/northbound/web/api/command.ts";
import type { Robot } from "../../../src/northbound/web/api/robot.ts";
import { oneMission, standingRobot } from "../standing-robot.ts";

function memory(stored: string | null = null): Storage & { stored(): string | null } {
  let text = stored;
  return {
    getItem: () => text,
    setItem(_key, value) {
      text = value;
    },
    stored: () => text,
  };
}

const asked: Asked = {
  id: "c1",
  by: "ann",
  robotId: "cart-01",
  label: "Pause cart-01",
  operation: "UpdateMission",
  request: { robotId: "cart-01" },
  tick: "s1.4",
  askedAtMs: 0,
  known: { state: "asked", problem: "" },
};

describe("a command that was asked for", () => {
  it("is stored before it is sent, and known to the page that is loaded next", () => {
    const storage = memory();
    expect(createAskedCommands(storage).add(asked)).toBe(true);
    expect(createAskedCommands(memory(storage.stored())).all.value).toEqual([asked]);
  });

  it("is kept until its end is known, and some time after", () => {
    const commands = createAskedCommands(memory());
    commands.add({ ...asked, id: "open" });
    for (let each = 0; each < 30; each += 1) {
      commands.add({ ...asked, id: `c${each}` });
      commands.learn(`c${each}`, { state: "refused", reason: "no" });
    }
    const ids = commands.all.value.map(({ id }) => id);
    expect([ids.length, ids[0], ids.at(-1)]).toEqual([21, "open", "c29"]);
  });

  it("is not lost when another tab stores its own", () => {
    const storage = memory();
    const [first, second] = [createAskedCommands(storage), createAskedCommands(storage)];
    first.add(asked);
    second.add({ ...asked, id: "c2", askedAtMs: 1 });
    first.learn("c1", { state: "taken", stage: "sent" });
    const ids = createAskedCommands(storage).all.value.map(({ id, known }) => [id, known.state]);
    expect(ids).toEqual([
      ["c1", "taken"],
      ["c2", "asked"],
    ]);
  });

  it("is told where a browser stores nothing", () => {
    const full = {
      ...memory(),
      setItem() {
        throw new Error("QuotaExceededError");
      },
    };
    const commands = createAskedCommands(full);
    expect(commands.add(asked)).toBe(false);
    expect(commands.all.value).toEqual([asked]);
  });

  it("stays taken while the gateway is not reached", () => {
    const commands = createAskedCommands(memory());
    commands.add(asked);
    commands.learn("c1", { state: "taken", stage: "sent" });
    commands.learn("c1", { state: "asked", problem: "no answer yet" });
    expect(commands.all.value[0]?.known).toEqual({
      state: "taken",
      stage: "sent",
      problem: "no answer yet",
    });
  });

  it("is taken as soon as the log has it, though the answer is late or lost", () => {
    const log = (change: Partial<Command>) =>
      [
        { protocol: "web", user: "ann", request_id: "c1", outcome: null, message: null, ...change },
      ] as Command[];
    expect(withLog(asked, log({ stage: "sent" })).known).toEqual({ state: "taken", stage: "sent" });
    const refused = log({ stage: "final", outcome: "refused", message: "busy" });
    expect(withLog(asked, refused).known).toMatchObject({
      state: "final",
      outcome: "refused",
      message: "busy",
    });
    const known = { state: "final", outcome: "succeeded", message: "", response: "{}" } as const;
    expect(withLog({ ...asked, known }, refused).known).toBe(known);
  });

  it("is not the command of another user or protocol with the same id", () => {
    const other = (change: Partial<Command>) =>
      [
        { protocol: "web", user: "ann", request_id: "c1", stage: "sent", outcome: null, ...change },
      ] as Command[];
    expect(withLog(asked, other({ user: "bob" }))).toBe(asked);
    expect(withLog(asked, other({ protocol: "mqtt" }))).toBe(asked);
    expect(withLog(asked, other({ request_id: "c2" }))).toBe(asked);
  });

  it("is none if what was stored cannot be read", () => {
    expect(createAskedCommands(memory("{")).all.value).toEqual([]);
    expect(createAskedCommands(memory('"text"')).all.value).toEqual([]);
  });
});

describe("sending", () => {
  /** Answers in order; an error is a lost answer. */
  function send(...answers: ReadonlyArray<Response | Error>) {
    return sendAs([], answers);
  }

  /**
   * @param askers who is logged in at each refusal; null: the gateway does not say
   * @param nowMs of each attempt, the last one of all further ones
   */
  async function sendAs(
    askers: ReadonlyArray<string | null>,
    answers: ReadonlyArray<Response | Error>,
    nowMs: readonly number[] = [0],
    before: Asked = asked,
  ) {
    const times = [...nowMs];
    const isAsker = [...askers];
    const commands = createAskedCommands(memory());
    commands.add(before);
    const requests: Array<readonly [string, unknown]> = [];
    const left = [...answers];
    await sendUntilKnown(before, {
      commands,
      nowMs: () => (times.length > 1 ? (times.shift() ?? 0) : (times[0] ?? 0)),
      async fetch(address, { body }) {
        requests.push([address, JSON.parse(String(body ?? "null"))]);
        const next = left.shift();
        if (next === undefined) throw new Error("one request too many");
        if (next instanceof Error) throw next;
        return next;
      },
      sleep: async () => {},
      async isAsker({ by }) {
        const now = isAsker.length === 0 ? by : isAsker.shift();
        return now === null ? null : now === by;
      },
    });
    return { requests, known: commands.all.value[0]?.known };
  }
  const final = { id: "c1", outcome: "succeeded", code: "OK", message: "", retry_safe: true };

  it("asks again under the same id with the same body until the outcome is final", async () => {
    const { requests, known } = await send(
      new TypeError("lost"),
      Response.json({ detail: "it starts" }, { status: 503 }),
      Response.json({ id: "c1", stage: "sent", duplicate: true }, { status: 202 }),
      Response.json(final),
    );
    expect(requests).toHaveLength(4);
    expect(new Set(requests.map((each) => JSON.stringify(each)))).toEqual(
      new Set([
        JSON.stringify([
          "/api/v1/commands/c1",
          { operation: "UpdateMission", request: { robotId: "cart-01" }, tick: "s1.4", asked_by: "ann" },
        ]),
      ]),
    );
    expect(known).toEqual({ state: "final", outcome: "succeeded", message: "", response: "" });
  });

  it("ends when the gateway says that it never became a command", async () => {
    const { known } = await send(Response.json({ detail: "look at the robot again" }, { status: 400 }));
    expect(known).toEqual({ state: "refused", reason: "look at the robot again" });
  });

  it("asks again later when there were too many requests", async () => {
    const { requests, known } = await send(
      Response.json({ detail: "too many" }, { status: 429 }),
      Response.json(final),
    );
    expect([requests.length, known?.state]).toEqual([2, "final"]);
  });

  it("learns nothing from a refusal of a log-in that has ended, or is another's by now", async () => {
    const lost = () => new TypeError("lost");
    for (const refusal of [
      Response.json({ detail: "log in" }, { status: 401 }),
      Response.json({ detail: 'asked_by: this log-in is "bob"' }, { status: 400 }),
    ]) {
      const { requests, known } = await sendAs(["bob"], [lost(), refusal]);
      const problem = "log in as ann to learn what became of it";
      expect([requests.length, known]).toEqual([2, { state: "asked", problem }]);
    }
  });

  it("goes on when the gateway does not say who is logged in", async () => {
    const refusal = Response.json({ detail: "log in" }, { status: 401 });
    const { requests, known } = await sendAs([null], [refusal, Response.json(final)]);
    expect([requests.length, known?.state]).toEqual([2, "final"]);
  });

  describe("a minute after it was asked for", () => {
    const late = ASKED_FOR_MS + 1;
    const logged = (...rows: readonly object[]) => {
      const commands = rows.map((row) => ({ protocol: "web", user: "ann", request_id: "c1", ...row }));
      return Response.json({ count: rows.length, next: null, commands });
    };
    const atLog = ["/api/v1/commands?request_id=c1", null];

    it("sends nothing any more, and says that it is not known whether it was sent", async () => {
      const { requests, known } = await sendAs([], [new TypeError("lost"), logged()], [ASKED_FOR_MS, late]);
      expect(requests.map(([address]) => address)).toEqual(["/api/v1/commands/c1", atLog[0]]);
      expect(known).toEqual({ state: "not_known", wasTaken: false });
    });

    it("does not trust a clock that was set back meanwhile", async () => {
      const { requests, known } = await sendAs([], [logged()], [-late]);
      expect([requests, known?.state]).toEqual([[atLog], "not_known"]);
    });

    it("learns from the gateway's log what became of it, however often that is not reached", async () => {
      const { requests, known } = await sendAs(
        [],
        [
          new TypeError("lost"),
          Response.json({ detail: "it starts" }, { status: 503 }),
          logged({ stage: "sent", outcome: null, message: null }),
          logged({ stage: "final", outcome: "unknown", message: "look at the robot" }),
        ],
        [late],
      );
      expect(requests).toEqual([atLog, atLog, atLog, atLog]);
      expect(known).toEqual({
        state: "final",
        outcome: "unknown",
        message: "look at the robot",
        response: "",
      });
    });

    it("does not take another user's command with the same id for its own", async () => {
      const others = { user: "bob", stage: "final", outcome: "succeeded", message: null };
      const { known } = await sendAs([], [logged(others)], [late]);
      expect(known).toEqual({ state: "not_known", wasTaken: false });
    });

    it("does not doubt that what was taken was sent", async () => {
      const taken: Asked = { ...asked, known: { state: "taken", stage: "sent" } };
      const { known } = await sendAs([], [new TypeError("lost"), logged()], [late], taken);
      expect(known).toEqual({ state: "not_known", wasTaken: true });
    });

    it("learns nothing when its user is not logged in", async () => {
      const { requests, known } = await sendAs(["bob"], [Response.json({}, { status: 401 })], [late]);
      expect([requests, known]).toEqual([
        [atLog],
        { state: "asked", problem: "log in as ann to learn what became of it" },
      ]);
    });
  });

  it("takes an unknown outcome for an outcome", async () => {
    const unknown = { ...final, outcome: "unknown", message: "look at the robot" };
    const { requests, known } = await send(Response.json(unknown));
    expect([requests.length, known]).toEqual([
      1,
      { state: "final", outcome: "unknown", message: "look at the robot", response: "" },
    ]);
  });
});

describe("what may be asked", () => {
  const mission = (state: MissionView["state"]): Robot =>
    standingRobot("cart-01", { mission: oneMission({ state }) });

  it.each<[string, Robot, readonly string[]]>([
    ["without a mission", standingRobot("cart-01"), ["Send to charge"]],
    ["on a mission", mission("STATE_RUNNING"), ["Cancel mission"]],
    ["on a mission of a state that has no name yet", mission(9), ["Cancel mission"]],
    ["paused", mission("STATE_PAUSED"), ["Resume mission", "Cancel mission"]],
    ["after its mission", mission("STATE_SUCCEEDED"), ["Send to charge"]],
  ])("of a robot %s", (_what, robot, labels) => {
    expect(actionsOf(robot).map(({ label }) => label)).toEqual(labels);
  });

  it.each<[string, Partial<Robot>, string | null]>([
    ["is good", {}, null],
    ["is held", { hold: { held: true, by: ["web:olga"], stored: true } }, "held by web:olga"],
    ["is offline", { quality: "offline" }, "the robot is offline, or the fleet service is not reached"],
  ])("says why nothing may start a robot that %s, as the gateway does", (_what, changes, reason) => {
    const paused = { ...mission("STATE_PAUSED"), ...changes };
    expect(whyNotStarted(paused)).toBe(reason);
    expect(whyNotStarted(standingRobot("cart-01", changes))).toBe(reason);
    // It concerns Resume, and not Cancel.
    expect(actionsOf(paused).map(({ moves }) => moves)).toEqual([true, false]);
  });

  it("names the mission that the user has seen", () => {
    const [resume] = actionsOf(mission("STATE_PAUSED"));
    expect(resume?.wanted).toEqual({
      operation: "UpdateMission",
      request: { robotId: "cart-01", missionCommand: { missionId: "m1", command: "COMMAND_RESUME" } },
    });
  });

  it("rests on what the second step must find again", () => {
    const before = basisOf(mission("STATE_PAUSED"));
    expect(basisOf(mission("STATE_PAUSED"))).toBe(before);
    expect(basisOf(mission("STATE_RUNNING"))).not.toBe(before);
    const battery = { ...mission("STATE_PAUSED"), battery: null };
    expect(basisOf(battery)).toBe(before);
  });

  it("rests on where a robot is only while it stands: one that drives passes places", () => {
    const { idle, place } = standingRobot("cart-01");
    const elsewhere = { place: place && { ...place, point: "P2" } };
    const moving = { ...mission("STATE_RUNNING"), idle: { ...idle, reason: "MOVING" } } as const;
    expect(basisOf({ ...moving, ...elsewhere })).toBe(basisOf(moving));
    const waiting = { ...moving, idle: { ...idle, reason: "WAITS_AT_GOAL" } } as const;
    expect(basisOf(waiting)).not.toBe(basisOf(moving));
    expect(basisOf({ ...waiting, ...elsewhere })).not.toBe(basisOf(waiting));
  });

  describe("of a mission to a place", () => {
    const { idle, place } = standingRobot("cart-01");
    const basis = (changes: Partial<Robot> = {}) => goToBasisOf(standingRobot("cart-01", changes));

    it("rests neither on where the robot is nor on whether it charges", () => {
      expect(basis({ idle: { ...idle, reason: "CHARGING" } })).toBe(basis());
      expect(basis({ place: place && { ...place, point: "P2" } })).toBe(basis());
    });

    it.each<[string, Partial<Robot>]>([
      ["quality", { quality: "stale" }],
      ["exception", { idle: { ...idle, reason: "EXCEPTION" } }],
      ["lease", { lease: { station: "dock", owner: "opcua:line1", since: "2026-01-02T03:04:05.000Z" } }],
      ["hold", { hold: { held: true, by: ["web:eva"], stored: true } }],
      ["mission", { mission: oneMission({}) }],
    ])("rests on its %s", (_what, changes) => {
      expect(basis(changes)).not.toBe(basis());
    });
  });
});
