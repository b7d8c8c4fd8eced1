import {
  CreateMonitoredItemsRequest,
  NumericRange,
  type OPCUAServer,
  ReadRequest,
  WriteRequest,
} from "node-opcua";

/** The handlers of node-opcua 2.182 for requests whose items have an index range. */
const handlers = ["_on_ReadRequest", "_on_WriteRequest", "_on_CreateMonitoredItemsRequest"] as const;

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
    const handle: unknown = Reflect.get(server, name);
    if (typeof handle !== "function") throw new Error(`node-opcua has no ${name} any more`);
    Reflect.set(server, name, (message: { readonly request: unknown }, channel: unknown): unknown => {
      for (const item of rangedItems(message.request)) {
        if (!item.indexRange.isEmpty()) item.indexRange = corrected(item.indexRange);
      }
      return handle.call(server, message, channel);
    });
  }
}

function rangedItems(request: unknown): readonly Ranged[] {
  if (request instanceof ReadRequest) return request.nodesToRead ?? [];
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
