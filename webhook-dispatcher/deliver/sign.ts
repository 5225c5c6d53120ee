import { createHmac, createSecretKey } from 'node:crypto';

type Message = {
  readonly id: string;
  readonly timestampSeconds: number;
  readonly body: Uint8Array;
  /** `whsec_` and base64; each of them signs. */
  readonly secrets: readonly string[];
};

/** The value of `webhook-signature`, as Standard Webhooks says: the id, the time and the very bytes of the body, by HMAC-SHA256. */
export const signatures = ({ id, timestampSeconds, body, secrets }: Message): string =>
  secrets.map((secret) => `v1,${sign(secret, `${id}.${timestampSeconds}.`, body)}`).join(' ');

/** A key object: by its bare bytes Node would take several times as long. */
const sign = (secret: string, head: string, body: Uint8Array): string =>
  createHmac('sha256', createSecretKey(secret.slice(PREFIX.length), 'base64'))
    .update(head)
    .update(body)
    .digest('base64');

const PREFIX = 'whsec_';
