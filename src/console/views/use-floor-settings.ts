import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import type { FloorSettings } from "../../northbound/web/api/floor-settings.ts";
import { get } from "../api.ts";
import type { Picture } from "../floor/draw.ts";
import { usePage } from "./context.ts";

const nothing: FloorSettings = { point_types: [], drawings: [] };

/** What the configuration says of the floor, with the drawing of a map. Without it, the floor is neutral. */
export function useFloorSettings(mapId: number | null) {
  const { store } = usePage();
  const settings = useSignal(nothing);
  const picture = useSignal<Picture | null>(null);
  const problem = useSignal<string | null>(null);
  const shownId = useSignal(mapId);
  if (shownId.peek() !== mapId) shownId.value = mapId;
  const session = useComputed(() => store.fleet.value?.sessionId ?? "");
  useSignalEffect(() => {
    if (session.value === "") return;
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
    picture.value = null;
    if (layout === undefined) return;
    const image = new Image(layout.width, layout.height);
    image.onload = () => {
      picture.value = { image, layout };
    };
    image.onerror = () => {
      problem.value = "The drawing of the floor could not be read.";
    };
    image.src = `/api/v1/maps/${layout.map_id}/drawing`;
    return () => {
      image.onload = null;
      image.onerror = null;
    };
  });
  return { settings: settings.value, picture: picture.value, problem: problem.value };
}
