import { LocalizedText } from "node-opcua";
import type { NamedText, Text } from "./model/member.ts";
import type { NodeTexts } from "./node-opcua/lean-nodes.ts";
import { cached } from "./node-opcua/lower.ts";

const texts = new Map<string, LocalizedText>();
const germanTexts = new WeakMap<LocalizedText, LocalizedText>();
const nodeTexts = new WeakMap<Text, Required<NodeTexts>>();
const namedTexts = new WeakMap<Text, NodeTexts>();

/** The English text. The same object for equal texts: many nodes share it. */
export function localized({ en, de }: Text): LocalizedText {
  return cached(texts, `${en}\0${de}`, () => {
    const english = new LocalizedText({ locale: "en", text: en });
    germanTexts.set(english, new LocalizedText({ locale: "de", text: de }));
    return english;
  });
}

/** The German text for an English one; null: there is none. */
export function germanOf(text: unknown): LocalizedText | null {
  return text instanceof LocalizedText ? (germanTexts.get(text) ?? null) : null;
}

/** The texts of a node of this name. In English its DisplayName is its name, as programs know it. */
export function textsOf(name: string, model: NamedText): Required<NodeTexts> {
  const known = nodeTexts.get(model);
  // A type has a name of its own, and the object directly under Objects another one.
  if (known?.displayName.text === name) return known;
  const made = { displayName: localized({ en: name, de: model.german }), description: localized(model) };
  if (known === undefined) nodeTexts.set(model, made);
  return made;
}

/** The same for a node whose name is no word. */
export function textsOfNamed(model: Text): NodeTexts {
  return cached(namedTexts, model, () => ({ description: localized(model) }));
}
