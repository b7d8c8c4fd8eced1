import {
  DataType,
  DataValue,
  LocalizedText,
  type StatusCode,
  StatusCodes,
  type UAVariable,
  Variant,
  VariantArrayType,
} from "node-opcua";
import type { TagFacts, TagReading, TagView } from "../../../contracts/tags.ts";
import type { TagModel } from "../model/member.ts";
import { qualityOfStatus } from "../status.ts";
import { asSeenBy, hasOwnValues } from "./own-values.ts";

/** The longest text for a PLC's STRING[254], in bytes. */
const LONGEST_TEXT_BYTES = 254;

/**
 * When a value was true, by the robot's clock if it has one, and when the gateway got it. One object for a
 * whole message.
 */
export interface TagTimes {
  readonly source: Date;
  readonly server: Date;
}

/** The times of a value that is the gateway's own: now. */
export function timesAt(nowMs: number): TagTimes {
  const now = dateAt(nowMs);
  return { source: now, server: now };
}

/** How many recent moments are cached. */
const MOMENTS = 64;
const moments: Date[] = [];

/**
 * The Date of a moment. Many tags change at the same moment, and each keeps its Date: those of a thousand
 * robots would be 33,000 of 96 bytes. Never change it.
 */
export function dateAt(ms: number): Date {
  const whole = Math.trunc(ms);
  const place = Math.abs(whole % MOMENTS);
  const known = moments[place];
  if (known?.getTime() === whole) return known;
  const made = new Date(whole);
  moments[place] = made;
  return made;
}

export type TagScalar = boolean | number | string | Date | LocalizedText;
export type TagList = readonly string[] | readonly number[] | readonly boolean[];

const nothing = new Variant(null);

/** The part of its model that people read; a tag that no type declares has none. */
type TagTexts = Partial<Pick<TagModel, "en" | "de" | "unit" | "enumeration" | "numbers">>;

/**
 * One variable that the gateway writes and clients read. Writing a value through node-opcua costs 1.3 µs,
 * checked and cloned each time; a robot's message changes ten. So a tag keeps the variable's own DataValue,
 * changes it in place only if something is different, and makes a copy only for listeners: 0.05 µs otherwise.
 */
export class Tag implements TagView {
  readonly variable: UAVariable;
  readonly #model: TagTexts;
  readonly #live: DataValue;
  readonly #variant: Variant;
  #status: StatusCode;
  /** For a list the very object that is shown: a copy for each would take 3 kB for a robot. */
  #last: TagScalar | TagList | Int32Array | null = null;

  constructor(variable: UAVariable, dataType: DataType, isList: boolean, model: TagTexts = {}) {
    this.variable = variable;
    this.#model = model;
    this.#live = liveValue(variable);
    this.#variant = this.#live.value;
    this.#status = StatusCodes.BadWaitingForInitialData;
    this.#live.value = nothing;
    this.#live.statusCode = this.#status;
    const madeAt = this.#live.sourceTimestamp;
    this.#live.sourceTimestamp = madeAt === null ? null : dateAt(madeAt.getTime());
    this.#live.serverTimestamp = this.#live.sourceTimestamp;
    this.#variant.dataType = dataType;
    this.#variant.arrayType = isList ? VariantArrayType.Array : VariantArrayType.Scalar;
  }

  /** The path of its NodeId. */
  get name(): string {
    return String(this.variable.nodeId.value);
  }

  /** The value that clients read now. */
  read(): TagReading {
    const { value, statusCode, sourceTimestamp, serverTimestamp } = this.#live;
    const type = DataType[this.#variant.dataType] ?? "";
    return {
      value: value === nothing ? null : jsonValue(value.value),
      type: this.#variant.arrayType === VariantArrayType.Array ? `${type}[]` : type,
      quality: qualityOfStatus(statusCode),
      status: statusCode.name,
      sourceTimeMs: sourceTimestamp?.getTime() ?? null,
      receivedAtMs: serverTimestamp?.getTime() ?? null,
    };
  }

  facts(): TagFacts {
    const { en, de, unit, enumeration, numbers = enumeration } = this.#model;
    const number = this.#last;
    return {
      description: en === undefined || de === undefined ? null : { en, de },
      unit: unit?.symbol ?? null,
      meaning: numbers?.values.find(({ value }) => value === number)?.text ?? null,
    };
  }

  /** Sets a value; does nothing if it is the present one, with its old times. */
  set(value: TagScalar, status: StatusCode, times: TagTimes): void {
    if (value === this.#last && status === this.#status) return;
    if (typeof value === "string" && isTooLong(value)) {
      this.fail(StatusCodes.BadOutOfRange, times);
      return;
    }
    this.#last = value;
    this.#variant.value = value;
    this.#show(this.#variant, status, times);
  }

  /** Sets a list. The caller may reuse `values`: it is copied if it differs. */
  setList(values: TagList, status: StatusCode, times: TagTimes): void {
    if (status === this.#status && isSameList(values, this.#last)) return;
    this.#last = isNumbers(values) ? Int32Array.from(values) : values.slice();
    this.#variant.value = this.#last;
    this.#show(this.#variant, status, times);
  }

  /** Shows the last value with another status; does nothing without a value, or if the status has none. */
  weaken(status: StatusCode, times: TagTimes): void {
    if (this.#last === null || status.isBad()) this.fail(status, times);
    else if (status !== this.#status) this.#show(this.#variant, status, times);
  }

  /** A user sees another value now (`own-values.ts`); the value for all others is unchanged. */
  renew(times: TagTimes): void {
    this.#show(this.#live.value, this.#status, times);
  }

  /** Shows that there is no value, and why. */
  fail(status: StatusCode, times: TagTimes): void {
    if (this.#last === null && status === this.#status) return;
    this.#last = null;
    this.#show(nothing, status, times);
  }

  #show(variant: Variant, status: StatusCode, times: TagTimes): void {
    const live = this.#live;
    live.value = variant;
    live.statusCode = status;
    live.sourceTimestamp = times.source;
    live.sourcePicoseconds = 0;
    live.serverTimestamp = times.server;
    live.serverPicoseconds = 0;
    this.#status = status;
    if (this.variable.listenerCount("value_changed") > 0) {
      this.variable.emit("value_changed", live.clone());
    }
  }
}

function jsonValue(value: unknown): unknown {
  if (value instanceof LocalizedText) return value.text;
  if (value instanceof Date) return value.toISOString();
  return ArrayBuffer.isView(value) ? Array.from(value as Int32Array) : value;
}

/**
 * The very DataValue from which `variable` answers reads, and which node-opcua 2.182 has made for it. It
 * gives out copies of good values, but any other value itself, and then removes from it the timestamps that
 * one reader did not ask for: so reads always get a copy.
 */
function liveValue(variable: UAVariable): DataValue {
  const live: unknown = Reflect.get(variable, "$dataValue");
  if (!(live instanceof DataValue)) throw new Error("node-opcua keeps the value of a variable elsewhere now");
  variable.readValue = readCopy;
  return live;
}

function readCopy(this: UAVariable, ...args: Parameters<UAVariable["readValue"]>): DataValue {
  const plain: Pick<UAVariable, "readValue"> = Object.getPrototypeOf(this);
  const [context, range, encoding] = args;
  if (context != null && hasOwnValues(this)) {
    return asSeenBy(this, plain.readValue.call(this, context, undefined, encoding).clone(), context, range);
  }
  const value = plain.readValue.apply(this, args);
  return value.statusCode.isGoodish() ? value : value.clone();
}

/**
 * A character has at most three bytes for each of its UTF-16 units: most texts are short enough without a
 * count.
 */
export function isTooLong(text: string): boolean {
  return text.length * 3 > LONGEST_TEXT_BYTES && Buffer.byteLength(text) > LONGEST_TEXT_BYTES;
}

/** An explanation is for people: its beginning is better than nothing, unlike that of an id. */
export function fittingText(text: string): string {
  if (!isTooLong(text)) return text;
  let shown = text.slice(0, LONGEST_TEXT_BYTES - 3);
  while (isTooLong(`${shown}...`)) shown = shown.slice(0, -1);
  return `${shown}...`;
}

function isSameList(a: TagList, b: TagScalar | TagList | Int32Array | null): boolean {
  if (!(Array.isArray(b) || b instanceof Int32Array) || a.length !== b.length) return false;
  for (let index = 0; index < a.length; index += 1) if (a[index] !== b[index]) return false;
  return true;
}

function isNumbers(list: TagList): list is readonly number[] {
  return typeof list[0] === "number";
}
