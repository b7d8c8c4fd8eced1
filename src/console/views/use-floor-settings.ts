import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import type { FloorSettings } from "../../northbound/web/api/floor-settings.ts";
import { get } from "../api.ts";
import type { Picture } from "../floor/draw.ts";
import { usePage } from "./context.ts";

const nothing: FloorSettings = { point_types: [], drawings: [] };

/** The floor settings of the configuration, with the drawing of a map. Without them, the floor is neutral. */
export function useFloorSettings(mapId: number | null) {
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
    const image = new Image(layout.width, layout.height);
    image.onload = () => {
      picture.value = { image, layout };
    };
    image.onerror = () => {
      picture.value = null;
      problem.value = "The drawing of the floor could not be read.";
    };
    // A browser may show an image of the same address again without asking.
    const of = encodeURIComponent(configuration.peek());
    image.src = `/api/v1/maps/${layout.map_id}/drawing?of=${of}`;
    return () => {
      image.onload = null;
      image.onerror = null;
    };
  });
  return { settings: settings.value, picture: picture.value, problem: problem.value };
}
