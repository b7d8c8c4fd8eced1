import { describe, expect, it } from "vitest";
import { createEventQueue, type EventQueue } from "../../src/delivery/event-queue.ts";
import type { FleetEvent } from "../../src/domain/event.ts";
import { refusal } from "../../src/domain/outcome.ts";
import { event } from "./fake-state.ts";

/** An event of a robot. */
function alarm(eventId: string, robotId: string): FleetEvent {
  return { ...event(eventId), robotId } as FleetEvent;
}

/** The event of a command; its id is `mqtt:<client>/<request id>`. */
function command(eventId: string): FleetEvent {
  const [, name = "", requestId = ""] = /^mqtt:([^/]*)\/(.*)$/.exec(eventId) ?? [];
  return {
    kind: "command",
    eventId,
    robotId: "",
    atMs: 0,
    command: { source: { protocol: "mqtt", name }, requestId },
    operation: "GetOnlineRobots",
    from: "received",
    outcome: { ...refusal("QUEUE_FULL", ""), responseJson: "a long list" },
  };
}

function waiting(queue: EventQueue): string[] {
  return queue.peek(1_000).map((held) => held.event.eventId);
}

describe("a full queue of events", () => {
  it("keeps what robots do, however many commands are sent", () => {
    const queue = createEventQueue(3);
    for (const event of ["m1", "m2", "m3"]) queue.push(alarm(event, "r1"));
    for (let number = 0; number < 100; number += 1) queue.push(command(`mqtt:guest/${number}`));
    expect(waiting(queue)).toEqual(["m1", "m2", "m3", "mqtt:guest/97", "mqtt:guest/98", "mqtt:guest/99"]);
    expect(queue.dropped).toBe(97);
  });

  it("keeps the commands of each sender from those of another, whatever ids it gives them", () => {
    const queue = createEventQueue(4);
    queue.push(command("mqtt:scada/1"));
    queue.push(command("mqtt:eva/2"));
    const gone: Array<string | null> = [];
    for (let number = 0; number < 100; number += 1)
      gone.push(queue.push(command(`mqtt:guest/${number}/${number}`)));
    expect(new Set(gone)).toEqual(new Set([null, "mqtt:guest"]));
    expect(waiting(queue).slice(0, 2)).toEqual(["mqtt:scada/1", "mqtt:eva/2"]);
    expect(queue.length).toBe(4);
  });

  it("keeps the events of each robot from those of another", () => {
    const queue = createEventQueue(3);
    queue.push(alarm("quiet", "r1"));
    for (let number = 0; number < 10; number += 1) queue.push(alarm(`loud${number}`, "r2"));
    expect(waiting(queue)).toEqual(["quiet", "loud8", "loud9"]);
  });
});

describe("a queue of events", () => {
  it("gives them in the order in which they came", () => {
    const queue = createEventQueue(9);
    for (const one of [command("mqtt:a/1"), alarm("e1", "r1"), command("mqtt:b/1"), alarm("e2", "r2")])
      queue.push(one);
    expect(waiting(queue)).toEqual(["mqtt:a/1", "e1", "mqtt:b/1", "e2"]);
  });

  it("gives half of each slice to robots, and first, while more wait", () => {
    const queue = createEventQueue(99);
    for (let number = 0; number < 20; number += 1) queue.push(command(`mqtt:guest/${number}`));
    for (let number = 0; number < 3; number += 1) queue.push(alarm(`e${number}`, "r1"));
    const shown = queue.peek(4);
    expect(shown.map((held) => held.event.eventId)).toEqual(["e0", "e1", "mqtt:guest/0", "mqtt:guest/1"]);
    queue.release(shown);
    expect(queue.peek(4).map((held) => held.event.eventId)).toEqual([
      "e2",
      "mqtt:guest/2",
      "mqtt:guest/3",
      "mqtt:guest/4",
    ]);
  });

  it("releases what was given, and nothing newer in place of what was dropped meanwhile", () => {
    const queue = createEventQueue(2);
    queue.push(alarm("e1", "r1"));
    queue.push(alarm("e2", "r1"));
    const shown = queue.peek(9);
    queue.push(alarm("e3", "r1"));
    queue.release(shown);
    queue.release(shown);
    expect(waiting(queue)).toEqual(["e3"]);
    expect([queue.length, queue.dropped]).toEqual([1, 1]);
  });

  it("keeps no answer of the service: no event shows it", () => {
    const queue = createEventQueue(2);
    queue.push(command("mqtt:a/1"));
    expect(queue.peek(1)).toMatchObject([{ event: { outcome: { code: "QUEUE_FULL", responseJson: null } } }]);
  });
});
