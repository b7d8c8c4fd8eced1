/**
 * A map of at most `limit` entries. What is set becomes the newest entry; above the limit the oldest is
 * evicted.
 */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  readonly #limit: number;

  constructor(limit: number) {
    super();
    this.#limit = limit;
  }

  override set(key: Key, value: Value): this {
    // A Map keeps the position of a key that is set again.
    this.delete(key);
    super.set(key, value);
    if (this.size > this.#limit) {
      for (const oldest of this.keys()) {
        this.delete(oldest);
        break;
      }
    }
    return this;
  }
}
