import { type ServiceError, status } from "@grpc/grpc-js";

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

interface Known {
  readonly code: string;
  readonly advice: string;
}

/** The errors of etcd that a caller treats by their own, by etcd's words. */
const known: Readonly<Record<string, Known>> = {
  "etcdserver: mvcc: required revision has been compacted": {
    code: "COMPACTED",
    advice: "read everything anew",
  },
  "etcdserver: requested lease not found": { code: "NO_LEASE", advice: "grant a lease anew" },
  "etcdserver: mvcc: database space exceeded": {
    code: "NO_SPACE",
    advice: "compact, defragment each member, then disarm the alarm NOSPACE",
  },
  "etcdserver: no leader": {
    code: "NO_LEADER",
    advice: "look whether a majority of the members runs, and whether they reach each other",
  },
  "etcdserver: duplicate key given in txn request": {
    code: "DUPLICATE_KEY",
    advice: "put a key only once in a transaction",
  },
};

const advices: Readonly<Record<string, string>> = {
  DEADLINE_EXCEEDED: "look whether the member hangs, its disk is slow, or no majority of the members runs",
  PERMISSION_DENIED: "give the user of this client certificate a role for the keys",
  UNAVAILABLE: "look whether the member was stopped, and at the network between",
};
const OTHER_ADVICE = "look at the log of this member";
/** How etcd begins the text of an error that is its own, and not made up by a library or a proxy. */
const ETCD_OWN = "etcdserver: ";
/** The codes with which etcd refuses before it changes anything. */
const refusals: ReadonlySet<status> = new Set([
  status.INVALID_ARGUMENT,
  status.NOT_FOUND,
  status.FAILED_PRECONDITION,
  status.OUT_OF_RANGE,
  status.PERMISSION_DENIED,
  status.UNAUTHENTICATED,
]);

export function faultOf(endpoint: string | null, code: string, what: string, advice: string): Fault {
  const at = endpoint === null ? "etcd" : `etcd at ${endpoint}`;
  return { endpoint, code, what, advice, message: `${at}: ${what} (${code}); ${advice}` };
}

export function callFault(
  endpoint: string,
  { code, details }: Pick<ServiceError, "code" | "details">,
): Fault {
  const name = status[code] ?? "UNKNOWN";
  const own = known[details];
  const what = details === "" ? "the call failed" : details;
  return faultOf(endpoint, own?.code ?? name, what, own?.advice ?? advices[name] ?? OTHER_ADVICE);
}

/**
 * Whether an error proves that nothing was changed: only etcd's own words do, and not all of them. NOSPACE is
 * reported for a write that was applied, too. A member without a leader refuses before it proposes anything,
 * since each call asks for a leader.
 */
export function isRefusal({ code, details }: Pick<ServiceError, "code" | "details">): boolean {
  if (!details.startsWith(ETCD_OWN)) return false;
  return refusals.has(code) || known[details]?.code === "NO_LEADER";
}

/** Nothing was sent. `details`: how grpc-js describes why it has no connection. */
export function connectFault(endpoint: string, details: string): Fault {
  const reason = /Last error: (.*?)\. Resolution note:/s.exec(details)?.[1] ?? details;
  const what = reason.replace(/\s+/g, " ").trim();
  const advice = /certificate|alert|tls|ssl/i.test(what)
    ? "look at the certificates and the CA on both sides"
    : "look whether etcd runs there, and whether firewalls pass the port";
  return faultOf(endpoint, "NO_CONNECTION", `no connection: ${what}`, advice);
}
