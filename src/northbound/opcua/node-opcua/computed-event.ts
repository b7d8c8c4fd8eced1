import {
  type AddressSpace,
  AttributeIds,
  checkFilter,
  DataType,
  type EventFilter,
  FilterContextOnAddressSpace,
  type ISessionContext,
  type NodeId,
  type QualifiedName,
  SessionContext,
  type SimpleAttributeOperand,
  type UAEventType,
  type UAObject,
  Variant,
} from "node-opcua";
import { cached, lower } from "./lower.ts";
import { eventData } from "./raise-event.ts";

type EventData = ConstructorParameters<typeof FilterContextOnAddressSpace>[1];
type EventSpace = AddressSpace & {
  constructEventData(type: UAEventType, data: Record<string, unknown>): EventData;
};
type Notifier = UAObject & { _bubble_up_event(event: unknown): void };

/** The values of an event, by the path of their names: `EnabledState.Id`, `2:Cause`. */
export interface EventValues {
  paths(): Iterable<string>;
  /** Undefined: it has no such field. */
  get(path: string): Variant | undefined;
}

/** The paths of select clauses, which are the same for each event of an item. */
const paths = new WeakMap<SimpleAttributeOperand, string>();

/** As deep as node-opcua looks for the fields of an event: `EnabledState.Id`. */
const DEPTH = 2;

/**
 * An event of a condition without a node, or of an action that is audited. node-opcua 2.182 has the
 * ConditionId of conditions with nodes alone, and looks up each field of each event by its path, which takes
 * half a millisecond an event.
 */
export class ComputedEvent {
  readonly type: UAEventType;
  readonly #conditionId: NodeId | null;
  readonly #values: EventValues;
  #data: EventData | null = null;

  /** @param conditionId null: it is of no condition */
  constructor(type: UAEventType, conditionId: NodeId | null, values: EventValues) {
    this.type = type;
    this.#conditionId = conditionId;
    this.#values = values;
  }

  get isOfCondition(): boolean {
    return this.#conditionId !== null;
  }

  /** What the filter selects of it; null: the filter does not let it through. */
  select({ selectClauses, whereClause }: EventFilter): Variant[] | null {
    const hasConditions = (whereClause.elements ?? []).length > 0;
    if (hasConditions && !checkFilter(this.#context(), whereClause)) return null;
    return (selectClauses ?? []).map((clause) => this.#valueOf(clause));
  }

  #valueOf(clause: SimpleAttributeOperand): Variant {
    const { attributeId } = clause;
    const path = cached(paths, clause, () => fieldPath(clause.browsePath));
    // The select clause of the ConditionId (OPC UA part 9, 5.5.2.1).
    if (path === "" && attributeId === AttributeIds.NodeId)
      return this.#conditionId === null
        ? new Variant({})
        : new Variant({ dataType: DataType.NodeId, value: this.#conditionId });
    const value = attributeId === AttributeIds.Value ? this.#values.get(path) : undefined;
    return value ?? new Variant({});
  }

  #context(): FilterContextOnAddressSpace {
    this.#data ??= this.#eventData();
    return new FilterContextOnAddressSpace(SessionContext.defaultContext as ISessionContext, this.#data);
  }

  /** The same as node-opcua makes an event. */
  #eventData(): EventData {
    const space = this.type.addressSpace as EventSpace;
    const paths = [...this.#values.paths()].filter(
      (path) => path !== "EventId" && path.split(".").length <= DEPTH,
    );
    const fieldOf = (path: string) => this.#values.get(path) ?? new Variant({});
    const fields = paths.map((path) => [path, fieldOf(path)] as const);
    return space.constructEventData(this.type, eventData(fieldOf("EventId"), fields));
  }
}

/** Sends an event to the subscribers of the object, and of the notifiers above it. */
export function sendEvent(source: UAObject, event: ComputedEvent): void {
  lower<Notifier>(source, "_bubble_up_event")._bubble_up_event(event);
}

function fieldPath(names: readonly QualifiedName[] | null): string {
  return (names ?? [])
    .map(({ namespaceIndex, name }) => (namespaceIndex === 0 ? `${name}` : `${namespaceIndex}:${name}`))
    .join(".");
}
