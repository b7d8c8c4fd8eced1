/** Faults that wait for a command or a message, each for a number of times. */
export interface Armed<F extends { readonly count: number }> {
  add(fault: F): void;
  /** The active faults, with the counts that are left. */
  list(): readonly F[];
  clear(): void;
  /** Switches off the matching ones. */
  remove(fits: (fault: F) => boolean): void;
  /** The first that matches, in the order in which they were added; it is thereby used once. */
  take(fits: (fault: F) => boolean): F | undefined;
}

export function createArmed<F extends { readonly count: number }>(): Armed<F> {
  let armed: readonly F[] = [];
  return {
    add(fault) {
      armed = [...armed, fault];
    },
    list: () => armed,
    clear() {
      armed = [];
    },
    remove(fits) {
      armed = armed.filter((fault) => !fits(fault));
    },
    take(fits) {
      const found = armed.find(fits);
      if (found === undefined) return undefined;
      armed = armed
        .map((fault) => (fault === found ? { ...fault, count: fault.count - 1 } : fault))
        .filter(({ count }) => count > 0);
      return found;
    },
  };
}
