import type { ClusterMember, ClusterView } from "../../src/contracts/cluster.ts";

/** The place of a gateway in a cluster, which a test changes. */
export interface TestCluster extends ClusterView {
  change(now: Partial<ClusterState>): void;
  /** The same for a process that was held up: its listeners learn it from `look` only. */
  changeUnseen(now: Partial<ClusterState>): void;
}

interface ClusterState {
  readonly isActive: boolean;
  readonly epoch: number;
  readonly leader: string | null;
  readonly unledBecause: string | null;
  readonly lagMs: number;
  readonly robotsInDoubt: number;
}

export const members: readonly ClusterMember[] = [
  { name: "left", opcuaUri: "urn:fleetgate:left" },
  { name: "right", opcuaUri: "urn:fleetgate:right" },
];

/** A member that stands by, with all that the leader has. */
export function createTestCluster(member: string, given: readonly ClusterMember[] = members): TestCluster {
  const listeners = new Set<() => void>();
  let state: ClusterState = {
    ...{ isActive: false, epoch: 0, leader: null, unledBecause: null },
    ...{ lagMs: 0, robotsInDoubt: 0 },
  };
  let isSeen = true;
  const notify = () => {
    for (const listener of listeners) listener();
  };
  return {
    member,
    members: given,
    standby: "hot",
    isActive: () => state.isActive,
    epoch: () => state.epoch,
    leader: () => state.leader,
    unledBecause: () => state.unledBecause,
    lagMs: () => state.lagMs,
    robotsInDoubt: () => state.robotsInDoubt,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    look() {
      if (isSeen) return;
      isSeen = true;
      notify();
    },
    change(now) {
      state = { ...state, ...now };
      notify();
    },
    changeUnseen(now) {
      state = { ...state, ...now };
      isSeen = false;
    },
  };
}
