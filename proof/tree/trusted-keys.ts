import { parseVerifierKey } from './note.ts';
import { parseObject } from './recorded-in-proof.ts';
import type { TrustedKey } from './signatures.ts';

/**
 * The keys in a text: one `vkey` on each line, what `GET /audit/keys` returned, or `keys.jsonl` of `AUDIT_DIR`,
 * whose keys have no name. Undefined if there is anything else, or no key.
 */
export const parseKeys = (text: string): readonly TrustedKey[] | undefined => {
  const set = parseObject(text)?.keys;
  const lines = text.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
  const keys = Array.isArray(set) ? set.map(keyOfSet) : lines.map(keyOfLine);
  return keys.length > 0 && keys.every((key) => key !== undefined) ? keys : undefined;
};

const keyOfLine = (line: string): TrustedKey | undefined =>
  line.startsWith('{') ? bare(parseObject(line)?.publicKey) : parseVerifierKey(line);

const keyOfSet = (key: unknown): TrustedKey | undefined => {
  const { vkey } = (key ?? {}) as { readonly vkey?: unknown };
  return (typeof vkey === 'string' ? parseVerifierKey(vkey) : undefined) ?? bare(key);
};

const X = /^[A-Za-z0-9_-]{43}$/;

const bare = (key: unknown): TrustedKey | undefined => {
  const { kty, crv, x } = (key ?? {}) as { readonly [part in 'kty' | 'crv' | 'x']?: unknown };
  return kty === 'OKP' && crv === 'Ed25519' && typeof x === 'string' && X.test(x)
    ? { publicKey: Buffer.from(x, 'base64url') }
    : undefined;
};
