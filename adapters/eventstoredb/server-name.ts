import { isIP } from 'node:net';
import grpc, { type ChannelCredentials } from '@grpc/grpc-js';

type SecureConnector = { readonly connectionOptions?: { servername?: string } };
type CreateConnector = (...given: readonly unknown[]) => SecureConnector;

/**
 * Makes a client whose handshakes do not name the server by an IP address, as those of gRPC do, which Node warns of
 * at each start. It makes its credentials itself, and asks nodes for the leader with them, too.
 */
export const withoutAddressesAsNames = <Client>(make: () => Client): Client => {
  const { createSsl } = grpc.credentials;
  grpc.credentials.createSsl = (...given) => withoutAddressAsName(createSsl(...given));
  try {
    return make();
  } finally {
    grpc.credentials.createSsl = createSsl;
  }
};

const withoutAddressAsName = (credentials: ChannelCredentials): ChannelCredentials => {
  const create: unknown = Reflect.get(credentials, '_createSecureConnector');
  if (typeof create !== 'function') return credentials;
  const named = Object.create(credentials) as ChannelCredentials;
  Reflect.set(named, '_createSecureConnector', (...given: readonly unknown[]) => {
    const connector = (create as CreateConnector).call(credentials, ...given);
    const { connectionOptions } = connector;
    if (connectionOptions !== undefined && isIP(connectionOptions.servername ?? '') !== 0)
      connectionOptions.servername = '';
    return connector;
  });
  return named;
};
