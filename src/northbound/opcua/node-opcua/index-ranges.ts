import {
  CallRequest,
  CreateMonitoredItemsRequest,
  HistoryReadRequest,
  NumericRange,
  type OPCUAServer,
  ReadRequest,
  type Variant,
  VariantArrayType,
  WriteRequest,
} from "node-opcua";
import { wrap } from "./lower.ts";

/** The handlers of node-opcua 2.182 for requests whose items have an index range. */
const handlers = [
  "_on_ReadRequest",
  "_on_HistoryReadRequest",
  "_on_WriteRequest",
  "_on_CreateMonitoredItemsRequest",
] as const;

type Handle = (message: { readonly request: unknown }, channel: unknown) => unknown;

interface Ranged {
  indexRange: NumericRange;
}

/**
 * Reads an empty text as no range, as some clients mean it, and refuses a range that lacks a number.
 * node-opcua reads both as ranges from NaN: an empty array, with status Good. For an initialised server that
 * does not listen yet.
 */
export function correctIndexRanges(server: OPCUAServer): void {
  for (const name of handlers) {
    wrap<Handle>(server, name, (handle) => (message, channel) => {
      for (const item of rangedItems(message.request)) {
        if (!item.indexRange.isEmpty()) item.indexRange = corrected(item.indexRange);
      }
      return handle(message, channel);
    });
  }
}

function rangedItems(request: unknown): readonly Ranged[] {
  if (request instanceof ReadRequest || request instanceof HistoryReadRequest)
    return request.nodesToRead ?? [];
  if (request instanceof WriteRequest) return request.nodesToWrite ?? [];
  if (request instanceof CreateMonitoredItemsRequest) {
    return (request.itemsToCreate ?? []).map(({ itemToMonitor }) => itemToMonitor);
  }
  return [];
}

function corrected(range: NumericRange): NumericRange {
  const value: unknown = range.value;
  // Only the empty text has no number without having a colon or a comma.
  if (Number.isNaN(value)) return new NumericRange();
  const isWithoutNumber = Array.isArray(value) && value.flat().some(Number.isNaN);
  return isWithoutNumber ? new NumericRange("none") : range;
}

/**
 * Reads a written value, or a method's argument, with one dimension, such as `Int32[12]` with the dimensions
 * `[12]`, as an array: some clients send the dimensions of every array. node-opcua 2.182 reads it as a
 * matrix. For an initialised server that does not listen yet, before other patches handle its requests.
 */
export function takeOneDimension(server: OPCUAServer): void {
  server.on("request", (request) => {
    if (request instanceof WriteRequest) {
      for (const { value } of request.nodesToWrite ?? []) flatten(value.value);
    } else if (request instanceof CallRequest) {
      for (const { inputArguments } of request.methodsToCall ?? []) inputArguments?.forEach(flatten);
    }
  });
}

function flatten(variant: Variant | null): void {
  if (variant?.arrayType !== VariantArrayType.Matrix) return;
  const { dimensions, value } = variant;
  if (dimensions?.length !== 1 || dimensions[0] !== value?.length) return;
  variant.arrayType = VariantArrayType.Array;
  variant.dimensions = null;
}
