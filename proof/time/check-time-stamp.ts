import { createHash, verify, X509Certificate } from 'node:crypto';
import { contentOf, DerWrong, inside, TAG } from './der.ts';
import { pathLengthOf } from './path-length.ts';
import { hashOf, parseToken, type TimeStampToken, TST_INFO, textOfOid } from './time-stamp-token.ts';

export type TimeStamped = {
  /** When the authority has stamped the data: it existed at the latest then. */
  readonly at: Date;
  /** The subject of its certificate. */
  readonly by: string;
  readonly nonce: Buffer | undefined;
};

const CONTENT_TYPE = '1.2.840.113549.1.9.3';
const MESSAGE_DIGEST = '1.2.840.113549.1.9.4';
const SIGNING_CERTIFICATE = '1.2.840.113549.1.9.16.2.12';
const SIGNING_CERTIFICATE_V2 = '1.2.840.113549.1.9.16.2.47';
const TIME_STAMPING = '1.3.6.1.5.5.7.3.8';

/** By the hash of the signer’s own algorithm; those with a hash of their own name it. */
const SIGNATURES = new Map<string, string | null | undefined>([
  ['1.2.840.113549.1.1.1', undefined],
  ['1.2.840.10045.2.1', undefined],
  ['1.2.840.113549.1.1.11', 'sha256'],
  ['1.2.840.113549.1.1.12', 'sha384'],
  ['1.2.840.113549.1.1.13', 'sha512'],
  ['1.2.840.10045.4.3.2', 'sha256'],
  ['1.2.840.10045.4.3.3', 'sha384'],
  ['1.2.840.10045.4.3.4', 'sha512'],
  // Ed25519 has its hash inside.
  ['1.3.101.112', null],
]);

/**
 * Checks a time stamp over the data (RFC 3161, 2.3): a sentence if it is wrong. Without `trusted`, the certificate of
 * the signer is the one that the token brings, which says nothing about who has signed.
 */
export const checkTimeStamp = (
  bytes: Buffer,
  data: Buffer,
  trusted: readonly X509Certificate[] | undefined,
): TimeStamped | string => {
  const token = parseToken(bytes);
  if (token === undefined) return 'The time stamp is none, or a part of it is missing.';
  const { imprint, at, nonce } = token;
  if (!createHash(imprint.hash).update(data).digest().equals(imprint.bytes) || imprint.hash === 'sha1')
    return 'The time stamp is over another checkpoint.';
  const brought = token.certificates.flatMap(certificateOf);
  const signer = signerOf(token, [...brought, ...(trusted ?? [])]);
  if (signer === undefined) return 'The time stamp has no certificate of its signer.';
  if (!isSigned(token, signer)) return 'The signature of the time stamp is wrong: it was changed.';
  const isForTime = signer.keyUsage?.length === 1 && signer.keyUsage[0] === TIME_STAMPING;
  if (!isForTime || !isValidAt(signer, at))
    return 'The certificate of the time stamp is not for time stamps, or not for that time.';
  if (trusted !== undefined && !leadsTo(signer, { trusted, brought, at, depth: 0, below: 0 }))
    return 'The time stamp is of an authority whose certificate was not given.';
  return { at, by: signer.subject.replaceAll('\n', ', '), nonce };
};

const certificateOf = (bytes: Buffer): readonly X509Certificate[] => {
  try {
    return [new X509Certificate(bytes)];
  } catch {
    return [];
  }
};

/** The token names the certificate of its signer by its hash, so that no other one with the same key can be meant. */
const signerOf = (
  { attributes }: TimeStampToken,
  certificates: readonly X509Certificate[],
): X509Certificate | undefined => {
  try {
    const second = attributes.get(SIGNING_CERTIFICATE_V2);
    const named = second ?? attributes.get(SIGNING_CERTIFICATE);
    const list = named && inside(named)[0];
    const [first, next] = list === undefined ? [] : inside(inside(list)[0] ?? list);
    const isNamed = first?.tag === TAG.sequence;
    const hash = isNamed ? hashOf(first) : second === undefined ? 'sha1' : 'sha256';
    const wanted = contentOf(isNamed ? next : first, TAG.octets);
    return certificates.find(({ raw }) => createHash(hash).update(raw).digest().equals(wanted));
  } catch (error) {
    if (error instanceof DerWrong) return undefined;
    throw error;
  }
};

const isSigned = (token: TimeStampToken, signer: X509Certificate): boolean => {
  const { attributes, content, hash, signed, algorithm, signature } = token;
  const [type, digest] = [attributes.get(CONTENT_TYPE), attributes.get(MESSAGE_DIGEST)];
  if (type?.tag !== TAG.oid || textOfOid(type) !== TST_INFO || digest?.tag !== TAG.octets) return false;
  if (!createHash(hash).update(content).digest().equals(digest.content)) return false;
  if (hash === 'sha1' || !SIGNATURES.has(algorithm)) return false;
  const own = SIGNATURES.get(algorithm);
  try {
    return verify(own === undefined ? hash : own, signed, signer.publicKey, signature);
  } catch {
    return false;
  }
};

const isValidAt = ({ validFromDate, validToDate }: X509Certificate, at: Date): boolean =>
  validFromDate <= at && at <= validToDate;

type Chain = {
  readonly trusted: readonly X509Certificate[];
  readonly brought: readonly X509Certificate[];
  readonly at: Date;
  readonly depth: number;
  /** The authorities below, apart from those that have issued their certificate themselves. */
  readonly below: number;
};

const DEPTH_MAX = 5;

/** Whether a trusted certificate is this one, or has issued it, directly or through others. */
const leadsTo = (certificate: X509Certificate, chain: Chain): boolean => {
  const { trusted, brought, at, depth, below } = chain;
  if (trusted.some(({ raw }) => raw.equals(certificate.raw))) return true;
  if (depth === DEPTH_MAX) return false;
  return [...trusted, ...brought].some(
    (issuer) =>
      issuer.ca &&
      isValidAt(issuer, at) &&
      pathLengthOf(issuer) >= below &&
      certificate.checkIssued(issuer) &&
      isIssuedBy(certificate, issuer) &&
      leadsTo(issuer, {
        ...chain,
        depth: depth + 1,
        below: issuer.subject === issuer.issuer ? below : below + 1,
      }),
  );
};

/** Reading a key of a kind that this Node does not know throws. */
const isIssuedBy = (certificate: X509Certificate, issuer: X509Certificate): boolean => {
  try {
    return certificate.verify(issuer.publicKey);
  } catch {
    return false;
  }
};
