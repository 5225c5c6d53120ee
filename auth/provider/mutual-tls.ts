import type { X509Certificate } from 'node:crypto';
import type { Configuration, KoaContextWithOIDC, TLSClientAuthProperty } from 'oidc-provider';
import { clientCertificateOf, isCertificateVerified } from '#shared/http/client-certificate.ts';

type MutualTls = NonNullable<NonNullable<Configuration['features']>['mTLS']>;

/** Mutual TLS (RFC 8705): as a client's authentication, and as what its tokens are bound to. */
export const mutualTls = (ingressSecret: string | undefined): MutualTls => {
  const presented = (ctx: KoaContextWithOIDC) => clientCertificateOf(ctx.req, ingressSecret);
  return {
    enabled: true,
    certificateBoundAccessTokens: true,
    selfSignedTlsClientAuth: true,
    tlsClientAuth: true,
    getCertificate: (ctx) => presented(ctx),
    certificateAuthorized: (ctx) => isCertificateVerified(ctx.req, ingressSecret),
    certificateSubjectMatches(ctx, property, expected) {
      const certificate = presented(ctx);
      return certificate !== undefined && subjectMatches(certificate, property, expected);
    },
  };
};

const subjectMatches = (certificate: X509Certificate, property: TLSClientAuthProperty, expected: string): boolean =>
  // Clients here are registered with a distinguished name; the alternative names of RFC 8705 are not offered.
  property === 'tls_client_auth_subject_dn' && distinguishedName(certificate) === normalise(expected);

/** Node gives an attribute a line, the most general one first; RFC 4514 writes them with commas and the other way round. */
const distinguishedName = ({ subject }: X509Certificate): string => subject.split('\n').reverse().join(',');

/** Only the space after a comma and the case of attribute names differ between those who write such names. */
const normalise = (name: string): string =>
  name
    .split(/(?<!\\),\s*/)
    .map((part) => part.trim().replace(/^[a-z]+(?==)/i, (attribute) => attribute.toUpperCase()))
    .join(',');
