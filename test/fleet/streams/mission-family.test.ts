import { expect, test } from "vitest";
import { startFleetSession } from "../../support/fleet-harness.ts";
import { startSimulator } from "../../support/simulator.ts";

test("a mission of its family tells what a robot is; a base mission tells nothing", async () => {
  const simulator = await startSimulator();
  const harness = await startFleetSession(simulator.endpoints);
  const goal = { destinationId: "Home 1" };
  const begin = (robotId: string, mission: unknown) =>
    harness.port.call("CreateMission", JSON.stringify({ robotId, mission }), 5_000);
  try {
    for (const robotId of ["serve-01", "base-01"]) {
      await harness.event("mission", (event) => event.robotId === robotId);
      await begin(robotId, { baseMission: { navigateMission: { goal } } });
      const running = await harness.event(
        "mission",
        (event) => event.robotId === robotId && event.queue.missions.length > 0,
      );
      expect(running.queue.missions[0]?.type).toMatchObject({ family: "base" });
    }
    const [{ missionId = "" } = {}] = (
      await harness.event(
        "mission",
        (event) => event.robotId === "serve-01" && event.queue.missions.length > 0,
      )
    ).queue.missions;
    const cancel = { robotId: "serve-01", missionCommand: { missionId, command: "COMMAND_CANCEL" } };
    expect(await harness.port.call("UpdateMission", JSON.stringify(cancel), 5_000)).toMatchObject({
      kind: "ok",
    });
    expect(await begin("serve-01", { serveMission: { navigateMission: { goal } } })).toMatchObject({
      kind: "ok",
    });
    await harness.event("robot", (event) => event.robotId === "serve-01" && event.family === "serve");
    await harness.event("robot", (event) => event.robotId === "cart-01" && event.family === "cart");
    const families = (robotId: string) =>
      harness.events.flatMap((event) =>
        event.kind === "robot" && event.robotId === robotId ? [event.family] : [],
      );
    expect(families("serve-01")).toEqual(["unknown", "serve"]);
    expect(families("base-01")).toEqual(["unknown"]);
  } finally {
    await harness.stop();
    await simulator.stop();
  }
});
