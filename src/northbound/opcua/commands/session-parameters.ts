import { type DataValue, type NumericRange, type StatusCode, StatusCodes } from "node-opcua";
import { isValueAlone } from "../written-value.ts";
import type { Draft } from "./draft.ts";
import type { Parameter } from "./parameter.ts";
import type { SlotKind } from "./slot-parts.ts";
import type { Writer } from "./writer.ts";

/** The values of each session for a slot's parameters. */
export interface SessionParameters {
  /** Writes one, or returns why not. `range` is set if only some elements are written. */
  write(parameter: Parameter, value: DataValue, range: NumericRange | null, writer: Writer): StatusCode;
  /**
   * The command of the session's values. A client that ignores status codes must not start a command with a
   * value that it believes replaced. So a refused write spoils the command, unless the command does not use
   * the value.
   */
  draft(sessionId: string): Draft;
  forget(sessionId: string): void;
}

export function createSessionParameters(
  kind: Pick<SlotKind, "parameters" | "reads" | "draft">,
): SessionParameters {
  /** The parameters of each session whose last write was refused. */
  const refusedWrites = new Map<string, Set<string>>();

  return {
    write(parameter, written, range, writer) {
      const { sessionId } = writer;
      const status = isValueAlone(written)
        ? parameter.write(written.value, range, writer)
        : StatusCodes.BadWriteNotSupported;
      if (parameter.isFree === true) return status;
      const refused = refusedWrites.get(sessionId) ?? new Set();
      if (status === StatusCodes.Good) refused.delete(parameter.path);
      else {
        refused.add(parameter.path);
        for (const each of kind.parameters) if (each.isFree !== true) each.forget(sessionId);
      }
      if (refused.size === 0) refusedWrites.delete(sessionId);
      else refusedWrites.set(sessionId, refused);
      return status;
    },
    draft(sessionId) {
      const refused = refusedWrites.get(sessionId);
      const spoilt = kind.reads(sessionId).find(({ path }) => refused?.has(path));
      if (spoilt !== undefined) return { problem: `the last write to ${spoilt.path} was refused` };
      const draft = kind.draft(sessionId);
      if (!("problem" in draft) || refused === undefined) return draft;
      const paths = [...refused].join(", ");
      return { problem: `${draft.problem}; a refused write to ${paths} emptied the session's parameters` };
    },
    forget(sessionId) {
      refusedWrites.delete(sessionId);
      for (const each of kind.parameters) each.forget(sessionId);
    },
  };
}
