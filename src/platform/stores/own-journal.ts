/** A member of a cluster has a journal of its own, which the others do not know. */
export class OwnJournal extends Error {
  override readonly name = "OwnJournal";
}
