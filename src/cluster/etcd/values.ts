import type { KeyValue } from "../../wire/etcd/kv_pb.js";
import type { ResponseHeader } from "../../wire/etcd/rpc_pb.js";
import { keyText } from "./keys.ts";
import type { Header } from "./outcome.ts";

/** A key with its value. */
export interface Entry {
  readonly key: string;
  readonly value: Uint8Array;
  readonly createRevision: bigint;
  readonly modRevision: bigint;
  /** How often it was written since it was created. */
  readonly version: bigint;
  /** 0: none. */
  readonly lease: bigint;
}

export function entryOf({ key, value, createRevision, modRevision, version, lease }: KeyValue): Entry {
  return { key: keyText(key), value, createRevision, modRevision, version, lease };
}

export function headerOf(header: ResponseHeader | undefined): Header {
  return {
    clusterId: header?.clusterId ?? 0n,
    memberId: header?.memberId ?? 0n,
    revision: header?.revision ?? 0n,
    term: header?.raftTerm ?? 0n,
  };
}
