/** What keeps a member of a cluster from leading, as the end of a sentence. */
export function cannotRead(key: string): string {
  return `cannot read the record ${key} of etcd`;
}

/**
 * Why a member that is there could not lead. `unreadable`: the key of a record that it cannot read, if any.
 */
export function whyNotReady(unreadable: string | null | undefined): string {
  return unreadable == null ? "has no session to the fleet service" : cannotRead(unreadable);
}
