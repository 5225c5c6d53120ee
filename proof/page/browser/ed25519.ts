import { Buffer } from './buffer.ts';
import { sha512 } from './sha-2.ts';

/**
 * Signatures of Ed25519 (RFC 8032, 5.1), in their plain form: slow, and enough for one. WebCrypto has them as
 * promises, and not in a page without TLS.
 */

const P = 2n ** 255n - 19n;
const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;

type Point = readonly [x: bigint, y: bigint, z: bigint, t: bigint];

const mod = (value: bigint): bigint => ((value % P) + P) % P;

const power = (base: bigint, exponent: bigint): bigint => {
  let [result, factor] = [1n, mod(base)];
  for (let left = exponent; left > 0n; left >>= 1n) {
    if (left & 1n) result = mod(result * factor);
    factor = mod(factor * factor);
  }
  return result;
};

const D = mod(-121665n * power(121666n, P - 2n));
const ROOT_OF_MINUS_ONE = power(2n, (P - 1n) / 4n);

/** Undefined if no point has this y. */
const recoverX = (y: bigint, sign: bigint): bigint | undefined => {
  const square = mod((y * y - 1n) * power(D * y * y + 1n, P - 2n));
  let x = power(square, (P + 3n) / 8n);
  if (mod(x * x - square) !== 0n) x = mod(x * ROOT_OF_MINUS_ONE);
  if (mod(x * x - square) !== 0n || (x === 0n && sign === 1n)) return undefined;
  return (x & 1n) === sign ? x : P - x;
};

const numberIn = (bytes: Uint8Array): bigint =>
  bytes.reduceRight((number, byte) => (number << 8n) | BigInt(byte), 0n);

const pointIn = (bytes: Uint8Array): Point | undefined => {
  const number = numberIn(bytes);
  const y = number & (2n ** 255n - 1n);
  const x = y < P ? recoverX(y, number >> 255n) : undefined;
  return x === undefined ? undefined : [x, y, 1n, mod(x * y)];
};

const add = (one: Point, other: Point): Point => {
  const a = (one[1] - one[0]) * (other[1] - other[0]);
  const b = (one[1] + one[0]) * (other[1] + other[0]);
  const c = 2n * mod(one[3] * other[3]) * D;
  const d = 2n * one[2] * other[2];
  const [e, f, g, h] = [mod(b - a), mod(d - c), mod(d + c), mod(b + a)];
  return [mod(e * f), mod(g * h), mod(f * g), mod(e * h)];
};

const multiply = (scalar: bigint, point: Point): Point => {
  let [result, factor]: [Point, Point] = [[0n, 1n, 1n, 0n], point];
  for (let left = scalar; left > 0n; left >>= 1n) {
    if (left & 1n) result = add(result, factor);
    factor = add(factor, factor);
  }
  return result;
};

const BASE_Y = mod(4n * power(5n, P - 2n));
const BASE_X = recoverX(BASE_Y, 0n) ?? 0n;
const BASE: Point = [BASE_X, BASE_Y, 1n, mod(BASE_X * BASE_Y)];

const areEqual = (one: Point, other: Point): boolean =>
  mod(one[0] * other[2] - other[0] * one[2]) === 0n && mod(one[1] * other[2] - other[1] * one[2]) === 0n;

export const isSignedByEd25519 = (
  publicKey: Uint8Array,
  text: Uint8Array,
  signature: Uint8Array,
): boolean => {
  if (publicKey.length !== 32 || signature.length !== 64) return false;
  const [r, s] = [signature.subarray(0, 32), numberIn(signature.subarray(32))];
  const [key, point] = [pointIn(publicKey), pointIn(r)];
  if (key === undefined || point === undefined || s >= ORDER) return false;
  const hash = numberIn(sha512(Buffer.concat([r, publicKey, text]))) % ORDER;
  return areEqual(multiply(s, BASE), add(point, multiply(hash, key)));
};
