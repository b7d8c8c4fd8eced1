import { tagAddress } from "../route.ts";
import type { Store } from "../store.ts";
import { say } from "../texts/texts.ts";
import { timeOfDay, wallTimeMs } from "../trust/time-text.ts";
import { Alarms } from "./alarms.tsx";
import { Bar } from "./bar.tsx";
import { usePage } from "./context.ts";
import { Floor } from "./floor.tsx";
import { viewLater } from "./later.tsx";
import { LogIn } from "./log-in.tsx";
import { Empty, Link } from "./parts.tsx";
import { Rail } from "./rail.tsx";
import { Robot } from "./robot.tsx";
import { Says } from "./says.tsx";

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
  const connections = <Link to="/connections">{say("rail.connections")}</Link>;
  const time = silence === null ? "" : timeOfDay(wallTimeMs(silence, store.now.value));
  return (
    <p class="notice grave" role="alert">
      {time === "" ? (
        <Says of="silent.link" connections={connections} />
      ) : (
        <Says of={fleet.isFleetLinkUp ? "silent.list" : "silent.linkSince"} {...{ time, connections }} />
      )}
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
