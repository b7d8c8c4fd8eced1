import { clip, quoted } from "./clip.ts";
import { type Outcome, refusal } from "./outcome.ts";

/** What is wrong with a request: where (a field path, or "") and what would be right. */
interface Fault {
  readonly path: string;
  readonly message: string;
}

const LONGEST_PATH = 200;

/** The same words for the same fault, whichever door the request came through. */
export function badRequest({ path, message }: Fault): Outcome {
  return refusal(
    "MALFORMED",
    `${clip(path === "" ? "request" : `request.${path}`, LONGEST_PATH)}: ${message}`,
  );
}

export function unknownOperation(name: string): Outcome {
  return refusal("UNKNOWN_OPERATION", `there is no operation ${quoted(name)}`);
}

/** What is wrong with a JSON text that was not read. */
export function jsonFault(
  reading:
    | { readonly kind: "syntax"; readonly message: string }
    | { readonly kind: "repeated"; readonly path: readonly (string | number)[]; readonly key: string },
): Fault {
  if (reading.kind === "syntax") return { path: "", message: `is not JSON: ${reading.message}` };
  return {
    path: clip(reading.path.join("."), LONGEST_PATH),
    message: `has the key ${quoted(reading.key)} twice`,
  };
}
