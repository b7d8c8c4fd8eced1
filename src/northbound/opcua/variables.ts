import {
  DataType,
  LocalizedText,
  makePermissionFlag,
  type NodeId,
  type StatusCode,
  type UAObject,
  type UAObjectType,
} from "node-opcua";
import { textsOf } from "./localized.ts";
import type { EnumModel, TagModel, Text } from "./model/member.ts";
import { tagKind, VALUE_AS_TEXT, valueAsText } from "./model/properties.ts";
import type { LeanNodes } from "./node-opcua/lean-nodes.ts";
import { cached } from "./node-opcua/lower.ts";
import { Tag, type TagTimes } from "./node-opcua/tag.ts";
import type { WriterPermissions } from "./security.ts";
import type { SharedProperties } from "./shared-properties.ts";

/** A tag of the model, or one that no type declares. */
export type GivenTag = Pick<TagModel, "type" | "length" | "isWritable" | "isHistorized" | "enumeration">;
type AnyTag = TagModel | GivenTag;

interface Enumeration {
  readonly enumeration: EnumModel;
}
type EnumGiven = AnyTag & Enumeration;

const textModel: GivenTag & Text = { type: "String", en: valueAsText.en, de: valueAsText.de };

/** Makes the variables of tags. */
export interface Variables {
  tag(parent: UAObject, path: string, name: string, model: AnyTag): Tag;
  enumeration(parent: UAObject, path: string, name: string, model: EnumGiven): EnumTag;
  any(parent: UAObject, path: string, name: string, model: TagModel): Tag | EnumTag;
  /** A member of a type: it has no value. */
  declare(parent: UAObjectType, path: string, name: string, model: TagModel, rule: NodeId): void;
}

// Read once: each read of an export of node-opcua is two calls.
const dataTypes = DataType;

/** @param note is called with each tag, and the path of its parent */
export function createVariables(
  nodes: LeanNodes,
  properties: SharedProperties,
  { operators, engineers }: WriterPermissions,
  note: (tag: Tag, parentPath: string) => void,
): Variables {
  // A member of a type declares that its instances are writable. It has no value of its own, so nobody may
  // write it.
  const permissions = makePermissionFlag("Browse | Read | ReadRolePermissions");
  const readers = operators.map((writer) => ({ ...writer, permissions }));

  function writersOf(model: AnyTag, isDeclared: boolean) {
    if (model.isWritable !== true) return null;
    if (isDeclared) return readers;
    return "isForEngineers" in model && model.isForEngineers === true ? engineers : operators;
  }

  function variable(
    parent: UAObject | UAObjectType,
    path: string,
    name: string,
    model: AnyTag,
    rule?: NodeId,
  ) {
    const made = nodes.variable(parent, path, name, {
      dataType: dataTypes[model.type],
      length: model.length ?? null,
      writers: writersOf(model, rule !== undefined),
      kind: tagKind(model),
      // Not a member of a type: it has no values.
      isHistorized: model.isHistorized === true && rule === undefined,
      texts: "german" in model ? textsOf(name, model) : null,
      ...(rule === undefined ? {} : { rule }),
    });
    for (const property of properties.of(model)) nodes.share(made, property, "property");
    return made;
  }

  function textOf(number: ReturnType<typeof variable>, path: string, rule?: NodeId) {
    return nodes.variable(number, `${path}.${VALUE_AS_TEXT}`, VALUE_AS_TEXT, {
      dataType: DataType.LocalizedText,
      length: null,
      writers: null,
      kind: "property",
      texts: textsOf(VALUE_AS_TEXT, valueAsText),
      ...(rule === undefined ? {} : { rule }),
    });
  }

  function tagOf(parent: UAObject, node: ReturnType<typeof variable>, type: DataType, model: AnyTag): Tag {
    const tag = new Tag(node, type, model.length !== undefined, model);
    note(tag, String(parent.nodeId.value));
    return tag;
  }

  const made: Omit<Variables, "any"> = {
    tag(parent, path, name, model) {
      const node = variable(parent, path, name, model);
      return tagOf(parent, node, dataTypes[model.type], model);
    },
    enumeration(parent, path, name, model) {
      const number = variable(parent, path, name, model);
      const text = textOf(number, path);
      const tags = [
        tagOf(parent, number, DataType.Int32, model),
        tagOf(parent, text, DataType.LocalizedText, textModel),
      ] as const;
      return new EnumTag(...tags, model.enumeration);
    },
    declare(parent, path, name, model, rule) {
      const node = variable(parent, path, name, model, rule);
      if (model.enumeration !== undefined) textOf(node, path, rule);
    },
  };
  return {
    ...made,
    any: (parent, path, name, model) =>
      isEnumeration(model)
        ? made.enumeration(parent, path, name, model)
        : made.tag(parent, path, name, model),
  };
}

/** Whether it is shown as text too. */
export function isEnumeration(model: AnyTag): model is EnumGiven {
  return model.enumeration !== undefined;
}

/** ValueAsText for a number without a name: empty, rather than a guess. */
const noText = new LocalizedText({ text: "" });

const texts = new WeakMap<EnumModel, ReadonlyMap<number, LocalizedText>>();

/** An enum as a number, and as text for people. A number without a name is passed on. */
export class EnumTag {
  readonly #number: Tag;
  readonly #text: Tag;
  readonly #texts: ReadonlyMap<number, LocalizedText>;

  constructor(number: Tag, text: Tag, model: EnumModel) {
    this.#number = number;
    this.#text = text;
    // Made once, and shared by every node of that enum.
    this.#texts = cached(
      texts,
      model,
      () => new Map(model.values.map(({ value, name }) => [value, new LocalizedText({ text: name })])),
    );
  }

  set(raw: number, status: StatusCode, times: TagTimes): void {
    this.#number.set(raw, status, times);
    this.#text.set(this.#texts.get(raw) ?? noText, status, times);
  }

  weaken(status: StatusCode, times: TagTimes): void {
    this.#number.weaken(status, times);
    this.#text.weaken(status, times);
  }

  fail(status: StatusCode, times: TagTimes): void {
    this.#number.fail(status, times);
    this.#text.fail(status, times);
  }
}
