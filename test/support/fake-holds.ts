import type { HoldControl, HoldRequest } from "../../src/commands/holds/hold-control.ts";
import type { Holds } from "../../src/contracts/acts.ts";
import type { Protocol } from "../../src/domain/command.ts";
import { type HoldState, holderName } from "../../src/domain/hold.ts";
import { type Outcome, refusal } from "../../src/domain/outcome.ts";

/** Holds that live as long as the test. Robot "nope" is none. */
export interface FakeHolds extends Holds, Pick<HoldControl, "hold" | "stateWhenStored"> {
  readonly asked: HoldRequest[];
  /** What the disk is said to know. */
  isStored: boolean;
}

export function createFakeHolds(): FakeHolds {
  const by = new Map<string | null, Set<string>>();
  const asked: HoldRequest[] = [];
  return {
    asked,
    isStored: true,
    hold(request): Outcome | null {
      asked.push(request);
      const { source, robotId, isHeld, user } = request;
      const names = by.get(robotId) ?? new Set();
      by.set(robotId, names);
      if (isHeld) names.add(holderName(source));
      else if (user === undefined) names.delete(holderName(source));
      else if (!names.delete(user)) return refusal("MALFORMED", `user: ${user} does not hold it`);
      return null;
    },
    refusedName: (robotId) => (robotId === "nope" ? refusal("UNKNOWN_ROBOT", "never heard of") : null),
    holdState(robotId): HoldState {
      const own = [...(by.get(robotId) ?? [])];
      const ofAll = robotId === null ? [] : Array.from(by.get(null) ?? [], (name) => `${name} (all)`);
      return { isHeld: own.length + ofAll.length > 0, by: [...own, ...ofAll], isStored: this.isStored };
    },
    async stateWhenStored(robotId) {
      return this.holdState(robotId);
    },
    all: () =>
      [...by].flatMap(([robotId, names]) =>
        Array.from(names, (name) => {
          const [protocol = "", user = ""] = name.split(":");
          return { robotId, owner: { protocol: protocol as Protocol, name: user }, sinceMs: 0 };
        }),
      ),
  };
}
