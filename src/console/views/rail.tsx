import { useSignal, useSignalEffect } from "@preact/signals";
import { needsSomebody } from "../fleet/words.ts";
import type { Route } from "../route.ts";
import { usePage } from "./context.ts";
import { Icon, type IconName } from "./icons.tsx";
import { Link } from "./parts.tsx";

/** A view of the navigation. `views` are those whose pages belong to it. */
interface Item {
  readonly to: string;
  readonly name: string;
  readonly icon: IconName;
  readonly views: ReadonlyArray<Route["view"]>;
}

const first: readonly Item[] = [
  { to: "/", name: "Floor", icon: "floor", views: ["floor", "robot", "send"] },
  { to: "/alarms", name: "Alarms", icon: "alarms", views: ["alarms"] },
  { to: "/commands", name: "Commands", icon: "commands", views: ["commands", "command"] },
  { to: "/stations", name: "Stations", icon: "stations", views: ["stations"] },
];
/** On a telephone behind *More*. */
const others: readonly Item[] = [
  { to: "/tags", name: "Tags", icon: "tags", views: ["tags", "tag"] },
  { to: "/connections", name: "Connections", icon: "connections", views: ["connections"] },
];
const simulator: Item = { to: "/simulator", name: "Simulator", icon: "simulator", views: ["simulator"] };

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
      {name}
      {to === "/alarms" && waiting > 0 && (
        <span class="badge while-live">
          {waiting}
          <span class="unseen"> unacknowledged</span>
        </span>
      )}
    </Link>
  );
  return (
    <nav class="rail" aria-label="Views">
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
        More
      </button>
      <div class={isMoreShown.value ? "more-items shown" : "more-items"}>{more.map(link)}</div>
    </nav>
  );
}
