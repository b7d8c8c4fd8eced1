import { type Signal, signal } from "@preact/signals";
import type { Problem } from "../../northbound/web/api/gateway.ts";
import type { SessionFacts } from "../../northbound/web/api/session.ts";
import { say } from "../texts/texts.ts";

/** The user of this browser at the gateway. */
export type SessionState =
  /** The gateway has not answered yet. */
  | { readonly state: "unknown" }
  /** Nobody logs in: the gateway accepts everybody. */
  | { readonly state: "open" }
  | ({ readonly state: "user" } & Pick<SessionFacts, "role" | "robots"> & { readonly name: string })
  /** Nobody is logged in. `reason` is empty until somebody was. */
  | { readonly state: "none"; readonly reason: string };

export interface Sessions {
  readonly now: Signal<SessionState>;
  /** Asks the gateway. False: it did not answer, and the state stays. */
  look(): Promise<boolean>;
  /** Resolves with null, or why it failed. */
  logIn(user: string, password: string): Promise<string | null>;
  /** Resolves with null, or why it failed. */
  logOut(): Promise<string | null>;
}

type Fetch = (address: string, request: RequestInit) => Promise<Response>;

const ADDRESS = "/api/v1/session";

export function createSessions(fetch: Fetch): Sessions {
  const now = signal<SessionState>({ state: "unknown" });
  const lose = () => {
    const { state } = now.peek();
    if (state === "none") return;
    now.value = { state: "none", reason: state === "user" ? say("logIn.ended") : "" };
  };
  const take = ({ open, name, role, robots }: SessionFacts) => {
    now.value = open || name === null ? { state: "open" } : { state: "user", name, role, robots };
  };
  return {
    now,
    async look() {
      try {
        const response = await fetch(ADDRESS, { cache: "no-store" });
        if (response.status === 401) lose();
        else if (response.ok) take(await response.json());
        return response.status === 401 || response.ok;
      } catch {
        return false;
      }
    },
    async logIn(user, password) {
      try {
        const body = JSON.stringify({ user, password });
        const headers = { "content-type": "application/json" };
        const response = await fetch(ADDRESS, { method: "POST", headers, body });
        if (response.status === 401) return say("logIn.wrong");
        if (!response.ok) return await refusalOf(response);
        take(await response.json());
        return null;
      } catch {
        return say("gateway.notReached");
      }
    },
    async logOut() {
      try {
        const response = await fetch(ADDRESS, { method: "DELETE" });
        if (!response.ok) return await refusalOf(response);
        now.value = { state: "none", reason: "" };
        return null;
      } catch {
        return say("gateway.notReached");
      }
    },
  };
}

/** The user for commands now; null: nobody can send any. Without log-in it is empty. */
export function askerOf(session: SessionState): string | null {
  if (session.state === "user") return session.name;
  return session.state === "open" ? "" : null;
}

async function refusalOf(response: Response): Promise<string> {
  const seconds = response.headers.get("retry-after");
  const { detail = say("gateway.answers", { status: response.status }) }: Partial<Problem> =
    await response.json();
  return response.status === 429 && seconds !== null ? say("logIn.tooMany", { seconds }) : detail;
}
