import { PlainError } from "../error-text.ts";

/** A member of a cluster has a journal of its own, which the others do not know. */
export class OwnJournal extends PlainError {
  override readonly name = "OwnJournal";
  override readonly ending = "config";
}
