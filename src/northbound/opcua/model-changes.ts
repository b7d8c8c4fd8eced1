import {
  type AddressSpace,
  DataType,
  ModelChangeStructureDataType,
  type UAObject,
  VariantArrayType,
} from "node-opcua";
import type { Clock } from "../../platform/clock.ts";

/** What happened to a node, as bits (OPC UA part 5, 12.16). */
const verbs = { added: 1, deleted: 2, extended: 4, reduced: 8 } as const;

/** A change of the tree that a client may have browsed already. */
export interface ModelChange {
  readonly node: UAObject;
  /** The node is new or gone, or it refers to more or fewer nodes than before. */
  readonly verb: keyof typeof verbs;
}

/** Notifies clients that listen to the server's events of what they should browse again. */
export type NotifyModelChanges = (changes: readonly ModelChange[]) => void;

/** Changes within this time are one event, because many robots may appear at once. */
const TOGETHER_MS = 250;
/** An event names no more changes than this: beyond it, a client should browse the folder of all. */
const MOST_CHANGES = 1_000;

export function createModelChanges(addressSpace: AddressSpace, clock: Clock): NotifyModelChanges {
  const { server } = addressSpace.rootFolder.objects;
  let waiting = new Map<string, ModelChange>();

  function notify(): void {
    const all = [...waiting.values()];
    waiting = new Map();
    // The folder with more or fewer references is what a client browses again.
    const folders = all.filter(({ verb }) => verb === "extended" || verb === "reduced");
    raise(all.length <= MOST_CHANGES ? all : folders);
  }

  function raise(changes: readonly ModelChange[]): void {
    // An event costs more than the nodes that it announces, and most plants have no listener.
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
  }

  return (changes) => {
    if (changes.length === 0) return;
    if (waiting.size === 0) clock.after(TOGETHER_MS, notify);
    for (const change of changes) waiting.set(`${change.node.nodeId.toString()} ${change.verb}`, change);
  };
}

/** Not a problem (OPC UA part 5, 6.4.2). */
const LOWEST_SEVERITY = 1;
