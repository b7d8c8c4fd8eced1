import type { ReadonlySignal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { AskedCommands, Wanted } from "../commanding/asked.ts";
import type { MapStore } from "../fleet/maps.ts";
import type { Route } from "../route.ts";
import type { SessionState } from "../session/session.ts";
import type { Store } from "../store.ts";
import type { Themes } from "../theme.ts";
import type { Moment } from "../trust/time-text.ts";

/** The dependencies of every view. */
export interface Page {
  readonly store: Store;
  readonly themes: Themes;
  readonly maps: MapStore;
  readonly route: ReadonlySignal<Route>;
  readonly session: ReadonlySignal<SessionState>;
  readonly now: () => Moment;
  readonly asked: AskedCommands;
  /**
   * Sends a command until its end is known. `stopTick` is that of the press for a stop, which is sent even if
   * nothing can be stored; otherwise the newest tick of the stream counts.
   */
  ask(robotId: string, label: string, wanted: Wanted, stopTick?: string): void;
  /** Shows another address. */
  go(address: string, how?: "push" | "replace"): void;
  /** Both resolve with null, or why it failed. */
  logIn(user: string, password: string): Promise<string | null>;
  logOut(): Promise<string | null>;
  /** Loads the page in the other language, if the gateway answers. Resolves like both. */
  changeLanguage(): Promise<string | null>;
  /** Connects again after the gateway has ended the stream. */
  reconnect(): void;
}

export const PageContext = createContext<Page | null>(null);

export function usePage(): Page {
  const page = useContext(PageContext);
  if (page === null) throw new Error("a view is used outside of the page");
  return page;
}
