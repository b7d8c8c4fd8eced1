import { createIdentifierGate, type IdentifierGate } from "../../src/fleet/identifiers.ts";
import { silentLog } from "../../src/platform/log.ts";

/** A gate of a session that is for whatever robots there are. */
export function anyIdentifiers(): IdentifierGate {
  return createIdentifierGate({ kind: "locations", locations: [] }, silentLog);
}
