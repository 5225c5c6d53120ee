import { expect, test } from 'vitest';
import { base32, codeOf, keyUri, stepAt, stepOfCode } from './totp.ts';

/** From RFC 6238, appendix B, and RFC 4226, appendix D. */
const secret = Buffer.from('12345678901234567890');

test.each([
  [59, '94287082'],
  [1111111109, '07081804'],
  [1111111111, '14050471'],
  [1234567890, '89005924'],
  [2000000000, '69279037'],
  [20000000000, '65353130'],
])('the code of second %d is that of RFC 6238', (atS, code) => {
  expect(codeOf(secret, stepAt(atS * 1_000), 8)).toBe(code);
  expect(codeOf(secret, stepAt(atS * 1_000))).toBe(code.slice(2));
});

test('the codes of the first counters are those of RFC 4226', () => {
  const codes = [
    '755224',
    '287082',
    '359152',
    '969429',
    '338314',
    '254676',
    '287922',
    '162583',
    '399871',
    '520489',
  ];
  expect(codes.map((_code, counter) => codeOf(secret, counter))).toEqual(codes);
});

test('a code is valid one step early and one step late, and no longer', () => {
  const at = (step: number) => step * 30_000 + 15_000;
  const code = codeOf(secret, 1_000);
  expect([998, 999, 1_000, 1_001, 1_002].map((step) => stepOfCode(secret, code, at(step)))).toEqual([
    undefined,
    1_000,
    1_000,
    1_000,
    undefined,
  ]);
  for (const wrong of ['', '12345', `${code}0`, 'ａａａａａａ'])
    expect(stepOfCode(secret, wrong, at(1_000))).toBeUndefined();
});

test.each([
  ['', ''],
  ['f', 'MY'],
  ['fo', 'MZXQ'],
  ['foo', 'MZXW6'],
  ['foob', 'MZXW6YQ'],
  ['fooba', 'MZXW6YTB'],
  ['foobar', 'MZXW6YTBOI'],
])('“%s” is %s in base 32, as in RFC 4648', (plain, encoded) =>
  expect(base32(Buffer.from(plain))).toBe(encoded),
);

test('the key URI names the issuer and the account', () => {
  expect(keyUri(secret, { issuer: 'Annals (annals.example)', account: 'ada+x@example.com' })).toBe(
    'otpauth://totp/Annals%20(annals.example):ada%2Bx%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Annals%20%28annals.example%29&algorithm=SHA1&digits=6&period=30',
  );
});
