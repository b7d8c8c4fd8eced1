/** An error whose message is a whole sentence for the person who has started the program. */
export class PlainError extends Error {
  /** What it means for a service manager: `exitCodes` of the program has the numbers. */
  readonly ending: "failure" | "usage" | "data" | "config" = "failure";
}
