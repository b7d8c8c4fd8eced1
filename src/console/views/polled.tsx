import { useSignal, useSignalEffect } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { get } from "../api.ts";
import { sleep, visibilityChange } from "../stream/browser.ts";
import { nothingPolled, type Polled, poll } from "../stream/stream.ts";
import { say } from "../texts/texts.ts";
import { elapsedMs, timeOfDay } from "../trust/time-text.ts";
import { usePage } from "./context.ts";

/** After this long without an answer, the shown values are no longer known to be true. */
const MOST_AGE_MS = 8_000;

/** An answer of the gateway, polled while the view is open and the page is visible. */
export function usePolled<T>(address: () => string): Polled<T> {
  const { now } = usePage();
  const state = useSignal<Polled<T>>(nothingPolled);
  useSignalEffect(() => {
    const path = address();
    const over = new AbortController();
    // An answer to another question does not count.
    state.value = nothingPolled;
    const parts = {
      ask: (signal: AbortSignal) => get<T>(path, signal),
      onAnswer(change: (before: Polled<T>) => Polled<T>) {
        state.value = change(state.peek());
      },
      isHidden: () => document.hidden,
      visibilityChange,
      sleep,
      now,
    };
    void poll(parts, over.signal);
    return () => over.abort();
  });
  return state.value;
}

/** Greys values that the gateway has not confirmed lately, and says since when. */
export function Confirmed({
  polled: { askedAt, problem, value },
  children,
}: {
  readonly polled: Polled<unknown>;
  readonly children: ComponentChildren;
}) {
  const { store } = usePage();
  const now = store.now.value;
  const ageMs = askedAt === null ? 0 : elapsedMs(askedAt, now);
  const isOld = askedAt !== null && ageMs > MOST_AGE_MS;
  if (value === null || askedAt === null)
    return problem === "" ? (
      <p class="muted">{say("polled.reading")}</p>
    ) : (
      <p class="warning">{say("polled.problem", { problem })}</p>
    );
  return (
    <>
      {(isOld || problem !== "") && (
        <p class="warning" role="status">
          {problem === ""
            ? say("polled.old", { time: timeOfDay(now.wallMs - ageMs) })
            : say("polled.oldBecause", { time: timeOfDay(now.wallMs - ageMs), problem })}
        </p>
      )}
      <div class={isOld ? "stack unconfirmed" : "stack"}>{children}</div>
    </>
  );
}
