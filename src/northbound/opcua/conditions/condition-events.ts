import type { AddressSpace, UAEventType, UAObject } from "node-opcua";
import type { AlarmFacts } from "../../../contracts/alarms.ts";
import type { Alarm } from "../../../domain/alarm.ts";
import { FLEET_NAMESPACE_INDEX } from "../fleet-nodeset.ts";
import { type ConditionKind, conditionKind, conditionTypes } from "../model/conditions.ts";
import { ComputedEvent } from "../node-opcua/computed-event.ts";
import { sendEvent } from "../node-opcua/raise-event.ts";
import { conditionFields } from "./condition-fields.ts";
import type { ConditionPlaces } from "./condition-places.ts";
import type { ConditionRegistry } from "./condition-registry.ts";
import { type ConditionState, conditionKey } from "./condition-state.ts";

/** An event, and the object whose event it is. */
export interface SourcedEvent {
  readonly source: UAObject;
  readonly event: ComputedEvent;
}

/** Raises the changes of alarms as events of conditions. */
export interface ConditionEvents {
  /** An alarm has changed. */
  note(alarm: Alarm): void;
  /** All alarms that stand now. */
  follow(alarms: readonly Alarm[]): void;
  /** The keys of the conditions that are retained. */
  retained(): readonly string[];
  /** The event of a condition as it is; null: it is not retained. */
  eventOf(key: string): SourcedEvent | null;
}

/** A list of alarms may change all conditions, and a refresh sends all: a turn has so many of them. */
export const MOST_RAISED_A_TURN = 50;

/** @param isOpen whether the address space is still there */
export function createConditionEvents(
  addressSpace: AddressSpace,
  registry: ConditionRegistry,
  places: Pick<ConditionPlaces, "of">,
  facts: AlarmFacts,
  isOpen: () => boolean,
): ConditionEvents {
  const types = new Map<ConditionKind, UAEventType>();
  /** The newest state of each condition that a list has changed and that is not raised yet. */
  const waiting = new Map<string, ConditionState>();
  let isScheduled = false;

  function typeOf(name: string): UAEventType {
    const kind = conditionKind(name);
    const known =
      types.get(kind) ?? addressSpace.findEventType(conditionTypes[kind].name, FLEET_NAMESPACE_INDEX);
    if (known === null) throw new Error(`the address space has no type of the condition ${name}`);
    types.set(kind, known);
    return known;
  }

  function eventOf(state: ConditionState): SourcedEvent {
    const place = places.of(state);
    const type = typeOf(state.name);
    const values = conditionFields(state, place, type.nodeId, facts);
    return { source: place.source, event: new ComputedEvent(type, place.conditionId, values) };
  }

  function raise(state: ConditionState | null): void {
    if (state === null) return;
    waiting.delete(conditionKey(state.alarm));
    const { source, event } = eventOf(state);
    sendEvent(source, event);
  }

  function raiseSome(): void {
    for (const state of [...waiting.values()].slice(0, MOST_RAISED_A_TURN)) raise(state);
    if (waiting.size === 0 || isScheduled) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      if (isOpen()) raiseSome();
    });
  }

  return {
    note: (alarm) => raise(registry.note(alarm)),
    follow(alarms) {
      for (const state of registry.follow(alarms)) waiting.set(conditionKey(state.alarm), state);
      raiseSome();
    },
    retained: registry.retained,
    eventOf(key) {
      const state = registry.find(key);
      return state === null ? null : eventOf(state);
    },
  };
}
