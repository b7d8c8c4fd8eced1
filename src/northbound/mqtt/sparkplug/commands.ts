import type { Commander, Envelope } from "../../../contracts/commander.ts";
import { refusal } from "../../../domain/outcome.ts";
import { replyJson } from "../../../models/reply.ts";
import { type ReadMessage, readCommandMessage } from "../commands.ts";
import { MESSAGE_LIMIT_BYTES } from "../message.ts";
import { withoutResponse } from "../replies.ts";

/** Takes the commands that hosts write to `Commands/Request`. */
export interface NodeCommands {
  /**
   * Resolves with the answer for `Commands/Answer`, without its response if it had more bytes than
   * `longest`. Never rejects.
   */
  submit(sender: string, request: string, isRetained: boolean, longest: number): Promise<string>;
}

export interface NodeCommandsParts {
  /** False: each is refused. */
  readonly areEnabled: boolean;
  /** Whether commands that move a robot must have an expiry. */
  readonly requireExpiry: boolean;
  readonly commander: Pick<Commander, "submit">;
}

const OFF = "mqtt.sparkplug.commands is false: this gateway takes no commands from Sparkplug";
const TOO_LONG = "the response is left out: it is longer than an answer over Sparkplug may be";
const expiryAdvice = "give expires_in_ms or expires_at";

export function createNodeCommands({
  areEnabled,
  requireExpiry,
  commander,
}: NodeCommandsParts): NodeCommands {
  return {
    async submit(sender, request, isRetained, longest) {
      // A longer one is refused by its length, and needs no more of it.
      const bytes = Buffer.from(request.slice(0, MESSAGE_LIMIT_BYTES + 1));
      const read = readCommandMessage(bytes, ["operation"]);
      const id = read.ok ? read.message.id : read.id;
      if (!areEnabled) return replyJson(id, refusal("NOT_ALLOWED", OFF));
      const source = { protocol: "mqtt", name: sender } as const;
      const received = { source, requestId: id, retained: isRetained };
      const outcome = await commander.submit({ ...envelopeOf(read, requireExpiry), ...received }, null);
      const text = replyJson(id, outcome);
      if (Buffer.byteLength(text) <= longest || outcome.responseJson === null) return text;
      return replyJson(id, withoutResponse(outcome, TOO_LONG));
    },
  };
}

function envelopeOf(
  read: ReadMessage,
  requireExpiry: boolean,
): Pick<Envelope, "operation" | "request" | "expiry"> {
  if (!read.ok) return { operation: "", request: { unreadable: read.reason } };
  const { operation, request, expiresAtMs: atMs, expiresInMs: withinMs } = read.message;
  if (typeof operation !== "string")
    return { operation: "", request: { unreadable: "operation: must be the name of an operation" } };
  const isMissing = requireExpiry && atMs === null && withinMs === null;
  return {
    operation,
    request: { json: request },
    expiry: { atMs, withinMs, lacks: isMissing ? expiryAdvice : null },
  };
}
