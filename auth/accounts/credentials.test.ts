import { describe, expect, test } from 'vitest';
import { hashPassword, isOutdated, verifyPassword } from './password-hash.ts';

describe('a password', () => {
  test('is verified by its hash alone', async () => {
    const phc = await hashPassword('correct horse');
    expect(phc).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(await verifyPassword('correct horse', phc)).toBe(true);
    expect(await verifyPassword('correct horsf', phc)).toBe(false);
    expect(isOutdated(phc)).toBe(false);
  });

  test('gets a different hash each time', async () =>
    expect(await hashPassword('x')).not.toBe(await hashPassword('x')));

  test('is the same in composed and decomposed form', async () => {
    expect(await verifyPassword('cafe\u0301', await hashPassword('caf\u00e9'))).toBe(true);
  });
});

describe('a hash made by another implementation', () => {
  /** By the reference implementation: echo -n password | argon2 somesalt -id -t 2 -m 8 -p 1 -l 24 */
  const REFERENCE = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc';

  test('verifies and counts as outdated', async () => {
    expect(await verifyPassword('password', REFERENCE)).toBe(true);
    expect(isOutdated(REFERENCE)).toBe(true);
  });
});

test.each([
  ['empty', ''],
  ['of another algorithm', '$2b$12$abcdefghijklmnopqrstuv'],
  ['with a name only', '$argon2id$'],
  [
    'that would take all memory',
    '$argon2id$v=19$m=99999999,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc',
  ],
])('a stored hash that is %s is an error, not a wrong password', async (_what, phc) => {
  await expect(verifyPassword('x', phc)).rejects.toThrow('not an argon2id PHC string');
});
