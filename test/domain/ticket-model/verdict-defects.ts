import type { TicketState, Verdict } from "../../../src/domain/ticket-numbers.ts";
import { type Defect, defects } from "./defects.ts";
import { realReducer } from "./reducer.ts";
import { soundParts } from "./setups.ts";

/** The reducer with a verdict that is wrong in one case. */
function withVerdict(wrong: (state: TicketState, user: string, number: number) => Verdict | null) {
  return {
    ...realReducer,
    verdictOf: (state: TicketState, user: string, number: number) =>
      wrong(state, user, number) ?? realReducer.verdictOf(state, user, number),
  };
}

/** Mistakes of the gateway that programs by the five rules must notice, too. */
const shared = [
  "the number before the open one still starts a command",
  "numbers that were shown after the last save are issued again after a restart",
  "a disk that fails takes numbers back that were shown",
  "a start that the disk did not take is closed, and its number opens again",
  "a start is sent before its ticket is saved",
  "a start is sent before its record is in the journal",
  "a program concludes from a missing answer",
];

const verdictParts = { ...soundParts, rules: "verdict" } as const;

/**
 * Mistakes of the verdict, and of programs that use it. Nobody could see a wrong verdict of the open number:
 * a write takes or closes it.
 */
export const verdictDefects: readonly Defect[] = [
  {
    ...verdictParts,
    name: "a user is shown the number that another user wrote",
    violation: /concluded|twice|believes|takes/,
    server: { echoesToAll: true },
  },
  {
    ...verdictParts,
    name: "the verdict is the same for every user",
    violation: /takes|believes/,
    reducer: withVerdict((state, _user, number) =>
      state.accepted?.id === number ? realReducer.verdictOf(state, state.accepted.user, number) : null,
    ),
  },
  {
    ...verdictParts,
    name: "a number whose command is being recorded is called never sent",
    violation: /concluded|twice/,
    reducer: withVerdict(({ current }, _user, number) =>
      current?.id === number && current.phase === "taking" ? "never_sent" : null,
    ),
  },
  {
    ...verdictParts,
    name: "a number whose command is not shown any more is called never sent",
    violation: /concluded|twice/,
    reducer: withVerdict(({ taken, accepted, current, open }, _user, number) =>
      taken.includes(number) && ![accepted?.id, current?.id, open].includes(number) ? "never_sent" : null,
    ),
  },
  {
    ...verdictParts,
    name: "a number that is too old to be remembered has the verdict never sent",
    violation: /concluded|twice/,
    reducer: withVerdict(({ taken, takenBefore, accepted }, _user, number) =>
      number !== 0 && number <= takenBefore && !taken.includes(number) && accepted?.id !== number
        ? "never_sent"
        : null,
    ),
  },
  {
    ...verdictParts,
    name: "a number that is not known is called never sent",
    violation: /concluded|twice/,
    reducer: withVerdict((state, user, number) =>
      realReducer.verdictOf(state, user, number) === "look_first" ? "never_sent" : null,
    ),
  },
  {
    ...verdictParts,
    name: "a command that is under way is said to have ended",
    violation: /believes/,
    reducer: withVerdict(({ accepted }, user, number) =>
      accepted?.id === number && accepted.user === user ? "ended" : null,
    ),
  },
  {
    ...verdictParts,
    name: "a program acts on a verdict that is not of its number",
    violation: /concluded|twice|believes|takes/,
    program: { ignoresEcho: true },
  },
  {
    ...verdictParts,
    name: "a program closes nothing after a start",
    violation: /concluded|twice|believes|takes|never ends|did not ask/,
    program: { skipsClosing: true },
  },
  ...defects
    .filter(({ name }) => shared.includes(name))
    .map((defect): Defect => ({ ...defect, rules: "verdict", name: `${defect.name} (five rules)` })),
];
