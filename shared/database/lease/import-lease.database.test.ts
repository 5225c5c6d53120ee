import { expect } from 'vitest';
import { test } from '../../../test/engines/pool.ts';
import { demandNoImport, IMPORT_LEASE } from './import-lease.ts';
import { migrateLeases } from './lease.ts';
import { takeLease } from './take-lease.ts';

test('nothing starts beside an import', async ({ pool }) => {
  // The first start of an installation.
  await demandNoImport(pool);
  await migrateLeases(pool);
  {
    await using _importing = await takeLease(pool, IMPORT_LEASE);
    await expect(demandNoImport(pool)).rejects.toThrow('An import of history runs');
  }
  await demandNoImport(pool);
});
