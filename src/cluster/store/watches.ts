import type { Cancel } from "../../platform/clock.ts";
import type { EtcdClient } from "../etcd/client.ts";
import type { Fault, Header } from "../etcd/outcome.ts";
import type { StoreChanges } from "../protocol/cluster-store.ts";
import type { Mapping } from "./mapping.ts";

/** The watches of a store. */
export interface Watches {
  begin(from: number, receive: (changes: StoreChanges) => void, ended: () => void): Cancel;
  /** None of them can go on. */
  endAll(): void;
}

export interface WatchesParts {
  readonly client: EtcdClient;
  readonly prefix: string;
  readonly mapping: Mapping;
  readonly isCluster: (header: Header) => boolean;
  readonly note: (fault: Fault) => void;
}

export function createWatches({ client, prefix, mapping, isCluster, note }: WatchesParts): Watches {
  const open = new Set<Cancel>();
  return {
    begin(from, receive, ended) {
      const close = client.watch(
        { prefix, fromRevision: BigInt(from) },
        {
          onConnected: (_endpoint, header) => {
            if (!isCluster(header)) end();
          },
          onEvents(events) {
            for (const changes of mapping.changes(events)) if (open.has(end)) receive(changes);
          },
          onEnded(why) {
            if (why.kind === "refused") note(why.fault);
            end();
          },
        },
      );
      const cancel = () => {
        open.delete(end);
        close();
      };
      const end = () => {
        if (!open.has(end)) return;
        cancel();
        ended();
      };
      open.add(end);
      return cancel;
    },
    endAll() {
      for (const end of [...open]) end();
    },
  };
}
