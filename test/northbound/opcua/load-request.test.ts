import { expect, it } from "vitest";
import { loadRequest } from "../../../src/northbound/opcua/commands/mission-request.ts";

it.each([4, 5])("MotorCommand %s is refused where the configuration does not say how to load", (motor) => {
  expect(loadRequest("r1", 1, motor, null)).toEqual({
    problem: `MotorCommand ${motor}: the station's configuration does not say how to load`,
  });
});

it("names a conveyor that is missing", () => {
  expect(loadRequest("r1", undefined, 4, "CW")).toMatchObject({
    problem: expect.stringContaining("ConveyorIndex is missing"),
  });
});
