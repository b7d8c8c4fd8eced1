import type { TagType } from "../../northbound/opcua/model/member.ts";
import type { SharedProperty } from "../../northbound/opcua/model/properties.ts";
import type { Text } from "../../northbound/opcua/model/text.ts";

/** Nodes of OPC UA itself that ours refer to, by the number of their NodeId in namespace 0. */
export const standardNodes = {
  Organizes: 35,
  HasModellingRule: 37,
  HasTypeDefinition: 40,
  HasSubtype: 45,
  HasProperty: 46,
  HasComponent: 47,
  BaseObjectType: 58,
  BaseDataVariableType: 63,
  PropertyType: 68,
  Mandatory: 78,
  Optional: 80,
  ObjectsFolder: 85,
  MultiStateValueDiscreteType: 11238,
  OptionalPlaceholder: 11508,
  AnalogUnitType: 17497,
  AnalogUnitRangeType: 17570,
} as const;

/** A node of OPC UA itself. */
export type StandardNode = keyof typeof standardNodes;

/** A node of OPC UA itself, or one of ours by its path, which is its string NodeId. */
export type NodeRef = { readonly standard: StandardNode } | { readonly path: string };

export interface Reference {
  readonly type: StandardNode;
  readonly isForward: boolean;
  readonly to: NodeRef;
}

export type DataTypeName = TagType | "LocalizedText" | "EnumValueType" | "EUInformation" | "Range";

/** What a variable has besides what every node has. */
export interface VariableFacts {
  readonly dataType: DataTypeName;
  /** Of a fixed array; null: a scalar. */
  readonly length: number | null;
  /** The shared nodes are lists of any length. */
  readonly isList: boolean;
  readonly isWritable: boolean;
  /** The symbol of its unit; empty: none. */
  readonly unit: string;
  readonly range: readonly [low: number, high: number] | null;
  /** A value that a NodeSet holds; null: none. */
  readonly value: SharedProperty | null;
}

/** A node of our namespace, as a client of the gateway sees it. */
export interface ExportedNode {
  readonly kind: "type" | "object" | "variable";
  /** Its string NodeId. */
  readonly path: string;
  readonly browseName: string;
  /** OPC UA itself has named it. */
  readonly hasStandardName: boolean;
  /** Null: it has a name of its own, which is no word. */
  readonly displayName: Text | null;
  readonly description: Text;
  /** Null: no single node is above it. */
  readonly parent: NodeRef | null;
  readonly references: readonly Reference[];
  readonly isAbstract: boolean;
  readonly isNotifier: boolean;
  /** Null: it is no variable. */
  readonly variable: VariableFacts | null;
}

/** Nodes that are written together. A parent that is not in the group says itself which children it has. */
export type NodeGroup = readonly ExportedNode[];
