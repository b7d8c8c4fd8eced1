import { stringify } from "yaml";

const CELLS_PER_ROW = 25;

/** The carts of the scenario: `cart-0001` and so on. */
export function cartIds(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `cart-${String(at + 1).padStart(4, "0")}`);
}

/** A scenario of carts that stand still and confirm at once, as YAML. */
export function cartScenario(count: number): string {
  const ids = cartIds(count);
  return stringify({
    confirmMs: 0,
    lively: "none",
    distributors: [{ id: "acme", apiKeys: [{ apiKey: "bench" }] }],
    locations: [{ id: "plant-1", distributor: "acme" }],
    maps: [
      {
        id: 1,
        name: "Hall",
        distributor: "acme",
        vertices: ids.map((_, at) => ({
          id: at + 1,
          code: `H${at + 1}`,
          x: (at % CELLS_PER_ROW) * 2,
          y: Math.floor(at / CELLS_PER_ROW) * 2,
          kind: "home",
        })),
      },
    ],
    robots: ids.map((id, at) => ({
      id,
      amrId: at + 1,
      family: "cart",
      location: "plant-1",
      map: 1,
      home: `H${at + 1}`,
    })),
  });
}
