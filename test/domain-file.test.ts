import { expect, test } from 'vitest';
import { servedBy } from '../served.ts';

test('DOMAIN_FILE names the served domain, whatever the name of its export', async () => {
  expect((await servedBy('test/toy/helpdesk.ts').domain()).name).toBe('helpdesk');
});

test('otherwise publishing is served, with its demo', async () => {
  const { domain, demo } = servedBy('');
  expect([(await domain()).name, demo !== undefined]).toEqual(['publishing', true]);
});

test.each([
  ['no file', 'domain/nothing.ts', /^DOMAIN_FILE names domain\/nothing\.ts, and there is no such file in \//],
  ['a folder', 'domain', /^DOMAIN_FILE names domain, and there is no such file in \//],
  [
    'a file without a domain',
    'domain/comment.ts',
    /^domain\/comment\.ts exports no domain: write `export const shop = assemble\(base, \[…\]\)` in it\.$/,
  ],
])('%s is refused', async (_, file, sentence) => {
  await expect(servedBy(file).domain()).rejects.toThrow(sentence);
});
