import {
  AttributeIds,
  type BrowsePath,
  checkFilter,
  DataType,
  type EventFilter,
  type FilterContext,
  LocalizedText,
  NodeClass,
  NodeId,
  type NodeIdLike,
  NodeIdType,
  type QualifiedName,
  type SimpleAttributeOperand,
  type UAEventType,
  Variant,
} from "node-opcua";
import { cached } from "./lower.ts";

/** The values of an event, by the path of their names: `EnabledState.Id`, `2:Cause`. */
export interface EventValues {
  /** Undefined: it has no such field. */
  get(path: string): Variant | undefined;
}

/** What every event says (OPC UA part 5, 6.4.2). */
export interface BaseFacts {
  readonly id: Buffer;
  readonly atMs: number;
  readonly source: NodeId;
  readonly sourceName: string;
  /** In English. */
  readonly message: string;
  readonly severity: number;
}

/** The values of an event. @param others its further fields, by their paths */
export function eventValues(
  type: UAEventType,
  { id, atMs, source, sourceName, message, severity }: BaseFacts,
  others: Readonly<Record<string, Variant>>,
): EventValues {
  const time = variant(DataType.DateTime, new Date(atMs));
  const text = new LocalizedText({ locale: "en", text: message });
  const values = new Map(
    Object.entries({
      EventId: variant(DataType.ByteString, id),
      EventType: variant(DataType.NodeId, type.nodeId),
      SourceNode: variant(DataType.NodeId, source),
      SourceName: variant(DataType.String, sourceName),
      Time: time,
      ReceiveTime: time,
      Message: variant(DataType.LocalizedText, text),
      Severity: variant(DataType.UInt16, severity),
      ...others,
    }),
  );
  return { get: (path) => values.get(path) };
}

export function variant(dataType: DataType, value: unknown): Variant {
  return new Variant({ dataType, value });
}

/** The paths of select clauses, which are the same for each event of an item. */
const paths = new WeakMap<SimpleAttributeOperand, string>();

/**
 * An event whose values are computed when a filter selects them. node-opcua 2.182 has the ConditionId of
 * conditions with nodes alone, and looks up each field of each event by its path, which takes half a
 * millisecond an event.
 */
export class ComputedEvent {
  readonly type: UAEventType;
  readonly #conditionId: NodeId | null;
  readonly #values: EventValues;

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
    if (hasConditions && !checkFilter(new WhereContext(this.type, this.#values), whereClause)) return null;
    return this.selectFields({ selectClauses });
  }

  /** What the filter selects of it, whether it lets it through or not. */
  selectFields({ selectClauses }: Pick<EventFilter, "selectClauses">): Variant[] {
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
}

/** The id of a field in the evaluation of a where clause. */
class FieldId extends NodeId {
  readonly path: string;

  constructor(path: string) {
    super(NodeIdType.STRING, path, 0);
    this.path = path;
  }
}

/** How a where clause reads an event. node-opcua's own way makes an event with all of its fields before. */
class WhereContext implements FilterContext {
  readonly eventSource: NodeId;
  readonly #type: UAEventType;
  readonly #values: EventValues;

  constructor(type: UAEventType, values: EventValues) {
    this.eventSource = type.nodeId;
    this.#type = type;
    this.#values = values;
  }

  browsePath({ relativePath: { elements } }: BrowsePath): NodeId | null {
    const path = fieldPath((elements ?? []).map(({ targetName }) => targetName));
    return this.#values.get(path) === undefined ? null : new FieldId(path);
  }

  readNodeValue(nodeId: NodeIdLike): Variant {
    return (nodeId instanceof FieldId ? this.#values.get(nodeId.path) : undefined) ?? new Variant({});
  }

  getNodeClass(nodeId: NodeId): NodeClass {
    if (nodeId instanceof FieldId) return NodeClass.Variable;
    return this.#type.addressSpace.findNode(nodeId)?.nodeClass ?? NodeClass.Unspecified;
  }

  /** The source is the type itself. */
  getTypeDefinition(): null {
    return null;
  }

  isSubtypeOf(_type: NodeId, baseType: NodeId): boolean {
    const base = this.#type.addressSpace.findNode(baseType);
    return base?.nodeClass === NodeClass.ObjectType && this.#type.isSubtypeOf(base as UAEventType);
  }
}

function fieldPath(names: readonly QualifiedName[] | null): string {
  return (names ?? [])
    .map(({ namespaceIndex, name }) => (namespaceIndex === 0 ? `${name}` : `${namespaceIndex}:${name}`))
    .join(".");
}
