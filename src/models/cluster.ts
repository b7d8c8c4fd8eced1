import type { ClusterView } from "../contracts/cluster.ts";

/** `no proof`: it has led, and does not know any more whether it does. */
export const clusterRoles = ["leader", "standby", "no proof"] as const;
export type ClusterRole = (typeof clusterRoles)[number];

/** Returns the role of the member now. Call it before the member leads for the first time. */
export function followRole(view: Pick<ClusterView, "isActive" | "onChange">): () => ClusterRole {
  let hasLed = false;
  function role(): ClusterRole {
    const isActive = view.isActive();
    hasLed ||= isActive;
    if (isActive) return "leader";
    return hasLed ? "no proof" : "standby";
  }
  view.onChange(role);
  return role;
}

/** The place of this gateway among the members of its cluster, from 0. */
export function memberIndex({ member, members }: Pick<ClusterView, "member" | "members">): number {
  return members.findIndex(({ name }) => name === member);
}
