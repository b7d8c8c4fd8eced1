import type { Commands, FinalCommand, PendingCommand } from "../../northbound/web/api/command.ts";
import type { Problem } from "../../northbound/web/api/gateway.ts";
import { unansweredText } from "../api.ts";
import { say } from "../texts/texts.ts";
import { type Asked, type AskedCommands, type AskedState, hasEnded, withLog } from "./asked.ts";

export interface SendParts {
  readonly commands: AskedCommands;
  readonly fetch: (address: string, request: RequestInit) => Promise<Response>;
  /** Resolves after the time. */
  readonly sleep: (ms: number) => Promise<void>;
  /** The browser's wall clock. */
  readonly nowMs: () => number;
  /** Asks the gateway which user this browser has now. Null: it does not answer. */
  readonly isAsker: (asked: Asked) => Promise<boolean | null>;
}

/** How long the gateway may hold a request back until the outcome is final. */
const WAIT_SECONDS = 3;
/** A gateway that has not answered by then hangs, or is not reached. */
export const ANSWER_MS = 5_000;
const AGAIN_MS = 1_000;
/** How long a command without an outcome is sent again. The gateway refuses it if its tick is too old. */
export const ASKED_FOR_MS = 60_000;
/** Of the service's answer, in characters. */
const LONGEST_RESPONSE = 4_000;
/**
 * Answers that say nothing about the command: the request was too slow, at the wrong host, or one too many.
 */
const sayNothing = [408, 421, 429];

/**
 * Sends a command until its end is known, always under the same id with the same body: for the gateway that
 * is one command, however often it is sent. After a minute it reads the log instead. Also ends when its user
 * is no longer logged in: that refusal says nothing about the command.
 */
export async function sendUntilKnown(asked: Asked, parts: SendParts): Promise<void> {
  const { commands, fetch, sleep, isAsker } = parts;
  for (;;) {
    const isLate = Math.abs(parts.nowMs() - asked.askedAtMs) > ASKED_FOR_MS;
    const known = isLate ? await lookUp(asked, parts) : await askOnce(asked, fetch);
    const isStillAsker = known.state === "refused" ? await isAsker(asked) : true;
    if (isStillAsker === false) {
      commands.learn(asked.id, {
        state: "asked",
        problem: say("asked.logIn", { user: asked.by }),
      });
      return;
    }
    const noAnswer: AskedState = isLate
      ? { state: "late", problem: say("gateway.noAnswerYet") }
      : askedAgain(say("gateway.noAnswerYet"));
    const learnt: AskedState = isStillAsker === null ? noAnswer : known;
    commands.learn(asked.id, learnt);
    if (hasEnded({ ...asked, known: learnt })) return;
    await sleep(AGAIN_MS);
  }
}

async function askOnce(asked: Asked, fetch: SendParts["fetch"]): Promise<AskedState> {
  const { id, by, operation, request, tick } = asked;
  try {
    const response = await fetch(`/api/v1/commands/${encodeURIComponent(id)}`, {
      method: "PUT",
      headers: { "content-type": "application/json", prefer: `wait=${WAIT_SECONDS}` },
      body: JSON.stringify({ operation, request, tick, ...(by === "" ? {} : { asked_by: by }) }),
    });
    return readAnswer(response.status, await response.json());
  } catch (error) {
    // Lost on its way there or back: not known which.
    return askedAgain(unansweredText(error));
  }
}

/** Tells a waiting user that there is no need to send it again. */
function askedAgain(problem: string): AskedState {
  return { state: "asked", problem: say("asked.again", { problem }) };
}

/** The state of a command in the gateway's log. */
async function lookUp(asked: Asked, { fetch }: SendParts): Promise<AskedState> {
  try {
    const response = await fetch(`/api/v1/commands?request_id=${encodeURIComponent(asked.id)}`, {});
    const body: unknown = await response.json();
    // Its user is no longer logged in.
    if (response.status === 401) return { state: "refused", reason: "" };
    if (!response.ok)
      return {
        state: "late",
        problem: (body as Problem).detail ?? say("gateway.answers", { status: response.status }),
      };
    const found = withLog(asked, (body as Commands).commands);
    return found === asked ? { state: "not_known", wasTaken: false } : found.known;
  } catch (error) {
    return { state: "late", problem: unansweredText(error) };
  }
}

function readAnswer(status: number, body: unknown): AskedState {
  if (status === 200) {
    const { outcome, message, response } = body as FinalCommand;
    const text = response == null ? "{}" : JSON.stringify(response).slice(0, LONGEST_RESPONSE);
    return { state: "final", outcome, message, response: text === "{}" ? "" : text };
  }
  if (status === 202) return { state: "taken", stage: (body as PendingCommand).stage };
  const reason = (body as Problem).detail ?? say("gateway.answers", { status });
  const isForLater = status >= 500 || sayNothing.includes(status);
  return isForLater ? askedAgain(reason) : { state: "refused", reason };
}
