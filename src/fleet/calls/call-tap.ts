import { type Message, toBinary } from "@bufbuild/protobuf";
import type { CallEnding } from "../../contracts/fleet-port.ts";
import { grpcCodeNames } from "../../domain/errors.ts";
import type { RecorderTap } from "../../platform/recorder/tap.ts";
import type { Method } from "../operations/method.ts";

/**
 * Their headers and URLs carry secrets, and refusals quote them: only the calls and their codes are recorded.
 */
const withheld: ReadonlySet<string> = new Set(["CreateWebhook", "ListWebhooks"]);

/** Records calls and their endings. */
export interface CallTap {
  /** A request leaves now. The result records its ending. */
  left(method: Method, request: Message): (ending: CallEnding) => void;
}

export function createCallTap(tap: RecorderTap): CallTap {
  let calls = 0;
  return {
    left({ name, desc }, request) {
      if (!tap.isOn) return () => {};
      calls += 1;
      const id = calls;
      const isWithheld = withheld.has(name);
      tap.write("call", { name, id, ...(isWithheld ? {} : { first: toBinary(desc.input, request) }) });
      return (ending) => {
        if (ending.kind === "not_sent") return;
        const isOk = ending.kind === "ok";
        const code = isOk ? 0 : grpcCodeNames.indexOf(ending.code);
        const text = isOk ? ending.responseJson : ending.message;
        const second = Buffer.from(isWithheld ? "" : text);
        tap.write("answer", { name, id, code, second });
      };
    },
  };
}
