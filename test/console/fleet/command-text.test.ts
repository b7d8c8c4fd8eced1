import { afterEach, expect, it } from "vitest";
import { operationText } from "../../../src/console/fleet/command-words.ts";
import { german } from "../../../src/console/texts/de.ts";
import { english } from "../../../src/console/texts/en.ts";
import { speak, speakMore } from "../../../src/console/texts/texts.ts";
import { acts } from "../../../src/domain/acts.ts";

afterEach(() => speak(english, []));

const text = (operation: string, request: unknown) =>
  operationText({ operation, request: request === null ? null : JSON.stringify(request) });

it("tells a pause from a cancel", () => {
  const update = (command: string) => ({ missionCommand: { command, missionId: "m1" }, robotId: "cart-01" });
  expect(text("UpdateMission", update("COMMAND_PAUSE"))).toBe("UpdateMission: pause");
  expect(text("UpdateMission", update("COMMAND_CANCEL"))).toBe("UpdateMission: cancel");
});

it("names where a mission leads, and not all of many goals", () => {
  const goal = (destinationId: string) => ({ destinationId });
  expect(
    text("CreateMission", { mission: { baseMission: { navigateMission: { goal: goal("Station A") } } } }),
  ).toBe("CreateMission: → Station A");
  expect(text("CreateMission", { goals: ["A", "B", "C", "D"].map(goal) })).toBe(
    "CreateMission: → A → B → C, …",
  );
});

it("says no more than the operation where the request says no more, or could not be read", () => {
  expect(text("PauseRobot", { amrId: 1 })).toBe("PauseRobot");
  expect(text("PauseRobot", null)).toBe("PauseRobot");
  expect(operationText({ operation: "PauseRobot", request: "{cut off" })).toBe("PauseRobot");
});

it("says what an act has done", () => {
  expect(text("Hold", { robot_id: "cart-01", hold: true })).toBe("Hold: begin");
  expect(text("HoldAll", { hold: false, user: "opcua:plc1" })).toBe("HoldAll: lift, of opcua:plc1");
  expect(text("AcknowledgeAlarm", { alarm_id: "BATTERY_LOW-0b9a5c1e" })).toBe(
    "AcknowledgeAlarm: battery low",
  );
  expect(text("LeaseRobot", { station: "dock", robot_id: "cart-01" })).toBe("LeaseRobot: dock");
  expect(text("Permit", { station: "dock", permit: false })).toBe("Permit: dock, taken back");
  expect(text("SetOutOfService", { robot_id: "cart-01", out_of_service: true })).toBe(
    "SetOutOfService: out of service",
  );
});

it("names what the gateway does itself in plain words", async () => {
  expect(["log_on", "certificate", "simulator_fault"].map((name) => text(name, null))).toEqual([
    "log on",
    "certificate",
    "simulator fault",
  ]);
  speak(german, []);
  await speakMore();
  expect(text("log_on", null)).toBe("Anmeldung");
  expect(text("certificate", null)).toBe("Zertifikat");
  expect(text("Hold", { robot_id: "cart-01", hold: true })).toBe("Sperre: Beginn");
  expect(text("HoldAll", { hold: false })).toBe("Sperre aller Roboter: Ende");
  expect(text("OverrideLease", null)).toBe("Reservierung beenden");
  expect(Object.keys(acts).filter((name) => text(name, null) === name)).toEqual([]);
});

it("names operations of the catalogue as they are in every language", () => {
  speak(german, []);
  expect(text("CreateMission", null)).toBe("CreateMission");
});
