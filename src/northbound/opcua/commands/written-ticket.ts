import { DataType, type StatusCode, StatusCodes, type Variant, VariantArrayType } from "node-opcua";
import { COMMAND_LENGTH } from "../model/slot.ts";
import { isTooLong } from "../node-opcua/tag.ts";

/** The form of a ticket: after the parameters, or with a whole command in one value. */
export type Order =
  | { readonly kind: "request" }
  /** The 11 numbers of `Command` after the ticket. */
  | { readonly kind: "array"; readonly numbers: readonly number[] }
  /** The text of `CommandText`, and its fields after the ticket. */
  | { readonly kind: "text"; readonly text: string; readonly fields: readonly string[] };

/** A number that a client wrote to one of the tags that take tickets. */
export interface WrittenTicket {
  readonly number: number;
  readonly order: Order;
}

/** The largest number that a ticket may have, of either sign: -2147483648 has no counterpart in `Closed`. */
const LARGEST = 2_147_483_647;
const SEPARATOR = ";";

/** Reads a value of `RequestId`, `Command` or `CommandText`; a status code says what is wrong. */
export function readTicket(variant: Variant, kind: Order["kind"]): WrittenTicket | StatusCode {
  const isText = kind === "text";
  const shape = kind === "array" ? VariantArrayType.Array : VariantArrayType.Scalar;
  const dataType = isText ? DataType.String : DataType.Int32;
  if (variant.dataType !== dataType || variant.arrayType !== shape) return StatusCodes.BadTypeMismatch;
  if (isText) return readText(variant.value ?? "");
  const [number = 0, ...numbers] =
    kind === "array" ? Array.from<number>(variant.value ?? []) : [variant.value];
  if (kind === "array" && numbers.length !== COMMAND_LENGTH - 1) return StatusCodes.BadOutOfRange;
  if (Math.abs(number) > LARGEST) return StatusCodes.BadOutOfRange;
  return { number, order: kind === "array" ? { kind, numbers } : { kind } };
}

/** `ticket;…`: an empty text is ticket 0, which starts nothing. */
function readText(text: string): WrittenTicket | StatusCode {
  if (text === "") return { number: 0, order: { kind: "text", text, fields: [] } };
  if (isTooLong(text) || text.includes("\0")) return StatusCodes.BadOutOfRange;
  const [first = "", ...fields] = text.split(SEPARATOR).map((field) => field.trim());
  const number = wholeNumber(first);
  if (number === null || Math.abs(number) > LARGEST) return StatusCodes.BadOutOfRange;
  return { number, order: { kind: "text", text, fields } };
}

/** A decimal number without anything else; null otherwise. */
export function wholeNumber(text: string): number | null {
  return /^-?\d{1,10}$/.test(text) ? Number(text) : null;
}

/**
 * What is wrong with `Command` if it has numbers that its operation does not use: the writer means another
 * command. Null: there are none. `numbers` follow the ticket. Not for stops: nothing that they do not use
 * holds them back.
 */
export function strayNumber(
  numbers: readonly number[],
  isUsed: (place: number) => boolean,
): { readonly problem: string } | null {
  const at = numbers.findIndex((number, index) => number !== 0 && !isUsed(index + 1));
  if (at === -1) return null;
  const place = at + 1;
  return { problem: `Command[${place}] is ${numbers[at]}, and this operation uses nothing there: write 0` };
}
