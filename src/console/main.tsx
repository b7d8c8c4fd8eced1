import { signal } from "@preact/signals";
import { render } from "preact";
import { createAskedCommands, hasEnded, type Wanted } from "./commanding/asked.ts";
import { sendUntilKnown } from "./commanding/send.ts";
import { routeOf } from "./route.ts";
import { createStore, showTitle } from "./store.ts";
import { sleep, visibilityChange } from "./stream/browser.ts";
import { followStream } from "./stream/stream.ts";
import { createLiveness } from "./trust/liveness.ts";
import type { Moment } from "./trust/moment.ts";
import { PageContext } from "./views/context.ts";
import { Frame } from "./views/frame.tsx";

/** Twice a second, so that a sleep of the machine is noticed soon. */
const LOOK_MS = 500;

const now = (): Moment => ({ monotonicMs: performance.now(), wallMs: Date.now() });
const lessMotion = matchMedia("(prefers-reduced-motion: reduce)");
const store = createStore({
  liveness: createLiveness(document.documentElement, now),
  now,
  isMotionReduced: () => lessMotion.matches,
});
const route = signal(routeOf(location));
addEventListener("popstate", () => {
  route.value = routeOf(location);
});

function go(address: string, how: "push" | "replace" = "push"): void {
  if (how === "push") history.pushState(null, "", address);
  else history.replaceState(null, "", address);
  route.value = routeOf(location);
}

function connect(): void {
  const parts = {
    open: (lastEventId: string, signal: AbortSignal) =>
      fetch("/api/v1/stream", {
        headers: lastEventId === "" ? {} : { "last-event-id": lastEventId },
        cache: "no-store",
        signal,
      }),
    onEvent: store.take,
    onState: (state: typeof store.stream.value) => {
      store.stream.value = state;
    },
    isHidden: () => document.hidden,
    visibilityChange,
    sleep,
    chance: Math.random,
  };
  // The page lives as long as its stream.
  void followStream(parts, new AbortController().signal);
}

const asked = createAskedCommands(localStorage);
const sending = {
  commands: asked,
  fetch: (address: string, request: RequestInit) => fetch(address, request),
  sleep: pause,
};

function ask(robotId: string, label: string, wanted: Wanted): void {
  const id = `console-${randomName()}`;
  const known = { state: "asked", problem: "" } as const;
  const tick = store.tickId.peek() ?? "";
  const command = { ...wanted, id, robotId, label, tick, askedAtMs: Date.now(), known };
  asked.add(command);
  void sendUntilKnown(command, sending);
}

/** `randomUUID` exists only where the browser trusts the connection. */
function randomName(): string {
  return [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(36)).join("-");
}

function pause(ms: number): Promise<void> {
  return sleep(ms, new AbortController().signal);
}

// Those of a page that was loaded again: whether they arrived is not known.
for (const command of asked.all.peek()) if (!hasEnded(command)) void sendUntilKnown(command, sending);
connect();
setInterval(store.look, LOOK_MS);
showTitle(store, document);
const page = { store, route, now, asked, ask, go, reconnect: connect };
const place = document.getElementById("console");
if (place !== null) {
  render(
    <PageContext.Provider value={page}>
      <Frame />
    </PageContext.Provider>,
    place,
  );
}
