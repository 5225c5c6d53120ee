import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { readAuditKeys } from '#shared/audit/signing-keys.ts';
import { createCommandWorld } from '../test/engines/command-side.ts';
import { runCommandLine } from './program.ts';

test('makes the first key for heads, and endorses the next by it', async () => {
  await using world = await createCommandWorld();
  await using side = await world.open();
  const lines: string[] = [];
  const rotate = () =>
    runCommandLine(['audit', 'rotate-key'], {
      domain: publishing,
      environment: world.settings,
      signal: new AbortController().signal,
      write: async (line) => void lines.push(line),
      complain: (line) => void lines.push(line),
    });
  expect([await rotate(), await rotate()]).toEqual([0, 0]);
  const [first, second] = await readAuditKeys(side.pool);
  expect(lines).toEqual([first, second].map((key) => `Key ${key?.id} signs the heads from now on.`));
  expect([first?.endorsedBy, second?.endorsedBy]).toEqual([null, first?.id]);
});
