/** Runs a task when those before it have ended, also with an error. */
export type Turns = <Result>(task: () => Promise<Result>) => Promise<Result>;

export function createTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const done = last.then(task);
    last = done.catch(() => {});
    return done;
  };
}

/** One place in a chain. */
export interface ChainLink<Value> {
  readonly value: Value;
  readonly next: ChainLink<Value> | null;
}

/**
 * Values in the order in which they came, any of which can be taken out at once, however many there are: an
 * array would have to move the others, and a Map walks over the holes that its first keys have left.
 */
export interface Chain<Value> {
  append(value: Value): ChainLink<Value>;
  /** Takes a link of this chain out, once. */
  remove(link: ChainLink<Value>): void;
  readonly first: ChainLink<Value> | null;
  readonly length: number;
}

interface OpenLink<Value> {
  /** Null when it was taken out. */
  value: Value | null;
  next: OpenLink<Value> | null;
  before: OpenLink<Value> | null;
}

export function createChain<Value>(): Chain<Value> {
  return new LinkedChain();
}

/** A class, for chains are made and thrown away with each event: closures would be five objects more. */
class LinkedChain<Value> implements Chain<Value> {
  #first: OpenLink<Value> | null = null;
  length = 0;
  #last: OpenLink<Value> | null = null;

  get first(): ChainLink<Value> | null {
    return this.#first as ChainLink<Value> | null;
  }

  append(value: Value): ChainLink<Value> {
    const link: OpenLink<Value> = { value, next: null, before: this.#last };
    if (this.#last === null) this.#first = link;
    else this.#last.next = link;
    this.#last = link;
    this.length += 1;
    return link as ChainLink<Value>;
  }

  remove(link: ChainLink<Value>): void {
    const open = link as OpenLink<Value>;
    const { next, before } = open;
    if (before === null) this.#first = next;
    else before.next = next;
    if (next === null) this.#last = before;
    else next.before = before;
    // An old link that points to something young would keep it in memory until the next full collection.
    open.value = null;
    open.next = null;
    open.before = null;
    this.length -= 1;
  }
}

/**
 * A queue for each key, with one bound for all items together. Above the bound, the oldest item of the
 * longest queue is evicted: a sender that floods evicts its own items. Each call takes the same short time,
 * with any number of items and keys.
 */
export interface FairQueues<Item> {
  /** Adds at the end of the key's queue. Returns the item that was evicted for it, or null. */
  push(key: string, item: Item): Evicted<Item> | null;
  /** Removes the oldest item of a key. */
  shift(key: string): void;
  /** Whether an item of the key waits. */
  has(key: string): boolean;
  /** Removes the oldest item of the next key in turn; null: nothing waits. */
  next(): Item | null;
  readonly length: number;
}

/** An evicted item, and the key of its queue. */
interface Evicted<Item> {
  readonly key: string;
  readonly item: Item;
}

/** A queue exists only while it has items. */
interface Queue<Item> {
  readonly key: string;
  readonly items: Chain<Item>;
  /** Its link among all queues, in the order of their turns. */
  turn: ChainLink<Queue<Item>> | null;
  /** Its link among the queues of the same length. */
  peer: ChainLink<Queue<Item>> | null;
}

/** Queues for at most `limit` items together. */
export function createFairQueues<Item>(limit: number): FairQueues<Item> {
  const queues = new Map<string, Queue<Item>>();
  const turns = createChain<Queue<Item>>();
  // By length. A queue grows and shrinks by one, so the longest is known without a search. It is no Map
  // (docs/internals/decisions.md, A Map whose keys come and go is not for what changes with each event).
  const byLength: (Chain<Queue<Item>> | undefined)[] = [];
  let longest = 0;
  let length = 0;

  function lineUp(queue: Queue<Item>): void {
    if (queue.turn !== null) turns.remove(queue.turn);
    queue.turn = turns.append(queue);
  }

  function open(key: string): Queue<Item> {
    const queue: Queue<Item> = { key, items: createChain(), turn: null, peer: null };
    queues.set(key, queue);
    lineUp(queue);
    return queue;
  }

  function close(queue: Queue<Item>): void {
    if (queue.turn !== null) turns.remove(queue.turn);
    queues.delete(queue.key);
  }

  function leavePeers(queue: Queue<Item>): void {
    const { length: count } = queue.items;
    const peers = byLength[count];
    if (peers === undefined || queue.peer === null) return;
    peers.remove(queue.peer);
    queue.peer = null;
    if (peers.length > 0) return;
    if (count < longest) {
      byLength[count] = undefined;
      return;
    }
    byLength.pop();
    longest -= 1;
  }

  function joinPeers(queue: Queue<Item>): void {
    let peers = byLength[queue.items.length];
    if (peers === undefined) {
      peers = createChain();
      byLength[queue.items.length] = peers;
    }
    queue.peer = peers.append(queue);
    longest = Math.max(longest, queue.items.length);
  }

  function takeOldest(queue: Queue<Item>): Item | null {
    const oldest = queue.items.first;
    if (oldest === null) return null;
    const { value } = oldest;
    leavePeers(queue);
    queue.items.remove(oldest);
    length -= 1;
    if (queue.items.length > 0) joinPeers(queue);
    else close(queue);
    return value;
  }

  return {
    push(key, item) {
      const queue = queues.get(key) ?? open(key);
      leavePeers(queue);
      queue.items.append(item);
      joinPeers(queue);
      length += 1;
      if (length <= limit) return null;
      const from = byLength[longest]?.first?.value;
      const gone = from === undefined ? null : takeOldest(from);
      return from === undefined || gone === null ? null : { key: from.key, item: gone };
    },
    shift(key) {
      const queue = queues.get(key);
      if (queue !== undefined) takeOldest(queue);
    },
    has: (key) => queues.has(key),
    next() {
      const queue = turns.first?.value;
      if (queue === undefined) return null;
      lineUp(queue);
      return takeOldest(queue);
    },
    get length() {
      return length;
    },
  };
}
