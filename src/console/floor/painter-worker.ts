import type { Camera } from "./camera.ts";
import type { Picture } from "./ground.ts";
import { looksOf, type Message, placesOf, type Still, type Surface } from "./message.ts";
import type { Scene } from "./scene.ts";
import address from "./worker.ts?worker&url";

/** Draws on a canvas of the page, in a worker. */
export interface PainterWorker {
  /** It takes one scene at a time. The newest one waits in the page, where none is behind it. */
  readonly isFree: boolean;
  /**
   * @param picture goes to the worker when it is another one: the page can draw it no more
   * @param scale the text of the drawing's scale
   */
  draw(scene: Scene, camera: Camera, surface: Surface, picture: Picture | null, scale: string): void;
  close(): void;
}

interface Policy {
  createScriptURL(address: string): string;
}
interface TrustedTypes {
  createPolicy(name: string, rules: Policy): Policy;
}

// Older browsers have none.
const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypes };
/** The policy of the console's files lets a page start scripts by this one alone, which knows one script. */
let policy: Policy | undefined;
// Not in the function below: the browser keeps it for good, with all that it could name.
const rules: Policy = { createScriptURL: () => address };

/**
 * Throws if the browser does not let it start.
 *
 * @param onFree is called after each drawing: with false if it failed
 * @param onFailed is called if the worker does not start, or a drawing fails
 */
export function startPainterWorker(
  canvas: HTMLCanvasElement,
  onFree: (isDrawn: boolean) => void,
  onFailed: () => void,
): PainterWorker {
  const offscreen = canvas.transferControlToOffscreen();
  policy ??= trustedTypes?.createPolicy("floor-worker", rules);
  const worker = new Worker(policy?.createScriptURL(address) ?? address);
  let last: Partial<Still> = {};
  let isFree = true;
  worker.onmessage = ({ data }: MessageEvent<boolean>) => {
    isFree = true;
    onFree(data);
  };
  worker.onerror = onFailed;
  return {
    get isFree() {
      return isFree;
    },
    draw({ points, marks, ...rest }, camera, surface, picture, scale) {
      const looks = looksOf(marks, last.looks ?? []);
      const still: Still = { canvas: offscreen, surface, points, picture, looks };
      const changed = changesOf(last, still);
      const message: Message = { changed, moving: { ...rest, places: placesOf(marks), camera, scale } };
      const given = [changed.canvas, changed.picture?.image].filter((each) => each !== undefined);
      worker.postMessage(message, given);
      last = still;
      isFree = false;
    },
    close() {
      // While it ends, it would keep all that these know.
      worker.onmessage = null;
      worker.onerror = null;
      worker.terminate();
    },
  };
}

function changesOf(last: Partial<Still>, still: Still): Partial<Still> {
  const names = Object.keys(still) as readonly (keyof Still)[];
  return Object.fromEntries(
    names.filter((name) => still[name] !== last[name]).map((name) => [name, still[name]]),
  );
}
