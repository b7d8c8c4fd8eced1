import {
  type AddressSpace,
  type BaseNode,
  type NodeId,
  ReferenceTypeIds,
  type UAReference,
  type UAReferenceType,
} from "node-opcua";
import { cached, lower, recordOf, standardId } from "./lower.ts";

/** The relation of a node to its parent. */
export interface Relation {
  readonly type: UAReferenceType;
  readonly toParents: WeakMap<BaseNode, UAReference>;
  lastParent: BaseNode | null;
  toLastParent: UAReference | null;
}

/** The references of nodes, which many nodes share. */
export interface SharedReferences {
  readonly relations: Readonly<Record<"component" | "property" | "notifier", Relation>>;
  /** References to the type and to the parent: two for each of them are enough for all nodes. */
  of(type: NodeId, parent: BaseNode, relation: Relation): UAReference[];
  /** A reference which says whether instances of a type have a member. */
  rule(rule: NodeId): UAReference;
  /** Adds a reference from the parent to its new child. */
  adopt(parent: BaseNode, child: BaseNode, relation: Relation): void;
  /** The tags of a folder refer to the same nodes: all share the map of the first. */
  shareAmongTags(tag: BaseNode, parent: BaseNode): void;
  /** Adds references from a parent to a node that exists, and back. */
  link(parent: BaseNode, child: BaseNode, relation: Relation): void;
  /** Adds a reference from `parent` to a shared node, which has no references back. */
  share(parent: BaseNode, shared: BaseNode, relation: Relation): void;
  /** Gives an object another type. */
  retype(object: BaseNode, type: NodeId): void;
  /** Removes the references from the parent to its child. Returns a function that restores them. */
  unlink(parent: BaseNode, child: BaseNode): () => void;
  /** The children of a node that it does not share with others. */
  childrenOf(parent: BaseNode): readonly BaseNode[];
}

/** A reference that node-opcua uses as it is, so that many nodes can share it. */
interface LowerAddressSpace {
  normalizeReferenceType(options: object): UAReference;
}
interface LowerNode {
  _add_backward_reference(reference: UAReference): void;
  __addReference(reference: UAReference): void;
  _clear_caches(): void;
}
interface NodeRecord {
  _referenceIdx: ReadonlyMap<unknown, UAReference>;
}
interface ParentRecord {
  readonly _back_referenceIdx: Map<unknown, UAReference & { readonly node?: BaseNode }>;
}

const { HasComponent, HasProperty, HasNotifier, HasTypeDefinition, HasModellingRule } = ReferenceTypeIds;

export function createSharedReferences(addressSpace: AddressSpace): SharedReferences {
  const space = lower<LowerAddressSpace>(addressSpace, "normalizeReferenceType");
  const typeReferences = new WeakMap<NodeId, UAReference>();
  const ruleReferences = new WeakMap<NodeId, UAReference>();
  const sharedReferences = new WeakMap<BaseNode, UAReference>();
  const tagReferences = new WeakMap<BaseNode, NodeRecord["_referenceIdx"]>();
  let lastKey = 0;

  const types = { definition: standardId(HasTypeDefinition), rule: standardId(HasModellingRule) };

  function reference(referenceType: NodeId, nodeId: NodeId, isForward: boolean): UAReference {
    return keyed(space.normalizeReferenceType({ referenceType, nodeId, isForward }));
  }
  /** A node finds its references by this key: without it node-opcua makes a text of the whole NodeId. */
  function keyed(made: UAReference): UAReference {
    lastKey -= 1;
    Reflect.set(made, "__key", lastKey);
    return made;
  }
  function toType(type: NodeId): UAReference {
    return cached(typeReferences, type, () => reference(types.definition, type, true));
  }

  /**
   * Most nodes have the same parent as the node before: comparing with it is cheaper than a look into the
   * map.
   */
  function toParent(parent: BaseNode, relation: Relation): UAReference {
    if (relation.lastParent !== parent) {
      const make = () => reference(relation.type.nodeId, parent.nodeId, false);
      relation.lastParent = parent;
      relation.toLastParent = cached(relation.toParents, parent, make);
    }
    return relation.toLastParent as UAReference;
  }

  function adopt(parent: BaseNode, child: BaseNode, { type }: Relation): void {
    const fromParent = keyed(
      space.normalizeReferenceType({
        referenceType: type.nodeId,
        _referenceType: type,
        nodeId: child,
        isForward: true,
      }),
    );
    lower<LowerNode>(parent, "_add_backward_reference")._add_backward_reference(fromParent);
  }

  return {
    relations: {
      component: relation(addressSpace, HasComponent),
      property: relation(addressSpace, HasProperty),
      notifier: relation(addressSpace, HasNotifier),
    },
    of(type, parent, relation) {
      return [toType(type), toParent(parent, relation)];
    },
    rule: (rule) => cached(ruleReferences, rule, () => reference(types.rule, rule, true)),
    adopt,
    link(parent, child, relation) {
      lower<LowerNode>(child, "__addReference").__addReference(toParent(parent, relation));
      adopt(parent, child, relation);
    },
    shareAmongTags(tag, parent) {
      const record = recordOf<NodeRecord>(tag, "_referenceIdx");
      record._referenceIdx = cached(tagReferences, parent, () => record._referenceIdx);
    },
    share(parent, shared, { type: { nodeId } }) {
      const to = cached(sharedReferences, shared, () => reference(nodeId, shared.nodeId, true));
      lower<LowerNode>(parent, "__addReference").__addReference(to);
    },
    retype(object, type) {
      const record = recordOf<NodeRecord>(object, "_referenceIdx");
      const kept = [...record._referenceIdx].filter(
        ([, { referenceType }]) => referenceType.namespace !== 0 || referenceType.value !== HasTypeDefinition,
      );
      record._referenceIdx = new Map(kept);
      lower<LowerNode>(object, "__addReference").__addReference(toType(type));
      lower<LowerNode>(object, "_clear_caches")._clear_caches();
    },
    unlink(parent, child) {
      const { _back_referenceIdx: references } = recordOf<ParentRecord>(parent, "_back_referenceIdx");
      const found = [...references].filter(([, { node }]) => node === child);
      if (found.length === 0) throw new Error("the parent does not refer to the child");
      const clear = () => lower<LowerNode>(parent, "_clear_caches")._clear_caches();
      for (const [key] of found) references.delete(key);
      clear();
      return () => {
        for (const entry of found) references.set(...entry);
        clear();
      };
    },
    childrenOf(parent) {
      const { _back_referenceIdx: references } = recordOf<ParentRecord>(parent, "_back_referenceIdx");
      return [...references.values()].flatMap(({ isForward, node }) =>
        isForward && node !== undefined ? [node] : [],
      );
    },
  };
}

function relation(addressSpace: AddressSpace, id: ReferenceTypeIds): Relation {
  const type = addressSpace.findReferenceType(standardId(id));
  if (type === null) throw new Error(`node-opcua has no reference type ${id}`);
  return { type, toParents: new WeakMap(), lastParent: null, toLastParent: null };
}
