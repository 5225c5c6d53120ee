import { createHash, timingSafeEqual, X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';

/**
 * The ingress describes the TLS handshake with the client as nginx does: `$ssl_client_escaped_cert` and
 * `$ssl_client_verify`.
 */
const CERTIFICATE_HEADER = 'x-client-cert';
const VERIFIED_HEADER = 'x-client-verify';
/** Authenticates the ingress: anybody can send the other two headers, and some ingresses pass them on. */
const SECRET_HEADER = 'x-client-cert-secret';
const PEM_CHARACTERS_MAX = 16_384;

/**
 * The certificate of the client in the TLS handshake (RFC 8705): of the connection itself, or from the header
 * of an ingress that ended TLS. The header counts only beside the secret of the ingress, and never without a
 * secret in the settings.
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
 * Whether a trusted authority signed the certificate; any other may still be registered by its very bytes.
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
  // Digests have one length, and comparing them reveals nothing of the secret by its time.
  return timingSafeEqual(digestOf(given), digestOf(ingressSecret));
};

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();

const fromHeader = ({ headers }: IncomingMessage): X509Certificate | undefined => {
  const escaped = headers[CERTIFICATE_HEADER];
  if (typeof escaped !== 'string' || escaped === '' || escaped.length > PEM_CHARACTERS_MAX) return undefined;
  try {
    return new X509Certificate(decodeURIComponent(escaped));
  } catch {
    // An unreadable certificate counts as none; routes that need one refuse the request.
    return undefined;
  }
};
