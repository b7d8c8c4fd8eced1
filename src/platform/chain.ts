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
