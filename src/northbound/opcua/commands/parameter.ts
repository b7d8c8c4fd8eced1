import { type NumericRange, type StatusCode, StatusCodes, type Variant } from "node-opcua";
import type { Folder, NodeBuilder } from "../node-builder.ts";
import type { Tag, TagList, TagTimes } from "../node-opcua/tag.ts";
import type { Writer } from "../security.ts";
import type { ParameterKind } from "./parameter-kind.ts";

/**
 * A variable of a slot that clients write. Each session has a value of its own, and no other session's
 * counts. The node shows the last value of any session.
 */
export interface Parameter {
  readonly path: string;
  /**
   * Writes `variant`, and returns Good, or why it cannot be written. `range` is set if only some elements are
   * written.
   */
  write(variant: Variant, range: NumericRange | null, writer: Writer): StatusCode;
  /** Drops the session's value. */
  forget(sessionId: string): void;
  /** It is not a part of a command. */
  readonly isFree?: boolean;
}

/** The place of a slot's parameters. */
export interface ParameterPlace {
  readonly builder: NodeBuilder;
  readonly folder: Folder;
}

/** A parameter with the last value of each session; undefined: none. */
export interface ValueParameter<T> extends Parameter {
  value(sessionId: string): T | undefined;
  /** The value of the node: the last one that any session has written. */
  shown(): T;
}

/** Adds a parameter of this kind. */
export function addParameter<T extends number | string | TagList>(
  { builder, folder }: ParameterPlace,
  name: string,
  kind: ParameterKind<T>,
): ValueParameter<T> {
  const { type, length } = kind;
  const tag = builder.parameter(folder, name, type, length ?? undefined);
  return new SlotParameter(tag, kind, builder.timesNow);
}

/** A class: a thousand robots have eight thousand parameters, and methods of their own would be 4 MB. */
class SlotParameter<T extends number | string | TagList> implements ValueParameter<T> {
  readonly #tag: Tag;
  readonly #kind: ParameterKind<T>;
  readonly #timesNow: () => TagTimes;
  /** Null while nobody has written it, as most parameters. */
  #values: Map<string, T> | null = null;
  #last: T;

  constructor(tag: Tag, kind: ParameterKind<T>, timesNow: () => TagTimes) {
    this.#tag = tag;
    this.#kind = kind;
    this.#timesNow = timesNow;
    this.#last = kind.first;
    this.#show(kind.first);
  }

  get path(): string {
    return this.#tag.name;
  }

  value(sessionId: string): T | undefined {
    return this.#values?.get(sessionId);
  }

  shown(): T {
    return this.#last;
  }

  forget(sessionId: string): void {
    this.#values?.delete(sessionId);
  }

  write(variant: Variant, range: NumericRange | null, { sessionId }: Writer): StatusCode {
    const read = this.#kind.read(variant, range, this.value(sessionId) ?? this.#kind.first);
    if (!("parsed" in read)) return read;
    this.#values ??= new Map();
    this.#values.set(sessionId, read.parsed);
    this.#last = read.parsed;
    this.#show(read.parsed);
    return StatusCodes.Good;
  }

  #show(value: T): void {
    const times = this.#timesNow();
    if (typeof value === "object") this.#tag.setList(value, StatusCodes.Good, times);
    else this.#tag.set(value, StatusCodes.Good, times);
  }
}
