import {
  DataType,
  type NumericRange,
  type StatusCode,
  StatusCodes,
  type Variant,
  VariantArrayType,
} from "node-opcua";
import type { Folder, NodeBuilder } from "../node-builder.ts";
import type { Account } from "../security.ts";
import { isTooLong, type Tag } from "../tag.ts";

/** A variable of a slot that clients write. */
export interface Parameter {
  readonly path: string;
  /** Why `variant` cannot be written, or Good and it is. `range` is set when only some elements are written. */
  write(variant: Variant, range: NumericRange | null, account: Account): StatusCode;
  /** Shows the value under `Latched`, where the slot has that folder. */
  echo(): void;
  /** Written by anybody at any time: it is no part of a command. */
  readonly isFree?: boolean;
}

/** Where a slot's parameters stand, and where they are echoed; null: they never are. */
export interface ParameterPlace {
  readonly builder: NodeBuilder;
  readonly folder: Folder;
  readonly latched: Folder | null;
}

/** The place of a slot's parameters in `folder`. */
export function parameterPlace(builder: NodeBuilder, folder: Folder, offersConfirm: boolean): ParameterPlace {
  return { builder, folder, latched: offersConfirm ? builder.folder(folder, "Latched") : null };
}

export interface NumberParameter extends Parameter {
  readonly value: () => number;
}
export interface TextParameter extends Parameter {
  readonly value: () => string;
}
export interface TextListParameter extends Parameter {
  readonly value: () => readonly string[];
}

/** An Int32 that `isAllowed` says yes to, 0 at first. */
export function addNumberParameter(
  at: ParameterPlace,
  name: string,
  isAllowed: (value: number) => boolean,
): NumberParameter {
  const tag = at.builder.parameter(at.folder, name, "Int32");
  const latched = at.latched === null ? null : at.builder.tag(at.latched, name, "Int32");
  let value = 0;
  show(tag, value);
  return {
    path: `${at.folder.path}.${name}`,
    value: () => value,
    echo: () => show(latched, value),
    write(variant, range) {
      const status = scalarStatus(variant, DataType.Int32, range);
      if (status !== StatusCodes.Good) return status;
      if (!isAllowed(variant.value)) return StatusCodes.BadOutOfRange;
      value = variant.value;
      show(tag, value);
      return StatusCodes.Good;
    },
  };
}

/** A String of at most 254 bytes, empty at first. */
export function addTextParameter(at: ParameterPlace, name: string): TextParameter {
  const tag = at.builder.parameter(at.folder, name, "String");
  const latched = at.latched === null ? null : at.builder.tag(at.latched, name, "String");
  let value = "";
  show(tag, value);
  return {
    path: `${at.folder.path}.${name}`,
    value: () => value,
    echo: () => show(latched, value),
    write(variant, range) {
      const status = scalarStatus(variant, DataType.String, range);
      if (status !== StatusCodes.Good) return status;
      const text: string = variant.value ?? "";
      if (!isText(text)) return StatusCodes.BadOutOfRange;
      value = text;
      show(tag, value);
      return StatusCodes.Good;
    },
  };
}

/** A fixed array of strings. A shorter one that is written leaves the rest empty; a longer one is refused. */
export function addTextListParameter(at: ParameterPlace, name: string, length: number): TextListParameter {
  const tag = at.builder.parameter(at.folder, name, "String", length);
  const latched = at.latched === null ? null : at.builder.list(at.latched, name, "String", length);
  let value: readonly string[] = new Array(length).fill("");
  showList(tag, value);
  return {
    path: `${at.folder.path}.${name}`,
    value: () => value,
    echo: () => showList(latched, value),
    write(variant, range) {
      if (variant.dataType !== DataType.String) return StatusCodes.BadTypeMismatch;
      if (variant.arrayType !== VariantArrayType.Array) return StatusCodes.BadTypeMismatch;
      const written: string[] = [...(variant.value ?? [])].map((text: string | null) => text ?? "");
      if (!written.every(isText)) return StatusCodes.BadOutOfRange;
      if (range === null && written.length > length) return StatusCodes.BadOutOfRange;
      const next = range === null ? padded(written, length) : replaced(value, written, range);
      if (next === null) return StatusCodes.BadIndexRangeNoData;
      value = next;
      showList(tag, value);
      return StatusCodes.Good;
    },
  };
}

function padded(written: readonly string[], length: number): readonly string[] {
  return [...written, ...new Array(length - written.length).fill("")];
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

function show(tag: Tag | null, value: number | string): void {
  const now = new Date();
  tag?.set(value, StatusCodes.Good, { source: now, server: now });
}

function showList(tag: Tag | null, value: readonly string[]): void {
  const now = new Date();
  tag?.setList(value, StatusCodes.Good, { source: now, server: now });
}
