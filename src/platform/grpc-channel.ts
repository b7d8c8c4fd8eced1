import { isIP, type Socket } from "node:net";
import { type ChannelCredentials, type Client, connectivityState, credentials } from "@grpc/grpc-js";

/**
 * Closes a channel, also one whose attempt to connect failed. In TRANSIENT_FAILURE it would still connect
 * after its own backoff, and that connection would never be closed. So it is closed when it has connected, or
 * when it has given up.
 */
export function closeQuietly(client: Client): void {
  const channel = client.getChannel();
  const state = channel.getConnectivityState(false);
  if (state !== connectivityState.TRANSIENT_FAILURE) client.close();
  else channel.watchConnectivityState(state, Number.POSITIVE_INFINITY, () => closeQuietly(client));
}

/** PEM texts. */
interface TlsFiles {
  /** The trusted CAs; null: those of the system. */
  readonly ca: string | null;
  /** The gateway's own certificate and key; null: none. */
  readonly client: { readonly certificate: string; readonly key: string } | null;
}

/**
 * Credentials for gRPC over TLS. grpc-js 1.14.7 sends the host of the address as the server's name (SNI),
 * even if it is an IP address. RFC 6066 forbids that, and Node 26 refuses it. So no name is sent for an IP
 * address. The certificate is checked for it all the same: without a server name, Node uses `host`.
 *
 * @param onSocket is called with the TCP connection below TLS, each time that one is made
 */
export function tlsCredentials(
  { ca, client }: TlsFiles,
  onSocket: (socket: Socket) => void = () => {},
): ChannelCredentials {
  const made = credentials.createSsl(
    ca === null ? null : Buffer.from(ca),
    client === null ? null : Buffer.from(client.key),
    client === null ? null : Buffer.from(client.certificate),
  );
  const createConnector = made._createSecureConnector.bind(made);
  made._createSecureConnector = (...args) => {
    const connector = createConnector(...args);
    const options: unknown = Reflect.get(connector, "connectionOptions");
    if (typeof options !== "object" || options === null || !("servername" in options))
      throw new Error("grpc-js keeps the server's name elsewhere now");
    if (typeof options.servername === "string" && isIP(options.servername) !== 0) delete options.servername;
    const connect = connector.connect.bind(connector);
    connector.connect = (socket) => {
      onSocket(socket);
      return connect(socket);
    };
    return connector;
  };
  return made;
}
