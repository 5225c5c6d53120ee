import {
  type CompactVerifyGetKey,
  compactVerify,
  createLocalJWKSet,
  createRemoteJWKSet,
  decodeProtectedHeader,
  errors,
  type FlattenedJWSInput,
  type FlattenedVerifyGetKey,
  flattenedVerify,
  type JSONWebKeySet,
  type JWSHeaderParameters,
} from 'jose';
import { jsonIn } from '#edge/http/json-body.ts';
import type { Json, JsonObject } from '#kernel/base/json.ts';
import { HttpProblem } from '#kernel/base/rest/http-problem.ts';
import type { JwsSignature } from '#kernel/registry/sender-info.ts';
import { JWS_ALGORITHMS } from '#kernel/sender/wrong-signature.ts';
import { demandId, textAt, typesOf } from './places.ts';
import { demandHeader, type Received, Unverified, type Verify } from './verifier.ts';

const TOLERANCE_S = 300;
const FETCH_TIMEOUT_MS = 5_000;
const ID = { field: 'jti' } as const;
const TYPE = { field: 'type' } as const;

type GetKey = CompactVerifyGetKey & FlattenedVerifyGetKey;

/** The keys of a JWK set, or at its address, which is read again if a signature names an unknown key. */
export const jwsKeys = (text: string): GetKey | undefined => {
  if (/^https:\/\//.test(text) && URL.canParse(text))
    return createRemoteJWKSet(new URL(text), { timeoutDuration: FETCH_TIMEOUT_MS });
  try {
    const set = JSON.parse(text) as JSONWebKeySet;
    const isPublic = set.keys.length > 0 && set.keys.every((key) => key.kty !== 'oct' && key.d === undefined);
    return isPublic ? createLocalJWKSet(set) : undefined;
  } catch {
    return undefined;
  }
};

/** A JSON Web Signature (RFC 7515): the body in its compact form, or detached in a header (appendix F, RFC 7797). */
export const verifyJws =
  (getKey: GetKey, { header, algorithms, issuer, audience, id = ID, type = TYPE }: JwsSignature): Verify =>
  async (received) => {
    const options = { algorithms: [...(algorithms ?? JWS_ALGORITHMS)] };
    const signed =
      header === undefined ? received.body.toString('latin1').trim() : detached(received, header);
    const bytes = await trying(getKey, (key) =>
      typeof signed === 'string'
        ? compactVerify(signed, key, options)
        : flattenedVerify(signed, key, options),
    );
    const payload = jsonIn(Buffer.from(bytes));
    demandClaims(payload, { issuer, audience, nowS: Math.round(received.nowMs / 1_000) });
    const found = textAt(type, received, payload) ?? oneEventIn(payload);
    return { id: demandId(textAt(id, received, payload), id), types: typesOf(found), payload };
  };

/** The body is the payload of the signature, encoded or as it is (RFC 7797). */
const detached = (received: Received, header: string): FlattenedJWSInput => {
  const [first = '', middle, signature = '', ...others] = demandHeader(received, header).split('.');
  if (middle !== '' || others.length > 0)
    throw new Unverified(`${header} must be a detached JWS, with nothing between two dots.`);
  return {
    protected: first,
    payload: isEncoded(first) ? received.body.toString('base64url') : received.body,
    signature,
  };
};

const isEncoded = (first: string): boolean => {
  try {
    return (decodeProtectedHeader({ protected: first }) as JWSHeaderParameters).b64 !== false;
  } catch (cause) {
    throw new Unverified('The header of the signature cannot be read.', { cause });
  }
};

type VerifyBy = (key: GetKey) => Promise<{ readonly payload: Uint8Array }>;

/** A signature without the id of its key may be by any of the keys. */
const trying = async (getKey: GetKey, verifyBy: VerifyBy): Promise<Uint8Array> => {
  try {
    return (await verifyBy(getKey)).payload;
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw refusalOf(error);
    for await (const key of error)
      try {
        return (await verifyBy(async () => key)).payload;
      } catch (failure) {
        if (!(failure instanceof errors.JWSSignatureVerificationFailed)) throw refusalOf(failure);
      }
    throw refusalOf(new errors.JWSSignatureVerificationFailed());
  }
};

/** Keys that cannot be read are no fault of the sender, who should try later. */
const refusalOf = (cause: unknown): Error => {
  const isOfMessage =
    cause instanceof errors.JWSInvalid ||
    cause instanceof errors.JWSSignatureVerificationFailed ||
    cause instanceof errors.JWKSNoMatchingKey ||
    cause instanceof errors.JOSEAlgNotAllowed ||
    cause instanceof errors.JOSENotSupported;
  if (isOfMessage)
    return new Unverified('The signature is not valid: sign with a key and an algorithm that are set here.', {
      cause,
    });
  if (cause instanceof Unverified) return cause;
  return new HttpProblem('unavailable', {
    detail: 'The keys of the sender cannot be read now; try again.',
    headers: { 'Retry-After': '5' },
    cause,
  });
};

type Demanded = {
  readonly issuer: string | undefined;
  readonly audience: string | undefined;
  readonly nowS: number;
};

/** The registered claims (RFC 7519, section 4.1). A token for another audience must not be taken here. */
const demandClaims = (payload: Json, { issuer, audience, nowS }: Demanded): void => {
  const { iss, aud, exp, nbf, iat } = (
    typeof payload === 'object' && payload !== null && !Array.isArray(payload) ? payload : {}
  ) as JsonObject;
  if (issuer !== undefined && iss !== issuer) throw new Unverified(`The issuer (iss) must be ${issuer}.`);
  const audiences = [aud ?? []].flat();
  if (audience === undefined ? audiences.length > 0 : !audiences.includes(audience))
    throw new Unverified(
      audience === undefined
        ? 'The message names an audience (aud), and the declaration of its sender names none.'
        : `The audience (aud) must contain ${audience}.`,
    );
  for (const [name, time] of Object.entries({ exp, nbf, iat }))
    if (time !== undefined && typeof time !== 'number') throw new Unverified(`${name} must be a number.`);
  if (typeof exp === 'number' && exp < nowS - TOLERANCE_S)
    throw new Unverified('The message has expired (exp).');
  for (const time of [nbf, iat])
    if (typeof time === 'number' && time > nowS + TOLERANCE_S)
      throw new Unverified('The message is from the future (nbf, iat): correct the clock of the sender.');
};

/** A security event token (RFC 8417) names its event in the claim `events`. */
const oneEventIn = (payload: Json): string | undefined => {
  const { events } = (payload ?? {}) as JsonObject;
  const names = typeof events === 'object' && events !== null ? Object.keys(events) : [];
  return names.length === 1 ? names[0] : undefined;
};
