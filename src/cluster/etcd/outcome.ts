/** What each answer of etcd begins with. */
export interface Header {
  readonly clusterId: bigint;
  readonly memberId: bigint;
  /** The store's revision when the member answered. */
  readonly revision: bigint;
}

/** Why a call did not succeed. */
export interface Fault {
  /** `host:port` of the member; null: no member was asked. */
  readonly endpoint: string | null;
  /** Ours for what has an advice of its own, such as COMPACTED; else the name that gRPC gives. */
  readonly code: string;
  /** The cause, without endpoint and code. */
  readonly what: string;
  readonly advice: string;
  /** The whole in words: endpoint, cause, code and advice. */
  readonly message: string;
}

export interface Done<Value> {
  readonly kind: "done";
  readonly value: Value;
  readonly header: Header;
  readonly endpoint: string;
}

/** Surely not applied, now or later. */
export interface Failed {
  readonly kind: "failed";
  readonly fault: Fault;
}

/** Applied, not applied, or applied later: only etcd knows. */
export interface Unsure {
  readonly kind: "unsure";
  readonly fault: Fault;
}

/** A read changes nothing, so it is never unsure. */
export type ReadOutcome<Value> = Done<Value> | Failed;
export type WriteOutcome<Value> = Done<Value> | Failed | Unsure;
