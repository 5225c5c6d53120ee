import { expect, test } from 'vitest';
import type { UserId, Version } from '#kernel/base/brands.ts';
import { storeMetadata } from '#kernel/base/events/metadata.ts';
import type { CommandInfo, Kind } from '#kernel/registry/registry.ts';
import { batches } from '../../test/toy/batches.ts';
import { askedSignature, statedFor } from './statement.ts';

test('a form of many long values has a statement that an event can have', () => {
  const kind = batches.kinds.batch as Kind;
  const command = kind.commands.release as CommandInfo;
  const values = Array.from({ length: 400 }, (_, each) => [`field${each}`, `${each} `.repeat(120)]);
  const signing = {
    ...{ kind, command, meaning: 'approval' },
    given: { type: 'ReleaseBatch', batchId: 17, ...Object.fromEntries(values) },
  };
  const userId = 7_001 as UserId;
  const at = '2026-11-30T12:00:00.000Z';
  const looked = {
    ...{ stream: 'batch-17', version: 1 as Version, isNothing: false },
    state: { status: 'absent' } as const,
  };
  const asked = askedSignature(signing, { userId, at, looked });
  const proof = { means: 'password', key: {}, token: 'x' } as const;
  const signature = { statement: asked.statement, at, proof };
  const metadata = { at, actor: `user:${userId}`, client: null, request: 'one', correlation: 'one' };
  expect(storeMetadata(1, { ...metadata, causation: null, signature } as never)).toMatchObject({ signature });
  expect(statedFor(signing, { userId, asked })?.form.batchId).toBe(17);
  const other = { ...signing, given: { ...signing.given, field399: 'x' } };
  expect(statedFor(other, { userId, asked })).toBeUndefined();
});
