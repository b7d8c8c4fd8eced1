import { z } from "zod";
import type { ClusterView } from "../contracts/cluster.ts";
import type { ViewOf } from "./parts.ts";

/** `no proof`: it has led, and does not know any more whether it does. */
export const clusterRoles = ["leader", "standby", "no proof"] as const;
export type ClusterRole = (typeof clusterRoles)[number];

/** The place of a gateway in its cluster. */
export const clusterModel = z.strictObject({
  member: z.string().describe("This gateway."),
  role: z
    .enum(clusterRoles)
    .describe(
      "leader: takes every command. standby: takes stops only. no proof: has led, and may not any more.",
    ),
  epoch: z.number().describe("Higher with each leader; 0: none is known."),
  leader: z.string().nullable().describe("The member that leads; null: none is known."),
  unled_because: z
    .string()
    .nullable()
    .describe("Why nobody leads; null: a member leads, or it is not known."),
  lag_ms: z
    .int()
    .min(0)
    .nullable()
    .describe(
      "For how long it has not been known that this member has what the store has; null: it never was.",
    ),
  robots_in_doubt: z
    .int()
    .min(0)
    .describe("Robots that take no start before the end of an earlier leader's command is known."),
  members: z.array(z.string()),
});
export type ClusterPlace = ViewOf<typeof clusterModel>;

export function clusterPlaceOf(view: ClusterView): ClusterPlace {
  const { member, members } = view;
  return {
    member,
    role: followRole(view)(),
    epoch: view.epoch(),
    leader: view.leader(),
    unled_because: view.unledBecause(),
    lag_ms: Number.isFinite(view.lagMs()) ? Math.max(0, Math.round(view.lagMs())) : null,
    robots_in_doubt: view.robotsInDoubt(),
    members: members.map(({ name }) => name),
  };
}

const roles = new WeakMap<object, () => ClusterRole>();

/** Returns the role of the member now. It is followed from the first call on, before the member has led. */
export function followRole(view: Pick<ClusterView, "isActive" | "onChange">): () => ClusterRole {
  const known = roles.get(view);
  if (known !== undefined) return known;
  let hasLed = false;
  function role(): ClusterRole {
    const isActive = view.isActive();
    hasLed ||= isActive;
    if (isActive) return "leader";
    return hasLed ? "no proof" : "standby";
  }
  view.onChange(role);
  roles.set(view, role);
  return role;
}

/** The place of this gateway among the members of its cluster, from 0. */
export function memberIndex({ member, members }: Pick<ClusterView, "member" | "members">): number {
  return members.findIndex(({ name }) => name === member);
}
