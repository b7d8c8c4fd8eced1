import type { StreamClient } from "./client.ts";

/** Bounds the streams of each browser, so that there is room for its other requests. */
export interface BrowserBound {
  add(client: StreamClient): void;
  remove(client: StreamClient): void;
}

/** A browser opens six connections to a host over HTTP/1.1, for all its tabs together. */
const MOST_OF_BROWSER = 4;

/** @param end is called with the oldest stream of a browser that has opened too many */
export function createBrowserBound(end: (client: StreamClient) => void): BrowserBound {
  const browsers = new Map<string, Set<StreamClient>>();
  return {
    add(client) {
      if (client.browser === null) return;
      const streams = browsers.get(client.browser) ?? new Set();
      browsers.set(client.browser, streams.add(client));
      const [oldest] = streams;
      if (streams.size > MOST_OF_BROWSER && oldest !== undefined) end(oldest);
    },
    remove(client) {
      if (client.browser === null) return;
      const streams = browsers.get(client.browser);
      streams?.delete(client);
      if (streams?.size === 0) browsers.delete(client.browser);
    },
  };
}
