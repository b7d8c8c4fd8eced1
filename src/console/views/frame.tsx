import { useSignal } from "@preact/signals";
import { silenceOf } from "../fleet/fleet.ts";
import { tagAddress } from "../route.ts";
import type { Store } from "../store.ts";
import { timeOfDay, wallTimeMs } from "../trust/time-text.ts";
import { Alarms } from "./alarms.tsx";
import { usePage } from "./context.ts";
import { Floor } from "./floor.tsx";
import { viewLater } from "./later.tsx";
import { Link } from "./parts.tsx";
import { Robot } from "./robot.tsx";
import { Send } from "./send.tsx";

const Command = viewLater(() => import("./command.tsx").then((module) => module.Command), "Command");
const Commands = viewLater(() => import("./commands.tsx").then((module) => module.Commands), "Commands");
const Connections = viewLater(
  () => import("./connections.tsx").then((module) => module.Connections),
  "Connections",
);
const OneTag = viewLater(() => import("./tags.tsx").then((module) => module.OneTag), "Tag");
const Tags = viewLater(() => import("./tags.tsx").then((module) => module.Tags), "Tags");
const Simulator = viewLater(() => import("./simulator.tsx").then((module) => module.Simulator), "Simulator");

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
  const { store } = usePage();
  const fleet = store.fleet.value;
  return (
    <>
      <header>
        <p class="gateway">{fleet?.gatewayId ?? "Fleetgate"}</p>
        <Views />
        <LoggedIn />
        <LiveState />
      </header>
      {fleet?.isOpen === true && (
        <section class="open" aria-label="Access">
          Open, without a log-in: every program of this machine may read, and command as the rights allow.
        </section>
      )}
      <div class="values">
        {serviceState(store)}
        <main>{fleet === null ? <p>Nothing has been heard of the gateway yet.</p> : <Inner />}</main>
        <div class="veil" aria-hidden="true">
          <p>Not live: the gateway has said nothing for 3 s. Nothing here is known to be true now.</p>
        </div>
      </div>
    </>
  );
}

/**
 * Whether anything comes of the fleet service: without it, the gateway's own signs of life say little. No
 * component: see `Whole` in main.tsx.
 */
function serviceState(store: Store) {
  const fleet = store.fleet.value;
  if (fleet === null || !store.isLive.value) return null;
  const now = store.now.value;
  const silence = silenceOf(fleet, now);
  if (silence === null && fleet.isFleetLinkUp) return null;
  const since = silence === null ? "" : ` since ${timeOfDay(wallTimeMs(silence, now))}`;
  return (
    <p class="warning alarm" role="alert">
      ▲ {fleet.isFleetLinkUp ? "Fleet service silent" : "Fleet service not reached"}
      {since}. Robots are shown as they were last. <Link to="/connections">Connections</Link>
    </p>
  );
}

function Views() {
  const { store, route } = usePage();
  const { view } = route.value;
  const alarms = store.isLive.value ? (store.fleet.value?.alarms.count ?? 0) : 0;
  return (
    <nav aria-label="Views">
      <Link to="/" current={view === "floor"}>
        Floor
      </Link>
      <Link to="/commands" current={view === "commands"}>
        Commands
      </Link>
      <Link to="/alarms" current={view === "alarms"}>
        Alarms{alarms > 0 && <span class="while-live"> ({alarms})</span>}
      </Link>
      <Link to="/tags" current={view === "tags" || view === "tag"}>
        Tags
      </Link>
      <Link to="/connections" current={view === "connections"}>
        Connections
      </Link>
      {store.fleet.value?.hasSimulator === true && (
        <Link to="/simulator" current={view === "simulator"}>
          Simulator
        </Link>
      )}
    </nav>
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
  return <h1>There is no such page.</h1>;
}

/** Whether the values are live, in words: the veil alone would not reach every reader. */
function LiveState() {
  const { store, reconnect } = usePage();
  const stream = store.stream.value;
  if (stream.state === "ended") {
    return (
      <p class="live lost" role="status">
        ✕ {stream.reason}{" "}
        <button type="button" onClick={reconnect}>
          Connect again
        </button>
      </p>
    );
  }
  if (store.isLive.value) {
    return (
      <p class="live ticking" role="status">
        <span class="while-live">
          <span>● live</span>
          <Clock />
        </span>
      </p>
    );
  }
  return (
    <p class="live lost" role="status">
      ✕ not live{stream.state === "waiting" ? `: ${stream.reason}` : ""}
    </p>
  );
}

/** Separate from the state, whose text a screen reader would otherwise repeat each second. */
function Clock() {
  const { store } = usePage();
  return (
    <span class="clock" aria-hidden="true">
      {timeOfDay(store.now.value.wallMs)}
    </span>
  );
}

/** The page of a gateway with users until somebody has logged in. */
function LogIn({ reason }: { readonly reason: string }) {
  const { logIn } = usePage();
  const isBegun = useSignal(false);
  const problem = useSignal("");
  const send = async (event: SubmitEvent) => {
    event.preventDefault();
    if (isBegun.peek()) return;
    isBegun.value = true;
    const form = new FormData(event.currentTarget as HTMLFormElement);
    problem.value = (await logIn(`${form.get("user")}`, `${form.get("password")}`)) ?? "";
    isBegun.value = false;
  };
  return (
    <form class="log-in" aria-label="Log in" onSubmit={(event) => void send(event)}>
      <h1>Log in</h1>
      {reason !== "" && <p role="status">{reason}</p>}
      <label>
        User <input name="user" autocomplete="username" maxLength={64} required />
      </label>
      <label>
        Password{" "}
        <input name="password" type="password" autocomplete="current-password" maxLength={256} required />
      </label>
      <button type="submit" disabled={isBegun.value}>
        Log in
      </button>
      {problem.value !== "" && <p role="alert">Not logged in: {problem.value}.</p>}
    </form>
  );
}

/** The logged-in user, and the way to log out. */
function LoggedIn() {
  const { session, logOut } = usePage();
  const problem = useSignal("");
  const now = session.value;
  if (now.state !== "user") return null;
  const leave = async () => {
    problem.value = (await logOut()) ?? "";
  };
  return (
    <p class="user">
      {now.name} ({now.role}){" "}
      <button type="button" onClick={() => void leave()}>
        Log out
      </button>
      {problem.value !== "" && <span role="alert"> Not logged out: {problem.value}.</span>}
    </p>
  );
}
