import { createActs } from "../../src/commands/acts/acts.ts";
import type { ActTargets } from "../../src/commands/acts/performers.ts";
import type { Rights } from "../../src/commands/options.ts";
import { refusedLift } from "../../src/commands/rights.ts";
import type { Acts } from "../../src/contracts/acts.ts";
import type { AlarmConditionSink } from "../../src/contracts/alarms.ts";
import type { RefusalAudit } from "../../src/contracts/commander.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { createLive } from "../../src/platform/live.ts";
import { silentLog } from "../../src/platform/log.ts";
import { allowedRights } from "./allowed-rights.ts";
import { createFakeHolds } from "./fake-holds.ts";
import { allRights } from "./intake-harness.ts";

/** What the acts of a test reach. */
export type TestTargets = { readonly [Name in keyof AllTargets]?: AllTargets[Name] | undefined };

interface AllTargets extends ActTargets {
  readonly userRights: Rights;
  readonly alarms: Partial<AlarmConditionSink>;
  readonly storeProblem: () => Promise<string | null>;
  readonly resetCounters: (station: string) => void;
  readonly refused: RefusalAudit["refused"];
}

/** Nobody leases anything, and there is no station. */
export const noLeases: ActTargets["stations"] = {
  ask: async () => null,
  release: () => null,
  heartbeat() {},
  override: () => null,
  leaseOf: () => null,
  leased: () => null,
};

/** The real table of acts, before targets that live as long as the test. */
export function createTestActs({
  holds = createFakeHolds(),
  stations = noLeases,
  permits = { write: () => null, heartbeat() {} },
  userRights = allRights,
  rights = {
    ...allowedRights,
    refusedLift: (source, robotId) => refusedLift(userRights, source, robotId),
  },
  alarms = {},
  storeProblem = async () => null,
  resetCounters = () => {},
  refused = () => {},
}: TestTargets = {}): Acts {
  return createActs({
    dispatcher: { holds, stations, permits, rights, refusesActs: () => null },
    rights: createLive(userRights),
    alarms: {
      state() {},
      find: () => undefined,
      acknowledge() {},
      comment() {},
      putOutOfService() {},
      isOutOfService: () => false,
      storeProblem,
      publish() {},
      ...alarms,
    },
    resetCounters,
    refused,
    audit() {},
    clock: systemClock,
    log: silentLog,
  });
}
