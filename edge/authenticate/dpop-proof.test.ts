import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { AUDIENCE, createProofMint } from '../../test/token-mint.ts';
import { createProofVerifier } from './dpop-proof.ts';

test('a request target that is no URL matches no proof', async () => {
  const { jkt, proof } = await createProofMint();
  const token = 'a token';
  const tokenDigest = createHash('sha256').update(token).digest('base64url');
  const verify = async (target: string) =>
    createProofVerifier()(await proof({ token }), {
      method: 'GET',
      url: `${AUDIENCE}:443${target}`,
      tokenDigest,
      jkt,
    });
  await expect(verify('/me')).resolves.toBeDefined();
  for (const target of ['*', 'http://elsewhere.example/me'])
    await expect(verify(target)).rejects.toMatchObject({ code: 'invalid_dpop_proof' });
});
