import type { SimulatedFault, SimulatedFaults } from "../contracts/simulated-faults.ts";
import { createCatalogue } from "../fleet/operations.ts";
import type { Clock } from "../platform/clock.ts";
import type { Control } from "../simulator/control.ts";

/** The new charge of a robot whose battery was empty before the fault began. */
const CHARGED_PERCENT = 80;
/** Operations other than reads: otherwise the lost answers would be those of polls. */
const commands = [...createCatalogue().values()].filter(({ role }) => role !== "observer");
const operations = commands.map(({ name }) => name);

/** The faults in the demo's console, made from those of the simulator. */
export function createDemoFaults(control: Control, clock: Pick<Clock, "monotonicMs">): SimulatedFaults {
  /** When each fault of this console began, and the charge before it. */
  const begun = new Map<string, { readonly atMs: number; readonly percent: number }>();

  function all(): readonly SimulatedFault[] {
    const ofService = control.faults().flatMap((fault): readonly SimulatedFault[] => {
      if (fault.kind === "cut" || fault.kind === "silence") return [{ name: fault.kind, robotId: null }];
      if (fault.kind !== "command" || fault.effect !== "delay-taken") return [];
      return fault.robotId === undefined ? [] : [{ name: "lost_answer", robotId: fault.robotId }];
    });
    const ofRobots = control
      .robots()
      .flatMap(({ robotId, halts, flat }): readonly SimulatedFault[] => [
        ...(halts.includes("blocked") ? [{ name: "block", robotId } as const] : []),
        ...(flat ? [{ name: "flat_battery", robotId } as const] : []),
      ]);
    const found = new Map([...ofService, ...ofRobots].map((fault) => [keyOf(fault), fault]));
    for (const key of begun.keys()) if (!found.has(key)) begun.delete(key);
    return [...found.values()];
  }

  function percentOf(robotId: string | null): number | null {
    return control.robots().find((robot) => robot.robotId === robotId)?.battery.percent ?? null;
  }

  const isActive = (fault: SimulatedFault) => all().some((each) => keyOf(each) === keyOf(fault));
  const unknown = ({ robotId }: SimulatedFault) =>
    robotId === null || percentOf(robotId) !== null ? null : `the simulated service has no robot ${robotId}`;

  return {
    active: () =>
      all().map((fault) => {
        const atMs = begun.get(keyOf(fault))?.atMs ?? null;
        return { fault, forMs: atMs === null ? null : clock.monotonicMs() - atMs };
      }),
    begin(fault) {
      const problem = unknown(fault);
      if (problem !== null || isActive(fault)) return problem;
      begun.set(keyOf(fault), { atMs: clock.monotonicMs(), percent: percentOf(fault.robotId) ?? 0 });
      begin(control, fault);
      return null;
    },
    end(fault) {
      const problem = unknown(fault);
      if (problem !== null || !isActive(fault)) return problem;
      end(control, fault, begun.get(keyOf(fault))?.percent || CHARGED_PERCENT);
      begun.delete(keyOf(fault));
      return null;
    },
  };
}

function begin(control: Control, { name, robotId }: SimulatedFault): void {
  switch (name) {
    case "cut":
    case "silence":
      control.apply({ kind: name });
      break;
    case "block":
      control.happen({ kind: "blocked", robotId });
      break;
    case "lost_answer":
      control.apply({ kind: "command", effect: "delay-taken", operation: operations, robotId, count: 1 });
      break;
    case "flat_battery":
      control.happen({ kind: "battery", robotId, percent: 0 });
      break;
  }
}

/** @param percent the new charge of a robot that was flat */
function end(control: Control, { name, robotId }: SimulatedFault, percent: number): void {
  switch (name) {
    case "cut":
    case "silence":
      control.endFaults(({ kind }) => kind === name);
      break;
    case "block":
      control.happen({ kind: "unblocked", robotId });
      break;
    case "lost_answer":
      control.endFaults(
        (fault) => fault.kind === "command" && fault.effect === "delay-taken" && fault.robotId === robotId,
      );
      break;
    case "flat_battery":
      control.happen({ kind: "battery", robotId, percent });
      break;
  }
}

function keyOf({ name, robotId }: SimulatedFault): string {
  return `${name}/${robotId ?? ""}`;
}
