import { select } from "d3-selection";
import { type D3ZoomEvent, type ZoomBehavior, zoom, zoomIdentity } from "d3-zoom";
import { useEffect, useRef, useState } from "preact/hooks";
import { type Camera, isSame, scaleLength, toPixels, type Zoom, zoomed } from "../floor/camera.ts";
import type { Picture } from "../floor/ground.ts";
import type { Surface } from "../floor/message.ts";
import { startPainterWorker } from "../floor/painter-worker.ts";
import { paletteOf } from "../floor/palette.ts";
import { fitted } from "../floor/picture.ts";
import { type FloorPoint, type FloorState, isAlike, restMs, type Scene, sceneAt } from "../floor/scene.ts";
import { type MarkAt, NEAR_PIXELS } from "../floor/stacks.ts";
import { numberText, say } from "../texts/texts.ts";
import type { Moment } from "../trust/time-text.ts";

export interface DrawingProps {
  readonly state: FloorState;
  /** Below the points; null: there is none. */
  readonly picture: Picture | null;
  readonly now: () => Moment;
  readonly choose: (robotId: string) => void;
  /** A press on a point of the map, where no robot is. */
  readonly choosePoint: (name: string) => void;
  readonly theme: "light" | "dark";
}

/** The drawing of the floor. The list beside it has the same in words. */
export function FloorDrawing(props: DrawingProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const drawing = useRef<Drawing | null>(null);
  const [hasFailed, setFailed] = useState(false);
  useEffect(() => {
    if (canvas.current === null) return;
    try {
      const made = createDrawing(canvas.current, setFailed);
      drawing.current = made;
      return () => made.close();
    } catch {
      return setFailed(true);
    }
  }, []);
  useEffect(() => drawing.current?.show(props));
  return (
    <div class="drawing">
      {hasFailed && <p class="warning">{say("floor.notice", { text: say("floor.drawingFailed") })}</p>}
      <canvas ref={canvas} tabIndex={0} role="img" aria-label={say("floor.drawing")} />
      <p class="zoom">
        <button type="button" aria-label={say("floor.zoomIn")} onClick={() => drawing.current?.zoomBy(1.5)}>
          +
        </button>
        <button
          type="button"
          aria-label={say("floor.zoomOut")}
          onClick={() => drawing.current?.zoomBy(1 / 1.5)}
        >
          −
        </button>
        <button type="button" onClick={() => drawing.current?.showAll()}>
          {say("floor.all")}
        </button>
      </p>
    </div>
  );
}

interface Drawing {
  show(props: DrawingProps): void;
  zoomBy(factor: number): void;
  showAll(): void;
  close(): void;
}

/** What a view was fitted to. */
interface Fitted {
  readonly mapId: number | null;
  /** How many there were. */
  readonly points: number;
  readonly layout: Picture["layout"] | null;
}

interface Base extends Fitted {
  readonly camera: Camera;
}

/** What the canvas shows. */
interface Drawn {
  readonly scene: Scene;
  readonly camera: Camera;
  /** Everything else that the picture depends on. */
  readonly with: readonly unknown[];
}

/** The browser takes so long until the next frame. */
const FRAME_MS = 16;

/** A drawing that is read again may be the same: its text is made only then, and not in each frame. */
function isOf(base: Base, { mapId, points, layout }: Fitted): boolean {
  if (base.mapId !== mapId || base.points !== points) return false;
  return base.layout === layout || JSON.stringify(base.layout) === JSON.stringify(layout);
}

/**
 * Has the floor drawn when something looks different than before: while marks move, whenever one is a pixel
 * further.
 */
function createDrawing(canvas: HTMLCanvasElement, showFailed: (hasFailed: boolean) => void): Drawing {
  const worker = startPainterWorker(canvas, onFree, () => showFailed(true));
  let shown: DrawingProps | null = null;
  let last: Drawn | null = null;
  let [surface, ask, rest]: [Surface, number, number] = [surfaceOf(canvas), 0, 0];
  let transform: Zoom = zoomIdentity;
  let base: Base | null = null;
  let isDue = false;

  function paint(): void {
    ask = 0;
    const { width, height } = surface.size;
    if (shown === null || width === 0 || height === 0) return;
    isDue = !worker.isFree;
    if (isDue) return;
    const now = shown.now();
    const scene = sceneAt(shown.state, now);
    const { mapId } = shown.state;
    const { picture } = shown;
    const layout = picture?.layout ?? null;
    // The view is fitted once for each map and drawing: it must not move under the pointer when a robot
    // moves.
    const of = { mapId, points: scene.points.length, layout };
    base = {
      ...of,
      camera: base !== null && isOf(base, of) ? base.camera : fitted(scene, layout, surface.size),
    };
    const camera = zoomed(base.camera, transform);
    const drawn = [surface, picture, camera.pixelsPerUnit, camera.originX, camera.originY];
    if (last === null || !isSame(last.with, drawn) || !isAlike(last.scene, scene))
      worker.draw(scene, camera, surface, picture, scaleText(camera));
    last = { scene, camera, with: drawn };
    clearTimeout(rest);
    if (scene.isMoving) rest = setTimeout(plan, restMs(shown.state, camera, now) - FRAME_MS);
  }

  function plan(): void {
    if (ask === 0) ask = requestAnimationFrame(paint);
  }

  function onFree(isDrawn: boolean): void {
    if (isDrawn) showFailed(false);
    if (isDue) plan();
  }

  function fit(): void {
    surface = surfaceOf(canvas);
    base = null;
    plan();
  }

  const behaviour = zoom<HTMLCanvasElement, unknown>()
    .scaleExtent([0.5, 40])
    .on("zoom", (event: D3ZoomEvent<HTMLCanvasElement, unknown>) => {
      transform = event.transform;
      plan();
    });
  const selection = select(canvas).call(behaviour);
  const resized = new ResizeObserver(fit);
  resized.observe(canvas);
  const onClick = ({ offsetX: x, offsetY: y }: MouseEvent) => {
    if (last === null) return;
    const robotId = robotNear(last.scene, last.camera, { x, y });
    if (robotId !== null) return shown?.choose(robotId);
    const point = pointNear(last.scene, last.camera, { x, y });
    if (point !== null) shown?.choosePoint(point.name);
  };
  canvas.addEventListener("click", onClick);
  const onKey = arrowKeys(behaviour, selection);
  canvas.addEventListener("keydown", onKey);
  return {
    show(props) {
      const isOtherTheme = shown !== null && shown.theme !== props.theme;
      shown = props;
      if (isOtherTheme) surface = surfaceOf(canvas);
      plan();
    },
    zoomBy: (factor) => behaviour.scaleBy(selection, factor),
    showAll() {
      base = null;
      behaviour.transform(selection, zoomIdentity);
    },
    close() {
      worker.close();
      clearTimeout(rest);
      cancelAnimationFrame(ask);
      resized.disconnect();
      selection.on(".zoom", null);
      canvas.removeEventListener("click", onClick);
      canvas.removeEventListener("keydown", onKey);
    },
  };
}

function surfaceOf(canvas: HTMLCanvasElement): Surface {
  const { clientWidth: width, clientHeight: height } = canvas;
  return { size: { width, height }, ratio: devicePixelRatio, colours: paletteOf(canvas) };
}

function scaleText(camera: Camera): string {
  const length = scaleLength(camera);
  return say("floor.scale", { length: numberText(length, length < 1 ? 1 : 0) });
}

type CanvasSelection = ReturnType<typeof select<HTMLCanvasElement, unknown>>;

const steps: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [40, 0],
  ArrowRight: [-40, 0],
  ArrowUp: [0, 40],
  ArrowDown: [0, -40],
};

function arrowKeys(behaviour: ZoomBehavior<HTMLCanvasElement, unknown>, selection: CanvasSelection) {
  return (event: KeyboardEvent) => {
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    behaviour.translateBy(selection, ...step);
  };
}

/** Whoever points with a finger hits a mark from this far. */
const FINGER_PIXELS = 22;

/**
 * The robot at a point of the drawing, within a finger's width; null: none. At a stack each click chooses the
 * next one.
 */
function robotNear(
  { marks }: Scene,
  camera: Camera,
  at: { readonly x: number; readonly y: number },
): string | null {
  const placed = marks.map((mark): MarkAt => ({ mark, ...toPixels(camera, mark.place) }));
  let [nearest, nearestPixels]: [MarkAt | null, number] = [null, FINGER_PIXELS];
  for (const each of placed) {
    const pixels = Math.hypot(each.x - at.x, each.y - at.y);
    if (pixels <= nearestPixels) [nearest, nearestPixels] = [each, pixels];
  }
  if (nearest === null) return null;
  const { x, y, mark } = nearest;
  const stack = placed.filter((each) => Math.hypot(each.x - x, each.y - y) < NEAR_PIXELS);
  const chosen = stack.find((each) => each.mark.isChosen);
  if (chosen === undefined) return mark.robotId;
  const ids = stack.map((each) => each.mark.robotId).sort();
  return ids[(ids.indexOf(chosen.mark.robotId) + 1) % ids.length] ?? null;
}

/** The point nearest to a place of the drawing, within a finger's width; null: none. */
function pointNear(
  { points }: Scene,
  camera: Camera,
  at: { readonly x: number; readonly y: number },
): FloorPoint | null {
  let [nearest, nearestPixels]: [FloorPoint | null, number] = [null, FINGER_PIXELS];
  for (const point of points) {
    const { x, y } = toPixels(camera, point);
    const pixels = Math.hypot(x - at.x, y - at.y);
    if (pixels <= nearestPixels) [nearest, nearestPixels] = [point, pixels];
  }
  return nearest;
}
