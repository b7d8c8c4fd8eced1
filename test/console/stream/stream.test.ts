import { describe, expect, it } from "vitest";
import { followStream, StreamEnded, type StreamState } from "../../../src/console/stream/stream.ts";

/** A browser whose time passes when the test says so, and a gateway that answers as it says. */
function open(onEvent: (name: string) => void = () => {}, answers: Array<() => Response> = []) {
  let nowMs = 0;
  let isHidden = false;
  const timers = new Set<{ readonly atMs: number; readonly done: () => void }>();
  const watchers = new Set<() => void>();
  const states: StreamState[] = [];
  const asked: string[] = [];
  const connections: Array<{
    readonly signal: AbortSignal;
    readonly say: (text: string) => void;
    end(): void;
  }> = [];
  const over = new AbortController();

  function until(signal: AbortSignal, add: (done: () => void) => () => void): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const remove = add(done);
      function done(): void {
        remove();
        signal.removeEventListener("abort", done);
        resolve();
      }
      signal.addEventListener("abort", done);
    });
  }

  function connect(signal: AbortSignal): Response {
    const text = new TextEncoder();
    let control: ReadableStreamDefaultController<Uint8Array>;
    const body = new ReadableStream<Uint8Array>({
      start(made) {
        control = made;
      },
    });
    signal.addEventListener("abort", () => control.error(signal.reason));
    connections.push({
      signal,
      say: (said) => control.enqueue(text.encode(said)),
      end: () => control.close(),
    });
    return new Response(body);
  }

  const settled = () => new Promise((resolve) => setImmediate(resolve));
  const running = followStream(
    {
      async open(lastEventId, signal) {
        asked.push(lastEventId);
        return answers.shift()?.() ?? connect(signal);
      },
      onEvent: ({ name }) => onEvent(name),
      onState: (state) => states.push(state),
      isHidden: () => isHidden,
      visibilityChange: (signal) =>
        until(signal, (done) => {
          watchers.add(done);
          return () => watchers.delete(done);
        }),
      sleep: (ms, signal) =>
        until(signal, (done) => {
          const timer = { atMs: nowMs + ms, done };
          timers.add(timer);
          return () => timers.delete(timer);
        }),
      random: () => 1,
    },
    over.signal,
  );
  return {
    states,
    asked,
    timers,
    watchers,
    running,
    last: () => states.at(-1),
    connection: () => connections.at(-1),
    settled,
    async pass(ms: number) {
      nowMs += ms;
      for (const timer of [...timers]) if (timer.atMs <= nowMs) timer.done();
      await settled();
    },
    async hide(isHiddenNow: boolean) {
      isHidden = isHiddenNow;
      for (const done of [...watchers]) done();
      await settled();
    },
    async end() {
      over.abort();
      await running;
    },
  };
}

describe("the stream", () => {
  it("hands on what comes, and connects again with the last event's id", async () => {
    const received: string[] = [];
    const page = open((name) => received.push(name));
    await page.settled();
    expect(page.last()).toEqual({ state: "open" });
    page.connection()?.say("event: tick\nid: s1.4\ndata: {}\n\n");
    await page.settled();
    expect(received).toEqual(["tick"]);
    page.connection()?.end();
    await page.settled();
    expect(page.last()).toEqual({
      state: "waiting",
      reason: "the gateway has closed the stream",
      forMs: 500,
    });
    await page.pass(500);
    expect(page.last()).toEqual({ state: "open" });
    expect(page.asked).toEqual(["", "s1.4"]);
    await page.end();
  });

  it("waits twice as long after each failure, 10 s at most, and begins anew when something is heard", async () => {
    const refused = () => Response.json({ detail: "it stops" }, { status: 503 });
    const page = open(() => {}, Array(7).fill(refused));
    const waits: number[] = [];
    for (let failure = 0; failure < 7; failure += 1) {
      await page.settled();
      const state = page.last();
      expect(state).toMatchObject({ state: "waiting", reason: "it stops" });
      waits.push(state?.state === "waiting" ? state.forMs : 0);
      await page.pass(waits.at(-1) ?? 0);
    }
    expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
    page.connection()?.say("event: tick\ndata: {}\n\n");
    await page.settled();
    page.connection()?.end();
    await page.settled();
    expect(page.last()).toMatchObject({ forMs: 500 });
    await page.end();
  });

  it("gives a connection up on which nothing comes for 5 s", async () => {
    const page = open();
    await page.settled();
    await page.pass(4_999);
    page.connection()?.say(": here\n");
    await page.settled();
    await page.pass(4_999);
    expect(page.last()).toEqual({ state: "open" });
    await page.pass(1);
    expect(page.last()).toMatchObject({ state: "waiting", reason: "the gateway says nothing any more" });
    expect(page.connection()?.signal.aborted).toBe(true);
    await page.end();
  });

  it("is closed 30 s after the page was hidden, and opened at once when it is shown", async () => {
    const page = open();
    await page.settled();
    await page.hide(true);
    for (let second = 0; second < 29; second += 1) {
      await page.pass(1_000);
      page.connection()?.say(": here\n");
      await page.settled();
    }
    expect(page.last()).toEqual({ state: "open" });
    await page.pass(1_000);
    expect(page.last()).toEqual({ state: "hidden" });
    expect(page.connection()?.signal.aborted).toBe(true);
    await page.pass(60_000);
    expect(page.asked).toHaveLength(1);
    await page.hide(false);
    expect(page.last()).toEqual({ state: "open" });
    expect(page.asked).toHaveLength(2);
    await page.end();
  });

  it("stays open when the page is shown again in time", async () => {
    const page = open();
    await page.settled();
    await page.hide(true);
    await page.pass(4_000);
    await page.hide(false);
    page.connection()?.say(": here\n");
    await page.settled();
    await page.hide(true);
    await page.pass(4_999);
    expect(page.asked).toHaveLength(1);
    expect(page.last()).toEqual({ state: "open" });
    await page.end();
  });

  it("connects at once when a page that waits is shown", async () => {
    const page = open(() => {}, [() => new Response("", { status: 502 })]);
    await page.settled();
    expect(page.last()).toMatchObject({ state: "waiting", reason: "the gateway answers 502" });
    await page.hide(false);
    expect(page.last()).toEqual({ state: "open" });
    await page.end();
  });

  it("does not connect again when the gateway says that it is of no use", async () => {
    const page = open(() => {
      throw new StreamEnded("a fifth tab is open");
    });
    await page.settled();
    page.connection()?.say("event: closed\ndata: {}\n\n");
    await page.running;
    expect(page.last()).toEqual({ state: "ended", reason: "a fifth tab is open" });
  });

  it("leaves no timer and no watcher behind", async () => {
    const page = open();
    await page.settled();
    await page.end();
    await page.settled();
    expect([page.timers.size, page.watchers.size]).toEqual([0, 0]);
  });
});
