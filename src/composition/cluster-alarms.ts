import { cannotRead, fences, whyNotReady } from "../cluster/protocol/unled.ts";
import type { EtcdSight } from "../cluster/store/etcd-health.ts";
import { differingSections } from "../config/settings.ts";
import type { StateAlarm } from "../contracts/alarms.ts";
import type { ClusterView, MemberFacts, OtherMember, Takeover } from "../contracts/cluster.ts";
import { type AlarmCode, ofGateway } from "../domain/alarm.ts";
import type { AlarmCondition } from "../domain/alarm-instance.ts";

/** What a member knows of its cluster beyond its own place in it. */
export interface ClusterSight {
  readonly view: Pick<ClusterView, "member" | "isActive" | "lagMs">;
  /** How long etcd may be silent. */
  readonly silenceMs: number;
  /** The other members that are there. */
  others(): readonly OtherMember[];
  /** The leader before this one; null: none is known. */
  takeover(): Takeover | null;
  /** What was found at the last look at etcd; null: nothing yet. */
  etcd(): EtcdSight | null;
  /** What this member says of itself. */
  facts(): MemberFacts;
}

const MOST_OF_QUOTA = 0.6;
const FULL_SEVERITY = 800;
const nothing: AlarmCondition = { holds: false, text: "" };
const found = (text: string): AlarmCondition => ({ holds: true, text });

/**
 * Raises the alarms of a cluster: all of them on the leader, those of a quorum, of a fence, of a record
 * and of a full etcd on every member.
 */
export function createClusterAlarms(sight: ClusterSight, state: StateAlarm): { look(): void } {
  const { view, silenceMs, others, takeover, etcd, facts } = sight;

  function quorum(): AlarmCondition {
    const lagMs = view.lagMs();
    // A member that starts reads all records first, and knows nothing until then.
    const isReading = !Number.isFinite(lagMs) && etcd()?.hasMajority === true;
    return lagMs > silenceMs && !isReading
      ? found(`etcd gives ${view.member} no answer of a majority: no start leaves`)
      : nothing;
  }

  function ofLeader(): ReadonlyArray<readonly [AlarmCode, AlarmCondition]> {
    const there = others();
    const space = etcd();
    return [
      ["FAILED_OVER", failover()],
      ["NO_STANDBY", standbyCondition(there)],
      ["CONFIG_DIFFERS", configCondition(facts(), there)],
      ...(space === null ? [] : ([["MEMBER_LOST", memberCondition(space)]] as const)),
    ];
  }

  function failover(): AlarmCondition {
    const before = takeover();
    if (before === null || before.why === "planned" || before.from === view.member) return nothing;
    const why = before.why === "cut" ? "had no fleet service" : "was lost";
    return found(`${before.from} ${why}: ${view.member} leads since then`);
  }

  function fence(): AlarmCondition {
    const failed = fences(view.member, facts().fence ?? null, others()).find(({ hasFailed }) => hasFailed);
    return failed === undefined ? nothing : found(`${failed.text}, so nobody leads`);
  }

  function unreadable(): AlarmCondition {
    const key = facts().unreadable ?? null;
    return key === null ? nothing : found(`${view.member} ${cannotRead(key)}: it does not begin to lead`);
  }

  return {
    look() {
      state(ofGateway, "FENCE_FAILED", fence());
      state(ofGateway, "QUORUM_LOST", quorum());
      state(ofGateway, "RECORD_UNREADABLE", unreadable());
      const space = etcd();
      // A full etcd may leave no leader.
      if (space !== null)
        state(ofGateway, "STORE_SPACE", view.isActive() || space.isFull ? spaceCondition(space) : nothing);
      if (!view.isActive()) return;
      for (const [code, condition] of ofLeader()) state(ofGateway, code, condition);
    },
  };
}

function standbyCondition(others: readonly OtherMember[]): AlarmCondition {
  if (others.some(({ hasSession }) => hasSession)) return nothing;
  const [one] = others;
  return found(
    one === undefined
      ? "no other member of the cluster is there to take over"
      : `${one.name} could not take over: it ${whyNotReady(one.facts?.unreadable)}`,
  );
}

function configCondition({ version, configuration }: MemberFacts, others: readonly OtherMember[]) {
  const texts = others.flatMap(({ name, facts }) => {
    if (facts === null) return [];
    if (facts.version !== version) return [`${name} has version ${facts.version}, and this box ${version}`];
    const sections = differingSections(configuration, facts.configuration);
    return sections.length === 0 ? [] : [`${name} has another configuration in ${sections.join(", ")}`];
  });
  return texts.length === 0 ? nothing : found(texts.join("; "));
}

function memberCondition({ silent }: EtcdSight): AlarmCondition {
  return silent.length === 0 ? nothing : found(`etcd does not answer at ${silent.join(", ")}`);
}

function spaceCondition({ isFull, usedPart }: EtcdSight): AlarmCondition {
  if (isFull) return { ...found("etcd is full: it takes no write"), severity: FULL_SEVERITY };
  return usedPart > MOST_OF_QUOTA ? found("etcd has used more than 60 % of its quota") : nothing;
}
