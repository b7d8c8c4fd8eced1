import {
  DataType,
  type NumericRange,
  type StatusCode,
  StatusCodes,
  type Variant,
  VariantArrayType,
} from "node-opcua";
import { isTooLong, type TagList } from "../node-opcua/tag.ts";

/** Reads a client's value: one object for all parameters of the kind. */
export interface ParameterKind<T extends number | string | TagList> {
  readonly type: "Int32" | "String";
  /** The length of a fixed array; null: a scalar. */
  readonly length: number | null;
  /** The value of the node before the first write. */
  readonly first: T;
  /**
   * The new value, or why there is none. `range` is set if only some elements are written; `before` has the
   * other elements.
   */
  read(variant: Variant, range: NumericRange | null, before: T): { readonly parsed: T } | StatusCode;
}

/** An Int32 for which `isAllowed` returns true. */
export function numberKind(isAllowed: (value: number) => boolean): ParameterKind<number> {
  return {
    type: "Int32",
    length: null,
    first: 0,
    read(variant, range) {
      const status = scalarStatus(variant, DataType.Int32, range);
      if (status !== StatusCodes.Good) return status;
      return isAllowed(variant.value) ? { parsed: variant.value } : StatusCodes.BadOutOfRange;
    },
  };
}

/** An Int32 that names something by its number; 0: nothing. */
export const anyNumber = numberKind((value) => value >= 0);

/** A String of at most 254 bytes. */
export const anyText: ParameterKind<string> = {
  type: "String",
  length: null,
  first: "",
  read(variant, range) {
    const status = scalarStatus(variant, DataType.String, range);
    if (status !== StatusCodes.Good) return status;
    const text: string = variant.value ?? "";
    return isText(text) ? { parsed: text } : StatusCodes.BadOutOfRange;
  },
};

/** A fixed array of strings. A shorter one leaves the rest empty; a longer one is refused. */
export function textListKind(length: number): ParameterKind<readonly string[]> {
  return {
    type: "String",
    length,
    first: new Array<string>(length).fill(""),
    read(variant, range, before) {
      if (variant.dataType !== DataType.String) return StatusCodes.BadTypeMismatch;
      if (variant.arrayType !== VariantArrayType.Array) return StatusCodes.BadTypeMismatch;
      const written: string[] = [...(variant.value ?? [])].map((text: string | null) => text ?? "");
      if (!written.every(isText)) return StatusCodes.BadOutOfRange;
      if (range === null && written.length > length) return StatusCodes.BadOutOfRange;
      const next = range === null ? padded(written, length) : replaced(before, written, range);
      return next === null ? rangeStatus(range) : { parsed: next };
    },
  };
}

/** A fixed array of Int32. Another length is refused: a missing number has no default. */
export function numberListKind(length: number): ParameterKind<readonly number[]> {
  return {
    type: "Int32",
    length,
    first: new Array<number>(length).fill(0),
    read(variant, range, before) {
      if (variant.dataType !== DataType.Int32) return StatusCodes.BadTypeMismatch;
      if (variant.arrayType !== VariantArrayType.Array) return StatusCodes.BadTypeMismatch;
      const written = Array.from<number>(variant.value ?? []);
      if (range === null) return written.length === length ? { parsed: written } : StatusCodes.BadOutOfRange;
      const { statusCode, array } = range.set_values(Int32Array.from(before), Int32Array.from(written));
      if (statusCode !== StatusCodes.Good || array?.length !== length) {
        return rangeStatus(range);
      }
      return { parsed: Array.from(array, Number) };
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

/** Why a range cannot be written. */
function rangeStatus(range: NumericRange | null): StatusCode {
  return range?.isValid() === false ? StatusCodes.BadIndexRangeInvalid : StatusCodes.BadIndexRangeNoData;
}

function scalarStatus(variant: Variant, dataType: DataType, range: NumericRange | null): StatusCode {
  if (range !== null) return rangeStatus(range);
  const fits = variant.dataType === dataType && variant.arrayType === VariantArrayType.Scalar;
  return fits ? StatusCodes.Good : StatusCodes.BadTypeMismatch;
}
