import { AsyncResource } from "node:async_hooks";

/**
 * Makes what `AsyncResource.bind` returns collectable by the fast, frequent collections of the heap.
 *
 * Node.js up to 24 gives each bound function a deprecated property, `asyncResource` (DEP0172), whose
 * accessors become prototypes: V8 keeps a hidden class for each, in the old part of the heap, and that holds
 * the function and all it reaches until the next full collection. node:http2 binds one function for each
 * request, so every unary call of gRPC, with its command, would live until then: 10 kB each. Nothing here
 * reads the property. Where Node.js does not set it any more, nothing is changed.
 */
export function bindWithoutProperty(): void {
  if (!("asyncResource" in new AsyncResource("probe").bind(() => {}))) return;
  AsyncResource.prototype.bind = bind as AsyncResource["bind"];
}

/** As Node.js documents it: without `thisArg` the function runs with the `this` that it is called with. */
function bind(this: AsyncResource, run: (...args: unknown[]) => unknown, thisArg?: unknown) {
  if (typeof run !== "function") throw new TypeError("AsyncResource.bind needs a function");
  const resource = this;
  const bound = function (this: unknown, ...args: unknown[]) {
    return resource.runInAsyncScope(run, thisArg === undefined ? this : thisArg, ...args);
  };
  return Object.defineProperty(bound, "length", { value: run.length, configurable: true });
}
