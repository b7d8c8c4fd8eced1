import type { Endpoints } from "../simulator/simulator.ts";
import type { DemoPorts } from "./demo-config.ts";

/**
 * The first lines of the demo: every address, and one command to copy for each protocol.
 *
 * @param configuration the path of the gateway's configuration, for `--config`
 */
export function demoGreeting(fleet: Endpoints, ports: DemoPorts, configuration: string): string {
  return [
    "",
    "Fleetgate demo: a simulated fleet behind a gateway. Everything is on this machine; Ctrl-C ends it.",
    "INSECURE: every program of this machine may read and command. A plant's configuration is closed.",
    "",
    `  Console  http://127.0.0.1:${ports.web}`,
    `  MQTT     mqtt://127.0.0.1:${ports.mqtt}`,
    `           npx mqtt sub -h 127.0.0.1 -p ${ports.mqtt} -v -t 'fleetgate/demo/robots/+/mission'`,
    `  OPC UA   opc.tcp://127.0.0.1:${ports.opcua}   (anonymous, no encryption)`,
    `           node dist/main.js watch opc.tcp://127.0.0.1:${ports.opcua} Robots.cart-01`,
    `  Service  gRPC ${fleet.grpc}, HTTPS ${fleet.https}`,
    `           authority ${fleet.ca}`,
    `           credentials ${fleet.credentials}`,
    `  Gateway  node dist/main.js status --config ${configuration}`,
    "",
    "Send a robot on its way:",
    `  npx mqtt pub -h 127.0.0.1 -p ${ports.mqtt} -t fleetgate/demo/clients/me/command/CreateMission \\`,
    `    -m '{"id":"1","request":{"robotId":"cart-01","mission":{"baseMission":{"navigateMission":{"goal":{"destinationId":"Station A"}}}}}}'`,
    "",
    "What happens (time in UTC):",
  ].join("\n");
}
