import { randomUUID } from 'node:crypto';
import { openPool } from '#shared/database/pool.ts';
import type { ReadEntry } from '#shared/read-log/entry.ts';
import { EVERY_PART } from '../../parts.ts';
import type { Person } from '../../testing/http/people.ts';
import { audited } from './audited.ts';
import { test as base } from './toy-fixture.ts';

const DAY_MS = 86_400_000;
/** The day at this distance from today, in UTC. */
export const dayIn = (days: number): string =>
  new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 'YYYY-MM-DD'.length);

/** Occurs in the fields of files alone. */
export const SECRET = 'zzyzx';

/** The desk with auditors, one of them signed in, and a file of somebody else. */
export const test = base
  .extend('installationOptions', { scope: 'file' }, { of: { domain: audited, parts: EVERY_PART } })
  .extend('pool', { scope: 'file' }, ({ installation }, { onCleanup }) => {
    const pool = openPool({
      ...{ url: installation.settings.DATABASE_URL ?? '', applicationName: 'test', connectionsMax: 1 },
    });
    onCleanup(() => pool[Symbol.asyncDispose]());
    return pool;
  })
  .extend('entriesOf', { scope: 'file' }, ({ pool }) => async (request: string) => {
    const { rows } = await pool.query<{ readonly entry: string }>(
      `select entry from read_log.entry where entry::jsonb->>'request' = $1 order by number`,
      [request],
    );
    return rows.map(({ entry }) => JSON.parse(entry) as ReadEntry);
  })
  .extend('clerk', { scope: 'file' }, ({ people }) => people.signUp('Clara'))
  .extend(
    'audit',
    { scope: 'file' },
    ({ byAdmin, people }) =>
      async (person: Person, auditorUntil: string) => {
        await byAdmin('PATCH', `/users/${person.userId}`, { role: 'auditor', auditorUntil });
        return people.signIn(person, 'auditor');
      },
  )
  .extend('auditor', { scope: 'file' }, async ({ audit, people }) =>
    audit(await people.signUp('Alan'), dayIn(30)),
  )
  .extend('file', { scope: 'file' }, async ({ clerk, session }) => {
    const { token } = clerk;
    const body = { title: `Case ${SECRET}`, secret: `${SECRET} himself` };
    const { written } = await session.write('POST', '/files', { token, body });
    const path = `/files/${written.id}`;
    await session.write('POST', `${path}/pages`, { token, body: { text: `${SECRET} was there` } });
    const bill = await session.write('POST', `${path}/bills`, { token, body: { amount: 12, note: SECRET } });
    return { id: written.id, path, billId: bill.written.id };
  })
  .extend(
    'get',
    { scope: 'file' },
    ({ session }) =>
      async (path: string, { token }: { readonly token: string }) => {
        const request = randomUUID();
        const reply = await session.read<unknown>(path, { token, headers: { 'x-request-id': request } });
        return { ...reply, request };
      },
  );
