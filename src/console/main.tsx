import { effect, signal } from "@preact/signals";
import { render } from "preact";
import type { FleetMap } from "../northbound/web/api/floor.ts";
import { fetchWithin, get, unansweredText } from "./api.ts";
import { type Asked, createAskedCommands, hasEnded, type Wanted } from "./commanding/asked.ts";
import { ANSWER_MS, sendUntilKnown } from "./commanding/send.ts";
import { createMapStore } from "./fleet/maps.ts";
import { routeOf, subjectOf } from "./route.ts";
import { askerOf, createSessions } from "./session/session.ts";
import { createStore, showTitle } from "./store.ts";
import { sleep, visibilityChange } from "./stream/browser.ts";
import { followStream, StreamEnded } from "./stream/stream.ts";
import { languageOf, say, speak } from "./texts/texts.ts";
import { createThemes } from "./theme.ts";
import { createLiveness } from "./trust/liveness.ts";
import type { Moment } from "./trust/time-text.ts";
import { loadAlarmTexts } from "./views/alarm-texts.ts";
import { PageContext } from "./views/context.ts";
import { Frame } from "./views/frame.tsx";

const LANGUAGE_KEY = "fleetgate.language";
/** Twice a second, so that a sleep of the machine is noticed soon. */
const LOOK_MS = 500;
/** Of the page itself, before it is loaded again. */
const PAGE_MS = 3_000;

const wished = navigator.languages;
const language = languageOf(localStorage.getItem(LANGUAGE_KEY), wished);
document.documentElement.lang = language;
// Before anything has a text. Each language is a file of its own, so that nobody loads both.
speak(
  language === "de" ? (await import("./texts/de.ts")).german : (await import("./texts/en.ts")).english,
  wished,
);

const now = (): Moment => ({ monotonicMs: performance.now(), wallMs: Date.now() });
const themes = createThemes(
  document.documentElement,
  localStorage,
  matchMedia("(prefers-color-scheme: dark)"),
);
const lessMotion = matchMedia("(prefers-reduced-motion: reduce)");
const store = createStore({
  liveness: createLiveness(document.documentElement, now),
  now,
  isMotionReduced: () => lessMotion.matches,
});
const maps = createMapStore(store.fleet, (mapId) => get<FleetMap>(`/maps/${mapId}`));
const route = signal(routeOf(location));
addEventListener("popstate", () => {
  route.value = routeOf(location);
});

function go(address: string, how: "push" | "replace" = "push"): void {
  if (how === "push") history.pushState(null, "", address);
  else history.replaceState(null, "", address);
  route.value = routeOf(location);
}

const sessions = createSessions(fetchWithin());
let reading = new AbortController();

function connect(): void {
  reading.abort();
  reading = new AbortController();
  store.beginAnew();
  const parts = {
    open: openStream,
    onEvent: store.take,
    onState(state: typeof store.stream.value) {
      store.stream.value = state;
      if (state.state === "open") void sessions.look();
    },
    isHidden: () => document.hidden,
    visibilityChange,
    sleep,
    random: Math.random,
  };
  void followStream(parts, reading.signal);
}

async function openStream(lastEventId: string, signal: AbortSignal): Promise<Response> {
  const response = await fetch("/api/v1/stream", {
    headers: lastEventId === "" ? {} : { "last-event-id": lastEventId },
    cache: "no-store",
    signal,
  });
  if (response.status !== 401) return response;
  await sessions.look();
  throw new StreamEnded(say("logIn.toReadOn"));
}

async function logIn(user: string, password: string): Promise<string | null> {
  const problem = await sessions.logIn(user, password);
  if (problem === null) connect();
  return problem;
}

effect(() => {
  if (sessions.now.value.state !== "none") return;
  reading.abort();
  store.forget();
});

const asked = createAskedCommands(localStorage);
/** The commands that are being sent now. */
const underWay = new Set<string>();
const sending = {
  commands: asked,
  fetch: fetchWithin(ANSWER_MS),
  sleep: pause,
  nowMs: Date.now,
  isAsker: async ({ by }: Asked) => ((await sessions.look()) ? askerOf(sessions.now.peek()) === by : null),
};

async function follow(command: Asked): Promise<void> {
  if (underWay.has(command.id)) return;
  underWay.add(command.id);
  await sendUntilKnown(command, sending);
  underWay.delete(command.id);
}

function ask(robotId: string, label: string, wanted: Wanted, stopTick: string | null = null): void {
  const id = `console-${randomName()}`;
  const by = askerOf(sessions.now.peek());
  // Values are shown before it is known to whom, for a moment.
  const known =
    by === null
      ? ({ state: "refused", reason: say("logIn.notKnownWho") } as const)
      : ({ state: "asked", problem: "" } as const);
  const tick = stopTick ?? store.tickId.peek() ?? "";
  const command = { ...wanted, id, by: by ?? "", robotId, label, tick, askedAtMs: Date.now(), known };
  const isStored = asked.add(command);
  if (by === null) return;
  // A stop is sent all the same: sending it twice does no harm.
  if (isStored || stopTick !== null) void follow(command);
  else asked.learn(id, { state: "refused", reason: say("logIn.nothingStored") });
}

async function changeLanguage(): Promise<string | null> {
  // A page that is loaded without a gateway is the browser's own, and does not connect again.
  try {
    const { ok, status } = await fetchWithin(PAGE_MS)(location.href, { cache: "no-store" });
    if (!ok) return say("gateway.answers", { status });
  } catch (error) {
    return unansweredText(error);
  }
  localStorage.setItem(LANGUAGE_KEY, language === "en" ? "de" : "en");
  location.reload();
  return null;
}

/** `randomUUID` exists only if the browser trusts the connection. */
function randomName(): string {
  return [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(36)).join("-");
}

function pause(ms: number): Promise<void> {
  return sleep(ms, new AbortController().signal);
}

// Commands of a page that was loaded again, or of a log-in that has ended: whether they arrived is not known.
effect(() => {
  const by = askerOf(sessions.now.value);
  for (const command of asked.all.peek()) if (command.by === by && !hasEnded(command)) void follow(command);
});
// Before somebody chooses its robot.
effect(() => {
  if ((store.fleet.value?.alarms.count ?? 0) > 0) void loadAlarmTexts();
});
connect();
setInterval(store.look, LOOK_MS);
showTitle(store, document, () => subjectOf(route.value));
const { now: session, logOut } = sessions;
const page = {
  ...{ store, themes, maps, route, session, now, asked, ask, logIn, logOut, go, changeLanguage },
  reconnect: connect,
};

/**
 * Rendered once. A component that renders itself must not be the child of an element that stays: Preact keeps
 * that child as it was first, with all that the page had then.
 */
function Whole() {
  return <Frame />;
}

const place = document.getElementById("console");
if (place !== null) {
  render(
    <PageContext.Provider value={page}>
      <Whole />
    </PageContext.Provider>,
    place,
  );
}
