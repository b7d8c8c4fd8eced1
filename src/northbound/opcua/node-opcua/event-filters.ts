import {
  type AddressSpace,
  AttributeIds,
  type BaseNode,
  BrowseDirection,
  type ContentFilter,
  type ContentFilterElement,
  DataType,
  ElementOperand,
  EventFilter,
  EventFilterResult,
  type ExtensionObject,
  FilterOperator,
  type Int64,
  Int64ToBigInt,
  LiteralOperand,
  NodeClass,
  NodeId,
  type QualifiedName,
  SimpleAttributeOperand,
  type StatusCode,
  StatusCodes,
  type UAObjectType,
  type UInt64,
  UInt64ToBigInt,
  Variant,
  VariantArrayType,
  validateContentFilter,
} from "node-opcua";
import { cached } from "./lower.ts";

const { Good } = StatusCodes;

/** The operators that node-opcua 2.182 evaluates; it takes the others, and lets no event through. */
const supported: ReadonlySet<FilterOperator> = new Set([
  FilterOperator.Equals,
  FilterOperator.GreaterThan,
  FilterOperator.LessThan,
  FilterOperator.GreaterThanOrEqual,
  FilterOperator.LessThanOrEqual,
  FilterOperator.Not,
  FilterOperator.Between,
  FilterOperator.InList,
  FilterOperator.And,
  FilterOperator.Or,
  FilterOperator.OfType,
]);

/** The limit of select clauses, and of operands in the where clause: node-opcua checks it too late. */
const MOST_PARTS = 1_000;
/** Of the where clause: each event evaluates them for each item. */
const MOST_ELEMENTS = 64;
const LONGEST_LITERAL_BYTES = 4_096;
const LONGEST_FILTER_BYTES = 65_536;

/** What a server says of a filter of events (OPC UA part 4, 7.22.3). */
export interface FilterVerdict {
  /** Good, or why no item gets this filter. */
  readonly status: StatusCode;
  /** The results of the select clauses. A bad one selects null. */
  readonly result: EventFilterResult | null;
}

/** Selects null of every event. */
const nothing = new SimpleAttributeOperand({
  typeDefinitionId: "i=2041",
  browsePath: [{ name: "-" }],
  attributeId: AttributeIds.Value,
});

/**
 * Checks a client's filter of events. A bad select clause is replaced by one that selects null: node-opcua
 * 2.182 throws at some of them.
 */
export function checkEventFilter(space: AddressSpace, filter: unknown): FilterVerdict {
  if (!(filter instanceof EventFilter) || isTooLong(filter))
    return { status: StatusCodes.BadEventFilterInvalid, result: null };
  const selectClauseResults = (filter.selectClauses ?? []).map((clause) => clauseStatus(space, clause));
  filter.selectClauses = (filter.selectClauses ?? []).map((clause, index) =>
    selectClauseResults[index] === Good ? clause : nothing,
  );
  const status = whereStatus(space, filter.whereClause);
  const hasGood = selectClauseResults.some((each) => each === Good);
  return {
    status: status === Good && !hasGood ? StatusCodes.BadEventFilterInvalid : status,
    result: new EventFilterResult({ selectClauseResults }),
  };
}

function isTooLong(filter: EventFilter): boolean {
  const { selectClauses, whereClause } = filter;
  if ((whereClause?.elements ?? []).length > MOST_ELEMENTS) return true;
  const parts = Math.max((selectClauses ?? []).length, operandsOf(whereClause));
  return parts > MOST_PARTS || filter.binaryStoreSize() > LONGEST_FILTER_BYTES;
}

/**
 * How many operands a where clause has, or an event evaluates: an element is evaluated again for each
 * reference to it. A filter of 40 elements that each refer to the next one twice would hold up the gateway
 * for ever, because an event is evaluated where it is raised.
 */
export function operandsOf(where: ContentFilter | null): number {
  const elements = (where?.elements ?? []).map((element) => element?.filterOperands ?? []);
  const known = new Map<number, number>();
  function evaluated(index: number): number {
    return cached(known, index, () => {
      const operands = elements[index] ?? [];
      // For a circle, which is refused later.
      known.set(index, 0);
      return operands.reduce(
        (sum, operand) => sum + (operand instanceof ElementOperand ? evaluated(operand.index) : 0),
        operands.length,
      );
    });
  }
  return Math.max(
    evaluated(0),
    elements.reduce((sum, { length }) => sum + length, 0),
  );
}

function whereStatus(space: AddressSpace, where: ContentFilter | null): StatusCode {
  for (const element of where?.elements ?? []) {
    const status = element === null ? Good : elementStatus(space, element);
    if (status !== Good) return status;
  }
  return where === null ? Good : validateContentFilter(where);
}

function elementStatus(space: AddressSpace, { filterOperator, filterOperands }: ContentFilterElement) {
  if (FilterOperator[filterOperator] === undefined) return StatusCodes.BadFilterOperatorInvalid;
  if (!supported.has(filterOperator)) return StatusCodes.BadFilterOperatorUnsupported;
  const operands = filterOperands ?? [];
  for (const operand of operands) {
    const status = operandStatus(space, operand);
    if (status !== Good) return status;
  }
  if (filterOperator === FilterOperator.OfType) return typeStatus(space, operands[0]);
  if (filterOperator === FilterOperator.InList) return listStatus(operands);
  return Good;
}

function operandStatus(space: AddressSpace, operand: ExtensionObject | null): StatusCode {
  if (operand instanceof SimpleAttributeOperand) return clauseStatus(space, operand);
  if (operand instanceof ElementOperand) return Good;
  if (!(operand instanceof LiteralOperand)) return StatusCodes.BadFilterOperandInvalid;
  return literalStatus(operand);
}

/** Types of which node-opcua 2.182 has no order and no equality; at ExtensionObject it prints a line. */
const incomparable: ReadonlySet<DataType> = new Set([
  DataType.ExtensionObject,
  DataType.StatusCode,
  DataType.ExpandedNodeId,
  DataType.DataValue,
  DataType.DiagnosticInfo,
  DataType.Variant,
]);

/** A number that node-opcua 2.182 does not compare becomes a Double: a Python client sends Int64. */
function literalStatus(operand: LiteralOperand): StatusCode {
  const { dataType, arrayType, value } = operand.value;
  const isLong = operand.binaryStoreSize() > LONGEST_LITERAL_BYTES;
  if (isLong || arrayType !== VariantArrayType.Scalar || incomparable.has(dataType))
    return StatusCodes.BadFilterLiteralInvalid;
  const number = numberOf(dataType, value);
  if (number !== null) operand.value = new Variant({ dataType: DataType.Double, value: number });
  return Good;
}

/** Null: it is of another type. */
function numberOf(dataType: DataType, value: unknown): number | null {
  if (dataType === DataType.Float) return Number(value);
  if (dataType === DataType.Int64) return Number(Int64ToBigInt(value as Int64));
  return dataType === DataType.UInt64 ? Number(UInt64ToBigInt(value as UInt64)) : null;
}

/** Its operand is a literal with an event type. */
function typeStatus(space: AddressSpace, operand: ExtensionObject | null | undefined): StatusCode {
  if (operand === undefined) return Good;
  const type = literalNodeId(operand);
  if (type === null) return StatusCodes.BadFilterOperandInvalid;
  if (space.findNode(type) === null) return StatusCodes.BadNodeIdUnknown;
  return eventFieldsOf(space).isEventType(type) ? Good : StatusCodes.BadFilterOperandInvalid;
}

/** node-opcua finds NodeIds in a list, and nothing else. */
function listStatus([first, ...others]: ReadonlyArray<ExtensionObject | null>): StatusCode {
  if (first === undefined || others.length === 0) return StatusCodes.BadFilterOperandCountMismatch;
  const isServed =
    first instanceof SimpleAttributeOperand && others.every((each) => literalNodeId(each) !== null);
  return isServed ? Good : StatusCodes.BadFilterOperatorUnsupported;
}

function literalNodeId(operand: ExtensionObject | null): NodeId | null {
  if (!(operand instanceof LiteralOperand) || operand.value.dataType !== DataType.NodeId) return null;
  return operand.value.value instanceof NodeId ? operand.value.value : null;
}

/** A field of events: one that a type, or any type that extends it, has. */
function clauseStatus(space: AddressSpace, clause: SimpleAttributeOperand | null): StatusCode {
  if (clause === null) return StatusCodes.BadFilterOperandInvalid;
  const { typeDefinitionId, browsePath, attributeId, indexRange } = clause;
  const fields = eventFieldsOf(space);
  const type = typeDefinitionId.isEmpty() ? fields.baseType : typeDefinitionId;
  if (!fields.isEventType(type)) return StatusCodes.BadTypeDefinitionInvalid;
  const path = browsePath ?? [];
  if (path.some((name) => name?.name == null || name.name === "")) return StatusCodes.BadBrowseNameInvalid;
  // The id of a condition (OPC UA part 9, 5.5.2).
  if (path.length === 0)
    return attributeId === AttributeIds.NodeId ? Good : StatusCodes.BadAttributeIdInvalid;
  if (!fields.has(type, path)) return StatusCodes.BadNodeIdUnknown;
  if (attributeId !== AttributeIds.Value) return StatusCodes.BadAttributeIdInvalid;
  return indexRange?.isValid() === false ? StatusCodes.BadIndexRangeInvalid : Good;
}

/** The fields of all event types of an address space. */
interface EventTypeFields {
  /** BaseEventType. */
  readonly baseType: NodeId;
  isEventType(type: NodeId): boolean;
  /** Whether events of the type, or of one that extends it, have a field at this path. */
  has(type: NodeId, path: readonly QualifiedName[]): boolean;
}

const spaces = new WeakMap<AddressSpace, EventTypeFields>();

/** They are collected at the first question: types do not change while the server runs. */
function eventFieldsOf(space: AddressSpace): EventTypeFields {
  return cached(spaces, space, () => collect(space));
}

function collect(space: AddressSpace): EventTypeFields {
  const baseType = space.findEventType("BaseEventType");
  if (baseType === null) throw new Error("the address space has no BaseEventType");
  /** The paths of a type's fields, with those of the types that extend it. */
  const paths = new Map<string, ReadonlySet<string>>();

  function add(type: UAObjectType, inherited: readonly string[]): ReadonlySet<string> {
    const own = [...inherited, ...pathsBelow(type, "", DEEPEST)];
    const all = new Set(own);
    for (const subtype of subtypesOf(type)) for (const path of add(subtype, own)) all.add(path);
    paths.set(type.nodeId.toString(), all);
    return all;
  }

  add(baseType, []);
  return {
    baseType: baseType.nodeId,
    isEventType: (type) => paths.has(type.toString()),
    has: (type, path) => paths.get(type.toString())?.has(path.map(String).join("/")) === true,
  };
}

function subtypesOf(type: UAObjectType): readonly UAObjectType[] {
  const subtypes = type.findReferencesAsObject("HasSubtype", true);
  return subtypes.filter((node): node is UAObjectType => node.nodeClass === NodeClass.ObjectType);
}

/** `ShelvingState/CurrentState/Id` of alarms. */
const DEEPEST = 3;

/** Fields have fields of their own: `EnabledState` has its `Id`. */
function pathsBelow(node: BaseNode, prefix: string, depth: number): readonly string[] {
  if (depth === 0) return [];
  return node.findReferencesExAsObject("Aggregates", BrowseDirection.Forward).flatMap((child) => {
    const path = prefix + String(child.browseName);
    const below = pathsBelow(child, `${path}/`, depth - 1);
    return child.nodeClass === NodeClass.Variable ? [path, ...below] : below;
  });
}
