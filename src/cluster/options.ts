import type { ClusterMember } from "../contracts/cluster.ts";

/** What the configuration says of the cluster. */
export interface ClusterOptions {
  /** The gateways of one name are one gateway. */
  readonly name: string;
  /** The name of this one, which is one of `members`. */
  readonly member: string;
  /** Two, in the order of the file. */
  readonly members: readonly ClusterMember[];
  readonly etcd: {
    /** `host:port` of each member of etcd. */
    readonly endpoints: readonly string[];
    /** PEM texts; null: no TLS, on loopback only. */
    readonly tls: {
      readonly ca: string;
      readonly client: { readonly certificate: string; readonly key: string } | null;
    } | null;
  };
  /** How long etcd waits for a leader that is silent. */
  readonly leaseMs: number;
  /** `warm`: a member that stands by has no session to the service. */
  readonly standby: "hot" | "warm";
  /** What must succeed before this member takes over from one that has not resigned; null: nothing. */
  readonly fence: { readonly command: readonly string[]; readonly timeoutMs: number } | null;
}

/** What every key of the cluster in etcd begins with. */
export function keyPrefix(name: string): string {
  return `/fleetgate/${name}/`;
}
