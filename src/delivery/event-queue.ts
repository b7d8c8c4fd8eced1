import type { FleetNotice } from "../domain/change.ts";
import { type Chain, type ChainLink, createChain } from "../platform/chain.ts";
import { createFairLanes, type FairLanes } from "../platform/fair-lanes.ts";

/**
 * Notices in order until somebody has acknowledged them, those of robots and those of commands each with a bound of
 * their own: whoever may only read can make commands' events without end. Beyond it the oldest of the robot, or of the
 * sender, that has most waiting is dropped, and counted.
 */
export interface EventQueue {
  /** The result names whose notice was dropped for it: the sender, or the robot; null when none was. */
  push(notice: FleetNotice): string | null;
  /**
   * At most `most` notices, which stay in the queue. As long as more wait, half of them are of robots, and these come first:
   * they do not wait for the events of a flood of commands.
   */
  peek(most: number): readonly QueuedEvent[];
  /** Removes what `peek` gave, as far as it was not dropped meanwhile. */
  release(held: readonly QueuedEvent[]): void;
  readonly length: number;
  readonly dropped: number;
}

/** A notice in the queue. */
export interface QueuedEvent {
  readonly notice: FleetNotice;
  readonly number: number;
}

interface Entry extends QueuedEvent {
  readonly half: Half;
  readonly key: string;
  /** Null once it has left the queue. */
  place: ChainLink<Entry> | null;
}

/** The notices of robots, or those of commands. */
interface Half {
  readonly inOrder: Chain<Entry>;
  readonly lanes: FairLanes<Entry>;
}

/** @param limit of the notices of robots, and of those of commands */
export function createEventQueue(limit: number): EventQueue {
  const robots = createHalf(limit);
  const commands = createHalf(limit);
  let pushed = 0;
  let dropped = 0;

  return {
    push(notice) {
      const half = notice.kind === "command" ? commands : robots;
      const entry: Entry = {
        notice: withoutAnswer(notice),
        number: pushed,
        half,
        key: causeOf(notice),
        place: null,
      };
      pushed += 1;
      entry.place = half.inOrder.append(entry);
      const gone = half.lanes.push(entry.key, entry);
      if (gone === null) return null;
      dropped += 1;
      leaveOrder(gone.item);
      return gone.key;
    },
    peek(most) {
      const ofRobots = Math.min(
        robots.lanes.length,
        Math.max(Math.ceil(most / 2), most - commands.lanes.length),
      );
      const taken = [...firstOf(robots, ofRobots), ...firstOf(commands, most - ofRobots)];
      const isAll = taken.length === robots.lanes.length + commands.lanes.length;
      return isAll ? taken.sort((one, other) => one.number - other.number) : taken;
    },
    release(held) {
      for (const entry of held as readonly Entry[]) {
        if (entry.place === null) continue;
        leaveOrder(entry);
        // What is released goes in the order of its half, so it is the oldest of its lane.
        entry.half.lanes.shift(entry.key);
      }
    },
    get length() {
      return robots.lanes.length + commands.lanes.length;
    },
    get dropped() {
      return dropped;
    },
  };
}

function createHalf(limit: number): Half {
  return { inOrder: createChain(), lanes: createFairLanes(limit) };
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

/** No event shows the service's answer, and tens of thousands of events with a list of all robots in each could wait. */
function withoutAnswer(notice: FleetNotice): FleetNotice {
  if (notice.kind !== "command" || notice.outcome.responseJson === null) return notice;
  return { ...notice, outcome: { ...notice.outcome, responseJson: null } };
}

/** The robot of an event, or the source of a command's event. Not its request id: each event would have a share of its own. */
function causeOf(notice: FleetNotice): string {
  if (notice.kind !== "command") return notice.robotId;
  const { door, name } = notice.command.source;
  return `${door}:${name}`;
}
