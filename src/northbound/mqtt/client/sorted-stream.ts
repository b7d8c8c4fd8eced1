import { Duplex } from "node:stream";
import type { Sorted } from "./frame-sorter.ts";

/** A connection to a broker for mqtt.js, from which some messages are taken before it sees them. */
export class SortedStream extends Duplex {
  readonly #connection: Duplex;

  constructor(connection: Duplex, sort: (bytes: Buffer) => Sorted) {
    super();
    this.#connection = connection;
    connection.on("data", (bytes: Buffer) => {
      const { rest, acks } = sort(bytes);
      if (acks !== null && connection.writable) connection.write(acks);
      for (const piece of rest) if (!this.push(piece)) connection.pause();
    });
    connection.on("end", () => this.push(null));
    connection.on("error", (error) => this.destroy(error));
    connection.on("close", () => this.destroy());
  }

  override _read(): void {
    this.#connection.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#connection.write(chunk, done);
  }

  override _writev(
    chunks: ReadonlyArray<{ readonly chunk: Buffer }>,
    done: (error?: Error | null) => void,
  ): void {
    const last = chunks.length - 1;
    this.#connection.cork();
    for (const [at, { chunk }] of chunks.entries()) {
      if (at === last) this.#connection.write(chunk, done);
      else this.#connection.write(chunk);
    }
    this.#connection.uncork();
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#connection.end(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#connection.destroy();
    done(error);
  }
}
