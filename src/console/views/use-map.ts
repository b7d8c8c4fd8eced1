import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import type { FleetMap } from "../../northbound/web/api/floor.ts";
import { get } from "../api.ts";

/** The points of a map, read again when the gateway has read it again. */
export function useMap(mapId: number | null, readAt: string) {
  const wanted = useSignal({ mapId, readAt });
  if (wanted.peek().mapId !== mapId || wanted.peek().readAt !== readAt) wanted.value = { mapId, readAt };
  const map = useSignal<FleetMap | null>(null);
  const problem = useSignal<string | null>(null);
  useSignalEffect(() => {
    const { mapId: id, readAt: at } = wanted.value;
    if (id === null || at === "") return;
    const over = new AbortController();
    void get<FleetMap>(`/maps/${id}`, over.signal).then((answer) => {
      if (over.signal.aborted) return;
      problem.value = problemOf(answer);
      if ("value" in answer) map.value = answer.value;
    });
    return () => over.abort();
  });
  const shown = useComputed(() => (map.value?.map_id === wanted.value.mapId ? map.value : null));
  return { map: shown.value, problem: problem.value };
}

function problemOf(answer: { readonly value: FleetMap } | { readonly problem: string }): string | null {
  if ("problem" in answer) return `The map could not be read: ${answer.problem}.`;
  return answer.value.points === null ? "The map is too large to be shown, or cannot be read." : null;
}
