import type { StateChange } from "../../src/domain/change.ts";
import type { Source } from "../../src/domain/command.ts";
import type { Quality } from "../../src/domain/observed.ts";
import type { Outcome } from "../../src/domain/outcome.ts";
import {
  type CommandsHarness,
  createHarness,
  type HarnessOptions,
  mission,
  plc,
  presence,
} from "./commands-harness.ts";

export const scada = { protocol: "mqtt", name: "scada" } as const;
export const eva = { protocol: "opcua", name: "eva" } as const;
const rights = [
  { source: plc, role: "operator" },
  { source: scada, role: "operator", robots: ["AMR01"] },
  { source: eva, role: "engineer" },
] as const;

/** The refusal of a start while `plc` holds the robot. */
export const HELD = {
  outcome: "refused",
  code: "HELD",
  message: "opcua:plc holds robot AMR01",
  retrySafe: true,
};
export const running = mission("m1", "A");
export const paused = mission("m1", "A", { state: "STATE_PAUSED" });

/** A dispatcher in which `plc` may command every robot, `scada` AMR01 alone, and `eva` is engineer. */
export function newRig(parts: HarnessOptions = {}): Promise<CommandsHarness> {
  return createHarness({ ...parts, options: { rights, ...parts.options } });
}

/** Begins or lifts a hold, and lets everything happen that needs no time. */
export async function hold(
  { acts, clock }: CommandsHarness,
  robotId: string | null,
  isHeld = true,
  source: Source = plc,
) {
  const fields = { hold: isHeld, ...(robotId === null ? {} : { robot_id: robotId }) };
  const outcome = acts.run(robotId === null ? "HoldAll" : "Hold", { source, fields });
  await clock.settle(0);
  return refusedOf(await outcome);
}

/** Null: it was not refused. */
export function refusedOf(outcome: Outcome): Outcome | null {
  return outcome.outcome === "refused" ? outcome : null;
}

/** What was sent from a place on, short: `Halt m1`. */
export function sent(harness: CommandsHarness, from = 0): readonly string[] {
  return harness.calls.slice(from).map(({ operation, requestJson }) => {
    const { mission: missionId, number, belts, robot } = JSON.parse(requestJson);
    return `${operation} ${missionId ?? number ?? belts ?? robot}`;
  });
}

/** The same change, with another quality. */
export function as(quality: Quality, change: StateChange): StateChange {
  if (!("observed" in change)) return change;
  return { ...change, observed: { ...change.observed, quality } } as StateChange;
}

/** AMR01 is at task chain 7. */
export function onChain(stateId: string): StateChange {
  const change = presence("AMR01", 101);
  if (change.kind !== "presence") return change;
  const { observed } = change;
  const stamp = { ...observed.stamp };
  return {
    ...change,
    observed: { ...observed, stamp, value: { ...observed.value, stateId, taskChainId: 7 } },
  };
}
