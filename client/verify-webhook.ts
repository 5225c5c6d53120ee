import type { AnyEvent } from './types/events.ts';

/** Verifies webhooks (Standard Webhooks) with WebCrypto only, so that it works wherever JavaScript runs. */

/** An older request may have been intercepted and replayed. */
const AGE_MAX_SECONDS = 300;
const MS_PER_SECOND = 1_000;

export class WebhookRefused extends Error {
  override readonly name = 'WebhookRefused';
  readonly reason: 'headers' | 'time' | 'signature' | 'body';

  constructor(reason: WebhookRefused['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

type HeadersLike =
  | { get(name: string): string | null }
  | { readonly [name: string]: string | readonly string[] | undefined };

/**
 * Returns the event of a request that Annals has just sent; otherwise throws `WebhookRefused`. The body must
 * be the original bytes: parsing and serialising would change them. During the rotation of a secret, pass
 * both. Skip duplicates by the `id` of the event.
 */
export const verifyWebhook = async <Domain>(
  headers: HeadersLike,
  rawBody: string | Uint8Array<ArrayBuffer> | ArrayBuffer,
  secret: string | readonly string[],
): Promise<AnyEvent<Domain>> => {
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((name) =>
    headerOf(headers, `webhook-${name}`),
  );
  if (!id || !timestamp || !signatures || !/^\d{1,12}$/.test(timestamp))
    throw new WebhookRefused(
      'headers',
      'webhook-id, webhook-timestamp or webhook-signature is missing or malformed',
    );
  if (Math.abs(Date.now() / MS_PER_SECOND - Number(timestamp)) > AGE_MAX_SECONDS)
    throw new WebhookRefused('time', 'the request is more than five minutes old, or a clock is wrong');
  const body = typeof rawBody === 'string' ? new TextEncoder().encode(rawBody) : new Uint8Array(rawBody);
  const signed = new Uint8Array([...new TextEncoder().encode(`${id}.${timestamp}.`), ...body]);
  if (!(await isSigned(signed, signatures, [secret].flat())))
    throw new WebhookRefused('signature', 'no signature matches the secret');
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    throw new WebhookRefused('body', 'the body is signed, but not JSON');
  }
};

/** The server keeps no more secrets than this; limits the cost of a forged header. */
const SIGNATURES_MAX = 10;

/** Accepts any of the signatures by any of the secrets. WebCrypto compares in constant time. */
const isSigned = async (
  signed: Uint8Array<ArrayBuffer>,
  header: string,
  secrets: readonly string[],
): Promise<boolean> => {
  const signatures = header
    .split(' ')
    .filter((each) => each.startsWith('v1,'))
    .slice(0, SIGNATURES_MAX);
  for (const secret of secrets) {
    const raw = bytesOf(secret.replace(/^whsec_/, ''));
    if (raw === undefined || raw.length === 0)
      throw new TypeError('the secret of a webhook must be whsec_ followed by base64');
    const key = await crypto.subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, false, [
      'verify',
    ]);
    for (const signature of signatures) {
      const given = bytesOf(signature.slice('v1,'.length));
      if (given !== undefined && (await crypto.subtle.verify('HMAC', key, given, signed))) return true;
    }
  }
  return false;
};

const bytesOf = (base64: string): Uint8Array<ArrayBuffer> | undefined => {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
};

/** Node represents headers as an object, everything else as `Headers`. */
const headerOf = (headers: HeadersLike, name: string): string | undefined => {
  const value =
    typeof headers.get === 'function'
      ? headers.get(name)
      : (headers as Readonly<Record<string, string>>)[name];
  return typeof value === 'string' ? value : undefined;
};
