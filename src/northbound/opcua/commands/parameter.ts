import {
  DataType,
  type NumericRange,
  type StatusCode,
  StatusCodes,
  type Variant,
  VariantArrayType,
} from "node-opcua";
import type { Folder, NodeBuilder } from "../node-builder.ts";
import { isTooLong, type Tag, type TagList } from "../node-opcua/tag.ts";
import type { Writer } from "./writer.ts";

/**
 * A variable of a slot that clients write. Each session has a value of its own, and no other session's
 * counts. The node shows the last one that was written by anybody.
 */
export interface Parameter {
  readonly path: string;
  /**
   * Why `variant` cannot be written, or Good and it is. `range` is set when only some elements are written.
   */
  write(variant: Variant, range: NumericRange | null, writer: Writer): StatusCode;
  /** Shows the session's value under `Latched`, where the slot has that folder. */
  echo(sessionId: string): void;
  /** The session has no value here any more. */
  forget(sessionId: string): void;
  /** It is no part of a command. */
  readonly isFree?: boolean;
}

/** Where a slot's parameters stand, and where they are echoed; null: they never are. */
export interface ParameterPlace {
  readonly builder: NodeBuilder;
  readonly folder: Folder;
  readonly latched: Folder | null;
}

/** A parameter with what a session has written last; undefined: nothing. */
export interface ValueParameter<T> extends Parameter {
  readonly value: (sessionId: string) => T | undefined;
  /** What the node shows: the last value that any session has written. */
  readonly shown: () => T;
}
export type NumberParameter = ValueParameter<number>;
export type TextParameter = ValueParameter<string>;
export type TextListParameter = ValueParameter<readonly string[]>;

/** What makes one kind of parameter out of what a client writes. */
interface ValueKind<T> {
  /** What the node shows before anybody has written. */
  readonly first: T;
  /** The new value, or why there is none. */
  read(variant: Variant, range: NumericRange | null, before: T): { readonly parsed: T } | StatusCode;
  show(tag: Tag, value: T): void;
}

/** The place of a slot's parameters in `folder`. */
export function parameterPlace(builder: NodeBuilder, folder: Folder, offersConfirm: boolean): ParameterPlace {
  return { builder, folder, latched: offersConfirm ? builder.folder(folder, "Latched") : null };
}

/** An Int32 that `isAllowed` says yes to. */
export function addNumberParameter(
  at: ParameterPlace,
  name: string,
  isAllowed: (value: number) => boolean,
): NumberParameter {
  const tag = at.builder.parameter(at.folder, name, "Int32");
  const latched = at.latched === null ? null : at.builder.tag(at.latched, name, "Int32");
  return createParameter<number>(`${at.folder.path}.${name}`, tag, latched, {
    first: 0,
    read(variant, range) {
      const status = scalarStatus(variant, DataType.Int32, range);
      if (status !== StatusCodes.Good) return status;
      return isAllowed(variant.value) ? { parsed: variant.value } : StatusCodes.BadOutOfRange;
    },
    show,
  });
}

/** A String of at most 254 bytes. */
export function addTextParameter(at: ParameterPlace, name: string): TextParameter {
  const tag = at.builder.parameter(at.folder, name, "String");
  const latched = at.latched === null ? null : at.builder.tag(at.latched, name, "String");
  return createParameter<string>(`${at.folder.path}.${name}`, tag, latched, {
    first: "",
    read(variant, range) {
      const status = scalarStatus(variant, DataType.String, range);
      if (status !== StatusCodes.Good) return status;
      const text: string = variant.value ?? "";
      return isText(text) ? { parsed: text } : StatusCodes.BadOutOfRange;
    },
    show,
  });
}

/** A fixed array of strings. A shorter one that is written leaves the rest empty; a longer one is refused. */
export function addTextListParameter(at: ParameterPlace, name: string, length: number): TextListParameter {
  const tag = at.builder.parameter(at.folder, name, "String", length);
  const latched = at.latched === null ? null : at.builder.list(at.latched, name, "String", length);
  return createParameter<readonly string[]>(`${at.folder.path}.${name}`, tag, latched, {
    first: new Array<string>(length).fill(""),
    read(variant, range, before) {
      if (variant.dataType !== DataType.String) return StatusCodes.BadTypeMismatch;
      if (variant.arrayType !== VariantArrayType.Array) return StatusCodes.BadTypeMismatch;
      const written: string[] = [...(variant.value ?? [])].map((text: string | null) => text ?? "");
      if (!written.every(isText)) return StatusCodes.BadOutOfRange;
      if (range === null && written.length > length) return StatusCodes.BadOutOfRange;
      const next = range === null ? padded(written, length) : replaced(before, written, range);
      return next === null ? StatusCodes.BadIndexRangeNoData : { parsed: next };
    },
    show: showList,
  });
}

/** A fixed array of Int32. One of another length is refused: a number that is missing has no default. */
export function addNumberListParameter(
  at: ParameterPlace,
  name: string,
  length: number,
): ValueParameter<readonly number[]> {
  const tag = at.builder.parameter(at.folder, name, "Int32", length);
  const latched = at.latched === null ? null : at.builder.list(at.latched, name, "Int32", length);
  return createParameter<readonly number[]>(`${at.folder.path}.${name}`, tag, latched, {
    first: new Array<number>(length).fill(0),
    read(variant, range, before) {
      if (variant.dataType !== DataType.Int32) return StatusCodes.BadTypeMismatch;
      if (variant.arrayType !== VariantArrayType.Array) return StatusCodes.BadTypeMismatch;
      const written = Array.from<number>(variant.value ?? []);
      if (range === null) return written.length === length ? { parsed: written } : StatusCodes.BadOutOfRange;
      const { statusCode, array } = range.set_values(Int32Array.from(before), Int32Array.from(written));
      if (statusCode !== StatusCodes.Good || array?.length !== length) {
        return StatusCodes.BadIndexRangeNoData;
      }
      return { parsed: Array.from(array, Number) };
    },
    show: showList,
  });
}

function createParameter<T>(
  path: string,
  tag: Tag,
  latched: Tag | null,
  kind: ValueKind<T>,
): ValueParameter<T> {
  const values = new Map<string, T>();
  let last = kind.first;
  kind.show(tag, kind.first);
  return {
    path,
    value: (sessionId) => values.get(sessionId),
    shown: () => last,
    echo(sessionId) {
      if (latched !== null) kind.show(latched, values.get(sessionId) ?? kind.first);
    },
    forget: (sessionId) => values.delete(sessionId),
    write(variant, range, { sessionId }) {
      const read = kind.read(variant, range, values.get(sessionId) ?? kind.first);
      if (!("parsed" in read)) return read;
      values.set(sessionId, read.parsed);
      last = read.parsed;
      kind.show(tag, read.parsed);
      return StatusCodes.Good;
    },
  };
}

function padded(written: readonly string[], length: number): readonly string[] {
  return [...written, ...new Array<string>(length - written.length).fill("")];
}

function replaced(
  value: readonly string[],
  written: string[],
  range: NumericRange,
): readonly string[] | null {
  const { statusCode, array } = range.set_values([...value], written);
  if (statusCode !== StatusCodes.Good || array === null || array.length !== value.length) return null;
  return Array.from(array, String);
}

function isText(text: string): boolean {
  return !isTooLong(text) && !text.includes("\0");
}

function scalarStatus(variant: Variant, dataType: DataType, range: NumericRange | null): StatusCode {
  if (range !== null) return StatusCodes.BadIndexRangeNoData;
  const fits = variant.dataType === dataType && variant.arrayType === VariantArrayType.Scalar;
  return fits ? StatusCodes.Good : StatusCodes.BadTypeMismatch;
}

function show(tag: Tag, value: number | string): void {
  const now = new Date();
  tag.set(value, StatusCodes.Good, { source: now, server: now });
}

function showList(tag: Tag, values: TagList): void {
  const now = new Date();
  tag.setList(values, StatusCodes.Good, { source: now, server: now });
}
