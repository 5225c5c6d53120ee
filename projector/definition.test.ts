import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { tablesOf } from '#shared/read-model/tables.ts';
import { readDefinition } from './definition.ts';

test('the tables of publishing are those of the releases before: an upgrade needs no rebuild', async () => {
  const { fingerprint } = await readDefinition(tablesOf(publishing));
  expect(fingerprint).toBe('9TDbH3lQU3SpJMTfonWwBByJw2pPkQGSwzS75uimxRY');
});
