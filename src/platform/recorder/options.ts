/** What is kept, and where. */
export interface RecorderOptions {
  /** The folder of the segments; saved recordings go to `saved` in it. */
  readonly folder: string;
  /** Of all segments together, and so of a saved recording. */
  readonly maxBytes: number;
  readonly keepMs: number;
  /** How many saved recordings are kept, of alarms and of users each. */
  readonly saved: number;
}
