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
import type { ConditionState } from "./condition-state.ts";

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

export function createConditionEvents(
  addressSpace: AddressSpace,
  registry: ConditionRegistry,
  places: Pick<ConditionPlaces, "of">,
  facts: AlarmFacts,
): ConditionEvents {
  const types = new Map<ConditionKind, UAEventType>();

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
    const { source, event } = eventOf(state);
    sendEvent(source, event);
  }

  return {
    note: (alarm) => raise(registry.note(alarm)),
    follow: (alarms) => registry.follow(alarms).forEach(raise),
    retained: registry.retained,
    eventOf(key) {
      const state = registry.find(key);
      return state === null ? null : eventOf(state);
    },
  };
}
