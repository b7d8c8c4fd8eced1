import { useSignal, useSignalEffect } from "@preact/signals";
import { needsSomebody } from "../fleet/words.ts";
import type { IconName } from "../icon-paths.ts";
import { manualAddress, type Route } from "../route.ts";
import type { PlainKey } from "../texts/spoken.ts";
import { say } from "../texts/texts.ts";
import { usePage } from "./context.ts";
import { Icon } from "./icons.tsx";
import { Link } from "./parts.tsx";

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
export function Rail() {
  const { store, route } = usePage();
  const isMoreShown = useSignal(false);
  useSignalEffect(() => {
    if (route.value) isMoreShown.value = false;
  });
  const { view } = route.value;
  const listed = store.isLive.value ? store.fleet.value?.alarms : undefined;
  const waiting = listed === undefined ? 0 : needsSomebody(listed);
  const more = store.fleet.value?.hasSimulator === true ? [...others, simulator] : others;
  const link = ({ to, name, icon, views }: Item) => (
    <Link key={to} to={to} current={views.includes(view)}>
      <Icon name={icon} />
      {say(name)}
      {to === "/alarms" && waiting > 0 && (
        <span class="badge while-live">
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
