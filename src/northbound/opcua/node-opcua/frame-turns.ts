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
