import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { withParts } from '#kernel/registry/parts.ts';
import { batches } from '../test/toy/batches.ts';
import { demandIssuer } from './demand-issuer.ts';

const OWN = { issuerUrl: 'https://annals.example', publicUrl: 'https://annals.example' };
const OTHER = { ...OWN, issuerUrl: 'https://issuer.example' };

test('without accounts, another issuer is needed, which cannot let persons sign', () => {
  expect(() => demandIssuer(withParts(publishing, []), OWN)).toThrow('Nobody issues tokens');
  expect(() => demandIssuer(withParts(publishing, []), OTHER)).not.toThrow();
  expect(() => demandIssuer(withParts(batches, []), OTHER)).toThrow('commands with `signed`');
  expect(() => demandIssuer(withParts(batches, ['accounts']), OWN)).not.toThrow();
});
