import type { SharedClient, SharedClients } from "../../contracts/client-certificates.ts";
import type { ClusterStore } from "./cluster-store.ts";
import type { Mirror } from "./mirror.ts";
import { CLIENTS, decode } from "./records.ts";

/** Decisions on clients of OPC UA. They start nothing, so they need no leader, as a hold needs none. */
export function createSharedClients(
  store: Pick<ClusterStore, "commit">,
  mirror: Pick<Mirror, "range" | "revision">,
): SharedClients {
  return {
    decisions() {
      if (mirror.revision() === 0) return null;
      return new Map(
        mirror.range(CLIENTS).flatMap((entry) => {
          const client = decode<SharedClient>(entry);
          if (client === null) return [];
          return [[entry.key.slice(CLIENTS.length), { ...client, revision: entry.modified }] as const];
        }),
      );
    },
    async decide(thumbprint, client, since) {
      const key = `${CLIENTS}${thumbprint}`;
      const puts = [{ key, value: JSON.stringify(client) }];
      const result = await store.commit({ guard: [], parts: [{ when: [{ key, modified: since }], puts }] });
      return result.kind === "done" && result.parts?.[0] === true ? result.revision : null;
    },
  };
}
