/** A place in a text; line and column count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A mistake in a structured text, found as it is read, compiled or run; the message begins with its line. */
export class StructuredTextError extends Error {
  readonly line: number;
  readonly column: number;

  constructor(at: Position, message: string) {
    super(`line ${at.line}, column ${at.column}: ${message}`);
    this.name = "StructuredTextError";
    this.line = at.line;
    this.column = at.column;
  }
}
