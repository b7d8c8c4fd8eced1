import type { FleetEvent } from "../domain/event.ts";
import {
  type Chain,
  type ChainLink,
  createChain,
  createFairQueues,
  type FairQueues,
} from "../platform/queues.ts";

/**
 * Events in order until they are acknowledged. Those of robots and those of commands have a bound each,
 * because a client that may only read can cause events of commands without end. Beyond the bound, the oldest
 * event of the robot or source with the most is dropped, and counted.
 */
export interface EventQueue {
  /** Returns the robot or source that lost an event for it; null: none did. */
  push(event: FleetEvent): string | null;
  /**
   * At most `most` events, which stay in the queue. While more wait, half of them are of robots and come
   * first, so that they do not wait behind a flood of commands.
   */
  peek(most: number): readonly QueuedEvent[];
  /** Removes the events that `peek` returned, unless they were dropped meanwhile. */
  release(held: readonly QueuedEvent[]): void;
  readonly length: number;
  readonly dropped: number;
  /** Whether `peek` would return something now. */
  hasReady(): boolean;
  /** The events that `peek` returned last, and that were not released, have not arrived: they wait again. */
  recall(): void;
  /**
   * Opens or closes the handing over of events. `show` gets each event that waits because nobody has
   * subscribed to it; absent: there are subscribers.
   */
  setOpen(isOpen: boolean, show?: ShowEvent): void;
  /** The northbound has all state: earlier events may follow. */
  stateIsPublished(): void;
  figures(): Readonly<Record<string, number>>;
}

/** Publishes an event to subscribers that acknowledge nothing. */
export type ShowEvent = (event: FleetEvent) => void;

/** An event in the queue. */
export interface QueuedEvent {
  readonly event: FleetEvent;
}

interface Entry extends QueuedEvent {
  readonly number: number;
  readonly half: Half;
  readonly key: string;
  /** Null once it has left the queue. */
  place: ChainLink<Entry> | null;
}

/** The events of robots, or those of commands. */
interface Half {
  readonly inOrder: Chain<Entry>;
  readonly queues: FairQueues<Entry>;
}

/** @param limit of the events of robots, and of those of commands */
export function createEventQueue(limit: number): EventQueue {
  const robots = createHalf(limit);
  const commands = createHalf(limit);
  let pushed = 0;
  let dropped = 0;

  return {
    push(event) {
      const half = event.kind === "command" ? commands : robots;
      const entry: Entry = {
        event: withoutAnswer(event),
        number: pushed,
        half,
        key: causeOf(event),
        place: null,
      };
      pushed += 1;
      entry.place = half.inOrder.append(entry);
      const evicted = half.queues.push(entry.key, entry);
      if (evicted === null) return null;
      dropped += 1;
      leaveOrder(evicted.item);
      return evicted.key;
    },
    peek(most) {
      const ofRobots = Math.min(
        robots.queues.length,
        Math.max(Math.ceil(most / 2), most - commands.queues.length),
      );
      const first = firstOf(robots, ofRobots);
      const second = firstOf(commands, most - ofRobots);
      const isAll = first.length + second.length === robots.queues.length + commands.queues.length;
      return isAll ? inOrder(first, second) : [...first, ...second];
    },
    release(held) {
      for (const entry of held as readonly Entry[]) {
        if (entry.place === null) continue;
        leaveOrder(entry);
        // Events are released in the order of their half, so this one is the oldest of its key.
        entry.half.queues.shift(entry.key);
      }
    },
    get length() {
      return robots.queues.length + commands.queues.length;
    },
    get dropped() {
      return dropped;
    },
    hasReady: () => robots.queues.length + commands.queues.length > 0,
    // The events in memory are of this run, and end with the state.
    setOpen() {},
    recall() {},
    stateIsPublished() {},
    figures: () => ({}),
  };
}

function createHalf(limit: number): Half {
  return { inOrder: createChain(), queues: createFairQueues(limit) };
}

function leaveOrder(entry: Entry): void {
  if (entry.place !== null) entry.half.inOrder.remove(entry.place);
  entry.place = null;
}

function firstOf(half: Half, count: number): Entry[] {
  const taken: Entry[] = [];
  for (let link = half.inOrder.first; link !== null && taken.length < count; link = link.next)
    taken.push(link.value);
  return taken;
}

/** Both are in order already. */
function inOrder(ones: readonly Entry[], others: readonly Entry[]): readonly Entry[] {
  if (ones.length === 0 || others.length === 0) return ones.length === 0 ? others : ones;
  const all: Entry[] = [];
  let index = 0;
  for (const one of ones) {
    for (let other = others[index]; other !== undefined && other.number < one.number; other = others[index]) {
      all.push(other);
      index += 1;
    }
    all.push(one);
  }
  return [...all, ...others.slice(index)];
}

/**
 * An event without the answer of the service, which no event shows: it may be a list of all robots, and tens
 * of thousands may wait.
 */
export function withoutAnswer(event: FleetEvent): FleetEvent {
  if (event.kind !== "command" || event.outcome.responseJson === null) return event;
  return { ...event, outcome: { ...event.outcome, responseJson: null } };
}

/**
 * The robot of an event, or the source of a command's event. Its request id does not count: each event would
 * have a share of its own.
 */
export function causeOf(event: FleetEvent): string {
  if (event.kind !== "command") return event.robotId;
  const { protocol, name } = event.command.source;
  return `${protocol}:${name}`;
}
