import type { IPublishPacket, MqttClient } from "mqtt";
import type { Commander, CommandLedger } from "../../contracts/commander.ts";
import type { Holds } from "../../contracts/holds.ts";
import type { Catalogue, Operation, ParsedRequest } from "../../contracts/operation.ts";
import type { Stations } from "../../contracts/stations.ts";
import { clip } from "../../domain/clip.ts";
import { type Outcome, refusal } from "../../domain/outcome.ts";
import { badRequest, idStands, tooManyAsk, unknownOperation } from "../../domain/refusals.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { type CommandMessage, readCommandMessage } from "./command-message.ts";
import { takeHoldMessage } from "./hold-message.ts";
import type { MqttOptions } from "./options.ts";
import { createReplies, type ReplyBounds, type ReplyTo } from "./replies.ts";
import { answerProblem, bytesOf, replyTo } from "./reply-to.ts";
import { takeStationMessage } from "./station-desk.ts";
import type { CommandTopic, HoldTopic, StationTopic, Topics } from "./topics.ts";

/** What the command desk needs of the house. */
export interface CommandParts {
  readonly options: MqttOptions;
  readonly topics: Topics;
  readonly clock: Clock;
  readonly log: Log;
  readonly catalogue: Catalogue;
  readonly commander: Commander;
  readonly ledger: CommandLedger;
  readonly stations: Stations;
  readonly holds: Holds;
  /** Where they are not the usual ones. */
  readonly replyBounds?: ReplyBounds;
}

/** Takes commands from MQTT to the commander and its outcomes back. Lives as long as the link, over all its connections. */
export interface CommandDesk {
  /** Listens on a new connection, where commands are on. Rejects when the broker refuses the subscription. */
  serve(client: MqttClient, lost: Promise<unknown>): Promise<void>;
  /** Why clients may wait for an answer that does not come; null when there is no reason. */
  problem(): string | null;
  figures(): Readonly<Record<string, number>>;
}

/**
 * Commands whose outcome is awaited, of all clients and of one: at 2,000 a second, a second's worth, so that a pause of the
 * disk or the collector refuses nothing. Stops may go over it, once more as many.
 */
const IN_FLIGHT = 2_048;
const IN_FLIGHT_A_CLIENT = 512;
const LOG_WINDOW_MS = 1_000;
const LOGS_A_WINDOW = 10;
/** Of names that clients choose, in a log line. */
const LONGEST_NAME = 128;

export function createCommandDesk(parts: CommandParts): CommandDesk {
  const { options, topics, clock, log } = parts;
  const counts = { commands: 0, stationMessages: 0, holdMessages: 0, refusedMessages: 0 };
  const inFlight = new Map<string, number>();
  let allInFlight = 0;
  const replies = createReplies(clock, log, parts.replyBounds);
  const logRefused = createLimitedLog(clock, log);

  const isKnown = ({ client, id }: ReplyTo) =>
    id !== null && parts.ledger.knows({ door: "mqtt", name: client }, id);

  const refuse = (to: ReplyTo, outcome: Outcome, operation = to.operation, robotId: string | null = null) => {
    counts.refusedMessages += 1;
    logRefused(to, outcome);
    const source = { door: "mqtt", name: to.client } as const;
    parts.ledger.refused({ source, requestId: to.id, operation, robotId }, outcome);
    replies.send(to, outcome);
  };

  const submit = async (
    to: ReplyTo,
    message: CommandMessage,
    name: string,
    request: ParsedRequest,
    startByMs: number,
  ) => {
    counts.commands += 1;
    count(inFlight, to.client, 1);
    allInFlight += 1;
    try {
      const outcome = await parts.commander.submit(
        {
          source: { door: "mqtt", name: to.client },
          requestId: message.id,
          operation: name,
          effect: request.effect,
          robotId: request.robotId,
          requestJson: request.json,
          startByMs,
        },
        neverAborted,
      );
      replies.send(to, outcome);
    } catch (error) {
      log.error({ err: error, client: to.client, operation: name }, "a command failed inside the gateway");
      replies.send(to, faultOutcome);
    } finally {
      count(inFlight, to.client, -1);
      allInFlight -= 1;
    }
  };

  /** Who asks for what is recorded has the stops' room. */
  const full = (client: string, request: ParsedRequest, known: boolean) => {
    const room = known || request.effect === "stops" ? 2 : 1;
    return allInFlight >= room * IN_FLIGHT || (inFlight.get(client) ?? 0) >= room * IN_FLIGHT_A_CLIENT;
  };

  const take = (topic: CommandTopic, packet: IPublishPacket) => {
    const read = readCommandMessage(bytesOf(packet));
    const to = replyTo(topics, topic, packet, read.ok ? read.message.id : read.id);
    const answer = answerProblem(topics, topic.client, packet);
    const known = isKnown(to);
    const refused = (outcome: Outcome) => refuse(to, known ? idStands(outcome) : outcome);
    // What is known is not sent again: then how it was sent this time is no matter.
    if (packet.retain && !known) return refused(refusal("RETAINED", "commands must not be retained"));
    if (!read.ok) return refused(refusal("MALFORMED", read.reason));
    if (answer !== null && !known) return refused(refusal("MALFORMED", answer));
    const operation = parts.catalogue.get(topic.operation);
    if (operation === undefined) return refused(unknownOperation(topic.operation));
    const parsed = parseRequest(operation, read.message, log);
    if ("outcome" in parsed) return refused(parsed);
    const startByMs = startBy(packet, read.message, clock.nowMs());
    if (startByMs === null && parsed.effect === "moves" && options.commands.requireExpiry && !known) {
      const message = `${operation.name} moves a robot: give expires_at, or MQTT 5 message expiry`;
      return refuse(to, refusal("NO_EXPIRY", message), to.operation, parsed.robotId);
    }
    if (full(to.client, parsed, known)) {
      const message = "too many commands wait for their outcome";
      if (known) return replies.send(to, tooManyAsk);
      return refuse(to, refusal("QUEUE_FULL", message), to.operation, parsed.robotId);
    }
    const limitMs = startByMs ?? clock.nowMs() + options.commands.startByMs;
    void submit(to, read.message, operation.name, parsed, limitMs);
  };

  const takeForStation = (topic: StationTopic, packet: IPublishPacket) => {
    counts.stationMessages += 1;
    const { to, outcome, robotId } = takeStationMessage(parts, topic, packet);
    if (outcome.outcome === "refused") refuse(to, outcome, `station/${to.operation}`, robotId);
    else replies.send(to, outcome);
  };

  const takeHold = (topic: HoldTopic, packet: IPublishPacket) => {
    counts.holdMessages += 1;
    const { to, outcome, robotId } = takeHoldMessage(parts, topic, packet);
    if (outcome.outcome === "refused") refuse(to, outcome, to.operation, robotId);
    else replies.send(to, outcome);
  };

  const cleared = createClearing();
  const hear = (client: MqttClient, name: string, packet: IPublishPacket) => {
    const command = topics.readCommand(name);
    const station = command === null ? topics.readStation(name) : null;
    const hold = topics.readHold(name);
    if (command === null && station === null && hold === null) return;
    const empty = bytesOf(packet).byteLength === 0;
    if (empty && cleared.echo(name)) return;
    if (packet.retain && !empty) {
      cleared.expect(name);
      client.publish(name, "", { qos: 1, retain: true });
    }
    if (command !== null) take(command, packet);
    if (station !== null) takeForStation(station, packet);
    if (hold !== null) takeHold(hold, packet);
  };

  return {
    async serve(client, lost) {
      if (!commandsOn(options, log)) return;
      replies.use(client);
      cleared.reset();
      const onMessage = (topic: string, _payload: Buffer, packet: IPublishPacket) =>
        hear(client, topic, packet);
      client.on("message", onMessage);
      void lost.then(() => client.removeListener("message", onMessage));
      // Retain as published (MQTT 5): a command sent with the retain flag is known as such at once.
      const { commandFilter, stationFilter, holdFilters } = topics;
      const filters = [commandFilter, stationFilter, ...holdFilters];
      const granted = await client.subscribeAsync(filters, { qos: 1, rap: true });
      const refused = granted.filter((grant) => grant.qos === 128).map(({ topic }) => topic);
      if (refused.includes(commandFilter))
        throw new Error(`the broker refused the subscription ${commandFilter}`);
      if (refused.length > 0)
        log.warn(
          { filters: refused },
          "the broker keeps subscriptions from us: nobody can lease or hold robots over MQTT by them",
        );
    },
    problem: replies.problem,
    figures: () => ({ ...counts, commandsInFlight: allInFlight, ...replies.figures() }),
  };
}

/** The outcome is wanted by the journal and the robot, whatever becomes of this connection. */
const neverAborted = new AbortController().signal;

const faultOutcome: Outcome = {
  ...refusal("INTERNAL_FAULT", "the gateway failed; whether the command was sent is not known", false),
  outcome: "unknown",
};

function commandsOn(options: MqttOptions, log: Log): boolean {
  if (!options.commands.enabled) return false;
  if (options.broker.kind === "embedded" || options.commands.brokerEnforcesClientNames) return true;
  log.warn(
    {},
    "MQTT commands stay off: the configuration does not say brokerEnforcesClientNames for the external broker",
  );
  return false;
}

function parseRequest(operation: Operation, message: CommandMessage, log: Log): ParsedRequest | Outcome {
  try {
    const parsed = operation.parse(message.request);
    return parsed.ok ? parsed.request : badRequest(parsed.problem);
  } catch (error) {
    // A parser answers with a problem and throws only by our mistake; nothing has left yet.
    log.error({ err: error, operation: operation.name }, "an operation could not read its request");
    return refusal("INTERNAL_FAULT", "the gateway failed to read the request; nothing was sent");
  }
}

/** When the command may no longer be sent: the earlier of the message's own expiry and MQTT 5's; null without either. */
function startBy(packet: IPublishPacket, message: CommandMessage, nowMs: number): number | null {
  const seconds = packet.properties?.messageExpiryInterval;
  const expiryMs = seconds === undefined ? null : nowMs + seconds * 1000;
  if (expiryMs === null || message.expiresAtMs === null) return expiryMs ?? message.expiresAtMs;
  return Math.min(expiryMs, message.expiresAtMs);
}

function count(counts: Map<string, number>, key: string, by: number): void {
  const value = (counts.get(key) ?? 0) + by;
  if (value === 0) counts.delete(key);
  else counts.set(key, value);
}

/** Knows the empty messages that come back when the gateway clears a retained command. */
function createClearing() {
  const expected = new Set<string>();
  return {
    expect: (topic: string) => expected.add(topic),
    echo: (topic: string) => expected.delete(topic),
    reset: () => expected.clear(),
  };
}

/** Logs refusals, at most ten a second: a client that sends rubbish must not fill the disk. */
function createLimitedLog(clock: Clock, log: Log) {
  let windowAtMs = Number.NEGATIVE_INFINITY;
  let logged = 0;
  let silent = 0;
  return (to: ReplyTo, { code, message: reason }: Outcome) => {
    const nowMs = clock.monotonicMs();
    if (nowMs - windowAtMs >= LOG_WINDOW_MS) {
      windowAtMs = nowMs;
      logged = 0;
    }
    if (logged === LOGS_A_WINDOW) {
      silent += 1;
      return;
    }
    logged += 1;
    const [client, operation] = [to.client, to.operation].map((name) => clip(name, LONGEST_NAME));
    const id = to.id === null ? null : clip(to.id, LONGEST_NAME);
    log.warn({ client, operation, id, code, reason, notLogged: silent }, "an MQTT command was refused");
    silent = 0;
  };
}
