import type { CommandStage } from "./command.ts";
import type { ErrorName } from "./errors.ts";
import { clip, quoted } from "./foreign-text.ts";

/**
 * How a command may end (docs/commands.md, Outcomes). `unknown` is not failure: the robot may have acted.
 */
export type OutcomeName = "succeeded" | "refused" | "expired" | "unknown" | "probably_succeeded" | "checked";

/** The answer to a command's sender. `code` is OK with `succeeded`, `probably_succeeded` and `checked`. */
export interface Outcome {
  readonly outcome: OutcomeName;
  readonly code: ErrorName;
  /** What was wrong, where, and what would be right; or a remark about the answer. Empty: nothing. */
  readonly message: string;
  /** Whether nothing moves twice if the sender sends it again as a new command. */
  readonly retrySafe: boolean;
  /** The service's answer as snake_case JSON text; null when there was none. */
  readonly responseJson: string | null;
  /** The mission that the command made, if the service named one. */
  readonly missionId: string | null;
  /** The message and the values that show it, if the outcome was inferred. */
  readonly evidence: string | null;
  /** Whether this is the recorded outcome of the same command sent before. */
  readonly duplicate: boolean;
}

/** The service, a driver or a sender may say more; a reply and a log line must stay readable. */
const LONGEST_MESSAGE = 1_000;

/** A refusal before anything was sent. */
export function refusal(code: ErrorName, message: string, retrySafe = true): Outcome {
  return ending("refused", code, message, retrySafe);
}

/** The end of a dry run: nothing would have refused the command now. */
export function checked(message = ""): Outcome {
  return ending("checked", "OK", `dry run: nothing was sent${message === "" ? "" : `; ${message}`}`, true);
}

/** An outcome without an answer of the service. */
export function ending(outcome: OutcomeName, code: ErrorName, message: string, retrySafe: boolean): Outcome {
  return {
    outcome,
    code,
    message: clip(message, LONGEST_MESSAGE),
    retrySafe,
    responseJson: null,
    missionId: null,
    evidence: null,
    duplicate: false,
  };
}

/** The states of a command by number, as a PLC reads them in `Outcome` (docs/commands.md, Outcomes). */
export const outcomeNumbers = {
  idle: 0,
  accepted: 1,
  sent: 2,
  succeeded: 3,
  refused: 4,
  expired: 5,
  unknown: 6,
  probably_succeeded: 7,
  checked: 8,
} as const satisfies Record<OutcomeName | CommandStage | "idle", number>;

/** The meaning of each state, for people: one wording for docs/commands.md and the console. */
export const outcomeMeanings = {
  idle: "no command yet, or it is not recorded yet",
  accepted: "recorded, not sent yet",
  sent: "on its way; not final",
  succeeded: "the service says that it took the command. Whether the robot arrives is shown by its mission",
  refused: "it was not done, and the code gives the reason",
  expired: "it was never sent, and will not be",
  unknown: "the robot may have acted, or may act later. Look at it before anything is sent again",
  probably_succeeded:
    "the call ended without an answer; the evidence says what shows that it was done all the same",
  checked: "a dry run (dryRun of an OPC UA user): nothing would refuse it now, and nothing was sent",
} as const satisfies Record<keyof typeof outcomeNumbers, string>;

/** What is wrong with a request: where (a field path, or "") and what would be right. */
interface Fault {
  readonly path: string;
  readonly message: string;
}

const LONGEST_PATH = 200;

/** The refusal of a malformed request, in the same words for every protocol. */
export function badRequest({ path, message }: Fault): Outcome {
  return refusal(
    "MALFORMED",
    `${clip(path === "" ? "request" : `request.${path}`, LONGEST_PATH)}: ${message}`,
  );
}

export function unknownOperation(name: string): Outcome {
  return refusal("UNKNOWN_OPERATION", `there is no operation ${quoted(name)}`);
}

/** Quotes the name as it was written. */
export function unknownRobot(name: string): Outcome {
  return refusal("UNKNOWN_ROBOT", `robot ${quoted(name)} was never heard of`);
}

/** The same words for every protocol, with the id as its sender gave it. */
export function identityReused(requestId: string): Outcome {
  return refusal("IDENTITY_REUSED", `request id ${quoted(requestId)} was used before for another command`);
}

const notPlain = /[\p{Cc}\p{Surrogate}]/u;

/** Whether it can be a name or an id that a sender chose: text that a log and a topic can show. */
export function isPlainText(value: unknown, most: number): value is string {
  return typeof value === "string" && value !== "" && value.length <= most && !notPlain.test(value);
}

const LONGEST_EXPIRY_MS = 86_400_000;

/** Whether it can be the expiry of a command. */
export function isExpiryTime(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= LONGEST_EXPIRY_MS;
}

export const expiryDateFault = "expires_at: must be ISO 8601 with a zone, as 2026-01-31T12:00:00.000Z";
export const expiryTimeFault = `expires_in_ms: must be a whole number of milliseconds, 1 to ${LONGEST_EXPIRY_MS}`;

/** In characters, for every protocol. */
const LONGEST_REQUEST_ID = 128;
const requestIdText = /^[\x20-\x7e]{1,128}$/;

export function isRequestId(id: unknown): id is string {
  return typeof id === "string" && requestIdText.test(id);
}

/** What is wrong with a value that is no request id. */
export function requestIdFault(id: unknown): string {
  if (id === undefined || id === null) return "id: is missing";
  return `id: must be 1 to ${LONGEST_REQUEST_ID} printable ASCII characters`;
}

/** A refusal of a message whose request id is that of an earlier command, which may have been sent. */
export function idStands({ code, message }: Outcome): Outcome {
  return refusal(
    code,
    `${message}; its id is an earlier command's, and this is not that one's outcome`,
    false,
  );
}

/**
 * A refusal before the gateway was asked, of a message whose sender chose its id: the id may be that of an
 * earlier command.
 */
export function idUnasked({ code, message }: Outcome): Outcome {
  return refusal(
    code,
    `${message}; nothing was sent, and no earlier command of its id was looked for`,
    false,
  );
}

/**
 * For the sender of a known command (in hand, or recorded) while too many wait. Not refused: it may have been
 * sent.
 */
export const tooManyAsk = ending(
  "unknown",
  "QUEUE_FULL",
  "the command is in hand or recorded, and too many wait for their outcome: ask again with the same id",
  false,
);

/**
 * For the sender of a known command (in hand, or recorded) that asks more often than its rate. Not refused:
 * it may have been sent.
 */
export const askedTooOften = ending(
  "unknown",
  "RATE_LIMITED",
  "the command is in hand or recorded, and this client sends too many messages: ask again with the same id",
  false,
);

/** What is wrong with a JSON text that could not be read. */
export function jsonFault(
  reading:
    | { readonly kind: "syntax"; readonly message: string }
    | { readonly kind: "nested"; readonly deepest: number }
    | { readonly kind: "repeated"; readonly path: readonly (string | number)[]; readonly key: string },
): Fault {
  if (reading.kind === "syntax") return { path: "", message: `is not JSON: ${reading.message}` };
  if (reading.kind === "nested")
    return { path: "", message: `is nested more than ${reading.deepest} levels deep` };
  return {
    path: clip(reading.path.join("."), LONGEST_PATH),
    message: `has the key ${quoted(reading.key)} twice`,
  };
}
