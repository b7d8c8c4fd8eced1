import type { CurrentState } from "../../src/contracts/fleet-view.ts";
import type { Batch } from "../../src/contracts/link.ts";
import { changeKey, type StateChange } from "../../src/domain/change.ts";
import type { FleetEvent } from "../../src/domain/event.ts";
import type { Quality } from "../../src/domain/observed.ts";
import { alarmEvent } from "../support/test-alarms.ts";

/** A state that is what the test says, and nothing else. */
export interface FakeState extends CurrentState {
  /** Sets a robot's battery and says so, as the fleet state would. */
  set(robotId: string, chargePercent: number, quality?: Quality): Batch;
  /** Shows a chain, or evicts it. */
  setChain(chainId: number, isShown: boolean): Batch;
}

const stamp = { sourceTimeMs: null, sequence: null, receivedAtMs: 0 };

export function createFakeState(): FakeState {
  const values = new Map<string, StateChange>();
  return {
    set(robotId, chargePercent, quality = "good") {
      const value = { chargePercent, state: "STATE_FULL", chargeMethod: "CHARGE_METHOD_NONE" } as const;
      const change: StateChange = { kind: "battery", robotId, observed: { value, stamp, quality } };
      values.set(changeKey(change), change);
      return { changes: [change], events: [] };
    },
    setChain(chainId, isShown) {
      const value = { chainId, amrId: 1, taskSeq: "", status: "S", finished: false, info: {} };
      const shown: StateChange = { kind: "task_chain", chainId, observed: { value, stamp, quality: "good" } };
      if (isShown) values.set(changeKey(shown), shown);
      else values.delete(changeKey(shown));
      return { changes: [isShown ? shown : { kind: "task_chain_evicted", chainId }], events: [] };
    },
    snapshot: () => [...values.values()],
    current: (change) => values.get(changeKey(change)) ?? change,
  };
}

export function event(eventId: string): FleetEvent {
  return alarmEvent(eventId, "r1");
}

/** A batch of nothing but events. */
export function events(...eventIds: readonly string[]): Batch {
  return { changes: [], events: eventIds.map(event) };
}

/** A batch in short: `r1=50`, and event ids. */
export function short(batch: Batch): string[] {
  const values = batch.changes.map((change) =>
    change.kind === "battery" ? `${change.robotId}=${change.observed.value.chargePercent}` : change.kind,
  );
  return [...values, ...batch.events.map((one) => one.eventId)];
}

/** One turn of the event loop, with everything that promises do in it. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export const roomy = { changes: 1_000, events: 1_000, perTurn: 1_000 };
