import { describe, expect, it } from "vitest";
import { aborted, type Component } from "../../src/platform/component.ts";
import { silentLog } from "../../src/platform/log.ts";
import { ComponentFailed, runSupervised, type Step } from "../../src/platform/supervisor.ts";
import { turn } from "../delivery/fake-state.ts";
import { createManualClock } from "../support/manual-clock.ts";

type Run = (signal: AbortSignal, ready: () => void, note: (what: string) => void) => Promise<void>;

const usual: Run = async (signal, ready, note) => {
  await turn();
  note("ready");
  ready();
  await aborted(signal);
  await turn();
  note("closed");
};

/** Components by name, run under a supervisor; `diary` says what happened in which order. */
function setUp(runs: Readonly<Record<string, Run>>) {
  const diary: string[] = [];
  const clock = createManualClock();
  const stop = new AbortController();
  const steps = Object.entries(runs).map(([name, run]): Step => {
    const component: Component = {
      name,
      run(signal, ready) {
        diary.push(`${name} starts`);
        return run(signal, ready, (what) => void diary.push(`${name} ${what}`));
      },
      health: () => ({ state: "up" }),
    };
    return { component, startTimeoutMs: 1_000, stopTimeoutMs: 2_000 };
  });
  const supervised = runSupervised(steps, stop.signal, {
    clock,
    log: silentLog,
    onReady: () => void diary.push("all ready"),
  });
  const outcome = supervised.then(
    () => null,
    (error: unknown) => error,
  );
  return { diary, clock, stop, outcome };
}

async function settle(): Promise<void> {
  for (let turns = 0; turns < 12; turns += 1) await turn();
}

describe("the supervisor", () => {
  it("opens in order, each when the one before is ready, and closes in reverse, one after the other", async () => {
    const { diary, stop, outcome } = setUp({ a: usual, b: usual, c: usual });
    await settle();
    stop.abort();
    expect(await outcome).toBeNull();
    expect(diary).toEqual([
      "a starts",
      "a ready",
      "b starts",
      "b ready",
      "c starts",
      "c ready",
      "all ready",
      "c closed",
      "b closed",
      "a closed",
    ]);
  });

  it("leaves a component behind that is stopped while it starts and cannot be interrupted, and calls that no failure", async () => {
    let finish = () => {};
    const slow: Run = async (_signal, _ready, note) => {
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      note("closed");
    };
    const { diary, clock, stop, outcome } = setUp({ a: usual, slow });
    await settle();
    stop.abort();
    await settle();
    clock.advance(2_000);
    expect(await outcome).toBeNull();
    expect(diary).toEqual(["a starts", "a ready", "slow starts", "a closed"]);
    finish();
  });

  it("closes what was opened when one cannot start, and names it with the cause", async () => {
    const cause = new Error("port 4840 is taken");
    const { diary, outcome } = setUp({ a: usual, b: () => Promise.reject(cause), c: usual });
    const failure = await outcome;
    expect(failure).toBeInstanceOf(ComponentFailed);
    expect(failure).toMatchObject({ component: "b", message: "b: port 4840 is taken", cause });
    expect(diary).toEqual(["a starts", "a ready", "b starts", "a closed"]);
  });

  it("closes everything when one fails later", async () => {
    const failing: Run = async (_, ready) => {
      ready();
      await turn();
      await turn();
      await turn();
      throw new Error("broken");
    };
    const { diary, outcome } = setUp({ a: failing, b: usual });
    expect(await outcome).toMatchObject({ component: "a" });
    expect(diary).toContain("all ready");
    expect(diary.at(-1)).toBe("b closed");
  });

  it("takes an end that nobody asked for as a failure", async () => {
    const { outcome } = setUp({ a: usual, b: async (_, ready) => ready() });
    expect(await outcome).toMatchObject({ message: "b: ended although nobody stopped it" });
  });

  it("gives up on a component that is not ready in time, and closes it", async () => {
    const { diary, clock, outcome } = setUp({
      a: usual,
      b: async (signal, _, note) => {
        await aborted(signal);
        note("closed");
      },
    });
    await settle();
    await clock.settle(999);
    expect(diary).not.toContain("b closed");
    await clock.settle(1);
    expect(await outcome).toMatchObject({ message: "b: not ready within 1000 ms" });
    expect(diary).toEqual(["a starts", "a ready", "b starts", "b closed", "a closed"]);
  });

  it("leaves a component behind that does not stop, closes the others, and says so", async () => {
    const stubborn: Run = (_, ready) => {
      ready();
      return new Promise(() => {});
    };
    const { diary, clock, stop, outcome } = setUp({ a: usual, b: stubborn });
    await settle();
    stop.abort();
    await clock.settle(2_000);
    expect(await outcome).toMatchObject({ message: "b: did not stop within 2000 ms" });
    expect(diary.at(-1)).toBe("a closed");
  });

  it("stops while it is still opening", async () => {
    const slow: Run = async (signal) => aborted(signal);
    const { diary, stop, outcome } = setUp({ a: usual, b: slow, c: usual });
    await settle();
    stop.abort();
    expect(await outcome).toBeNull();
    expect(diary).toEqual(["a starts", "a ready", "b starts", "a closed"]);
  });

  it("reports the first failure when closing fails too", async () => {
    const failsToClose: Run = async (signal, ready) => {
      ready();
      await aborted(signal);
      throw new Error("cannot close");
    };
    const { outcome } = setUp({ a: failsToClose, b: () => Promise.reject(new Error("first")) });
    expect(await outcome).toMatchObject({ component: "b", message: "b: first" });
  });

  it("opens nothing when it was stopped before it began", async () => {
    const clock = createManualClock();
    const diary: string[] = [];
    const component: Component = {
      name: "a",
      async run() {
        diary.push("run");
      },
      health: () => ({ state: "up" }),
    };
    const options = { clock, log: silentLog, onReady: () => void diary.push("ready") };
    const step = { component, startTimeoutMs: 1, stopTimeoutMs: 1 };
    await runSupervised([step], AbortSignal.abort(), options);
    expect(diary).toEqual([]);
  });
});
