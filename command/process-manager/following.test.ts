import { expect, test } from 'vitest';
import type { EventId } from '#kernel/base/brands.ts';
import { REAL_TIME } from '#shared/clock/real-time.ts';
import { following } from './execute-task.ts';

test('what follows from an imported event happens now, and no import claims its time', async () => {
  const at = '2019-05-01T10:00:00.000Z';
  const metadata = {
    at,
    actor: 'user:7',
    client: null,
    request: 'import:t-1',
    correlation: 'import:t-1',
  } as const;
  const cause = { id: '01985f3e-0000-7000-8000-000000000000' as EventId, position: undefined };
  const imported = { ...metadata, causation: null, importedAt: '2026-05-01T10:00:00.000Z' };
  await following({ clock: REAL_TIME }, { ...cause, metadata: imported }, async (given) => {
    expect(given).toMatchObject({
      actor: 'system:process-manager',
      causation: cause.id,
      importedAt: undefined,
    });
    expect(Date.parse(given.at)).toBeGreaterThan(Date.parse(imported.importedAt));
  });
});
