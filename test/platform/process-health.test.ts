import { expect, it } from "vitest";
import { createProcessHealth } from "../../src/platform/process-health.ts";

it("has the memory and the limit of open files of this process", () => {
  const { state, figures } = createProcessHealth()();
  expect(state).toBe("up");
  expect(figures?.rssBytes).toBeGreaterThan(figures?.heapBytes ?? 0);
  expect(figures?.openFilesLimit).toBeGreaterThan(100);
});

it("says that no file descriptor is left, with the last figures, and recovers", () => {
  let rss: number | null = 5_000;
  const health = createProcessHealth({ rssBytes: () => rss, openFilesLimit: () => 42 });
  expect(health().state).toBe("up");
  rss = null;
  expect(health()).toMatchObject({
    state: "degraded",
    detail:
      "no file descriptor is left of 42: no new connection is accepted or made, those that are open go on; " +
      "close connections, or raise LimitNOFILE",
    figures: { rssBytes: 5_000, openFilesLimit: 42 },
  });
  rss = 6_000;
  expect(health()).toMatchObject({ state: "up", figures: { rssBytes: 6_000 } });
});
