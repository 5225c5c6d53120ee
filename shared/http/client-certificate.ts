import { createHash, timingSafeEqual, X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';

/**
 * What the ingress says of the handshake with the client, as nginx's `$ssl_client_escaped_cert` and
 * `$ssl_client_verify`.
 */
const CERTIFICATE_HEADER = 'x-client-cert';
const VERIFIED_HEADER = 'x-client-verify';
/**
 * By which the ingress shows that it is the ingress: anybody can send the other two, and some ingresses pass
 * them on.
 */
const SECRET_HEADER = 'x-client-cert-secret';
const PEM_CHARACTERS_MAX = 16_384;

/**
 * The certificate by which a client has proved itself in the TLS handshake (RFC 8705): of the connection
 * itself, or as the header of an ingress tells that ended it. The header is believed only beside the secret
 * that the ingress alone has; without a secret in the settings it is never believed.
 */
export const clientCertificateOf = (
  request: IncomingMessage,
  ingressSecret: string | undefined,
): X509Certificate | undefined => {
  const { socket } = request;
  if (socket instanceof TLSSocket) return socket.getPeerX509Certificate();
  return isOfIngress(request, ingressSecret) ? fromHeader(request) : undefined;
};

/**
 * Whether an authority that we trust vouches for the certificate; one that is not may still be known by its
 * very bytes.
 */
export const isCertificateVerified = (
  request: IncomingMessage,
  ingressSecret: string | undefined,
): boolean => {
  const { socket } = request;
  if (socket instanceof TLSSocket) return socket.authorized;
  return isOfIngress(request, ingressSecret) && request.headers[VERIFIED_HEADER] === 'SUCCESS';
};

const isOfIngress = ({ headers }: IncomingMessage, ingressSecret: string | undefined): boolean => {
  const given = headers[SECRET_HEADER];
  if (ingressSecret === undefined || typeof given !== 'string') return false;
  // Digests are of one length, and comparing them tells nothing of the secret by its time.
  return timingSafeEqual(digestOf(given), digestOf(ingressSecret));
};

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();

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
