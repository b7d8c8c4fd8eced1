import { expect } from "vitest";
import {
  ConveyorState_HealthState as Health,
  ConveyorState_InstallationState as Installation,
  ConveyorState_OperationState as Operation,
  ConveyorState_PayloadState as Payload,
} from "../../src/wire/fleet/v1/cart/cart_pb.js";
import { FleetService } from "../../src/wire/fleet/v1/service_pb.js";
import { contractTests } from "./service.ts";

const { overGrpc } = contractTests();
const LONG_MS = 60_000;

overGrpc(
  "TRN-57 Conveyor motors: CW rolls and draws a load on in 3 s, CCW carries it off, STOP stops",
  async (service) => {
    const { id } = service.fresh("cart");
    const stream = service.client().stream(FleetService.method.subscribeConveyorStatus, { robotId: id });
    const first = async () => {
      const [state] = (await stream.next()).states;
      return [state?.operationState, state?.payloadState];
    };
    const motor = (name: string) =>
      service.done("ControlConveyor", {
        robotId: id,
        commands: [{ index: 1, command: `COMMAND_CONVEYOR_MOTOR_${name}` }],
      });
    expect(await first()).toEqual([Operation.STOP, Payload.EMPTY]);
    await motor("CW");
    expect(await first()).toEqual([Operation.ROLLING, Payload.EMPTY]);
    service.clock.advance(3_000);
    expect(await first()).toEqual([Operation.ROLLING, Payload.LOADED]);
    await motor("STOP");
    expect(await first()).toEqual([Operation.STOP, Payload.LOADED]);
    await motor("CCW");
    expect(await first()).toEqual([Operation.ROLLING, Payload.LOADED]);
    service.clock.advance(3_000);
    expect(await first()).toEqual([Operation.ROLLING, Payload.EMPTY]);
    stream.cancel();
  },
);

overGrpc(
  "TRN-58 A conveyor in error stops and says so; one that is not installed says no more than that",
  async (service) => {
    const { id } = service.fresh("cart");
    const stream = service.client().stream(FleetService.method.subscribeConveyorStatus, { robotId: id });
    const [, , missing] = (await stream.next()).states;
    expect(missing).toMatchObject({
      index: 3,
      installationState: Installation.NOT_INSTALLED,
      healthState: Health.UNKNOWN,
    });
    const commands = [{ index: 1, command: "COMMAND_CONVEYOR_MOTOR_CCW" }];
    await service.done("ControlConveyor", { robotId: id, commands });
    await stream.next();
    const happen = (ok: boolean) =>
      service.simulator.control.happen({ kind: "conveyor-health", robotId: id, index: 1, ok });
    happen(false);
    const [broken, sound] = (await stream.next()).states;
    expect(broken).toMatchObject({ healthState: Health.ERROR, operationState: Operation.STOP });
    expect(sound).toMatchObject({ healthState: Health.OK, installationState: Installation.INSTALLED });
    happen(true);
    expect((await stream.next()).states[0]).toMatchObject({
      healthState: Health.OK,
      operationState: Operation.STOP,
    });
    stream.cancel();
  },
);

overGrpc(
  "TRN-64 A conveyor in error that keeps turning takes no STOP until it is well, and then takes one",
  async (service) => {
    const { id } = service.fresh("cart");
    const stream = service.client().stream(FleetService.method.subscribeConveyorStatus, { robotId: id });
    await stream.next();
    const control = (motor: "CW" | "STOP") => {
      const commands = [{ index: 1, command: `COMMAND_CONVEYOR_MOTOR_${motor}` }];
      return service.code("ControlConveyor", { robotId: id, commands });
    };
    const health = (ok: boolean) =>
      service.simulator.control.happen({
        kind: "conveyor-health",
        robotId: id,
        index: 1,
        ok,
        keepsTurning: true,
      });
    expect(await control("CW")).toBe("OK");
    await stream.next();
    health(false);
    expect((await stream.next()).states[0]).toMatchObject({
      healthState: Health.ERROR,
      operationState: Operation.ROLLING,
    });
    expect([await control("CW"), await control("STOP")]).toEqual(Array(2).fill("FAILED_PRECONDITION"));
    health(true);
    expect((await stream.next()).states[0]).toMatchObject({
      healthState: Health.OK,
      operationState: Operation.ROLLING,
    });
    expect(await control("STOP")).toBe("OK");
    expect((await stream.next()).states[0]?.operationState).toBe(Operation.STOP);
    stream.cancel();
  },
);

overGrpc(
  "TRN-61 A robot that is blocked or runs flat stops its conveyors, and takes no motor command until it is well",
  async (service) => {
    const { id } = service.fresh("cart");
    const stream = service.client().stream(FleetService.method.subscribeConveyorStatus, { robotId: id });
    await stream.next();
    const control = (motor: "CW" | "STOP") => {
      const commands = [{ index: 1, command: `COMMAND_CONVEYOR_MOTOR_${motor}` }];
      return service.code("ControlConveyor", { robotId: id, commands });
    };
    const { happen } = service.simulator.control;
    const errors = [
      [() => happen({ kind: "blocked", robotId: id }), () => happen({ kind: "unblocked", robotId: id })],
      [
        () => happen({ kind: "battery", robotId: id, percent: 0 }),
        () => happen({ kind: "battery", robotId: id, percent: 80 }),
      ],
    ] as const;
    for (const [fail, mend] of errors) {
      expect(await control("CW")).toBe("OK");
      expect((await stream.next()).states[0]?.operationState).toBe(Operation.ROLLING);
      fail();
      expect((await stream.next()).states[0]?.operationState).toBe(Operation.STOP);
      expect([await control("CW"), await control("STOP")]).toEqual(Array(2).fill("FAILED_PRECONDITION"));
      // The load that was on its way has not come on.
      service.clock.advance(LONG_MS);
      mend();
      expect(await control("STOP")).toBe("OK");
    }
    const conveyors =
      service.simulator.control.robots().find(({ robotId }) => robotId === id)?.conveyors ?? [];
    expect(conveyors[0]).toMatchObject({ motor: "stop", loaded: false });
    stream.cancel();
  },
);
