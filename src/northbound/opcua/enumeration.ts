import { LocalizedText, type StatusCode } from "node-opcua";
import type { EnumModel } from "./model/enum-model.ts";
import { cached } from "./node-opcua/lower.ts";
import type { Tag, TagTimes } from "./node-opcua/tag.ts";

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
