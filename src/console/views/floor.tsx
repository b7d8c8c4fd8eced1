import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import type { ComponentChild } from "preact";
import { useMemo, useRef } from "preact/hooks";
import type { FloorSettings } from "../../northbound/web/api/floor.ts";
import { get } from "../api.ts";
import type { Fleet } from "../fleet/fleet.ts";
import { floorState } from "../fleet/floor-state.ts";
import { emptyHall, type Listing } from "../fleet/list.ts";
import type { Picture } from "../floor/ground.ts";
import { noticeOf, type PointShape } from "../floor/scene.ts";
import { floorAddress } from "../route.ts";
import { say } from "../texts/texts.ts";
import { ChosenRobot } from "./chosen-robot.tsx";
import { usePage } from "./context.ts";
import { FloorDrawing } from "./floor-drawing.tsx";
import type { Press } from "./go-to.tsx";
import { Icon, Link, Word } from "./parts.tsx";
import { RobotList } from "./robot-list.tsx";

/** Where the robots are, as a drawing and as a list. The chosen robot stands beside the map. */
export function Floor(props: { readonly mapId: number | null; readonly chosenId: string | null }) {
  const { store, maps, themes, go, now } = usePage();
  const press = useRef<Press["current"]>(null);
  const chosenHere = useRef<string | null>(null);
  const fleet = store.fleet.value;
  const listing = store.listing.value;
  const mapId = fleet === null ? null : shownMapId(fleet, props);
  const { map = null, problem = null } = maps.known.value.get(mapId ?? -1) ?? {};
  const { settings, picture, problem: settingsProblem } = useFloorSettings(mapId);
  const isLive = store.isLive.value;
  // Each second, positions may have become too old.
  const moment = store.now.value;
  const { chosenId } = props;
  const state = useMemo(
    () =>
      fleet &&
      listing &&
      floorState(fleet, listing.robots, map, mapId, isLive, chosenId, settings.point_types),
    [fleet, listing, map, mapId, isLive, chosenId, settings],
  );
  if (fleet === null || listing === null || state === null) return null;
  const choose = (robotId: string) => {
    const isChosen = robotId === props.chosenId;
    chosenHere.current = isChosen ? null : robotId;
    // It may be on another map than the shown one.
    const itsMap = fleet.robots.get(robotId)?.robot.place?.map_id ?? mapId;
    go(isChosen ? floorAddress(mapId, null) : floorAddress(itsMap, robotId), "replace");
  };
  const notice = noticeOf(state) ?? problem ?? settingsProblem;
  const chosen = fleet.robots.get(props.chosenId ?? "");
  return (
    <div class="floor">
      <h1 class="unseen">{say("rail.floor")}</h1>
      <section class="map" aria-label={say("floor.map")}>
        {notice !== null && <p class="warning">{say("floor.notice", { text: notice })}</p>}
        <MapChoice fleet={fleet} halls={listing.halls} mapId={mapId} chosenId={props.chosenId} />
        <FloorDrawing
          state={state}
          picture={picture}
          theme={themes.shown.value}
          now={now}
          choose={choose}
          choosePoint={(name) => {
            // In another hall a point of the same name would be another place.
            if (chosen?.robot.place?.map_id === mapId) press.current?.(name);
          }}
        />
        <Legend types={settings.point_types} />
      </section>
      <div class="panel">
        {chosen !== undefined && (
          <ChosenRobot
            key={chosen.robot.robot_id}
            known={chosen}
            press={press}
            takesFocus={chosenHere.current === chosen.robot.robot_id}
            close={() => choose(chosen.robot.robot_id)}
          />
        )}
        <RobotList listing={listing} floor={state} now={moment} chosenId={props.chosenId} choose={choose} />
      </div>
    </div>
  );
}

/** The requested map, otherwise that of the chosen robot, otherwise that of most robots. */
function shownMapId(
  { maps, robots }: Fleet,
  asked: { readonly mapId: number | null; readonly chosenId: string | null },
): number | null {
  if (asked.mapId !== null) return asked.mapId;
  const chosen = robots.get(asked.chosenId ?? "")?.robot.place?.map_id;
  if (chosen !== undefined) return chosen;
  const counts = new Map([...maps.keys()].map((mapId) => [mapId, 0]));
  for (const { robot } of robots.values()) {
    const mapId = robot.place?.map_id;
    if (mapId !== undefined) counts.set(mapId, (counts.get(mapId) ?? 0) + 1);
  }
  const [most] = [...counts].sort(([idA, a], [idB, b]) => b - a || idA - idB);
  return most?.[0] ?? null;
}

const shapeSigns: Readonly<Record<PointShape, ComponentChild>> = {
  dot: "▪",
  square: "□",
  ring: "○",
  cross: "+",
  bar: "▬",
  station: <Icon name="stations" />,
  charger: <Icon name="charge" />,
  home: <Icon name="home" />,
};

/** The meaning of the points' shapes, by the configuration. */
function Legend({ types }: { readonly types: FloorSettings["point_types"] }) {
  if (types.length === 0) return null;
  return (
    <ul class="legend" aria-label={say("floor.points")}>
      {types.map(({ type, name, shape }) => (
        <li key={type}>
          <span aria-hidden="true">{shapeSigns[shape]}</span> {name}
        </li>
      ))}
    </ul>
  );
}

/** A tab for each hall, with the number of its robots. */
function MapChoice(props: {
  readonly fleet: Fleet;
  readonly halls: Listing["halls"];
  readonly mapId: number | null;
  readonly chosenId: string | null;
}) {
  const { maps } = props.fleet;
  if (maps.size < 2) return null;
  return (
    <nav class="tabs" aria-label={say("floor.maps")}>
      {[...maps.values()].map(({ map_id: id, name }) => {
        const { all, unusual, worst } = props.halls.get(id) ?? emptyHall;
        return (
          <Link key={id} to={floorAddress(id, props.chosenId)} current={id === props.mapId}>
            {name ?? say("floor.mapNumber", { id })} <span class="number">{all}</span>
            {unusual > 0 && <Word word={`${unusual}`} emphasis={worst} />}
          </Link>
        );
      })}
    </nav>
  );
}

const nothing: FloorSettings = { point_types: [], drawings: [] };

/** The floor settings of the configuration, with the drawing of a map. Without them, the floor is neutral. */
function useFloorSettings(mapId: number | null) {
  const { store } = usePage();
  const settings = useSignal(nothing);
  const picture = useSignal<Picture | null>(null);
  const problem = useSignal<string | null>(null);
  const shownId = useSignal(mapId);
  if (shownId.peek() !== mapId) shownId.value = mapId;
  const configuration = useComputed(() => store.fleet.value?.configuration ?? "");
  useSignalEffect(() => {
    if (configuration.value === "") return;
    const over = new AbortController();
    void get<FloorSettings>("/floor", over.signal).then((answer) => {
      if (over.signal.aborted) return;
      settings.value = "value" in answer ? answer.value : nothing;
    });
    return () => over.abort();
  });
  useSignalEffect(() => {
    const layout = settings.value.drawings.find(({ map_id: id }) => id === shownId.value);
    problem.value = null;
    // The earlier drawing stays until the new one is there.
    if (picture.peek()?.layout.map_id !== layout?.map_id) picture.value = null;
    if (layout === undefined) return;
    const over = new AbortController();
    void imageOf(`/api/v1/maps/${layout.map_id}/drawing`, over.signal).then((image) => {
      if (over.signal.aborted) return;
      picture.value = image && { image, layout };
      if (image === null) problem.value = say("floor.drawingProblem");
    });
    return () => over.abort();
  });
  return { settings: settings.value, picture: picture.value, problem: problem.value };
}

/** Null: there is none, or what is there is no image. */
async function imageOf(address: string, signal: AbortSignal): Promise<ImageBitmap | null> {
  try {
    const response = await fetch(address, { signal });
    return await createImageBitmap(await response.blob());
  } catch {
    return null;
  }
}
