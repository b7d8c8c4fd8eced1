import { isDeepStrictEqual } from "node:util";

/**
 * A value that is replaced while it is in use. Read it at each use: what `now` gives is kept nowhere. It is
 * no T and has none of its fields, so the type check finds what would freeze it.
 */
export interface Live<T> {
  now(): T;
  /** Calls this after each replacement by another value, until it is disposed of. Synchronous. */
  onChange(follow: (was: T, is: T) => void): Disposable;
  /** A part of it. The part changes when it is another value, whatever the rest does. */
  pick<U>(part: (whole: T) => U): Live<U>;
}

/** A live value, and the one place that replaces it. */
export interface LiveSource<T> extends Live<T> {
  /** Everybody reads the next value from the same moment on. Then what follows is called, in order. */
  replace(next: T): void;
}

/** What a structure has at one moment: the same, with values in place of those that are live. */
export type Now<T> =
  T extends Live<infer U>
    ? Now<U>
    : T extends ((...given: never) => unknown) | ReadonlyMap<unknown, unknown> | Uint8Array
      ? T
      : T extends object
        ? { [K in keyof T]: Now<T[K]> }
        : T;

type Follow<T> = (was: T, is: T) => void;

/** @param failed gets what a follower throws, so that the others are called all the same */
export function createLive<T>(first: T, failed: (error: unknown) => void = rethrow): LiveSource<T> {
  let value = first;
  const followers = new Set<Follow<T>>();
  return {
    ...viewOf(
      () => value,
      (follow) => {
        followers.add(follow);
        return { [Symbol.dispose]: () => void followers.delete(follow) };
      },
    ),
    replace(next) {
      const was = value;
      value = next;
      for (const follow of [...followers]) {
        try {
          follow(was, next);
        } catch (error) {
          failed(error);
        }
      }
    },
  };
}

function viewOf<T>(now: () => T, onChange: (follow: Follow<T>) => Disposable): Live<T> {
  return {
    now,
    onChange,
    pick(part) {
      // Messages read it: the same whole has the same part.
      let whole = now();
      let value = part(whole);
      const partOf = (newest: typeof whole) => {
        if (newest !== whole) [whole, value] = [newest, part(newest)];
        return value;
      };
      return viewOf(
        () => partOf(now()),
        (follow) =>
          onChange((was, is) => {
            const before = was === whole ? value : part(was);
            const after = partOf(is);
            if (!isDeepStrictEqual(before, after)) follow(before, after);
          }),
      );
    },
  };
}

function rethrow(error: unknown): never {
  throw error;
}
