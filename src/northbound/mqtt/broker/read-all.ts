import type { Duplex } from "node:stream";

/**
 * Makes `read()` return all waiting bytes, as before Node 26, which returns one chunk at a time. aedes 1.2.0
 * reads once for each `readable` event, and would never get the other chunks.
 */
export function readAllAtOnce(stream: Duplex): void {
  const read = stream.read.bind(stream);
  stream.read = (size?: number) => {
    if (typeof size === "number") return read(size);
    const chunks: Uint8Array[] = [];
    for (let chunk: Uint8Array | null = read(); chunk !== null; chunk = read()) chunks.push(chunk);
    return chunks.length > 1 ? Buffer.concat(chunks) : (chunks[0] ?? null);
  };
}
