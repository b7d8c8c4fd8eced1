const COLUMNS = 40;
const SPACING_METERS = 4;
const RADIUS_METERS = 1.2;
/** A robot takes so long to go round its circle. */
const ROUND_MS = 15_000;
const MAP_ID = 1;

/**
 * Robots that go round in circles, side by side, each time the list is asked for: the answers to
 * `GetOnlineRobots` and `GetMap`.
 */
export function createPlaces(robots: readonly string[]): (path: string) => object | null {
  const points = robots.filter((_, index) => index % 5 === 0);
  return (path) => {
    if (path.startsWith("/amr/onlineAmr")) return { robots: robots.map(onlineRobot) };
    if (path.startsWith("/map/getMapVertexes/")) return { vertexes: points.map(vertex) };
    return null;
  };
}

function onlineRobot(name: string, index: number): object {
  const { x, y } = middleOf(index);
  const turn = (2 * Math.PI * Date.now()) / ROUND_MS + index;
  return {
    id: String(index + 1),
    name,
    map_id: MAP_ID,
    map_name: "Hall",
    pos: "",
    state: "Executing",
    state_id: "ROBOT_STATE_EXECUTING",
    battery_percentile: 80,
    coordinate: {
      x: x + RADIUS_METERS * Math.cos(turn),
      y: y + RADIUS_METERS * Math.sin(turn),
      theta: turn + Math.PI / 2,
    },
  };
}

function vertex(_name: string, index: number): object {
  const { x, y } = middleOf(index * 5);
  return { id: index + 1, code: `P${index + 1}`, alias: "", x, y, map_id: MAP_ID, type: 1 };
}

function middleOf(index: number): { readonly x: number; readonly y: number } {
  return { x: (index % COLUMNS) * SPACING_METERS, y: Math.floor(index / COLUMNS) * SPACING_METERS };
}
