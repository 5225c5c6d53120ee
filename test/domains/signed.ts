import { randomBytes, randomUUID } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { SECRETS_SETTING } from './sender-setting.ts';

const SECRET = `whsec_${randomBytes(24).toString('base64')}`;

/** With these, an installation takes the messages of every generated sender. */
export const SENDER_SETTINGS: Readonly<Record<string, string>> = { [SECRETS_SETTING]: SECRET };

/** A message as a generated sender signs it. */
export const signed = (content: object, id = `msg_${randomUUID()}`) => {
  const [body, now] = [JSON.stringify(content), new Date()];
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
      'webhook-signature': new Webhook(SECRET).sign(id, now, body),
    },
  };
};
