import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { Check } from "../../northbound/web/api/rights.ts";
import { type Answer, post } from "../api.ts";
import type { Wanted } from "../commanding/asked.ts";

/** Asks the gateway what would become of a command. Nothing is sent by that. */
export function useCheck() {
  const isAsking = useSignal(false);
  /** The newest question, while its answer still counts. */
  const asking = useRef<Wanted | null>(null);
  return {
    isAsking: isAsking.value,
    /** Resolves with null if the user has done something else meanwhile: the answer does not count then. */
    async check(wanted: Wanted): Promise<Answer<Check> | null> {
      asking.current = wanted;
      isAsking.value = true;
      const answer = await post<Check>("/check", wanted);
      if (asking.current !== wanted) return null;
      asking.current = null;
      isAsking.value = false;
      return answer;
    },
    /** The answer to an earlier question does not count any more. */
    forget(): void {
      asking.current = null;
      isAsking.value = false;
    },
  };
}
