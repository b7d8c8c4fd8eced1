/** Cuts bytes into lines. */
export interface LineReader {
  push(chunk: Buffer): void;
  /** No more comes: what is left is a line too. */
  end(): void;
}

const NEWLINE = 0x0a;

/**
 * Hands on each line that is not empty, without its end. A line of more than `limitBytes`
 * ends the reading: where the next would begin cannot be known before it is all there.
 */
export function createLineReader(
  limitBytes: number,
  onLine: (line: Buffer) => void,
  onTooLong: () => void,
): LineReader {
  let pieces: Buffer[] = [];
  let length = 0;
  let isOver = false;

  function add(piece: Buffer): void {
    length += piece.length;
    if (length > limitBytes) {
      isOver = true;
      pieces = [];
      onTooLong();
    } else if (piece.length > 0) pieces.push(piece);
  }

  function finishLine(): void {
    const line = Buffer.concat(pieces);
    pieces = [];
    length = 0;
    if (line.length > 0) onLine(line);
  }

  return {
    push(chunk) {
      let from = 0;
      for (let end = chunk.indexOf(NEWLINE); end >= 0 && !isOver; end = chunk.indexOf(NEWLINE, from)) {
        add(chunk.subarray(from, end));
        if (!isOver) finishLine();
        from = end + 1;
      }
      if (!isOver) add(chunk.subarray(from));
    },
    end() {
      if (!isOver) finishLine();
    },
  };
}
