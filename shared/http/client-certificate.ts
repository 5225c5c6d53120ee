import { X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { BlockList, isIPv6 } from 'node:net';
import { TLSSocket } from 'node:tls';

/** What the ingress says of the handshake with the client, as nginx's `$ssl_client_escaped_cert` and `$ssl_client_verify`. */
const CERTIFICATE_HEADER = 'x-client-cert';
const VERIFIED_HEADER = 'x-client-verify';
const PEM_CHARACTERS_MAX = 16_384;

/** An ingress stands on this machine or in the same private network. */
const NEAR = new BlockList();
for (const [network, prefix] of [
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['169.254.0.0', 16],
] as const) {
  NEAR.addSubnet(network, prefix, 'ipv4');
}
NEAR.addAddress('::1', 'ipv6');
NEAR.addSubnet('fc00::', 7, 'ipv6');
NEAR.addSubnet('fe80::', 10, 'ipv6');

/**
 * The certificate by which a client has proved itself in the TLS handshake (RFC 8705): of the connection itself, or as the header
 * of an ingress tells that ended it. The header is believed only when proxies are expected and the connection comes from nearby;
 * anybody could send it.
 */
export const clientCertificateOf = (request: IncomingMessage, trustsProxy: boolean): X509Certificate | undefined => {
  const { socket } = request;
  if (socket instanceof TLSSocket) return socket.getPeerX509Certificate();
  return trustsProxy && isNear(socket.remoteAddress) ? fromHeader(request) : undefined;
};

/** Whether an authority that we trust vouches for the certificate; one that is not may still be known by its very bytes. */
export const isCertificateVerified = (request: IncomingMessage, trustsProxy: boolean): boolean => {
  const { socket } = request;
  if (socket instanceof TLSSocket) return socket.authorized;
  return trustsProxy && isNear(socket.remoteAddress) && request.headers[VERIFIED_HEADER] === 'SUCCESS';
};

const isNear = (address: string | undefined): boolean => {
  if (address === undefined) return false;
  const plain = address.replace(/^::ffff:(?=\d+\.)/, '');
  return NEAR.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4');
};

const fromHeader = ({ headers }: IncomingMessage): X509Certificate | undefined => {
  const escaped = headers[CERTIFICATE_HEADER];
  if (typeof escaped !== 'string' || escaped === '' || escaped.length > PEM_CHARACTERS_MAX) return undefined;
  try {
    return new X509Certificate(decodeURIComponent(escaped));
  } catch {
    // What cannot be read is no certificate; whoever needs one refuses the request.
    return undefined;
  }
};
