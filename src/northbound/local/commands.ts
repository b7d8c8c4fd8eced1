import type { Commander, CommandLedger, RefusedRequest } from "../../contracts/commander.ts";
import type { Holds } from "../../contracts/holds.ts";
import type { Catalogue } from "../../contracts/operation.ts";
import type { Stations } from "../../contracts/stations.ts";
import { quoted } from "../../domain/clip.ts";
import type { Command, Effect, Source } from "../../domain/command.ts";
import { ending, type Outcome, outcomeJson, refusal } from "../../domain/outcome.ts";
import { badRequest, idStands, tooManyAsk, unknownOperation } from "../../domain/refusals.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { type HoldLine, type OverrideLine, type RequestLine, readRequestLine } from "./request-line.ts";

export interface LocalCommandParts {
  readonly commander: Commander;
  readonly ledger: CommandLedger;
  readonly catalogue: Catalogue;
  readonly stations: Pick<Stations, "override" | "leaseOf">;
  readonly holds: Holds;
  /** How long after its receipt a command without an expiry may be sent, in milliseconds. */
  readonly startByMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** One client's side of the talk. */
export interface Conversation {
  /** A line from the client. What is to be answered goes to `say`, one line at a time. */
  take(line: Uint8Array): void;
  /** Something came that is no line. */
  reject(reason: string): void;
  /** Commands that wait for their outcome. */
  inFlight(): number;
}

/** Turns lines into commands, and what becomes of them into lines. */
export interface LocalCommands {
  /** @param onIdle called whenever no command of the client waits any more */
  converse(say: (line: string) => void, onIdle: () => void): Conversation;
  figures(): Readonly<Record<string, number>>;
}

/** A command but for its identity. */
type Understood = Omit<Command, "source" | "requestId">;

/** Commands under way, of all clients and of each. Stops have as much again. */
const IN_FLIGHT = 1_024;
const IN_FLIGHT_A_CLIENT = 256;

/** The outcome is wanted by the journal and the robot, whatever becomes of this client. */
const neverAborted = new AbortController().signal;

const fault: Outcome = {
  ...refusal("INTERNAL_FAULT", "the gateway failed; whether the command was sent is not known", false),
  outcome: "unknown",
};

function sourceOf(user: string): Source {
  return { door: "cli", name: user };
}

export function createLocalCommands(parts: LocalCommandParts): LocalCommands {
  const { catalogue, commander, clock, log } = parts;
  const counts = { commands: 0, refused: 0 };
  let inFlightOfAll = 0;

  function understand(line: RequestLine): Understood | Outcome {
    const operation = catalogue.get(line.operation);
    if (operation === undefined) return unknownOperation(line.operation);
    const parsed = operation.parse(line.request);
    if (!parsed.ok) return badRequest(parsed.problem);
    const { effect, robotId, json } = parsed.request;
    const command = { operation: operation.name, effect, robotId, requestJson: json };
    const { expiresAtMs, expiresInMs } = line;
    if (expiresAtMs === null)
      return { ...command, startByMs: clock.nowMs() + (expiresInMs ?? parts.startByMs) };
    const inMs = expiresInMs ?? Number.POSITIVE_INFINITY;
    return { ...command, startByMs: Math.min(expiresAtMs, clock.nowMs() + inMs), expiresAtMs };
  }

  /** Ends the robot's lease, of any station. */
  function override({ override: robotId, user }: OverrideLine): Outcome {
    const lease = parts.stations.leaseOf(robotId);
    const refused = parts.stations.override({ door: "cli", name: user }, robotId);
    const was =
      lease === null
        ? "no station leased it"
        : `station ${lease.station} leased it for ${lease.owner.door} ${quoted(lease.owner.name)}`;
    return refused ?? ending("succeeded", "OK", was, true);
  }

  /** Begins or lifts a hold, and tells what holds the robot then. */
  function hold({ hold: { robotId, ...asked }, user }: HoldLine): Outcome {
    const unknown = robotId === null ? null : parts.holds.refusedName(robotId);
    const refused = unknown ?? parts.holds.hold({ source: sourceOf(user), robotId, ...asked });
    if (refused !== null) return refused;
    const { isHeld: held, by } = parts.holds.holdState(robotId);
    const message = held ? `held by ${by.join(", ")}` : "held by nobody";
    return { ...ending("succeeded", "OK", message, true), responseJson: JSON.stringify({ held, by }) };
  }

  return {
    figures: () => ({ ...counts, commandsInFlight: inFlightOfAll }),
    converse(say, onIdle) {
      let inFlight = 0;

      function refuse(refused: RefusedRequest, outcome: Outcome): void {
        counts.refused += 1;
        parts.ledger.refused(refused, outcome);
        say(outcomeJson(refused.requestId, outcome));
      }

      /** A line that has no shape: who sent it may not be readable either. */
      function reject(requestId: string | null, reason: string): void {
        const source = sourceOf("local");
        refuse({ source, requestId, operation: "", robotId: null }, refusal("MALFORMED", reason));
      }

      function end(line: OverrideLine): void {
        const outcome = override(line);
        const { id, user, override: robotId } = line;
        if (outcome.outcome !== "refused") say(outcomeJson(id, outcome));
        else refuse({ source: sourceOf(user), requestId: id, operation: "override", robotId }, outcome);
      }

      function holdOrLift(line: HoldLine): void {
        const outcome = hold(line);
        const { id, user } = line;
        if (outcome.outcome !== "refused") say(outcomeJson(id, outcome));
        else {
          const { robotId } = line.hold;
          refuse({ source: sourceOf(user), requestId: id, operation: "hold", robotId }, outcome);
        }
      }

      /** Who asks for what is recorded has the stops' room. */
      function isFull(effect: Effect, known: boolean): boolean {
        const room = known || effect === "stops" ? 2 : 1;
        return inFlightOfAll >= room * IN_FLIGHT || inFlight >= room * IN_FLIGHT_A_CLIENT;
      }

      function order(line: RequestLine): void {
        const { id, user, operation } = line;
        const source = sourceOf(user);
        const known = parts.ledger.knows(source, id);
        const understood = understand(line);
        if ("outcome" in understood) {
          const outcome = known ? idStands(understood) : understood;
          refuse({ source, requestId: id, operation, robotId: null }, outcome);
        } else if (!isFull(understood.effect, known)) void submit(line, understood);
        else if (known) say(outcomeJson(id, tooManyAsk));
        else {
          const outcome = refusal("QUEUE_FULL", "too many commands wait for their outcome");
          refuse({ source, requestId: id, operation, robotId: understood.robotId }, outcome);
        }
      }

      async function submit({ id, user }: RequestLine, command: Understood): Promise<void> {
        counts.commands += 1;
        inFlight += 1;
        inFlightOfAll += 1;
        try {
          const source = sourceOf(user);
          const outcome = await commander.submit(
            { ...command, source, requestId: id },
            neverAborted,
            (stage) => say(JSON.stringify({ id, stage })),
          );
          say(outcomeJson(id, outcome));
        } catch (error) {
          log.error({ err: error, operation: command.operation }, "a command failed inside the gateway");
          say(outcomeJson(id, fault));
        } finally {
          inFlight -= 1;
          inFlightOfAll -= 1;
          if (inFlight === 0) onIdle();
        }
      }

      return {
        inFlight: () => inFlight,
        reject: (reason) => reject(null, reason),
        take(bytes) {
          const read = readRequestLine(bytes);
          if (!read.ok) reject(read.id, read.reason);
          else if ("override" in read.line) end(read.line);
          else if ("hold" in read.line) holdOrLift(read.line);
          else order(read.line);
        },
      };
    },
  };
}
