import { createActs } from "../commands/acts/acts.ts";
import type { Acts } from "../contracts/acts.ts";
import type { NorthboundParts } from "./northbound-parts.ts";

/** Everything that the acts of users reach. */
export function actsOf(
  commands: Pick<Parameters<typeof createActs>[0], "rights" | "audit" | "clock" | "log">,
  { dispatcher, intake, view, fanOut }: Pick<NorthboundParts, "dispatcher" | "intake" | "view" | "fanOut">,
  publishAlarms: () => void,
): Acts {
  return createActs({
    ...commands,
    dispatcher,
    alarms: { ...view.alarmRegistry, storeProblem: view.alarmStoreProblem, publish: publishAlarms },
    resetCounters: (station) => fanOut.offer(view.resetCounters(station)),
    refused: intake.refused,
  });
}
