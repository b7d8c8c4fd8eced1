import type { ComponentChild } from "preact";
import type { TextKey, Values } from "../texts/spoken.ts";
import { formOf } from "../texts/texts.ts";

/** A text whose values may be elements, as links. */
export function Says<Key extends TextKey>(props: { readonly of: Key } & Values<Key, ComponentChild>) {
  const values: Readonly<Record<string, ComponentChild>> = props;
  const parts = formOf(props.of, values.count).split(/\{(\w+)\}/);
  return <>{parts.map((part, at) => (at % 2 === 0 ? part : values[part]))}</>;
}
