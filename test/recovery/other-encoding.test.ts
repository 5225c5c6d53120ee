import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { inDatabase } from '../../testing/database/search-everywhere.ts';
import { scaled } from '../../testing/load.ts';
import { runAnnals } from '../annals-process.ts';
import { as, by, createCommandDatabase, registerUser } from '../engines/command-side.ts';
import { operate as command, startInstallation } from '../engines/installation.ts';
import { inTheDatabase } from '../engines/log-engines.ts';
import { startProjecting } from '../engines/projection.ts';
import { startSystemPostgres, systemPostgresBin, systemPostgresMissing } from '../engines/system-postgres.ts';
import { askAs, operate } from './operated.ts';

if (systemPostgresMissing !== undefined) console.warn(`Skipped: ${systemPostgresMissing}.`);

/** Earlier releases started in SQL_ASCII; docs/postgresql.md explains how to move their data. */
const PAGE = readFileSync(new URL('../../docs/postgresql.md', import.meta.url), 'utf8');
const COMMANDS = /^```sh take-along\n(.*?)^```$/ms.exec(PAGE)?.[1] ?? '';
const TITLE = 'Grüße aus Köln, 東京 und Ærø';

test.skipIf(systemPostgresMissing !== undefined)(
  'data written in another encoding can be read in a database with the right one',
  async () => {
    await using postgres = await startSystemPostgres();
    await postgres.start();
    await postgres.createDatabase();
    await inDatabase(postgres.url, (client) =>
      client.query(`create database former encoding 'SQL_ASCII' template template0 locale 'C'`),
    );
    await using operated = await operate(postgres.url);
    const { settings, environment } = operated;
    const formerUrl = postgres.url.replace(/annals$/, 'former');
    const former = async () => ({ url: formerUrl, [Symbol.asyncDispose]: async () => {} });
    const id = await (async () => {
      await using database = await createCommandDatabase({
        startLog: inTheDatabase,
        masterKey: settings.MASTER_KEY,
        createDatabase: former,
      });
      await using side = await database.open();
      await using _projection = await startProjecting(side);
      const author = await registerUser(side, { name: 'Zoë' });
      return (
        await side.send(
          { type: 'DraftArticle', title: TITLE, body: '', tags: [], cover: null, publish: true },
          by(as(author)),
        )
      ).id;
    })();
    const refused = await runAnnals(['query/main.ts'], { ...settings, DATABASE_URL: formerUrl });
    expect(refused).toEqual({
      exit: 1,
      output: expect.stringContaining('has the encoding SQL_ASCII, but Annals needs UTF8'),
    });
    execFileSync('bash', ['-euc', COMMANDS], {
      cwd: environment.BACKUP,
      env: {
        DATABASE_URL: postgres.url,
        FORMER_URL: formerUrl,
        PATH: `${systemPostgresBin}:${process.env.PATH}`,
      },
    });
    await using installation = await startInstallation({ ownProcess: true, settings });
    const { ask, token } = await askAs(installation);
    expect(await ask('GET', `/articles/${id}`, { token })).toMatchObject({
      status: 200,
      body: { title: TITLE },
    });
    expect(await command(['audit', 'verify'], settings)).toContain('Proven, ');
  },
  scaled(120_000),
);
