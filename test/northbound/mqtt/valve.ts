import { Duplex } from "node:stream";
import type { OpenBroker } from "../../../src/northbound/mqtt/client/client.ts";

/**
 * The way from a gateway to its broker, which a test can close: what the gateway sends then waits, in order,
 * and is not lost.
 */
export interface Valve {
  /** The broker, seen through the valve. */
  readonly openBroker: OpenBroker;
  shut(): void;
  open(): void;
}

/** What the gateway may send while the valve is shut, before it would wait itself. */
const ROOM_BYTES = 16_000_000;

export function createValve(open: OpenBroker): Valve {
  let isShut = false;
  let held: Array<() => void> = [];
  return {
    openBroker() {
      const inner = open();
      const outer = new Duplex({
        writableHighWaterMark: ROOM_BYTES,
        read() {},
        write(chunk, _encoding, done) {
          const pass = () => void inner.write(chunk, done);
          if (isShut) held.push(pass);
          else pass();
        },
        final(done) {
          inner.end(done);
        },
        destroy(error, done) {
          inner.destroy();
          done(error);
        },
      });
      inner.on("data", (bytes) => outer.push(bytes));
      inner.on("close", () => outer.destroy());
      return outer;
    },
    shut() {
      isShut = true;
    },
    open() {
      isShut = false;
      const passing = held;
      held = [];
      for (const pass of passing) pass();
    },
  };
}
