import { connect } from "node:net";

/** A frame of OPC UA's TCP mapping: type and flag, the length of the whole, and a body. */
export function frame(typeAndFlag: string, body: Uint8Array): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32LE(8 + body.byteLength);
  return Buffer.concat([Buffer.from(typeAndFlag, "latin1"), size, body]);
}

/** A Hello that every server takes. */
export function hello(url = "opc.tcp://localhost:4840"): Buffer {
  const numbers = Buffer.alloc(24);
  numbers.writeUInt32LE(65_536, 4);
  numbers.writeUInt32LE(65_536, 8);
  numbers.writeUInt32LE(url.length, 20);
  return frame("HELF", Buffer.concat([numbers, Buffer.from(url)]));
}

/** How a server answers bytes; `next` makes of all that came so far what is sent next, null: nothing more. */
export type Script = (answers: Buffer) => Buffer | null;

/**
 * Sends what the script says, each part when something came back, and ends when the server closes or is silent for so
 * long, or when it is told to hang up.
 */
export async function exchange(
  url: string,
  script: Script,
  silenceMs: number,
  hangUp?: AbortSignal,
): Promise<Buffer> {
  const { hostname, port } = new URL(url.replace("opc.tcp", "tcp"));
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  let answers = Buffer.alloc(0);
  const speak = () => {
    const bytes = script(answers);
    if (bytes !== null && !socket.destroyed) socket.write(bytes);
  };
  socket.on("data", (bytes) => {
    answers = Buffer.concat([answers, bytes]);
    speak();
  });
  // A server that closes on what it has not read resets the connection.
  socket.on("error", () => socket.destroy());
  socket.setTimeout(silenceMs, () => socket.destroy());
  hangUp?.addEventListener("abort", () => socket.destroy());
  const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
  speak();
  await closed;
  return answers;
}
