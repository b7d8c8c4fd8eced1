import { computed } from "@preact/signals";
import type { ComponentChild, ComponentChildren, RefObject } from "preact";
import { useMemo } from "preact/hooks";
import type { Emphasis } from "../floor/scene.ts";
import { type IconName, iconPaths } from "../icon-paths.ts";
import type { Store } from "../store.ts";
import { formOf, say, type TextKey, type Values } from "../texts/texts.ts";
import { agoText, dateAndTime, elapsedMs, timeOfDay } from "../trust/time-text.ts";
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
    <time dateTime={iso} title={say("time.utc", { time: iso })}>
      {isDated ? dateAndTime(atMs) : timeOfDay(atMs)}
    </time>
  );
}

/** How long ago a moment of the gateway's clock was, by that clock; the moment itself as a tooltip. */
export function Ago({ iso }: { readonly iso: string | null }) {
  const { store } = usePage();
  // Rendered only if the text differs: the clocks are read three times a second.
  const age = useMemo(() => computed(() => (iso === null ? null : ageOf(store, iso))), [store, iso]).value;
  if (iso === null || age === null) return <Time iso={iso} isDated />;
  return (
    <time dateTime={iso} title={say("time.zoned", { time: dateAndTime(Date.parse(iso)), zone, utc: iso })}>
      {age}
    </time>
  );
}

function ageOf(store: Store, iso: string): string | null {
  const nowMs = gatewayNowMs(store);
  return nowMs === null ? null : agoText(nowMs - Date.parse(iso));
}

/** The gateway's clock now; null: it is not known. */
export function gatewayNowMs({ clock, now }: Pick<Store, "clock" | "now">): number | null {
  const { value: heard } = clock;
  return heard === null ? null : heard.atMs + elapsedMs(heard.heardAt, now.value);
}

/** The time zone of all times of the page. */
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Names the zone once for a page. */
export function TimeZone() {
  return <small>{say("time.zone", { zone })}</small>;
}

/** A column: its heading, and a class for its cells. */
export type Column = string | { readonly name: string; readonly class: string };

export interface TableRow {
  readonly key: string;
  readonly class?: string;
  /** As many as there are columns. */
  readonly cells: readonly ComponentChild[];
}

/** A table that scrolls by itself below a fixed caption; on a narrow screen, a card for each row. */
export function Table(props: {
  readonly caption: string;
  readonly columns: readonly Column[];
  readonly rows: readonly TableRow[];
  /** The first cell names its row. */
  readonly isNamed?: boolean;
}) {
  const { caption, rows, isNamed = false } = props;
  const columns = props.columns.map((each, at) =>
    // The first cell is the title of a card.
    typeof each === "string" ? { name: each, class: at === 0 ? "title" : "" } : each,
  );
  return (
    <div class="table">
      <p class="caption" aria-hidden="true">
        {caption}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by the keyboard */}
      <section class="scroll" tabIndex={0} aria-label={caption}>
        <table aria-label={caption}>
          <thead>
            <tr>
              {columns.map(({ name, class: own }) => (
                <th key={name} scope="col" class={own}>
                  {name === "" ? <span class="unseen">{say("robot.queuePlace")}</span> : name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ key, class: own, cells }) => (
              <tr key={key} class={own}>
                {cells.map((cell, at) =>
                  at === 0 && isNamed ? (
                    <th key={at} scope="row" data-label={columns[at]?.name} class={columns[at]?.class}>
                      {cell}
                    </th>
                  ) : (
                    <td key={at} data-label={columns[at]?.name} class={columns[at]?.class}>
                      {cell}
                    </td>
                  ),
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </div>
  );
}

/** Nothing to show: why, and what can be done. */
export function Empty(props: {
  readonly icon: IconName;
  readonly title: string;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="empty">
      <Icon name={props.icon} />
      <strong>{props.title}</strong>
      {props.children}
    </div>
  );
}

/** A part of a page with a heading. */
export function Card({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <section class="card" aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

/** A charge as a bar; the number stands beside it. */
export function Charge({ percent }: { readonly percent: number }) {
  const ref = (bar: HTMLElement | null) => {
    // An attribute would be refused: the page's policy allows no styles in markup.
    if (bar !== null) bar.style.width = `${Math.min(100, Math.max(0, percent))}%`;
  };
  return (
    <span class={percent < 20 ? "meter low" : "meter"} aria-hidden="true">
      <i ref={ref} />
    </span>
  );
}

/** Asks for the password of this browser's user. */
export function Password(props: {
  readonly label: string;
  readonly class?: string;
  readonly field: RefObject<HTMLInputElement | null>;
}) {
  return (
    <label class={props.class}>
      {props.label}{" "}
      <input
        ref={props.field}
        name="password"
        type="password"
        autocomplete="current-password"
        maxLength={256}
        required
      />
    </label>
  );
}

const SHORT_ID = 8;

/** The beginning of a long id; all of it as a tooltip. */
export function ShortId({ id }: { readonly id: string }) {
  if (id.length <= SHORT_ID + 4) return <span class="id">{id}</span>;
  return (
    <span class="id" title={id}>
      {id.slice(0, SHORT_ID)}…
    </span>
  );
}

/** A text whose values may be elements, as links. */
export function Says<Key extends TextKey>(props: { readonly of: Key } & Values<Key, ComponentChild>) {
  const values: Readonly<Record<string, ComponentChild>> = props;
  const parts = formOf(props.of, values.count).split(/\{(\w+)\}/);
  return <>{parts.map((part, at) => (at % 2 === 0 ? part : values[part]))}</>;
}

/** A picture beside a word, or of a button that has a name. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={iconPaths[name]} />
    </svg>
  );
}
