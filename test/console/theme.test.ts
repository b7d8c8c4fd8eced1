import { describe, expect, it } from "vitest";
import { createThemes } from "../../src/console/theme.ts";

/** A system that prefers dark colours, or light ones. */
function system(matches: boolean) {
  const listeners: Array<() => void> = [];
  const preference = {
    matches,
    addEventListener: (_name: "change", each: () => void) => listeners.push(each),
  };
  return {
    preference,
    set(next: boolean) {
      preference.matches = next;
      for (const listener of listeners) listener();
    },
  };
}

function memory(stored: Record<string, string> = {}) {
  return {
    stored,
    getItem: (key: string) => stored[key] ?? null,
    setItem(key: string, value: string) {
      stored[key] = value;
    },
  };
}

describe("the colours of the page", () => {
  const root = () => ({ dataset: {} as Record<string, string | undefined> });

  it("are those of the system, and follow it", () => {
    const [page, own] = [root(), system(false)];
    const themes = createThemes(page, memory(), own.preference);
    expect(page.dataset.theme).toBe("light");
    own.set(true);
    expect([page.dataset.theme, themes.shown.value]).toEqual(["dark", "dark"]);
  });

  it("stay as the user has chosen them, whatever the system does", () => {
    const [storage, own] = [memory(), system(false)];
    createThemes(root(), storage, own.preference).toggle();
    const page = root();
    const themes = createThemes(page, storage, own.preference);
    own.set(true);
    own.set(false);
    expect([page.dataset.theme, themes.chosen.value]).toEqual(["dark", "dark"]);
  });

  it("are the system's again when the user goes back to them", () => {
    const [page, own] = [root(), system(false)];
    const themes = createThemes(page, memory(), own.preference);
    themes.toggle();
    themes.toggle();
    own.set(true);
    expect([page.dataset.theme, themes.chosen.value]).toEqual(["dark", "system"]);
  });

  it("change also where nothing can be stored", () => {
    const page = root();
    const full = {
      getItem: () => "no theme",
      setItem() {
        throw new Error("the storage is full");
      },
    };
    createThemes(page, full, system(true).preference).toggle();
    expect(page.dataset.theme).toBe("light");
  });
});
