import { type ReadonlySignal, useComputed, useSignal, useSignalEffect } from "@preact/signals";
import type { Rights } from "../../northbound/web/api/rights.ts";
import { get } from "../api.ts";
import { usePage } from "./context.ts";

/** The rights of this browser's user; null: not known yet. */
export interface KnownRights {
  readonly rights: ReadonlySignal<Rights | null>;
  readonly problem: ReadonlySignal<string>;
}

/** Read again when the gateway may have another configuration. */
export function useRights(robotId: string | null): KnownRights {
  const { store } = usePage();
  const rights = useSignal<Rights | null>(null);
  const problem = useSignal("");
  const wanted = useSignal(robotId);
  if (wanted.peek() !== robotId) wanted.value = robotId;
  const configuration = useComputed(() => store.fleet.value?.configuration ?? "");
  useSignalEffect(() => {
    const id = wanted.value;
    if (configuration.value === "") return;
    const over = new AbortController();
    const query = id === null ? "" : `?robot=${encodeURIComponent(id)}`;
    void get<Rights>(`/rights${query}`, over.signal).then((answer) => {
      if (over.signal.aborted) return;
      problem.value = "problem" in answer ? answer.problem : "";
      rights.value = "value" in answer ? answer.value : null;
    });
    return () => over.abort();
  });
  return { rights, problem };
}

/** Whether a user may send an operation to some robot. */
export function isAllowed({ operations }: Rights, operation: string): boolean {
  return operations.some(({ name, refused }) => name === operation && refused === null);
}
