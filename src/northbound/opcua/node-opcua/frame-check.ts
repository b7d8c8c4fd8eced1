/** Why a client's bytes are no OPC UA frames. */
export interface FrameProblem {
  readonly status: "BadTcpMessageTypeInvalid" | "BadTcpMessageTooLarge" | "BadDecodingError";
  readonly text: string;
}

/** Message type, chunk flag and length (OPC UA part 6, 7.1.2.2 and 6.7.2.2). */
const HEADER_BYTES = 8;
/** All chunks of one request; 10,000 written texts need a third of it. */
const REQUEST_LIMIT_BYTES = 8 * 1024 * 1024;
/** A chunk costs memory beside its bytes, and a client may make it as small as its headers. */
const CHUNK_COST_BYTES = 1024;

interface FrameRule {
  /** Only the chunks of a service call may be anything but final. */
  readonly flags: string;
  /** The smallest and largest whole frame: its headers, and the limit of the stack. */
  readonly minBytes: number;
  readonly maxBytes: number;
}

/** The frames that a client may send. ACK, ERR and RHE come from the server only. */
const rules: ReadonlyMap<string, FrameRule> = new Map([
  ["HEL", { flags: "F", minBytes: 32, maxBytes: 4_096 }],
  ["OPN", { flags: "F", minBytes: 32, maxBytes: 64 * 1024 }],
  ["MSG", { flags: "FCA", minBytes: 24, maxBytes: 512 * 1024 }],
  ["CLO", { flags: "F", minBytes: 24, maxBytes: 64 * 1024 }],
]);

/**
 * Checks the framing of one client: HEL first and once, then OPN, then any frame of a client, each of a
 * possible size. `pass` gets the bytes of a frame once its header is complete and valid, never those of two
 * frames together. `hold` is called with the cost of an unfinished request when it changes; 0: there is none.
 * `open` is called when a channel is opened, before `pass` gets the frame. The returned function is called
 * with each chunk, and returns what is wrong; after that it must not be called again.
 */
export function createFrameCheck(
  pass: (bytes: Buffer) => void,
  hold: (bytes: number) => void,
  open: () => void = () => {},
): (chunk: Buffer) => FrameProblem | null {
  const header = Buffer.alloc(HEADER_BYTES);
  let headerBytes = 0;
  let bodyLeft = 0;
  let expected: "HEL" | "OPN" | "any" = "HEL";
  /** Of the unfinished request, by its headers. */
  let requestBytes = 0;
  /** How much of it has come, and whether this chunk is its last. */
  let heldBytes = 0;
  let isLast = true;
  let declaredBytes = 0;

  function check(): FrameProblem | null {
    const type = header.toString("latin1", 0, 3);
    const flag = header.toString("latin1", 3, 4);
    const bytes = header.readUInt32LE(4);
    const rule = rules.get(type);
    if (rule === undefined || (expected === "any" ? type === "HEL" : type !== expected)) {
      return { status: "BadTcpMessageTypeInvalid", text: `a client may not send ${shown(type)} here` };
    }
    if (!rule.flags.includes(flag)) {
      return { status: "BadTcpMessageTypeInvalid", text: `${type} has no chunk of type ${shown(flag)}` };
    }
    if (bytes < rule.minBytes) return { status: "BadDecodingError", text: `${type} of ${bytes} bytes` };
    requestBytes = bytes + (type === "MSG" ? requestBytes : 0);
    if (bytes > rule.maxBytes || requestBytes > REQUEST_LIMIT_BYTES) {
      return { status: "BadTcpMessageTooLarge", text: `${type} of ${bytes} bytes` };
    }
    isLast = flag !== "C";
    if (isLast) requestBytes = 0;
    heldBytes += CHUNK_COST_BYTES;
    if (type === "OPN") open();
    expected = type === "HEL" ? "OPN" : "any";
    bodyLeft = bytes - HEADER_BYTES;
    return null;
  }

  function take(chunk: Buffer): FrameProblem | null {
    let at = 0;
    while (at < chunk.byteLength) {
      let from = at;
      if (bodyLeft === 0) {
        const copied = chunk.copy(header, headerBytes, at);
        headerBytes += copied;
        at += copied;
        if (headerBytes < HEADER_BYTES) return null;
        const problem = check();
        if (problem !== null) return problem;
        if (copied < HEADER_BYTES) {
          pass(Buffer.from(header));
          from = at;
        }
        headerBytes = 0;
      }
      const body = Math.min(bodyLeft, chunk.byteLength - at);
      bodyLeft -= body;
      at += body;
      heldBytes = bodyLeft === 0 && isLast ? 0 : heldBytes + body;
      if (at > from) pass(chunk.subarray(from, at));
    }
    return null;
  }

  return (chunk) => {
    const problem = take(chunk);
    if (heldBytes !== declaredBytes) {
      declaredBytes = heldBytes;
      hold(heldBytes);
    }
    return problem;
  };
}

/** Bytes of an unknown sender, made safe for a log. */
function shown(bytes: string): string {
  return JSON.stringify(bytes);
}

/**
 * An Error message (OPC UA part 6, 7.1.2.5): header, status code, reason. A server sends it if it cannot
 * secure an answer, or need not, and every client understands it.
 */
export function errorFrame(status: number, reason: string): Buffer {
  const text = Buffer.from(reason);
  const frame = Buffer.alloc(16 + text.byteLength);
  frame.write("ERRF", "latin1");
  frame.writeUInt32LE(frame.byteLength, 4);
  frame.writeUInt32LE(status, 8);
  frame.writeUInt32LE(text.byteLength, 12);
  text.copy(frame, 16);
  return frame;
}

/** More would let one client delay the others; with fewer, a client with many requests gets half as many. */
const FRAMES_A_TURN = 4;

/**
 * Passes a few frames of a connection in each turn of the event loop, the first at once, and reads no more
 * while others wait. So a client that sends many requests at once delays another client's by few of them.
 */
export function passInTurns(pass: (bytes: Buffer) => void, pause: () => () => void): (bytes: Buffer) => void {
  const waiting: Buffer[] = [];
  let passed = 0;
  let resume: (() => void) | null = null;

  function passNow(bytes: Buffer): void {
    if (passed === 0) setImmediate(nextTurn);
    passed += 1;
    pass(bytes);
  }

  function nextTurn(): void {
    passed = 0;
    for (const bytes of waiting.splice(0, FRAMES_A_TURN)) passNow(bytes);
    if (waiting.length > 0) return;
    resume?.();
    resume = null;
  }

  return (bytes) => {
    if (passed < FRAMES_A_TURN && waiting.length === 0) return passNow(bytes);
    resume ??= pause();
    waiting.push(bytes);
  };
}
