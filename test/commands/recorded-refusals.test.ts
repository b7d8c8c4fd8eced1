import { describe, expect, it } from "vitest";
import type { Source } from "../../src/domain/command.ts";
import {
  type ErrorName,
  type GatewayErrorName,
  gatewayErrors,
  serviceAdvice,
} from "../../src/domain/errors.ts";
import {
  type CommandsHarness,
  createHarness,
  type HarnessOptions,
  LOST,
  mission,
  missions,
  plc,
  type Sent,
} from "./commands-harness.ts";

const scada = { protocol: "mqtt", name: "scada" } as const;
const again = { requestId: "again" };
const go = { robot: "AMR01", to: "A" };
const unknown = { ...go, robot: "AMR09" };
const stations = [{ name: "Dock", destinations: ["D1"], heartbeatMs: 5_000 }] as const;

/** Brings about a refusal of \`again\`, and then the state of affairs that its advice waits for. */
interface Story {
  readonly code: ErrorName;
  readonly parts?: HarnessOptions;
  /** What is sent; `Go` by the PLC unless told. */
  readonly operation?: string;
  readonly request?: object;
  readonly source?: Source;
  tell(harness: CommandsHarness): Promise<Sent>;
}

const recorded: readonly Story[] = [
  {
    code: "EXPIRED",
    tell: (harness) => harness.send("Go", go, { ...again, startByMs: harness.clock.nowMs() - 1 }),
  },
  {
    code: "ROBOT_NOT_GOOD",
    async tell(harness) {
      harness.quality.set("AMR01", "stale");
      const sent = await harness.send("Go", go, again);
      harness.quality.set("AMR01", "good");
      return sent;
    },
  },
  {
    code: "QUEUE_FULL",
    parts: { options: { maxQueue: 1 } },
    async tell(harness) {
      for (const to of ["B", "C"]) await harness.send("Go", { robot: "AMR01", to });
      const sent = await harness.send("Go", go, again);
      await harness.send("Halt", { robot: "AMR01" });
      await harness.call(0).answer({ kind: "refused", code: "NOT_FOUND", message: "no" });
      return sent;
    },
  },
  {
    code: "FLEET_UNREACHABLE",
    async tell(harness) {
      const sent = await harness.send("Go", go, again);
      await harness.call(0).answer({ kind: "not_sent", message: "no connection" });
      return sent;
    },
  },
  {
    code: "CANCELED_BY_STOP",
    async tell(harness) {
      await harness.send("Go", { robot: "AMR01", to: "B" });
      const sent = await harness.send("Go", go, again);
      await harness.send("Halt", { robot: "AMR01" });
      return sent;
    },
  },
  {
    code: "LEASE_HELD",
    source: scada,
    parts: { stations },
    async tell(harness) {
      await harness.see(missions("AMR01", harness.clock.nowMs(), mission("m", "D1")));
      expect(await harness.dispatcher.stations.ask("Dock", plc, "AMR01")).toBeNull();
      const sent = await harness.send("Go", go, { ...again, source: scada });
      harness.dispatcher.stations.release("Dock", plc, "AMR01");
      return sent;
    },
  },
  {
    code: "UNKNOWN_ROBOT",
    request: unknown,
    async tell(harness) {
      await harness.clock.settle(10_000);
      const sent = await harness.send("Go", unknown, again);
      harness.quality.set("AMR09", "good");
      return sent;
    },
  },
  ...(["FAILED_PRECONDITION", "PERMISSION_DENIED"] as const).map(
    (code): Story => ({
      code,
      async tell(harness) {
        const sent = await harness.send("Go", go, again);
        await harness.call(0).answer({ kind: "refused", code, message: "no" });
        return sent;
      },
    }),
  ),
  {
    code: "DEADLINE_EXCEEDED",
    operation: "Skip",
    async tell(harness) {
      const sent = await harness.send("Skip", go, again);
      await harness.call(0).answer(LOST);
      await harness.clock.settle(15_000);
      return sent;
    },
  },
];

const notRecorded: readonly Story[] = [
  { code: "MALFORMED", tell: (harness) => harness.send("Go", { ...go, bad: 1 }, again) },
  { code: "UNKNOWN_OPERATION", tell: (harness) => harness.send("Dance", go, again) },
  {
    code: "NOT_ALLOWED",
    source: scada,
    tell: (harness) => harness.send("Register", { name: "hook" }, { ...again, source: scada }),
  },
];

function adviceOf(code: ErrorName): string {
  const isOurs = code in gatewayErrors;
  return isOurs ? gatewayErrors[code as GatewayErrorName].advice : Reflect.get(serviceAdvice, code);
}

describe("what the table advises holds for the id of the refused command", () => {
  it.each(recorded)("$code is recorded: send it under a new id", async (story) => {
    const { code, parts, tell, operation = "Go", request = go, source = plc } = story;
    const harness = await createHarness(parts ?? {});
    const first = await tell(harness);
    expect(first.outcome).toMatchObject({ code, duplicate: false });
    const same = await harness.send(operation, request, { ...again, source });
    expect(same.outcome).toMatchObject({ code, duplicate: true });
    const anew = await harness.send(operation, request, { requestId: "new", source });
    expect(anew.stages).toContain("accepted");
    expect(adviceOf(code)).toContain("under a new id");
  });

  it.each(notRecorded)("$code is not: the same id may be used", async ({ code, tell, source = plc }) => {
    const harness = await createHarness();
    const first = await tell(harness);
    expect(first.outcome).toMatchObject({ code });
    const corrected = await harness.send("Go", go, {
      ...again,
      source,
    });
    expect(corrected.stages).toEqual(["accepted", "sent"]);
    expect(adviceOf(code)).not.toContain("under a new id");
  });
});
