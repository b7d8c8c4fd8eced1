import type { FenceState, OtherMember } from "../../contracts/cluster.ts";
import type { Member } from "./member.ts";
import { journalMove } from "./move.ts";
import { decode, LEADER_KEY, type LeaderRecord } from "./records.ts";

/** Which member leads. `because`: why nobody does, as a sentence; null: no reason is known. */
export interface Leadership {
  readonly leader: string | null;
  readonly because: string | null;
}

const FULL = "etcd is full (NOSPACE): it takes no write";
const UNREAD = "etcd has not confirmed what this box knows since its gateway has started";

interface Place {
  isLeading(): boolean;
  others(): readonly OtherMember[];
  readonly mirror: Pick<Member["mirror"], "get" | "revision">;
  readonly fencing: Pick<Member["fencing"], "state">;
  unreadable(): readonly string[];
  /** etcd takes no write. Absent: not known. */
  isFull?(): boolean;
}

/** What a member knows of who leads. A command that moves the journal may hold the leader's key. */
export function leadershipOf(member: Place, own: string): Leadership {
  const entry = member.mirror.get(LEADER_KEY);
  const record = entry === undefined ? null : decode<LeaderRecord>(entry, "member", "process");
  if (member.isLeading()) return { leader: own, because: null };
  if (member.mirror.revision() === 0) return { leader: null, because: UNREAD };
  const [fence] = fences(own, member.fencing.state(), member.others());
  const unreadable = unreadRecord(member.unreadable());
  const unread = unreadable === null ? null : `${own} ${cannotRead(unreadable)}`;
  const full = member.isFull?.() === true ? FULL : null;
  const because = fence?.text ?? (record === null ? (unread ?? full) : journalMove(record));
  return { leader: because === null ? (record?.member ?? null) : null, because };
}

/** The members that fence another one before they lead, or could not. */
export function fences(
  own: string,
  state: FenceState | null,
  others: readonly OtherMember[],
): readonly { readonly hasFailed: boolean; readonly text: string }[] {
  const all = [[own, state] as const, ...others.map(({ name, facts }) => [name, facts?.fence] as const)];
  return all.flatMap(([name, fence]) => {
    if (!fence) return [];
    const { of, problem } = fence;
    const text =
      problem === null ? `${name} fences ${of} before it leads` : `${name} could not fence ${of}: ${problem}`;
    return [{ hasFailed: problem !== null, text }];
  });
}

/** A record that cannot be read, by its key and that of its place, if it has one; null: there is none. */
export function unreadRecord([key, place]: readonly string[]): string | null {
  return key === undefined || place === undefined ? (key ?? null) : `${key} (with its place ${place})`;
}

/** What keeps a member of a cluster from leading, as the end of a sentence. */
export function cannotRead(key: string): string {
  return `cannot read the record ${key} of etcd`;
}

/**
 * Why a member that is there could not lead. `unreadable`: the key of a record that it cannot read, if any.
 */
export function whyNotReady(unreadable: string | null | undefined): string {
  return unreadable == null ? "has no session to the fleet service" : cannotRead(unreadable);
}
