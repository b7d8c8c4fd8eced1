import type { Endpoint } from "./endpoints.ts";

const answers: Endpoint["answers"] = { 200: { says: "What goes wrong now.", body: "SimulatedFaults" } };

/** Requests for the gateway of the demo alone, which has a simulated fleet service beside it. */
export const simulatorEndpoints: readonly Endpoint[] = [
  {
    method: "GET",
    path: "/simulator/faults",
    summary: "The faults of the simulated fleet service that last.",
    onWeb: true,
    answers,
  },
  {
    method: "PUT",
    path: "/simulator/faults/{fault}",
    summary: "Begins or ends a fault of the simulated fleet service, for engineers.",
    onWeb: true,
    body: "FaultRequest",
    answers,
  },
];
