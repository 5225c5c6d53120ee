import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { EventId, StreamName, Version } from '#kernel/base/brands.ts';
import { aKey, aLog } from '../../test/proven-log.ts';
import { checkFile } from './check-file.ts';

const signer = aKey();
const PERSON = 'user-7' as StreamName;
const EVENTS = [1, 2].map((version) => ({
  stream: PERSON,
  version: version as Version,
  id: randomUUID() as EventId,
  type: 'user.updated',
  metadata: { at: '2026-11-30T10:00:00.000Z', actor: 'user:7' },
  data: { title: 'x', personal: `c2VhbGVk${version}` },
}));
const log = aLog(EVENTS);

test('sealed personal fields are named to people, and whole to programs', async () => {
  const item = checkFile((await log.proveItem(PERSON, signer)).join(''), [signer.key]);
  const event = checkFile(await log.prove(1, signer), [signer.key]);
  for (const { isProven, details } of [item, event]) {
    expect(isProven).toBe(true);
    expect(details.join()).toContain('"personal":"[sealed]"');
    expect(details.join()).not.toContain('c2VhbGVk');
  }
  expect(item.details).toContain('personal: "[sealed]" (version 2)');
  expect(item.json).toMatchObject({ events: EVENTS });
  expect(event.json).toMatchObject({ event: EVENTS[1] });
});

test('a proof that is not right has the steps up to the one that fails', async () => {
  const lines = await log.proveItem(PERSON, signer);
  const { steps, details } = checkFile(lines.toSpliced(1, 1).join(''), [signer.key]);
  expect(steps.map(({ isRight }) => isRight)).toEqual([true, true, false]);
  expect(details).toEqual([]);
});
