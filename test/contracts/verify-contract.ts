// Over 200 lines, because it is one suite, which both engines of the log pass.
import { randomUUID } from 'node:crypto';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EventId, StreamName, UserId, Version } from '#kernel/base/brands.ts';
import { streamName } from '#kernel/base/events/streams.ts';
import { deciderOf } from '#kernel/decide/decider.ts';
import { ABSENT } from '#kernel/decide/state.ts';
import type { Kind } from '#kernel/registry/registry.ts';
import { type Watch, watchesOf } from '#kernel/visibility/watches.ts';
import { NO_STREAM, type RecordedEvent } from '#shared/event-log/event-log.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { skipParked } from '#shared/projection/skip-parked.ts';
import { noRow, rowAfter, rowFoldOf, storedRow } from '#shared/read-model/row-fold.ts';
import { demandTable, tablesOf } from '#shared/read-model/tables.ts';
import { report as reportSchema } from '#shared/rest/verification-report.ts';
import { createRightsFold, rightsFoldOf } from '#shared/visibility/history.ts';
import { addComment, as, by, draftArticle } from '../engines/command-side.ts';
import type { StartLog } from '../engines/log-engines.ts';
import { appendRaw, untilProjected } from '../engines/projection.ts';
import { createVerifiedReadModel, type VerifiedReadModel } from '../engines/verified-read-model.ts';

/** The differences that verification must find, and those that it must not, on any engine. */
export const describeVerifying = (name: string, startLog: StartLog): void => {
  describe(`verification on ${name}`, () => {
    let readModel: VerifiedReadModel;
    beforeAll(async () => {
      readModel = await createVerifiedReadModel(startLog);
    });
    afterAll(() => readModel?.[Symbol.asyncDispose]());

    const scratches = async () =>
      (
        await readModel.side.pool.query(
          `select nspname from pg_namespace where nspname ~ '^(verify|replay)_'`,
        )
      ).rows;

    test('an untampered installation is proven, and the proof leaves nothing behind', async () => {
      const report = reportSchema.parse(await readModel.verify());
      expect(report.findings).toEqual({ total: 0, byKind: {}, listed: [] });
      expect(report).toMatchObject({
        outcome: 'proven',
        log: { identity: readModel.side.eventLog.identity, position: await readModel.side.eventLog.head() },
        readModel: {
          isComparedWithLive: true,
          position: await readModel.side.eventLog.head(),
          rows: { users: 5, webhooks: 2, departed: 1, parked: 0 },
        },
        parked: { total: 0 },
      });
      expect(await scratches()).toEqual([]);
    });

    test('a changed live row is found, with the events behind it, and without personal data', async () => {
      const [reader] = readModel.authors;
      const change = `update read_model.users set name = 'Forged', role = 'admin' where id = ${reader}`;
      const undo = `update read_model.users set name = 'Person 0', role = 'author' where id = ${reader}`;
      const report = await readModel.verifyTampered(change, undo);
      expect(report.findings).toMatchObject({
        byKind: { row_different: 1 },
        listed: [
          {
            kind: 'row_different',
            ...{ table: 'users', key: String(reader), stream: `user-${reader}` },
            columns: [
              { name: 'name', recorded: '(personal)', found: '(personal)' },
              { name: 'role', recorded: 'author', found: 'admin' },
            ],
            events: [
              {
                version: 1,
                type: 'user.registered',
                actor: 'system:test',
                client: null,
                at: expect.any(String),
              },
            ],
            eventsTotal: 1,
          },
        ],
      });
      await readModel.side.pool.query(change);
      const { findings } = await readModel.verify({ showPersonal: true });
      expect(findings.listed).toMatchObject([
        { columns: [{ name: 'name', recorded: 'Person 0', found: 'Forged' }, {}] },
      ]);
      await readModel.side.pool.query(undo);
      expect((await readModel.verify()).outcome).toBe('proven');
    });

    test('a snapshot that differs from its events is found, and no other', async () => {
      const { pool, eventLog, snapshots, codec, domain } = readModel.side;
      const stream = streamName('article', readModel.article);
      const kind = domain.kinds.article as Kind;
      const { definition, evolve } = deciderOf(domain, kind);
      const table = demandTable(tablesOf(domain), 'article');
      const watch = watchesOf(domain).get('article') as Watch;
      const recorded = (await Array.fromAsync(eventLog.read(stream))).flat();
      const decoded = await codec.decodeAll(recorded);
      const rights = createRightsFold(watch, catalogueOf(domain));
      for (const event of recorded) rights.take(event);
      const { version, position, id: event } = recorded.at(-1) as RecordedEvent;
      const place = { stream, version, position, event, persons: [] };
      for (const [fold, state, forged] of [
        [
          { fold: 'state', definition },
          decoded.reduce((before, each) => evolve(before, each as never), ABSENT),
          { fields: { title: 'Forged' } },
        ],
        [
          rowFoldOf(table),
          storedRow(decoded.reduce((before, each) => rowAfter(table, before, each), noRow(table))),
          { changedAt: 'Forged' },
        ],
        [
          rightsFoldOf(watch),
          rights.stateAfter(recorded.at(-1) as RecordedEvent),
          { state: { status: 'forged' } },
        ],
      ] as const) {
        await snapshots.save([{ ...place, ...fold, state: { ...(state as object), ...forged } }]);
        expect((await readModel.verify()).findings.listed).toEqual([
          { kind: 'snapshot_different', stream, version, position },
        ]);
        await pool.query('delete from snapshots.fold');
        await snapshots.save([{ ...place, ...fold, state }]);
        expect((await readModel.verify()).outcome).toBe('proven');
        expect(await snapshots.find(stream, fold)).toMatchObject({ version });
        await pool.query(`update snapshots.fold set sealed = '\\x00'`);
        expect((await readModel.verify()).outcome).toBe('proven');
        await pool.query('delete from snapshots.fold');
      }
    });

    test('an added row and a removed one are found', async () => {
      const { pool } = readModel.side;
      await pool.query(`insert into read_model.articles select 7 as id, author_id, title, body, tags, cover, status, version, created_at, updated_at, published_at
      from read_model.articles where id = ${readModel.article}`);
      await pool.query(
        `create table public.kept as select * from read_model.webhooks where id = ${readModel.webhook}`,
      );
      await pool.query(`delete from read_model.webhooks where id = ${readModel.webhook}`);
      const { findings } = await readModel.verify();
      expect(findings).toMatchObject({
        byKind: { row_extra: 1, row_missing: 1 },
        listed: [
          { kind: 'row_extra', table: 'articles', key: '7', events: [] },
          { kind: 'row_missing', table: 'webhooks', key: String(readModel.webhook), eventsTotal: 5 },
        ],
      });
      await pool.query(
        'insert into read_model.webhooks select * from public.kept; drop table public.kept; delete from read_model.articles where id = 7',
      );
      expect((await readModel.verify()).outcome).toBe('proven');
    });

    test('up to a past position no live row is compared, but everything else is', async () => {
      const { side, authors } = readModel;
      const at = await side.eventLog.head();
      await readModel.writeSome(authors[1] as UserId);
      await untilProjected(side);
      const report = await readModel.verify({ at });
      expect(report).toMatchObject({
        outcome: 'proven',
        log: { position: at },
        readModel: { position: at, isComparedWithLive: false, signedDigest: null },
      });
    });

    test('concurrent writes do not affect the proof', async () => {
      const { side, authors } = readModel;
      let isOver = false;
      let written = 0;
      const write = async () => {
        for (; !isOver; written += 1) {
          await readModel.writeSome(authors[written % authors.length] as UserId);
          await delay(10);
        }
      };
      const writing = write();
      for (let n = 0; n < 2; n += 1) expect((await readModel.verify()).findings.listed).toEqual([]);
      isOver = true;
      await writing;
      expect(written).toBeGreaterThan(0);
      await untilProjected(side);
    });

    test('a parked item is reported and is no failure, even if an operator releases it meanwhile', async () => {
      const { side, authors } = readModel;
      const id = await draftArticle(side, authors[0] as UserId);
      const stream = `article-${id}` as StreamName;
      const { position } = await appendRaw(
        side,
        stream,
        { type: 'article.edited', data: { articleId: id } },
        2,
      );
      await appendRaw(
        side,
        stream,
        { type: 'article.edited', data: { articleId: id, authorId: Number(authors[0]), title: 'Two' } },
        3,
      );
      await untilProjected(side);
      expect(await readModel.verify()).toMatchObject({
        outcome: 'proven',
        parked: { total: 1, listed: [{ stream, version: 3, position }] },
      });
      let released: Promise<unknown> | undefined;
      const onProgress = ({ step }: { step: string }) => {
        if (step === 'events') released ??= skipParked(side, { stream, version: 3 as Version });
      };
      const report = await readModel.verify({ onProgress });
      await released;
      expect(report.outcome).toBe('proven');
      // The release may come before the report or after it.
      expect([...report.parked.listed, ...report.leftOut.listed]).toMatchObject([{ stream, version: 3 }]);
      expect(await readModel.verify()).toMatchObject({
        outcome: 'proven',
        parked: { total: 0 },
        leftOut: { total: 1, listed: [{ stream, version: 3 }] },
      });
    });

    test('a user without a key, whose deletion is still to come, does not count as a difference', async () => {
      const { side, authors } = readModel;
      const leaving = authors[3] as UserId;
      await side.erasures.note([{ userId: leaving, at: new Date().toISOString(), event: null }]);
      await side.keys.destroy(leaving);
      expect((await readModel.verify({ auditDir: dirname(side.erasures.path) })).findings.listed).toEqual([]);
      await side.send({ type: 'DeleteUser', userId: leaving }, by(as(leaving)));
      await untilProjected(side);
      expect((await readModel.verify()).findings.listed).toEqual([]);
    });

    test('a difference between projection and deciders is found although both rows agree', async () => {
      const { side, authors, article } = readModel;
      const nobody = 77_001 as UserId;
      const author = authors[0] as UserId;
      const context = {
        at: new Date().toISOString(),
        actor: 'system:test',
        client: null,
        request: 'r',
        correlation: 'c',
        causation: null,
      } as const;
      // The deletion of a user who never existed: the projection has no row to empty.
      const deleted = { type: 'user.deleted', data: { userId: nobody } } as const;
      const stream = `user-${nobody}` as StreamName;
      await side.eventLog.append(stream, NO_STREAM, [
        await side.codec.encode(deleted, context, randomUUID() as EventId, stream),
      ]);
      await untilProjected(side);
      const { findings } = await readModel.verify();
      expect(findings).toMatchObject({
        total: 1,
        listed: [
          {
            kind: 'fold_missing',
            table: 'users',
            key: String(nobody),
            events: [{ type: 'user.deleted', version: 1 }],
          },
        ],
      });
      await addComment(side, author, article);
      await side.send({ type: 'UpdateUser', userId: author, name: 'Renamed' }, by(as(author)));
      await untilProjected(side);
      expect((await readModel.verify()).findings.total).toBe(1);
    });
  });
};
