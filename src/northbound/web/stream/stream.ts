import type { CommandLog, LoggedCommand } from "../../../contracts/command-log.ts";
import type { Peer } from "../../../contracts/peers.ts";
import { namedEventJson } from "../../../models/event.ts";
import { timeText } from "../../../models/json-text.ts";
import { type Clock, every } from "../../../platform/clock.ts";
import type { Tick } from "../api/stream.ts";
import type { Floor } from "../floor/floor.ts";
import type { RobotWriter } from "../floor/robot-json.ts";
import type { Bodies } from "./bodies.ts";
import { createEventRing, createReaders, messageText, type NewReader } from "./readers.ts";
import { createTicks, type Ticks } from "./ticks.ts";

/** The live state and events of `GET /api/v1/stream`, for all its readers. */
export interface Stream {
  /** Writes to a response from now on. False: the bound of readers is reached. */
  add(reader: NewReader): boolean;
  readonly ticks: Pick<Ticks, "check" | "fresh">;
  /** The readers over a listener. */
  peers(part: string): readonly Peer[];
  /** Begins to follow the fleet. The returned function ends it. */
  open(): () => void;
  /** Ends all readers, with the reason that the listener stops. */
  endReaders(): void;
}

/** Changes of a robot are merged for this long. */
const FLUSH_MS = 250;
/** One tick in so many rounds: one each second. */
const ROUNDS_OF_TICK = 4;
/** Events that a reader may miss while it connects again. */
const MOST_EVENTS = 1_000;
/** Commands that reach a stage between two flushes. */
const MOST_COMMANDS = 500;

export function createStream({
  floor,
  bodies,
  robotWriter,
  sessionId,
  tickFacts,
  areValuesKept,
  commandLog,
  clock,
}: {
  readonly floor: Floor;
  readonly bodies: Bodies;
  readonly robotWriter: Pick<RobotWriter, "whole">;
  readonly sessionId: string;
  readonly tickFacts: () => Omit<Tick, "at" | "id">;
  /** False: the component that keeps values and their quality up to date is stalled. */
  readonly areValuesKept: () => boolean;
  readonly commandLog: Pick<CommandLog, "follow">;
  readonly clock: Clock;
}): Stream {
  const ring = createEventRing(sessionId, MOST_EVENTS);
  const ticks = createTicks(sessionId, clock);
  const commands = new Map<number, LoggedCommand>();
  const readers = createReaders({
    ring,
    robotIds: () => floor.robots().keys(),
    robots(ids) {
      const known = floor.robots();
      return ids.flatMap((id) => {
        const facts = known.get(id);
        return facts === undefined ? [] : [robotWriter.whole(facts)];
      });
    },
    at: () => timeText(clock.nowMs()),
    tickAgain() {
      const id = ticks.last();
      return id === null || !areValuesKept() ? "" : tickText(id);
    },
  });

  function tickText(id: string): string {
    const body: Tick = { at: timeText(clock.nowMs()), id, ...tickFacts() };
    return messageText("tick", body);
  }

  function flush(): void {
    readers.closeSlow();
    const news = floor.takeNews();
    for (const event of news.events) ring.push(namedEventJson(event, sessionId));
    const reached = [...commands.values()];
    commands.clear();
    if (readers.count === 0) return;
    const body = bodies.change(news, reached);
    readers.changed(news.robots.keys());
    readers.sendAll(body === null ? null : messageText("change", body));
  }

  function tick(): void {
    floor.tick();
    flush();
    // A tick means that the shown values are true now.
    if (areValuesKept()) readers.sendAll(tickText(ticks.next()));
  }

  function follow(command: LoggedCommand): void {
    commands.delete(command.number);
    commands.set(command.number, command);
    const [oldest] = commands.keys();
    if (commands.size > MOST_COMMANDS && oldest !== undefined) commands.delete(oldest);
  }

  return {
    ticks,
    peers: readers.peers,
    add: (reader) => readers.add(reader, () => messageText("snapshot", bodies.snapshot())),
    open() {
      const over = new AbortController();
      const leave = commandLog.follow(follow);
      let rounds = 0;
      every(clock, FLUSH_MS, over.signal, () => {
        rounds += 1;
        // One round at a time: a second one in the same turn would find the first one unread.
        if (rounds % ROUNDS_OF_TICK === 0) tick();
        else if (readers.count > 0) flush();
      });
      return () => {
        over.abort();
        leave();
      };
    },
    endReaders: () => readers.endAll("stopping", "the gateway stops"),
  };
}
