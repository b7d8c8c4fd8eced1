import { createRequire } from "node:module";
import { format, stripVTControlCharacters } from "node:util";
import type { Log } from "../../platform/log.ts";

/** What node-opcua-debug exports and node-opcua itself does not. */
interface LibraryDebug {
  setWarningLogger(print: LibraryPrint): void;
  setErrorLogger(print: LibraryPrint): void;
}
type LibraryPrint = (context: unknown, ...values: unknown[]) => void;

// A part of node-opcua, found from where that is: we depend on it only as far as node-opcua does.
const loadPart = createRequire(createRequire(import.meta.url).resolve("node-opcua"));
const debug: LibraryDebug = loadPart("node-opcua-debug");

// node-opcua writes to standard output, and does so when it is first imported. Standard output is ours:
// so this module is imported before it, and keeps it silent until there is a log.
debug.setWarningLogger(() => {});
debug.setErrorLogger(() => {});

/** From here on, what node-opcua has to say goes to `log`: its errors are mostly a client's mistakes. */
export function forwardLibraryLog(log: Log): void {
  debug.setErrorLogger((_context, ...values) => log.warn({ library: "node-opcua" }, oneLine(values)));
  debug.setWarningLogger((_context, ...values) => log.debug({ library: "node-opcua" }, oneLine(values)));
}

function oneLine(values: readonly unknown[]): string {
  return stripVTControlCharacters(format(...values))
    .replaceAll(/\s+/g, " ")
    .slice(0, 500);
}
