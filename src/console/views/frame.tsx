import { useSignal, useSignalEffect } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { needsSomebody, waitingEmphasis } from "../fleet/alarms.ts";
import type { IconName } from "../icon-paths.ts";
import { manualAddress, type Route, tagAddress } from "../route.ts";
import type { Store } from "../store.ts";
import { type PlainKey, say } from "../texts/texts.ts";
import { timeOfDay, wallTimeMs } from "../trust/time-text.ts";
import { Bar, LanguageSwitch } from "./bar.tsx";
import { usePage } from "./context.ts";
import { Floor } from "./floor.tsx";
import { viewLater } from "./later.tsx";
import { Empty, Icon, Link, Password } from "./parts.tsx";
import { Robot } from "./robot.tsx";

const Alarms = viewLater(() => import("./alarms.tsx").then((module) => module.Alarms), "rail.alarms");
const Command = viewLater(() => import("./command.tsx").then((module) => module.Command), "command");
const Commands = viewLater(() => import("./commands.tsx").then((module) => module.Commands), "rail.commands");
const Connections = viewLater(
  () => import("./connections.tsx").then((module) => module.Connections),
  "rail.connections",
);
const OneTag = viewLater(() => import("./tags.tsx").then((module) => module.OneTag), "rail.tags");
const Tags = viewLater(() => import("./tags.tsx").then((module) => module.Tags), "rail.tags");
const Send = viewLater(() => import("./send.tsx").then((module) => module.Send), "send.title");
const Stations = viewLater(() => import("./stations.tsx").then((module) => module.Stations), "rail.stations");
const Simulator = viewLater(
  () => import("./simulator.tsx").then((module) => module.Simulator),
  "rail.simulator",
);

/** The whole page: the common part of all views, and the view of the address. */
export function Frame() {
  const { session } = usePage();
  const { value: now } = session;
  if (now.state === "none") {
    return (
      <main>
        <LogIn reason={now.reason} />
      </main>
    );
  }
  return <Inside />;
}

/** The page of a user with access. */
function Inside() {
  const { store, route } = usePage();
  const fleet = store.fleet.value;
  return (
    <div class={route.value.view === "floor" ? "shell whole" : "shell"}>
      <Bar />
      <Rail />
      <div class="notices">
        {fleet?.isOpen === true && (
          <section class="notice" aria-label={say("open.label")} title={say("open")}>
            {say("open")}
          </section>
        )}
        {serviceState(store)}
      </div>
      <div class="values">
        <main>{fleet === null ? <Unheard /> : <Inner />}</main>
        <div class="veil" aria-hidden="true">
          <p>{say("live.veil")}</p>
        </div>
      </div>
    </div>
  );
}

/**
 * Whether anything comes of the fleet service: without it, the gateway's own signs of life say little. No
 * component: see `Whole` in main.tsx.
 */
function serviceState(store: Store) {
  const fleet = store.fleet.value;
  if (fleet === null || !store.isLive.value) return null;
  const silence = store.silence.value;
  if (silence === null && fleet.isFleetLinkUp) return null;
  const time = silence === null ? "" : timeOfDay(wallTimeMs(silence, store.now.value));
  const text =
    time === ""
      ? say("silent.link")
      : say(fleet.isFleetLinkUp ? "silent.list" : "silent.linkSince", { time });
  return (
    <p class="notice grave" role="alert" title={text}>
      <span>{text}</span> <Link to="/connections">{say("rail.connections")}</Link>
    </p>
  );
}

function Unheard() {
  return (
    <Empty icon="connections" title={say("unheard.title")}>
      <p>{say("unheard.text")}</p>
    </Empty>
  );
}

/** Not rendered by itself: see `Whole` in main.tsx. */
function Inner() {
  return <View />;
}

function View() {
  const { store, route } = usePage();
  const shown = route.value;
  switch (shown.view) {
    case "floor":
      return <Floor mapId={shown.mapId} chosenId={shown.chosenId} />;
    case "robot":
      return <Robot key={shown.robotId} robotId={shown.robotId} />;
    case "commands":
      return <Commands filter={shown.filter} />;
    case "command":
      return <Command key={shown.key} commandKey={shown.key} />;
    case "send":
      return <Send operation={shown.operation} robotId={shown.robotId} />;
    case "stations":
      return <Stations />;
    case "alarms":
      return <Alarms />;
    case "tags":
      return <Tags query={shown} />;
    case "tag":
      return <OneTag key={tagAddress(shown)} protocol={shown.protocol} address={shown.address} />;
    case "connections":
      return <Connections />;
    case "simulator":
      return store.fleet.value?.hasSimulator === true ? <Simulator /> : <Nothing />;
    case "nothing":
      return <Nothing />;
  }
}

function Nothing() {
  return <h1>{say("nothing")}</h1>;
}

/** A view of the navigation. `views` are those whose pages belong to it. */
interface Item {
  readonly to: string;
  readonly name: PlainKey;
  readonly icon: IconName;
  readonly views: ReadonlyArray<Route["view"]>;
}

const first: readonly Item[] = [
  { to: "/", name: "rail.floor", icon: "floor", views: ["floor", "robot", "send"] },
  { to: "/alarms", name: "rail.alarms", icon: "alarms", views: ["alarms"] },
  { to: "/commands", name: "rail.commands", icon: "commands", views: ["commands", "command"] },
  { to: "/stations", name: "rail.stations", icon: "stations", views: ["stations"] },
];
/** On a telephone behind *More*. */
const others: readonly Item[] = [
  { to: "/tags", name: "rail.tags", icon: "tags", views: ["tags", "tag"] },
  { to: "/connections", name: "rail.connections", icon: "connections", views: ["connections"] },
];
const simulator: Item = { to: "/simulator", name: "rail.simulator", icon: "simulator", views: ["simulator"] };

/** The views: beside the page, and below it on a telephone. */
function Rail() {
  const { store, route } = usePage();
  const isMoreShown = useSignal(false);
  useSignalEffect(() => {
    if (route.value) isMoreShown.value = false;
  });
  const { view } = route.value;
  const listed = store.isLive.value ? store.fleet.value?.alarms : undefined;
  const waiting = listed === undefined ? 0 : needsSomebody(listed);
  const emphasis = listed === undefined ? "normal" : waitingEmphasis(listed);
  const more = store.fleet.value?.hasSimulator === true ? [...others, simulator] : others;
  const link = ({ to, name, icon, views }: Item) => (
    <Link key={to} to={to} current={views.includes(view)}>
      <Icon name={icon} />
      {say(name)}
      {to === "/alarms" && waiting > 0 && (
        <span class={`badge while-live ${emphasis}`}>
          {waiting}
          <span class="unseen"> {say("rail.unacknowledged")}</span>
        </span>
      )}
    </Link>
  );
  return (
    <nav class="rail" aria-label={say("rail")}>
      {first.map(link)}
      <button
        type="button"
        class="more"
        aria-expanded={isMoreShown.value}
        onClick={() => {
          isMoreShown.value = !isMoreShown.peek();
        }}
      >
        <Icon name="more" />
        {say("rail.more")}
      </button>
      <div class={isMoreShown.value ? "more-items shown" : "more-items"}>
        {more.map(link)}
        <a href={manualAddress}>
          <Icon name="manual" />
          {say("rail.manual")}
        </a>
      </div>
    </nav>
  );
}

/** The page of a gateway with users until somebody has logged in. */
function LogIn({ reason }: { readonly reason: string }) {
  const { logIn } = usePage();
  const isBegun = useSignal(false);
  const problem = useSignal("");
  const user = useRef<HTMLInputElement>(null);
  const password = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => user.current?.focus(), []);
  const send = async (event: SubmitEvent) => {
    event.preventDefault();
    if (isBegun.peek()) return;
    isBegun.value = true;
    problem.value = "";
    const form = new FormData(event.currentTarget as HTMLFormElement);
    problem.value = (await logIn(`${form.get("user")}`, `${form.get("password")}`)) ?? "";
    isBegun.value = false;
    if (problem.peek() !== "") password.current?.select();
  };
  return (
    <form class="log-in" aria-label={say("logIn.title")} onSubmit={(event) => void send(event)}>
      <h1>{say("logIn.title")}</h1>
      {reason !== "" && (
        <p class="says" role="status">
          {reason}
        </p>
      )}
      <label>
        {say("logIn.user")} <input ref={user} name="user" autocomplete="username" maxLength={64} required />
      </label>
      <Password label={say("logIn.password")} field={password} />
      {problem.value !== "" && (
        <p class="alert alarm" role="alert">
          {say("logIn.failed", { problem: problem.value })}
        </p>
      )}
      <button type="submit" class="primary" disabled={isBegun.value}>
        {say("logIn.title")}
      </button>
      <LanguageSwitch />
    </form>
  );
}
