import { expect, test } from 'vitest';
import { readAuditKeys } from '../proof/stored/signing-keys.ts';
import { callLine } from '../test/engines/call-line.ts';
import { createCommandDatabase } from '../test/engines/command-side.ts';

test('makes the first key for heads, and endorses the next by it', async () => {
  await using database = await createCommandDatabase();
  await using side = await database.open();
  const rotate = () => callLine(database.settings, ['audit', 'rotate-key']);
  const rotated = [await rotate(), await rotate()];
  const [first, second] = await readAuditKeys(side.pool);
  expect(rotated).toMatchObject(
    [first, second].map((key) => ({ exit: 0, lines: [`Key ${key?.id} signs the heads from now on.`] })),
  );
  expect([first?.endorsedBy, second?.endorsedBy]).toEqual([null, first?.id]);
});
