import type { TagType, Text } from "../../northbound/opcua/model/member.ts";
import type { argumentLists, MethodArgument, MethodModel } from "../../northbound/opcua/model/method.ts";
import type { SharedProperty } from "../../northbound/opcua/model/properties.ts";

/** Nodes of OPC UA itself that ours refer to, by the number of their NodeId in namespace 0. */
export const standardNodes = {
  Organizes: 35,
  HasModellingRule: 37,
  HasTypeDefinition: 40,
  HasSubtype: 45,
  HasProperty: 46,
  HasComponent: 47,
  HasNotifier: 48,
  BaseObjectType: 58,
  FolderType: 61,
  BaseDataVariableType: 63,
  PropertyType: 68,
  Mandatory: 78,
  Optional: 80,
  ObjectsFolder: 85,
  BaseEventType: 2041,
  Server: 2253,
  MultiStateValueDiscreteType: 11238,
  ExclusiveLevelAlarmType: 9482,
  OffNormalAlarmType: 10637,
  HasCondition: 9006,
  OptionalPlaceholder: 11508,
  CertificateExpirationAlarmType: 13225,
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

/** Data types, by the number of their NodeId in namespace 0. */
export const dataTypes = {
  Boolean: 1,
  Int32: 6,
  Double: 11,
  String: 12,
  DateTime: 13,
  LocalizedText: 21,
  Argument: 296,
  Range: 884,
  EUInformation: 887,
  EnumValueType: 7594,
} as const satisfies Readonly<Record<TagType, number>> & Readonly<Record<string, number>>;

export type DataTypeName = keyof typeof dataTypes;

/** The inputs or outputs of a method. */
export interface ArgumentValue {
  readonly name: keyof typeof argumentLists;
  readonly list: readonly MethodArgument[];
}

/** The further fields of a variable. */
export interface VariableFacts {
  readonly dataType: DataTypeName;
  /** Of a fixed array; null: a scalar. */
  readonly length: number | null;
  readonly isWritable: boolean;
  readonly isHistorized: boolean;
  /** The symbol of its unit; empty: none. */
  readonly unit: string;
  readonly range: readonly [low: number, high: number] | null;
  /** The value in a NodeSet; null: none. */
  readonly value: SharedProperty | ArgumentValue | null;
}

/** A node of our namespace, as clients of the gateway see it. */
export interface ExportedNode {
  readonly kind: "type" | "object" | "variable" | "method";
  /** Its string NodeId. */
  readonly path: string;
  readonly browseName: string;
  /** OPC UA itself has named it. */
  readonly hasStandardName: boolean;
  /** Null: it has a name of its own, which is no word. */
  readonly displayName: Text | null;
  /** A plain text is English. */
  readonly description: Text | string;
  /** Null: it has no single parent. */
  readonly parent: NodeRef | null;
  readonly references: readonly Reference[];
  readonly isAbstract: boolean;
  /** An object at which clients subscribe to events. */
  readonly isNotifier?: true;
  /** Null: it is no variable. */
  readonly variable: VariableFacts | null;
  /** Null: it is no method. */
  readonly method: MethodModel | null;
}

/** Nodes that are written together. A parent outside of the group lists its children itself. */
export type NodeGroup = readonly ExportedNode[];
