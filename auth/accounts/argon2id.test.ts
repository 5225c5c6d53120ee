import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { loadArgon2id, ofPackage } from './argon2id.ts';

test('the package for Node 22 derives the same hash as newer Nodes', async () => {
  const given = {
    message: 'correct horse £',
    nonce: randomBytes(16),
    parallelism: 2,
    memory: 1_024,
    passes: 3,
    tagLength: 32,
  };
  const derive = await loadArgon2id();
  const deriveByPackage = await ofPackage();
  expect(await deriveByPackage(given)).toEqual(await derive(given));
});
