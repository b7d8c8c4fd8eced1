import { type ReadonlySignal, useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { Check, Rights } from "../../northbound/web/api/session.ts";
import { getOnce, post } from "../api.ts";
import type { Wanted } from "../commanding/asked.ts";
import { type FormProblem, problemOf } from "../commanding/form.ts";
import { unknownDestination } from "../commanding/offers.ts";
import { say } from "../texts/texts.ts";
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
    const query = id === null ? "" : `?robot=${encodeURIComponent(id)}`;
    return getOnce<Rights>(`/rights${query}`, (answer) => {
      problem.value = "problem" in answer ? answer.problem : "";
      rights.value = "value" in answer ? answer.value : null;
    });
  });
  return { rights, problem };
}

/** Whether a user may send an operation to some robot. */
export function isAllowed({ operations }: Rights, operation: string): boolean {
  return operations.some(({ name, refused }) => name === operation && refused === null);
}

/** Finds out what would become of a command, before its second step. Nothing is sent by that. */
export function useCheck() {
  const { store, maps } = usePage();
  const problem = useSignal<FormProblem | null>(null);
  const isAsking = useSignal(false);
  /** The newest question, while its answer still counts. */
  const asking = useRef<Wanted | null>(null);

  async function problemIn(wanted: Wanted): Promise<FormProblem | Check> {
    const fleet = store.fleet.peek();
    const unknown = fleet && unknownDestination(wanted.request, fleet, maps.known.peek());
    if (unknown !== null) return unknown;
    const answer = await post<Check>("/check", wanted);
    if ("problem" in answer) return { path: "", text: say("check.notChecked", { problem: answer.problem }) };
    return answer.value.outcome === "refused" ? problemOf(answer.value.message) : answer.value;
  }

  return {
    /** Why it would not become a command; null: nothing is wrong, as far as is known. */
    problem: problem.value,
    isAsking: isAsking.value,
    /** Resolves with null if something is wrong, or if the user has done something else meanwhile. */
    async check(wanted: Wanted): Promise<Check | null> {
      asking.current = wanted;
      problem.value = null;
      isAsking.value = true;
      const found = await problemIn(wanted);
      if (asking.current !== wanted) return null;
      asking.current = null;
      isAsking.value = false;
      if ("outcome" in found) return found;
      problem.value = found;
      return null;
    },
    /** The answer to an earlier question does not count any more. */
    forget(): void {
      asking.current = null;
      problem.value = null;
      isAsking.value = false;
    },
  };
}
