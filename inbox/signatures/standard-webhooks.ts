import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { jsonIn } from '#edge/http/json-body.ts';
import type { Place } from '#kernel/registry/sender-info.ts';
import { bytesOf, isSigned, WRONG } from './digest.ts';
import { demandId, textAt, typesOf } from './places.ts';
import { demandHeader, demandRecent, Unverified, type Verify } from './verifier.ts';

const ID = { header: 'webhook-id' } as const;
const TYPE: Place = { field: 'type' };
const SECRET = /^(?:whsec_)?([A-Za-z0-9+/_-]+={0,2})$/;
const PUBLIC = /^whpk_([A-Za-z0-9+/]+={0,2})$/;
const ED25519_BYTES = 32;
const SIGNATURES_MAX = 20;

export type StandardKeys = { readonly secrets: readonly Buffer[]; readonly publicKeys: readonly KeyObject[] };

/** Reads `whsec_…`, a shared secret, or `whpk_…`, a public key; undefined if it is neither. */
export const standardKey = (text: string): Buffer | KeyObject | undefined => {
  const [, publicText] = PUBLIC.exec(text) ?? [];
  if (publicText !== undefined) {
    const bytes = Buffer.from(publicText, 'base64');
    return bytes.length === ED25519_BYTES
      ? createPublicKey({
          key: { kty: 'OKP', crv: 'Ed25519', x: bytes.toString('base64url') },
          format: 'jwk',
        })
      : undefined;
  }
  const [, secret] = SECRET.exec(text) ?? [];
  return secret === undefined ? undefined : Buffer.from(secret, 'base64');
};

/** `webhook-signature: v1,K5oZ… v1a,…`, over the id, the time and the body. */
export const verifyStandard =
  ({ secrets, publicKeys }: StandardKeys, type: Place = TYPE): Verify =>
  (received) => {
    const { body, nowMs } = received;
    const [id, time, given] = [ID.header, 'webhook-timestamp', 'webhook-signature'].map((name) =>
      demandHeader(received, name),
    ) as [string, string, string];
    const signatures = given
      .split(' ')
      .slice(0, SIGNATURES_MAX)
      .map((each) => each.split(',', 2));
    const of = (version: string): readonly Buffer[] =>
      signatures.flatMap(([each, text = '']) => (each === version ? (bytesOf(text, 'base64') ?? []) : []));
    const content = [`${id}.${time}.`, body];
    const isByKey = of('v1a').some((signature) =>
      publicKeys.some((key) =>
        verify(null, Buffer.concat([Buffer.from(`${id}.${time}.`), body]), key, signature),
      ),
    );
    if (!isSigned({ secrets, content, signatures: of('v1') }) && !isByKey) throw new Unverified(WRONG);
    demandRecent(time, nowMs);
    const payload = jsonIn(body);
    return { id: demandId(id, ID), types: typesOf(textAt(type, received, payload)), payload };
  };
