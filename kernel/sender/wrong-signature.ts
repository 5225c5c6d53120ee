import type { HmacSignature, JwsSignature, Place, Signature } from '../registry/sender-info.ts';

type Sentences = Iterable<string>;

const SETTING = /^[A-Z][A-Z0-9_]{2,63}$/;
const HEADER = /^[A-Za-z0-9-]{1,64}$/;
const FIELD = /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/;
/** A shared secret must not be taken for a public key, so no algorithm has one. */
export const JWS_ALGORITHMS: readonly string[] = [
  ...['ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512', 'RS256', 'RS384', 'RS512', 'EdDSA'],
];

/** Each ends a sentence that begins with the name of the sender. */
export function* wrongSignature(signature: Signature): Sentences {
  switch (signature?.scheme) {
    case 'standard-webhooks':
      yield* wrongSetting('secrets', signature.secrets);
      return yield* wrongPlaces({ type: signature.type });
    case 'github':
    case 'stripe':
      return yield* wrongSetting('secrets', signature.secrets);
    case 'hmac':
      return yield* wrongHmac(signature);
    case 'jws':
      return yield* wrongJws(signature);
    default:
      yield ` has no known \`scheme\` in its \`signature\`: use standard-webhooks, github, stripe, hmac or jws.`;
  }
}

function* wrongSetting(word: string, name: unknown): Sentences {
  if (typeof name !== 'string' || !SETTING.test(name))
    yield ` needs \`${word}\` in its \`signature\`, the name of a setting such as BANK_WEBHOOK_SECRETS: the secret itself is never in the source.`;
}

function* wrongPlaces(places: Readonly<Record<string, Place | undefined>>): Sentences {
  for (const [word, place] of Object.entries(places)) {
    if (place === undefined) continue;
    const { header, field } = place as { readonly header?: unknown; readonly field?: unknown };
    const isHeader = typeof header === 'string' && HEADER.test(header) && field === undefined;
    const isField = typeof field === 'string' && FIELD.test(field) && header === undefined;
    if (!isHeader && !isField)
      yield ` has \`${word}\` in its \`signature\`, which must be a header or a field of the message: write { header: 'X-Event' } or { field: 'event.type' }.`;
  }
}

function* wrongHmac(signature: HmacSignature): Sentences {
  const { secrets, header, digest = 'sha256', encoding = 'hex', timestamp, id, type } = signature;
  const { signs = '{body}' } = signature;
  yield* wrongSetting('secrets', secrets);
  if (!isHeader(header)) yield ' needs `header` in its `signature`, the header with the digest.';
  if (!['sha256', 'sha512'].includes(digest))
    yield ` has the \`digest\` ${String(digest)}: write 'sha256' or 'sha512'.`;
  if (!['hex', 'base64'].includes(encoding))
    yield ` has the \`encoding\` ${String(encoding)}: write 'hex' or 'base64'.`;
  for (const [word, place] of Object.entries({ id, type }))
    if (place === undefined)
      yield ` needs \`${word}\` in its \`signature\`: name the header or the field of the message that has it.`;
  yield* wrongPlaces({ id, type });
  const words = [...signs.matchAll(/\{(\w*)\}/g)].map(([, word]) => word);
  if (!words.includes('body') || words.some((word) => !['body', 'timestamp', 'id'].includes(String(word))))
    yield ` \`signs\` ${signs}: it must contain {body}, and may contain {timestamp} and {id}.`;
  if (
    words.includes('timestamp') !== (timestamp !== undefined) ||
    (timestamp !== undefined && !isHeader(timestamp))
  )
    yield ' has either {timestamp} in `signs` or a header named in `timestamp`: name both, or neither.';
  if (words.includes('id') && !(id !== undefined && 'header' in id))
    yield ' has {id} in `signs`, so its `id` must be in a header.';
}

function* wrongJws({ keys, header, algorithms = [], id, type }: JwsSignature): Sentences {
  yield* wrongSetting('keys', keys);
  if (header !== undefined && !isHeader(header)) yield ' has a `header` that is no name of one: correct it.';
  const strange = algorithms.find((each) => !JWS_ALGORITHMS.includes(each));
  if (strange !== undefined)
    yield ` takes the algorithm ${strange}: use some of ${JWS_ALGORITHMS.join(', ')}; for a shared secret use hmac.`;
  yield* wrongPlaces({ id, type });
}

const isHeader = (name: unknown): boolean => typeof name === 'string' && HEADER.test(name);
