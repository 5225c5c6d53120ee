/** The part of Node’s Buffer that the checks of proofs use, for browsers. */

class Bytes extends Uint8Array {
  override toString(encoding = 'utf8'): string {
    if (encoding === 'hex') return Array.from(this, (byte) => byte.toString(16).padStart(2, '0')).join('');
    if (encoding === 'binary') return Array.from(this, (byte) => String.fromCharCode(byte)).join('');
    if (encoding === 'base64') return btoa(this.toString('binary'));
    if (encoding === 'base64url')
      return this.toString('base64').replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(this);
  }

  equals(other: Uint8Array): boolean {
    return this.length === other.length && this.every((byte, at) => byte === other[at]);
  }
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const BITS_PER_DIGIT = 6;

/** Both alphabets, as Node reads them. */
const fromBase64 = (text: string): Bytes => {
  const bytes: number[] = [];
  let [bits, held] = [0, 0];
  for (const sign of text.replaceAll('-', '+').replaceAll('_', '/')) {
    if (sign === '=') break;
    const digit = DIGITS.indexOf(sign);
    if (digit < 0) continue;
    bits = ((bits << BITS_PER_DIGIT) | digit) & 0xfff;
    held += BITS_PER_DIGIT;
    if (held < 8) continue;
    held -= 8;
    bytes.push((bits >> held) & 0xff);
  }
  return new Bytes(bytes);
};

export const Buffer = {
  of: (...bytes: readonly number[]): Bytes => new Bytes(bytes),
  from: (value: string | Uint8Array, encoding = 'utf8'): Bytes => {
    if (typeof value !== 'string') return new Bytes(value);
    if (encoding === 'binary') return new Bytes(Array.from(value, (sign) => sign.charCodeAt(0)));
    return encoding === 'utf8' ? new Bytes(new TextEncoder().encode(value)) : fromBase64(value);
  },
  concat(parts: readonly Uint8Array[]): Bytes {
    const all = new Bytes(parts.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of parts) {
      all.set(part, at);
      at += part.length;
    }
    return all;
  },
};
