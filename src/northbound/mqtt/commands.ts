import type { IPublishPacket, MqttClient } from "mqtt";
import type { Commander, CommandLedger } from "../../contracts/commander.ts";
import type { Holds } from "../../contracts/holds.ts";
import type { Catalogue, Operation, ParsedRequest } from "../../contracts/operation.ts";
import type { Stations } from "../../contracts/stations.ts";
import type { Command } from "../../domain/command.ts";
import { type Outcome, refusal } from "../../domain/outcome.ts";
import { askedTooOften, badRequest, idStands, tooManyAsk, unknownOperation } from "../../domain/refusals.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { createClearing } from "./clearing.ts";
import { createFrameSorter, type Sorted } from "./client/frame-sorter.ts";
import { createPublishReader } from "./client/publish-reader.ts";
import { createClientRates } from "./client-rates.ts";
import { type CommandMessage, readCommandMessage } from "./command-message.ts";
import { takeHoldMessage } from "./hold-message.ts";
import { createInbox } from "./inbox.ts";
import type { MqttOptions } from "./options.ts";
import { createRefusalLog } from "./refusal-log.ts";
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
  /** Takes clients' messages out of the bytes of one connection. */
  sorter(): (bytes: Buffer) => Sorted;
  /** Listens on a new connection, where commands are on. Rejects when the broker refuses the subscription. */
  serve(client: MqttClient): Promise<void>;
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

export function createCommandDesk(parts: CommandParts): CommandDesk {
  const { options, topics, clock, log } = parts;
  const counts = { commands: 0, stationMessages: 0, holdMessages: 0, refusedMessages: 0, rateLimited: 0 };
  const inFlight = new Map<string, number>();
  let allInFlight = 0;
  const replies = createReplies(clock, log, parts.replyBounds);
  const rates = createClientRates(options.commands.clientRate, clock);
  const logRefused = createRefusalLog(clock, log);

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
    expiry: Pick<Command, "startByMs" | "expiresAtMs">,
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
          ...expiry,
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

  /** Whether the message goes over its client's rate; then it is answered here. Log and audit have one line a second of it. */
  const overRate = (to: ReplyTo, known: boolean, robotId: string | null) => {
    const verdict = rates.take(to.client);
    if (verdict.kind === "within") return false;
    counts.rateLimited += 1;
    const outcome = known ? askedTooOften : tooManyOf(options, verdict.refusedBefore);
    if (verdict.isTold && !known) refuse(to, outcome, to.operation, robotId);
    else replies.send(to, outcome);
    return true;
  };

  /** Who asks for what is recorded has the stops' room. */
  const full = (client: string, request: ParsedRequest, known: boolean) => {
    const room = known || request.effect === "stops" ? 2 : 1;
    return allInFlight >= room * IN_FLIGHT || (inFlight.get(client) ?? 0) >= room * IN_FLIGHT_A_CLIENT;
  };

  const take = (topic: CommandTopic, packet: IPublishPacket, waitedMs: number) => {
    const read = readCommandMessage(bytesOf(packet));
    const to = replyTo(topics, topic, packet, read.ok ? read.message.id : read.id);
    const answer = answerProblem(topics, topic.client, packet);
    const known = isKnown(to);
    const refused = (outcome: Outcome) => refuse(to, known ? idStands(outcome) : outcome);
    const operation = parts.catalogue.get(topic.operation);
    const parsed = read.ok && operation !== undefined ? parseRequest(operation, read.message, log) : null;
    const request = parsed === null || "outcome" in parsed ? null : parsed;
    if (request?.effect !== "stops" && overRate(to, known, request?.robotId ?? null)) return;
    // What is known is not sent again: then how it was sent this time is no matter.
    if (packet.retain && !known) return refused(refusal("RETAINED", "commands must not be retained"));
    if (!read.ok) return refused(refusal("MALFORMED", read.reason));
    if (answer !== null && !known) return refused(refusal("MALFORMED", answer));
    if (operation === undefined || parsed === null) return refused(unknownOperation(topic.operation));
    if ("outcome" in parsed) return refused(parsed);
    const receivedMs = clock.nowMs() - waitedMs;
    const startByMs = startBy(packet, read.message, receivedMs);
    if (startByMs === null && parsed.effect === "moves" && options.commands.requireExpiry && !known) {
      const message = `${operation.name} moves a robot: give expires_in_ms, expires_at, or MQTT 5 message expiry`;
      return refuse(to, refusal("NO_EXPIRY", message), to.operation, parsed.robotId);
    }
    if (full(to.client, parsed, known)) {
      const message = "too many commands wait for their outcome";
      if (known) return replies.send(to, tooManyAsk);
      return refuse(to, refusal("QUEUE_FULL", message), to.operation, parsed.robotId);
    }
    const { expiresAtMs } = read.message;
    void submit(to, read.message, operation.name, parsed, {
      startByMs: startByMs ?? receivedMs + options.commands.startByMs,
      ...(expiresAtMs === null ? {} : { expiresAtMs }),
    });
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

  const readPublish = createPublishReader(options.protocolVersion);
  const cleared = createClearing();
  let publisher: MqttClient | null = null;

  const hear = (name: string, frame: Buffer, waitedMs: number) => {
    const packet = readPublish(frame);
    const command = topics.readCommand(name);
    const station = command === null ? topics.readStation(name) : null;
    const hold = topics.readHold(name);
    if (packet === null) return;
    const empty = packet.payload.length === 0;
    if (empty && cleared.echo(name)) return;
    if (packet.retain && !empty) {
      cleared.expect(name);
      publisher?.publish(name, "", { qos: 1, retain: true });
    }
    if (command !== null) take(command, packet, waitedMs);
    if (station !== null) takeForStation(station, packet);
    if (hold !== null) takeHold(hold, packet);
  };
  const inbox = createInbox(clock, (topic) => topics.ownerOf(topic) ?? "", hear);

  return {
    sorter: () =>
      createFrameSorter(
        (topic) =>
          topics.readCommand(topic) !== null ||
          topics.readStation(topic) !== null ||
          topics.readHold(topic) !== null,
        inbox.put,
      ),
    async serve(client) {
      if (!commandsOn(options, log)) return;
      replies.use(client);
      publisher = client;
      cleared.reset();
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
    figures: () => ({
      ...counts,
      commandsInFlight: allInFlight,
      messagesWaiting: inbox.length,
      ...replies.figures(),
    }),
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

function tooManyOf({ commands }: MqttOptions, refusedBefore: number): Outcome {
  const before = refusedBefore === 0 ? "" : `; ${refusedBefore} were refused since this was told last`;
  const { perSecond, burst } = commands.clientRate;
  return refusal(
    "RATE_LIMITED",
    `this client sends more than ${perSecond} a second, ${burst} at once${before}`,
  );
}

/** When the command may no longer be sent: the earliest of the message's own expiries and MQTT 5's; null without any. */
function startBy(packet: IPublishPacket, message: CommandMessage, receivedMs: number): number | null {
  const seconds = packet.properties?.messageExpiryInterval;
  const limits = [
    ...(seconds === undefined ? [] : [receivedMs + seconds * 1000]),
    ...(message.expiresInMs === null ? [] : [receivedMs + message.expiresInMs]),
    ...(message.expiresAtMs === null ? [] : [message.expiresAtMs]),
  ];
  return limits.length === 0 ? null : Math.min(...limits);
}

function count(counts: Map<string, number>, key: string, by: number): void {
  const value = (counts.get(key) ?? 0) + by;
  if (value === 0) counts.delete(key);
  else counts.set(key, value);
}
