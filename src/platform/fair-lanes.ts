import { type Chain, type ChainLink, createChain } from "./chain.ts";

/**
 * What waits, in a lane for each key and with one bound for all of them. What is too much goes from the
 * longest lane: who sends without end pushes out its own, and nobody's that has less waiting. Every call
 * takes the same short time, however much waits and however many keys there are.
 */
export interface FairLanes<Item> {
  /**
   * Adds at the end of the key's lane. The result had to go for it: the oldest of the longest lane, or null.
   */
  push(key: string, item: Item): Gone<Item> | null;
  /** Takes the oldest of a key. */
  shift(key: string): void;
  /** Whether something of the key waits. */
  has(key: string): boolean;
  /** Takes the oldest of the key whose turn it is; null when nothing waits. */
  next(): Item | null;
  readonly length: number;
}

/** What was pushed out, and from whose lane. */
export interface Gone<Item> {
  readonly key: string;
  readonly item: Item;
}

/** There only while something waits in it. */
interface Lane<Item> {
  readonly key: string;
  readonly items: Chain<Item>;
  /** Its place among all lanes, in the order of their turns. */
  turn: ChainLink<Lane<Item>> | null;
  /** Its place among the lanes of its length. */
  peer: ChainLink<Lane<Item>> | null;
}

/** Lanes for at most `limit` items together. */
export function createFairLanes<Item>(limit: number): FairLanes<Item> {
  const lanes = new Map<string, Lane<Item>>();
  const turns = createChain<Lane<Item>>();
  // A lane grows and shrinks by one, so that the longest is known without a search.
  const byLength = new Map<number, Chain<Lane<Item>>>();
  /** An empty one: a lane that grows alone would leave one behind, and need one, with each item. */
  let spare: Chain<Lane<Item>> | null = null;
  let longest = 0;
  let length = 0;

  function lineUp(lane: Lane<Item>): void {
    if (lane.turn !== null) turns.remove(lane.turn);
    lane.turn = turns.append(lane);
  }

  function open(key: string): Lane<Item> {
    const lane: Lane<Item> = { key, items: createChain(), turn: null, peer: null };
    lanes.set(key, lane);
    lineUp(lane);
    return lane;
  }

  function close(lane: Lane<Item>): void {
    if (lane.turn !== null) turns.remove(lane.turn);
    lanes.delete(lane.key);
  }

  function leavePeers(lane: Lane<Item>): void {
    const peers = byLength.get(lane.items.length);
    if (peers === undefined || lane.peer === null) return;
    peers.remove(lane.peer);
    lane.peer = null;
    if (peers.length > 0) return;
    byLength.delete(lane.items.length);
    spare = peers;
    if (lane.items.length === longest) longest -= 1;
  }

  function joinPeers(lane: Lane<Item>): void {
    let peers = byLength.get(lane.items.length);
    if (peers === undefined) {
      peers = spare ?? createChain();
      spare = null;
      byLength.set(lane.items.length, peers);
    }
    lane.peer = peers.append(lane);
    longest = Math.max(longest, lane.items.length);
  }

  function takeOldest(lane: Lane<Item>): Item | null {
    const oldest = lane.items.first;
    if (oldest === null) return null;
    leavePeers(lane);
    lane.items.remove(oldest);
    length -= 1;
    if (lane.items.length > 0) joinPeers(lane);
    else close(lane);
    return oldest.value;
  }

  return {
    push(key, item) {
      const lane = lanes.get(key) ?? open(key);
      leavePeers(lane);
      lane.items.append(item);
      joinPeers(lane);
      length += 1;
      if (length <= limit) return null;
      const from = byLength.get(longest)?.first?.value;
      const gone = from === undefined ? null : takeOldest(from);
      return from === undefined || gone === null ? null : { key: from.key, item: gone };
    },
    shift(key) {
      const lane = lanes.get(key);
      if (lane !== undefined) takeOldest(lane);
    },
    has: (key) => lanes.has(key),
    next() {
      const lane = turns.first?.value;
      if (lane === undefined) return null;
      lineUp(lane);
      return takeOldest(lane);
    },
    get length() {
      return length;
    },
  };
}
