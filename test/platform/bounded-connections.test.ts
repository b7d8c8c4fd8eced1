import { Socket } from "node:net";
import { expect, test } from "vitest";
import { createBoundedConnections } from "../../src/platform/listener.ts";

function from(address: string): Socket {
  return Object.defineProperty(new Socket(), "remoteAddress", { value: address });
}

test("beyond the bound the oldest of the address that has most is closed", () => {
  const closed: string[] = [];
  const idle = createBoundedConnections(
    () => 4,
    (address) => void closed.push(address),
  );
  const other = from("192.0.2.9");
  idle.add(other);
  const many = Array.from({ length: 6 }, () => from("192.0.2.1"));
  for (const socket of many) idle.add(socket);
  expect(closed).toEqual(["192.0.2.1", "192.0.2.1", "192.0.2.1"]);
  expect(many.map(({ destroyed }) => destroyed)).toEqual([true, true, true, false, false, false]);
  expect(other.destroyed).toBe(false);
  expect(idle.figures()).toEqual({ open: 4, closed: 3 });
});

test("what is used is not idle, and the newest of the idle ones when it is so again", () => {
  const idle = createBoundedConnections(
    () => 2,
    () => {},
  );
  const [first, second, third] = [from("192.0.2.1"), from("192.0.2.1"), from("192.0.2.1")];
  idle.add(first);
  idle.add(second);
  idle.remove(first);
  idle.add(first);
  idle.add(third);
  expect([first, second, third].map(({ destroyed }) => destroyed)).toEqual([false, true, false]);
});

test("a connection that is idle again and again gets one listener", () => {
  const idle = createBoundedConnections(
    () => 2,
    () => {},
  );
  const socket = from("192.0.2.1");
  const before = socket.listenerCount("close");
  for (let request = 0; request < 100; request += 1) {
    idle.add(socket);
    idle.remove(socket);
  }
  expect(socket.listenerCount("close")).toBe(before + 1);
});
