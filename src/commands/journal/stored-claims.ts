import type { Store } from "../../platform/store.ts";
import type { Journal, StoredHold, StoredLease, StoredRun } from "./journal.ts";

type Claims = "leases" | "writeLease" | "runs" | "writeRuns" | "holds" | "writeHold";

/**
 * What a store keeps beside commands: leases under `l/<robot>`, started conveyors under `r/<robot>`, holds
 * under `h/<robot and user>`. A robot and a user have one of each, and people depend on them: urgent.
 */
export function storedClaims(store: Store): Pick<Journal, Claims> {
  const leases = Array.from(store.range({ from: "l/", to: "l0" }), ({ value }) => asLease(value));
  const runs = new Map(
    Array.from(store.range({ from: "r/", to: "r0" }), ({ key, value }) => [key.slice(2), asRuns(value)]),
  );
  const holds = Array.from(store.range({ from: "h/", to: "h0" }), ({ value }) => asHold(value));
  holds.sort((a, b) => a.sinceMs - b.sinceMs);
  return {
    leases: () => leases,
    writeLease: (robotId, lease) => store.write([{ key: `l/${robotId}`, value: lease ?? undefined }], true),
    runs: () => runs,
    writeRuns: (robotId, list) => store.write([{ key: `r/${robotId}`, value: list ?? undefined }], true),
    holds: () => holds,
    writeHold: (hold, isHeld) =>
      store.write([{ key: holdKey(hold), value: isHeld ? hold : undefined }], true),
  };
}

function holdKey({ robotId, owner }: StoredHold): string {
  return `h/${JSON.stringify([robotId, owner.protocol, owner.name])}`;
}

function asHold(value: unknown): StoredHold {
  if (typeof value !== "object" || value === null || !("owner" in value) || !("sinceMs" in value)) {
    throw new Error("the journal has a record under h/ that is not a hold");
  }
  return value as StoredHold;
}

function asLease(value: unknown): StoredLease {
  if (typeof value !== "object" || value === null || !("station" in value) || !("owner" in value)) {
    throw new Error("the journal has a record under l/ that is not a lease");
  }
  return value as StoredLease;
}

function asRuns(value: unknown): readonly StoredRun[] {
  if (!Array.isArray(value)) {
    throw new Error("the journal has a record under r/ that is not a list of started conveyors");
  }
  return value;
}
