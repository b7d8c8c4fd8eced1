import { type Signal, signal } from "@preact/signals";

/** Light, dark, or as the system has it. */
export type Theme = "system" | "light" | "dark";

export interface Themes {
  readonly chosen: Signal<Theme>;
  /** Changes whenever other colours are shown. */
  readonly shown: Signal<"light" | "dark">;
  /** Shows the other one, and remembers it unless the system has the same. */
  toggle(): void;
}

interface Storage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
}

interface Preference {
  readonly matches: boolean;
  addEventListener(name: "change", listener: () => void): void;
}

const KEY = "fleetgate.theme";

/** @param root gets `data-theme`, which the style sheet reads */
export function createThemes(
  root: { readonly dataset: Record<string, string | undefined> },
  storage: Storage,
  isSystemDark: Preference,
): Themes {
  const ofSystem = () => (isSystemDark.matches ? "dark" : "light");
  const chosen = signal<Theme>(read(storage));
  const shown = signal<"light" | "dark">("light");
  function show(theme: Theme): void {
    chosen.value = theme;
    shown.value = theme === "system" ? ofSystem() : theme;
    root.dataset.theme = shown.value;
  }
  show(chosen.peek());
  isSystemDark.addEventListener("change", () => show(chosen.peek()));
  return {
    chosen,
    shown,
    toggle() {
      const next = shown.peek() === "dark" ? "light" : "dark";
      show(next === ofSystem() ? "system" : next);
      try {
        storage.setItem(KEY, chosen.peek());
      } catch {
        // Shown all the same, until the page is loaded again.
      }
    },
  };
}

function read(storage: Storage): Theme {
  const stored = storage.getItem(KEY);
  return stored === "light" || stored === "dark" ? stored : "system";
}
