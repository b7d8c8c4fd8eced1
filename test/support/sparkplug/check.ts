import { commandRules } from "./rules/commands.ts";
import { dataRules } from "./rules/data.ts";
import { flowRules } from "./rules/flow.ts";
import { payloadRules } from "./rules/payloads.ts";
import { primaryHostRules } from "./rules/primary-host.ts";
import type { Rule } from "./rules/rule.ts";
import { sessionRules } from "./rules/session.ts";
import { topicRules } from "./rules/topics.ts";
import { advance, type Expected, newState } from "./state.ts";
import type { WireEvent } from "./wire.ts";

/** An assertion of the standard that does not hold. */
export interface Finding {
  readonly id: string;
  /** The assertion. */
  readonly text: string;
  /** Which event of the recording. */
  readonly at: number;
  readonly message: string;
}

export const rules: readonly Rule[] = [
  ...topicRules,
  ...sessionRules,
  ...payloadRules,
  ...dataRules,
  ...flowRules,
  ...commandRules,
  ...primaryHostRules,
];

const defaults = {
  ...{ primaryHost: null, brokers: 1, hasDeviceCommands: false },
  ...{ rebirthPaceMs: 0, graceMs: 1_000 },
};

/** What of a recording is against the standard. */
export function findDefects(
  events: readonly WireEvent[],
  expected: Partial<Expected> & Pick<Expected, "groupId" | "nodeId">,
): readonly Finding[] {
  const all: Expected = { ...defaults, ...expected };
  const state = newState();
  return events.flatMap((event, at) => {
    const found = rules.flatMap(({ id, text, check }): Finding[] => {
      const message = check(event, state, all);
      return message === null ? [] : [{ id, text, at, message }];
    });
    advance(state, event, all);
    return found;
  });
}
