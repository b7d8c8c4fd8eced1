import type { IPublishPacket } from "mqtt";
import type { Commander, Envelope } from "../../../contracts/commander.ts";
import { acts, isActName } from "../../../domain/acts.ts";
import { type Outcome, refusal } from "../../../domain/outcome.ts";
import { replyJson } from "../../../models/reply.ts";
import { createFairQueues } from "../../../platform/queues.ts";
import type { Loss } from "../client/client.ts";
import { expiryOf, type ReadMessage, readCommandMessage } from "../commands.ts";
import { MESSAGE_LIMIT_BYTES } from "../message.ts";
import { withoutResponse } from "../replies.ts";
import type { NodeDevice } from "./node.ts";
import type { NodeReport } from "./report.ts";
import type { SparkplugSession } from "./session.ts";

/** What a message says beside its payload. */
export type MessageFacts = Pick<IPublishPacket, "retain" | "properties">;

/** Takes the commands that hosts write to `Commands/Request`. */
export interface NodeCommands {
  /**
   * Resolves with the answer for `Commands/Answer`, without its response if it had more bytes than
   * `longest`. Never rejects.
   */
  submit(sender: string, request: string, packet: MessageFacts, longest: number): Promise<string>;
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

export function createNodeCommands({
  areEnabled,
  requireExpiry,
  commander,
}: NodeCommandsParts): NodeCommands {
  return {
    async submit(sender, request, packet, longest) {
      // A longer one is refused by its length, and needs no more of it.
      const bytes = Buffer.from(request.slice(0, MESSAGE_LIMIT_BYTES + 1));
      const read = readCommandMessage(bytes, ["operation"]);
      const id = read.ok ? read.message.id : read.id;
      if (!areEnabled) return replyJson(id, refusal("NOT_ALLOWED", OFF));
      const source = { protocol: "mqtt", name: sender } as const;
      const expiry = expiryOf(packet, read, requireExpiry);
      const envelope = { source, requestId: id, ...asked(read), expiry, retained: packet.retain };
      const outcome = withOtherWays(await commander.submit(envelope, null), envelope.operation);
      const text = replyJson(id, outcome);
      if (Buffer.byteLength(text) <= longest || outcome.responseJson === null) return text;
      return replyJson(id, withoutResponse(outcome, TOO_LONG));
    },
  };
}

/** The refusal of an act says by which protocols it is done. */
function withOtherWays(outcome: Outcome, name: string): Outcome {
  if (outcome.code !== "UNKNOWN_OPERATION" || !isActName(name)) return outcome;
  const isOfOpcUa = "only" in acts[name];
  const cli = name === "Hold" || name === "HoldAll" ? " or fleetgate hold" : "";
  const ways = isOfOpcUa
    ? "OPC UA"
    : `the JSON topics of MQTT, OPC UA${cli === "" ? " or" : ","} the web API${cli}`;
  return { ...outcome, message: `${name} does not exist over Sparkplug: use ${ways}` };
}

function asked(read: ReadMessage): Pick<Envelope, "operation" | "request"> {
  if (!read.ok) return { operation: "", request: { unreadable: read.reason } };
  const { operation, request } = read.message;
  return typeof operation === "string"
    ? { operation, request: { json: request } }
    : { operation: "", request: { unreadable: "operation: must be the name of an operation" } };
}

/** Beyond it, the oldest answer to the sender with the most is dropped. Each has 64 KB at most. */
const MOST_WAITING = 256;

interface AnswersParts {
  readonly node: Pick<NodeDevice, "setAnswer">;
  readonly session: Pick<SparkplugSession, "isBorn" | "isBirthDue" | "sayNode" | "drained">;
  /** Runs a task behind those that are under way, as births. */
  readonly run: (task: () => Promise<void>) => Promise<void>;
  readonly loss: Loss;
  readonly report: Pick<NodeReport, "answerDropped">;
  /** Some were dropped, and the broker reads on: hosts need a birth, which has the newest one. */
  readonly onCaughtUp: () => void;
}

/** Publishes an answer to a sender, when the broker has read what came before. */
export type PublishAnswer = (sender: string, text: string) => void;

/** Publishes each answer as data of the node, no faster than the broker reads. */
export function createAnswers({ node, session, run, loss, report, onCaughtUp }: AnswersParts): PublishAnswer {
  const waiting = createFairQueues<string>(MOST_WAITING);
  let isUnderWay = false;
  let isIncomplete = false;

  async function sayWaiting(): Promise<void> {
    // A birth that is due comes behind this turn, and would have the last one of several answers alone.
    while (!session.isBirthDue()) {
      const text = waiting.next();
      if (text === null) {
        isUnderWay = false;
        if (isIncomplete) onCaughtUp();
        isIncomplete = false;
        return;
      }
      node.setAnswer(text);
      // Before the birth there are no data: the birth has the answer.
      if (session.isBorn()) session.sayNode();
      // After the end of a connection, the next birth has the newest answer.
      await session.drained()?.catch(() => {});
    }
    begin();
  }

  function begin(): void {
    run(sayWaiting).catch(loss.report);
  }

  return (sender, text) => {
    const gone = waiting.push(sender, text);
    if (gone !== null) {
      isIncomplete = true;
      report.answerDropped(gone.key);
    }
    if (isUnderWay) return;
    isUnderWay = true;
    begin();
  };
}
