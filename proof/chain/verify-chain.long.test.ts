// Over 200 lines, because every case tampers with the log and chain that are set up here.
import { appendFile, readFile, rm, writeFile } from 'node:fs/promises';
import { describe, expect } from 'vitest';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { type AuditedLog, createAuditedLog, freshTest } from '../../test/engines/audited-log.ts';
import { SHARED_LOG_ENGINES } from '../../test/engines/log-engines.ts';
import { readKeyFile } from '../heads/head-files.ts';
import { insertBlock } from '../stored/blocks.ts';
import { extendByAll, GENESIS } from '../stored/chain.ts';
import { insertHead, writeStatement } from '../stored/signed-head.ts';
import { openSigner, rotateAuditKey } from '../stored/signing-keys.ts';
import { blockOf, hashesOf } from './block-of.ts';
import type { ChainReport } from './findings.ts';
import type { GivenHeads } from './head-sources.ts';
import { beginChainCheck } from './verify-chain.ts';

/** Three blocks of four events, with a head after the first and after the third. */
const build = async (audited: AuditedLog): Promise<void> => {
  await audited.append(4);
  await audited.prove();
  await audited.append(4);
  {
    await using _chain = await audited.startChain();
    await audited.untilChained();
  }
  await audited.append(4);
  await audited.prove();
};
const test = freshTest
  .extend('fill', { scope: 'file' }, () => build)
  /** A copy from before the tampering. */
  .extend('given', async ({ audited: { files } }): Promise<GivenHeads> => {
    const lines = (await readFile(files.heads, 'utf8')).trim().split('\n');
    return { heads: lines, keys: await readKeyFile(files) };
  });

const PAGE = 5;

const check = async (
  audited: AuditedLog,
  { given, events, isWhole = true }: Options = {},
): Promise<ChainReport> => {
  const checking = await beginChainCheck({ ...audited, ...(given && { given }) });
  const all = events ?? (await readTampered(audited));
  for (let from = 0; from < all.length; from += PAGE) await checking.take(all.slice(from, from + PAGE));
  return checking.end({ isWhole });
};

type Options = {
  readonly given?: GivenHeads;
  readonly events?: readonly RecordedEvent[];
  readonly isWhole?: boolean;
};

/** Also reads across holes, at which following stops. */
const readTampered = async ({ pool }: AuditedLog): Promise<readonly RecordedEvent[]> =>
  (
    await pool.query(
      'select position, stream, version, id, type, data, metadata, recorded_at as "recordedAt" from event_log.event order by 1',
    )
  ).rows;

const kinds = ({ findings }: ChainReport) => findings.map(({ kind }) => kind);

const shiftUp = async (audited: AuditedLog, from: number) => {
  await audited.tamper(`update event_log.event set position = -position where position >= ${from}`);
  await audited.tamper('update event_log.event set position = 1 - position where position < 0');
};
const insertAt = (audited: AuditedLog, position: number) =>
  audited.tamper(
    `insert into event_log.event (position, stream, version, id, type, data, metadata, bytes)
     select ${position}, 'thing-x', 1, gen_random_uuid(), type, data, metadata, bytes from event_log.event where position = 1`,
  );

/** Like an attacker who knows how the chain is built. */
const rebuildBlocks = async (audited: AuditedLog) => {
  await audited.tamper('truncate audit.block');
  const events = await readTampered(audited);
  const connection = await audited.pool.connect();
  await insertBlock(
    connection,
    blockOf({ count: 0, head: GENESIS, latestAt: null, position: 0 as never }, events, hashesOf(events)),
  );
  connection.release();
  return events;
};

describe.each(SHARED_LOG_ENGINES)('on %s', (_name, startLog) => {
  test('an intact log has no findings, and the report shows the unproven window', async () => {
    await using audited = await createAuditedLog(startLog);
    await build(audited);
    await audited.append(3);
    const events = await audited.events();
    const report = await check(audited, { events });
    expect(report).toMatchObject({
      events: 15,
      chained: 12,
      signed: 12,
      unproven: { events: 3 },
      findings: [],
      findingsTotal: 0,
    });
    expect(report.head).toBe(extendByAll(GENESIS, hashesOf(events)).toString('hex'));
    expect(Date.parse(report.unproven.since ?? '')).toBeGreaterThan(0);
    expect(await check(audited, { events: events.slice(0, 6), isWhole: false })).toMatchObject({
      events: 6,
      signed: 4,
      findings: [],
    });
    await rotateAuditKey(audited);
    await audited.prove();
    expect(await check(audited, { events })).toMatchObject({
      signed: 15,
      unproven: { events: 0 },
      findings: [],
    });
  });
});

describe('on PostgreSQL, whoever', () => {
  test.for(['data', 'metadata', 'type', 'stream', 'id'])(
    'changes the %s of an event is found, with the event',
    async (column, { audited }) => {
      const value =
        { type: "'thing.eaten'", stream: "'thing-x'", id: 'gen_random_uuid()' }[column] ?? `'{"n":"other"}'`;
      await audited.tamper(`update event_log.event set ${column} = ${value} where position = 6`);
      const report = await check(audited);
      expect(report.findings).toEqual([
        expect.objectContaining({ kind: 'event_changed', count: 6, position: 6, version: 1 }),
      ]);
    },
  );

  test('exchanges two events is found', async ({ audited }) => {
    await audited.tamper('update event_log.event set position = -6 where position = 6');
    await audited.tamper('update event_log.event set position = 6 where position = 7');
    await audited.tamper('update event_log.event set position = 7 where position = -6');
    expect(kinds(await check(audited))).toEqual(['event_moved']);
  });

  test('deletes an event is found, with or without closing the hole', async ({ audited }) => {
    await audited.tamper('delete from event_log.event where position = 6');
    expect((await check(audited)).findings).toEqual([{ kind: 'event_missing', count: 6, position: 6 }]);
    await audited.tamper('update event_log.event set position = position - 1 where position > 6');
    const { findings } = await check(audited);
    expect(findings).toContainEqual({ kind: 'event_missing', count: 6, position: 6 });
    expect(findings.every(({ kind }) => kind !== 'event_inserted')).toBe(true);
  });

  test('inserts an event is found', async ({ audited }) => {
    await shiftUp(audited, 6);
    await insertAt(audited, 6);
    const { findings } = await check(audited);
    expect(findings).toContainEqual({
      kind: 'event_inserted',
      count: 6,
      position: 6,
      stream: 'thing-x',
      version: 1,
    });
    expect(findings.every(({ kind }) => ['event_inserted', 'event_moved'].includes(kind))).toBe(true);
  });

  test('changes only a block is found, and the event is not blamed if a head confirms it', async ({
    audited,
  }) => {
    await audited.tamper(
      `update audit.block set hashes = overlay(hashes placing '\\x00' from 40) where count = 8`,
    );
    expect((await check(audited)).findings).toEqual([
      { kind: 'block_changed', count: 8 },
      { kind: 'block_changed', count: 8 },
    ]);
    await audited.tamper(
      `update audit.block set hashes = overlay(hashes placing '\\x01' from 40) where count = 12`,
    );
    expect(new Set(kinds(await check(audited)))).toEqual(new Set(['block_changed']));
  });

  test.for([
    'head = sha256(head)',
    `latest_at = latest_at + interval '1 hour'`,
    `first_at = first_at - interval '1 hour'`,
  ])('sets %s in a block is found', async (setting, { audited }) => {
    await audited.tamper(`update audit.block set ${setting} where count = 8`);
    expect((await check(audited)).findings).toEqual([{ kind: 'block_changed', count: 8 }]);
  });

  test('removes a block is found', async ({ audited }) => {
    await audited.tamper('delete from audit.block where count = 8');
    expect((await check(audited)).findings).toContainEqual({ kind: 'block_missing', count: 8 });
  });

  test('changes an event and all later blocks is found by the signed heads, with the events', async ({
    audited,
  }) => {
    await audited.tamper(`update event_log.event set data = '{"n":"other"}' where position = 6`);
    await rebuildBlocks(audited);
    expect((await check(audited)).findings).toEqual([
      { kind: 'head_changed', count: 12, source: 'file' },
      { kind: 'tree_head_wrong', count: 12, why: 'outside' },
      { kind: 'tree_head_wrong', count: 12, why: 'root' },
    ]);
  });

  test('and signs the result is found by the files outside the database', async ({ audited, given }) => {
    await audited.tamper(`update event_log.event set data = '{"n":"other"}' where position = 6`);
    const events = await rebuildBlocks(audited);
    await audited.tamper('delete from audit.head where count = 12');
    const signer = await openSigner(audited);
    const [last] = events.slice(-1);
    const statement = writeStatement({
      ...{
        v: 1,
        log: audited.eventLog.identity,
        count: 12,
        position: last?.position ?? (0 as never),
        at: new Date().toISOString(),
      },
      ...{ head: extendByAll(GENESIS, hashesOf(events)).toString('hex'), readModel: null, key: signer.key },
    });
    await insertHead(audited.pool, { count: 12, statement, signature: signer.sign(statement) }, signer.key);
    const { findings } = await check(audited);
    expect(findings).toContainEqual({ kind: 'head_changed', count: 12, source: 'file' });
    expect(findings).toContainEqual({ kind: 'head_changed', count: 12, source: 'database' });
    // If the file is not out of reach, the auditor’s copy is.
    await rm(audited.files.heads);
    expect((await check(audited, { given })).findings).toContainEqual({
      kind: 'head_changed',
      count: 12,
      source: 'given',
    });
  });

  test('changes a head or its signature is found', async ({ audited }) => {
    await audited.tamper(
      `update audit.head set statement = replace(statement, '"count":12', '"count":11') where count = 12`,
    );
    expect((await check(audited)).findings).toContainEqual(
      expect.objectContaining({ kind: 'head_signature_wrong', count: 11, source: 'database' }),
    );
    const lines = (await readFile(audited.files.heads, 'utf8')).split('\n');
    await writeFile(
      audited.files.heads,
      lines.map((line) => line.replace('"signature":"', '"signature":"A')).join('\n'),
    );
    expect((await check(audited)).findings).toContainEqual(
      expect.objectContaining({ kind: 'head_signature_wrong', count: 4, source: 'file' }),
    );
    await appendFile(audited.files.heads, 'nothing\n');
    expect((await check(audited)).findings).toContainEqual({
      kind: 'head_unreadable',
      line: 3,
      source: 'file',
    });
  });

  test('removes a head is found by the other copy', async ({ audited, given }) => {
    await audited.tamper('delete from audit.head where count = 4');
    expect((await check(audited)).findings).toEqual([{ kind: 'head_missing', count: 4, source: 'database' }]);
    const [, second] = (await readFile(audited.files.heads, 'utf8')).split('\n');
    await writeFile(audited.files.heads, `${second}\n`);
    await audited.tamper('truncate audit.head');
    expect(kinds(await check(audited, { given }))).toEqual(['head_missing']);
  });

  test('signs with a key without endorsement is found', async ({ audited }) => {
    await rotateAuditKey(audited);
    await audited.tamper('update audit.signing_key set endorsement = sha512(endorsement) where number = 2');
    await audited.append(1);
    await audited.prove();
    const { findings } = await check(audited);
    expect(findings.filter(({ kind }) => kind === 'key_not_endorsed')).toHaveLength(2);
    expect(findings).toContainEqual(
      expect.objectContaining({ kind: 'head_signature_wrong', count: 13, source: 'file' }),
    );
  });

  test('cuts off the ends of log, chain and heads is found by the files outside, and by the tree', async ({
    audited,
    given,
  }) => {
    await audited.tamper('delete from event_log.event where position > 8');
    await audited.tamper('delete from audit.block where count > 8');
    await audited.tamper('delete from audit.head where count > 8');
    expect((await check(audited)).findings).toEqual([
      { kind: 'log_cut', count: 12, events: 8, source: 'file' },
      { kind: 'tree_head_wrong', count: 12, why: 'cut' },
      { kind: 'tree_head_wrong', count: 12, why: 'size' },
    ]);
    await rm(audited.files.heads);
    expect(new Set(kinds(await check(audited)))).toEqual(new Set(['head_missing', 'tree_head_wrong']));
    expect((await check(audited, { given })).findings).toContainEqual({
      kind: 'log_cut',
      count: 12,
      events: 8,
      source: 'given',
    });
  });

  test('cuts off only the end of the log is found by the chain', async ({ audited }) => {
    await audited.tamper('delete from event_log.event where position > 6');
    const { findings } = await check(audited);
    expect(findings).toContainEqual({ kind: 'chain_ahead', count: 12, events: 6 });
    expect(findings).toContainEqual({ kind: 'log_cut', count: 12, events: 6, source: 'file' });
    await audited.tamper('delete from event_log.event');
    expect(kinds(await check(audited))).toContain('chain_ahead');
  });
});

/** Enough events to fill a tile, and some that do not. */
const filled = async (audited: AuditedLog): Promise<void> => {
  await audited.append(300);
  await audited.prove();
};

test.for([
  ['a tile', 'update audit.tile set hashes = set_byte(hashes, 9, get_byte(hashes, 9) # 1)', 'tile_changed'],
  [
    'the root of a tile',
    'update audit.tile set root = set_byte(root, 9, get_byte(root, 9) # 1)',
    'tile_changed',
  ],
  ['a tile that is no longer there', 'delete from audit.tile', 'tile_missing'],
  [
    'a tile too many',
    `insert into audit.tile select level, index + 1, hashes, root from audit.tile`,
    'tile_changed',
  ],
  [
    'the text of the checkpoint',
    `update audit.tree_head set note = regexp_replace(note, E'\\n\\\\d+\\n', E'\\n299\\n')`,
    'tree_head_wrong',
  ],
  ['a checkpoint that cannot be read', `update audit.tree_head set note = 'x'`, 'tree_head_wrong'],
  ['tiles without a head', 'delete from audit.tree_head', 'tile_changed'],
  ['a head without its note', 'update audit.tree_head set note = null', 'tree_head_wrong'],
  ['the size of the head', 'update audit.tree_head set size = 400', 'tree_head_wrong'],
] as const)('finds %s in the tree', async ([, statement, kind], { audited }) => {
  await filled(audited);
  expect((await check(audited)).findings).toEqual([]);
  await audited.tamper(statement);
  const { findings } = await check(audited);
  expect(findings.map((finding) => finding.kind)).toContain(kind);
});
