import type { KeyValue } from "../../wire/etcd/kv_pb.js";
import type { ResponseHeader } from "../../wire/etcd/rpc_pb.js";
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
  };
}

/** One key, or all keys that begin with a prefix. */
export type Keys = { readonly key: string } | { readonly prefix: string };

/** As etcd names a range: the first key, and the first one behind it. */
export interface KeyRange {
  readonly key: Uint8Array;
  /** Empty: the key alone. */
  readonly rangeEnd: Uint8Array;
}

const NONE = new Uint8Array(0);
/** As the end of a range: behind the last key of all. */
const ZERO = new Uint8Array(1);

export function keyRange(keys: Keys): KeyRange {
  if ("key" in keys) return { key: Buffer.from(keys.key), rangeEnd: NONE };
  const key = Buffer.from(keys.prefix);
  return key.length === 0 ? { key: ZERO, rangeEnd: ZERO } : { key, rangeEnd: behind(key) };
}

/** The first key that no longer begins with the prefix. UTF-8 has no byte 255, so the last byte can grow. */
function behind(prefix: Uint8Array): Uint8Array {
  const end = Uint8Array.from(prefix);
  end[end.length - 1] = (end.at(-1) ?? 0) + 1;
  return end;
}

/** The first key behind this one. */
export function nextKey(key: Uint8Array): Uint8Array {
  return Buffer.concat([key, ZERO]);
}

export function keyText(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString();
}
