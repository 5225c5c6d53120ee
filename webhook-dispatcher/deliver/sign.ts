import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';

type Message = {
  readonly id: string;
  readonly timestampSeconds: number;
  readonly body: Uint8Array;
  /** `whsec_` and base64, or the key made from it; each of them signs. */
  readonly secrets: readonly (string | KeyObject)[];
};

/**
 * The value of `webhook-signature` in Standard Webhooks: HMAC-SHA256 over the id, the time and the exact
 * bytes of the body.
 */
export const signatures = ({ id, timestampSeconds, body, secrets }: Message): string =>
  secrets.map((secret) => `v1,${sign(secret, `${id}.${timestampSeconds}.`, body)}`).join(' ');

const sign = (secret: string | KeyObject, head: string, body: Uint8Array): string =>
  createHmac('sha256', typeof secret === 'string' ? signingKey(secret) : secret)
    .update(head)
    .update(body)
    .digest('base64');

/** Prepared once, because signing with it takes less than half the time. */
export const signingKey = (secret: string): KeyObject =>
  createSecretKey(secret.slice(PREFIX.length), 'base64');

const PREFIX = 'whsec_';
