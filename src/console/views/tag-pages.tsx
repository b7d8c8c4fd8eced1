import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Tags } from "../../northbound/web/api/tag.ts";
import { say } from "../texts/texts.ts";

/** The shown page of a search; another search begins with its first page. */
export interface Position {
  readonly search: string;
  readonly cursor: string;
  /** The cursors of the pages before this one. */
  readonly before: readonly string[];
}

/** A press that leads to another page. */
interface Turned {
  readonly search: string;
  readonly button: HTMLButtonElement;
  /** That page is being read. */
  isReading: boolean;
}

/**
 * Turns the pages of the list. While the next page is read the buttons stay, so that the keyboard keeps its
 * place.
 */
export function Pages(props: {
  /** Null: it is being read. */
  readonly page: Tags | null;
  readonly position: Position;
  readonly turn: (cursor: string, before: readonly string[]) => void;
  /** Gets the focus of a button that leads no further. */
  readonly heading: RefObject<HTMLElement | null>;
}) {
  const { page, position, turn, heading } = props;
  const { search, cursor, before } = position;
  const turned = useRef<Turned | null>(null);
  const { current: last } = turned;
  const isTurning = last?.search === search && (page === null || !last.isReading);
  const next = page?.next ?? null;
  useLayoutEffect(() => {
    if (last === null) return;
    // The earlier page is there for a frame after the press.
    if (page === null) last.isReading = true;
    if (page === null || !last.isReading) return;
    turned.current = null;
    if (last.button.disabled && document.activeElement === last.button) heading.current?.focus();
  });
  if (page === null && !isTurning) return null;
  const button = (key: "tags.before" | "tags.next", isLast: boolean, press: () => void) => (
    <button
      type="button"
      disabled={!isTurning && isLast}
      aria-disabled={isTurning}
      onClick={({ currentTarget }) => {
        if (turned.current?.search === search) return;
        turned.current = { search, button: currentTarget, isReading: false };
        press();
      }}
    >
      {say(key)}
    </button>
  );
  return (
    <div class="line-up">
      {button("tags.before", before.length === 0, () => turn(before.at(-1) ?? "", before.slice(0, -1)))}
      {button("tags.next", next === null, () => turn(next ?? "", [...before, cursor]))}
    </div>
  );
}
