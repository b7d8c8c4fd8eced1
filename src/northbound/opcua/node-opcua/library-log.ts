import { format, stripVTControlCharacters } from "node:util";
import { setDebugLogger, setErrorLogger, setTraceLogger, setWarningLogger } from "node-opcua-debug";
import type { Clock } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/log.ts";

/** The line of node-opcua that logs something, as node-opcua-debug gives it, without a type. */
interface LibraryPlace {
  readonly filename: string;
  readonly callerline: number;
}

// node-opcua writes to standard output, already while it is imported for the first time. Standard output is
// ours: so this module is imported before it, and keeps it silent until there is a log. Its debug and trace
// lines stay silent: an environment variable (DEBUG) switches them on, and they dump whole requests.
setDebugLogger(() => {});
setTraceLogger(() => {});
setWarningLogger(() => {});
setErrorLogger(() => {});

/** One line of node-opcua is logged once in this time. */
const REPEAT_AFTER_MS = 10_000;

/** The numbers that node-opcua gives to some of its messages, and the names of status codes. */
const vocabulary = /NODE-OPCUA-[EW]\d+|\b(?:Bad|Uncertain)[A-Z][A-Za-z]{3,60}/g;

/**
 * The words with which a message begins: what it quotes comes in later values, or after another character.
 */
const firstWords = /^[A-Za-z][A-Za-z:' -]{3,60}/;

/**
 * From here on, `log` gets the file and line at which node-opcua logs something, the words with which it
 * begins, and the status codes that it names. The rest of its text stays out of the log, because node-opcua
 * dumps requests and frames, which carry passwords and session tokens. `isStatusCode` tells a status code's
 * name from other words.
 */
export function forwardLibraryLog(log: Log, clock: Clock, isStatusCode: (name: string) => boolean): void {
  const saidAtMs = new Map<string, number>();

  function heading([place, ...values]: readonly unknown[]) {
    const { filename, callerline } = place as LibraryPlace;
    const at = `${filename}:${callerline}`;
    const nowMs = clock.monotonicMs();
    if (nowMs - (saidAtMs.get(at) ?? Number.NEGATIVE_INFINITY) < REPEAT_AFTER_MS) return null;
    saidAtMs.set(at, nowMs);
    const words = format(...values).match(vocabulary) ?? [];
    const codes = [...new Set(words)].filter((word) => word.startsWith("NODE-OPCUA-") || isStatusCode(word));
    const [first] = values;
    const text = typeof first === "string" ? stripVTControlCharacters(first).trim() : "";
    const [said] = firstWords.exec(text) ?? [];
    const about = said === undefined ? {} : { said: said.trim() };
    return {
      library: "node-opcua",
      at,
      ...about,
      ...(codes.length === 0 ? {} : { codes: codes.slice(0, 5) }),
    };
  }
  setErrorLogger((...said) => {
    const fields = heading(said);
    if (fields !== null) log.warn(fields, "node-opcua reports an error");
  });
  setWarningLogger((...said) => {
    const fields = heading(said);
    if (fields !== null) log.debug(fields, "node-opcua reports a warning");
  });
}

/** A frame of a stack inside of node-opcua: in its packages, or in the chunk that the build makes of them. */
const frameOfLibrary = /^\s+at .*[\\/](?:node-opcua[-\w]*[\\/].*?|(?=node-opcua-))([-\w]+\.[cm]?[jt]s:\d+)/m;

/**
 * An error that node-opcua threw on a client's bytes: its kind and place. Its message may quote those bytes,
 * and with them a password.
 */
export function describeLibraryError(error: unknown): string {
  if (!(error instanceof Error)) return "something that is no error";
  const code = "code" in error && typeof error.code === "string" ? ` ${error.code}` : "";
  const at = frameOfLibrary.exec(error.stack ?? "")?.[1];
  return `${error.name}${code}${at === undefined ? "" : ` at ${at}`}`;
}
