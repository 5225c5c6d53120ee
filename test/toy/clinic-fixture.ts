import { randomUUID } from 'node:crypto';
import { openPool } from '#shared/database/pool.ts';
import type { ReadEntry } from '#shared/read-log/entry.ts';
import { EVERY_PART } from '../../parts.ts';
import { clinic } from './clinic.ts';
import { test as base } from './toy-fixture.ts';

/** Occurs in the fields of patients alone. */
export const SECRET = 'zzyzx';

/** The clinic, with a patient and the entries of each request. */
export const test = base
  .extend('installationOptions', { scope: 'file' }, { of: { domain: clinic, parts: EVERY_PART } })
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
  .extend('dora', { scope: 'file' }, ({ signUpAs }) => signUpAs('Dora', 'doctor'))
  .extend('dan', { scope: 'file' }, ({ signUpAs }) => signUpAs('Dan', 'doctor'))
  .extend('nick', { scope: 'file' }, ({ signUpAs }) => signUpAs('Nick', 'nurse'))
  .extend('patient', { scope: 'file' }, async ({ dora, session }) => {
    const { token } = dora;
    const body = { name: `Mr ${SECRET}`, diagnosis: `${SECRET} fever`, stage: 'early', days: 3 };
    const { written } = await session.write('POST', '/patients', { token, body });
    const path = `/patients/${written.id}`;
    await session.write('POST', `${path}/notes`, { token, body: { text: `${SECRET} is calm`, pulse: 60 } });
    const visit = await session.write('POST', '/visits', {
      token,
      body: { patientId: written.id, room: 'A1' },
    });
    return { id: written.id, path, visit: `/visits/${visit.written.id}` };
  })
  .extend(
    'get',
    { scope: 'file' },
    ({ session }) =>
      async (path: string, by: { readonly token: string }, headers = {}) => {
        const request = randomUUID();
        const reply = await session.read<unknown>(path, {
          token: by.token,
          headers: { 'x-request-id': request, ...headers },
        });
        return { ...reply, request };
      },
  );
