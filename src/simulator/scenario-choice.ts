import type { SimulatorOptions } from "./options.ts";
import { defaultScenario } from "./scenario/default-scenario.ts";
import { generatedScenario } from "./scenario/generated-scenario.ts";
import { loadScenario, type Scenario } from "./scenario/scenario.ts";

/** The scenario of the options, with their overrides. Rejects with a ScenarioError. */
export async function chooseScenario(options: SimulatorOptions): Promise<Scenario> {
  const scenario = await readSource(options);
  return {
    ...scenario,
    world: {
      ...scenario.world,
      seed: options.seed ?? scenario.world.seed,
      lively: options.lively ?? scenario.world.lively,
    },
    timeFactor: options.timeFactor ?? scenario.timeFactor,
    confirmMs: options.confirmMs ?? scenario.confirmMs,
    confirmWaitMs: options.confirmWaitMs ?? scenario.confirmWaitMs,
  };
}

async function readSource({ scenario, seed, lively }: SimulatorOptions): Promise<Scenario> {
  const source = scenario ?? { kind: "default" };
  switch (source.kind) {
    case "default":
      return defaultScenario();
    case "file":
      return loadScenario(source.path);
    case "generated":
      return generatedScenario({ robots: source.robots, lively: lively ?? "none", seed: seed ?? 1 });
    case "given":
      return source.scenario;
  }
}
