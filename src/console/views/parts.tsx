import type { ComponentChildren } from "preact";
import type { Emphasis } from "../floor/scene.ts";
import { dateAndTime, timeOfDay } from "../trust/time-text.ts";
import { usePage } from "./context.ts";

/** A link within the page. */
export function Link(props: {
  readonly to: string;
  readonly class?: string;
  readonly current?: boolean;
  readonly children: ComponentChildren;
}) {
  const { go } = usePage();
  const follow = (event: MouseEvent) => {
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    go(props.to);
  };
  return (
    <a
      href={props.to}
      class={props.class}
      aria-current={props.current === true ? "page" : undefined}
      onClick={follow}
    >
      {props.children}
    </a>
  );
}

const shapes: Readonly<Record<Emphasis, string>> = { normal: "●", abnormal: "◆", alarm: "▲" };

/** A state: never by colour alone. */
export function Word({ word, emphasis }: { readonly word: string; readonly emphasis: Emphasis }) {
  return (
    <span class={`word ${emphasis}`}>
      <span aria-hidden="true">{shapes[emphasis]}</span> {word}
    </span>
  );
}

/** A moment of the gateway's clock in local time; UTC as a tooltip. */
export function Time({ iso, isDated = false }: { readonly iso: string | null; readonly isDated?: boolean }) {
  if (iso === null) return <span>–</span>;
  const atMs = Date.parse(iso);
  return (
    <time dateTime={iso} title={`${iso} (UTC)`}>
      {isDated ? dateAndTime(atMs) : timeOfDay(atMs)}
    </time>
  );
}

/** A table that scrolls by itself on a narrow screen, below a fixed caption. */
export function Table(props: {
  readonly caption: string;
  readonly columns: readonly string[];
  readonly children: ComponentChildren;
}) {
  return (
    <>
      <p class="caption" aria-hidden="true">
        {props.caption}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard */}
      <section class="scroll" tabIndex={0} aria-label={props.caption}>
        <table aria-label={props.caption}>
          <thead>
            <tr>
              {props.columns.map((column) => (
                <th key={column} scope="col">
                  {column === "" ? <span class="unseen">Place in the queue</span> : column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>{props.children}</tbody>
        </table>
      </section>
    </>
  );
}
