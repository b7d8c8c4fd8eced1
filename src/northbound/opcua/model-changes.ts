import {
  type AddressSpace,
  DataType,
  ModelChangeStructureDataType,
  type UAObject,
  VariantArrayType,
} from "node-opcua";

/** What happened to a node, as bits (OPC UA part 5, 12.16). */
const verbs = { added: 1, deleted: 2, extended: 4, reduced: 8 } as const;

/** A change of the tree that a client may have browsed already. */
export interface ModelChange {
  readonly node: UAObject;
  /** The node is new or gone, or it refers to more or fewer nodes than before. */
  readonly verb: keyof typeof verbs;
}

/** Tells clients that listen to the server's events what they should browse again. */
export type TellModelChanges = (changes: readonly ModelChange[]) => void;

export function createModelChanges(addressSpace: AddressSpace): TellModelChanges {
  const { server } = addressSpace.rootFolder.objects;
  return (changes) => {
    // An event costs more than the nodes that it tells of, and most plants have nobody who listens.
    if (changes.length === 0 || server.listenerCount("event") === 0) return;
    server.raiseEvent("GeneralModelChangeEventType", {
      message: {
        dataType: DataType.LocalizedText,
        value: { locale: "en", text: "nodes were added or removed" },
      },
      severity: { dataType: DataType.UInt16, value: LOWEST_SEVERITY },
      changes: {
        dataType: DataType.ExtensionObject,
        arrayType: VariantArrayType.Array,
        value: changes.map(
          ({ node, verb }) =>
            new ModelChangeStructureDataType({
              affected: node.nodeId,
              affectedType: node.typeDefinition,
              verb: verbs[verb],
            }),
        ),
      },
    });
  };
}

/** Nothing is wrong (OPC UA part 5, 6.4.2). */
const LOWEST_SEVERITY = 1;
