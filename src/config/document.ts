import {
  type Document,
  isMap,
  isNode,
  isPair,
  isScalar,
  LineCounter,
  parseDocument,
  type YAMLError,
} from "yaml";
import { messageOf } from "../platform/error-text.ts";
import type { ConfigPath, ConfigProblem } from "./finding.ts";

/** A row for each of ten thousand robots takes less than 2 MB. */
export const LARGEST_CONFIGURATION_BYTES = 4_000_000;

/** A parsed YAML file, which also knows the line of each value. */
export interface ConfigDocument {
  readonly value: unknown;
  /** The line of the key or list entry at `path`, or of the nearest one around it in the file. */
  lineOf(path: ConfigPath): number | null;
}

/** A document, or every problem of the text. */
export type DocumentResult =
  | { readonly ok: true; readonly document: ConfigDocument }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

/** Reads YAML 1.2. Duplicate keys, unknown tags and keys that are not text are problems. */
export function readDocument(text: string): DocumentResult {
  const lines = new LineCounter();
  const parsed = parseDocument(text, {
    version: "1.2",
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: true,
    stringKeys: true,
  });
  const faults = upToFirstSyntaxError([...parsed.errors, ...parsed.warnings]);
  if (faults.length > 0) {
    const problems = faults.map((fault) => ({
      path: "",
      line: lines.linePos(fault.pos[0]).line,
      message: `this is no valid YAML: ${fault.message}`,
    }));
    return { ok: false, problems };
  }
  try {
    const value: unknown = parsed.toJS();
    return { ok: true, document: { value, lineOf: (path) => lineOf(parsed, lines, path) } };
  } catch (error) {
    // Aliases that would use too much memory, or that have no target, are found only here.
    const reason = messageOf(error);
    return { ok: false, problems: [{ path: "", line: null, message: `this is no valid YAML: ${reason}` }] };
  }
}

/** Faults that do not affect the rest of the file. */
const harmless: ReadonlySet<string> = new Set(["DUPLICATE_KEY", "TAG_RESOLVE_FAILED", "NON_STRING_KEY"]);

/** Problems after a syntax error are often its consequence, and would send the reader to correct lines. */
function upToFirstSyntaxError(faults: readonly YAMLError[]): readonly YAMLError[] {
  const inOrder = [...faults].sort((a, b) => a.pos[0] - b.pos[0]);
  const first = inOrder.findIndex(({ code }) => !harmless.has(code));
  return first < 0 ? inOrder : inOrder.slice(0, first + 1);
}

function lineOf(document: Document, lines: LineCounter, path: ConfigPath): number | null {
  for (let length = path.length; length > 0; length -= 1) {
    const offset = offsetOf(document, path.slice(0, length));
    if (offset !== undefined) return lines.linePos(offset).line;
  }
  return null;
}

function offsetOf(document: Document, path: ConfigPath): number | undefined {
  const key = path.at(-1);
  const parent: unknown = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  if (isMap(parent)) {
    const pair = parent.items.find((item) => isPair(item) && isScalar(item.key) && item.key.value === key);
    return isNode(pair?.key) ? pair.key.range?.[0] : undefined;
  }
  const node: unknown = document.getIn(path, true);
  return isNode(node) ? node.range?.[0] : undefined;
}
