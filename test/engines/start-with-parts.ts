import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Router } from 'express';
import type { PartName } from '#kernel/registry/parts.ts';
import { spawnAnnals } from '../annals-process.ts';
import { serveRoutes } from '../serve.ts';
import { createTokenMint, ISSUER } from '../token-mint.ts';
import { createDatabase } from './database.ts';

const ROOT = join(import.meta.dirname, '../..');
export const PUBLIC_URL = 'http://annals.example';
export const HELPDESK = 'test/toy/helpdesk.ts';
/** Serves the domain of DOMAIN_FILE with the parts of PARTS. */
export const PROGRAM = 'test/toy/parts-main.ts';

/** A database and a data folder, which one start after the other can use, and an issuer of tokens. */
export const openPlace = async () => {
  await using opening = new AsyncDisposableStack();
  const mint = await createTokenMint();
  const keys = Router().get('/jwks', (_request, response) => void response.json(mint.jwks));
  const issuer = opening.use(await serveRoutes(keys));
  const database = opening.use(await createDatabase());
  const folder = await mkdtemp(join(tmpdir(), 'annals-parts-'));
  opening.defer(() => rm(folder, { recursive: true, force: true }));
  const resources = opening.move();
  return {
    ...{ mint, database, folder },
    /** Without accounts, an installation takes the tokens of the issuer of the test. */
    environmentFor: (parts: readonly PartName[], file = HELPDESK) => ({
      PARTS: parts.join(' '),
      DOMAIN_FILE: file,
      DATABASE_URL: database.url,
      DATA_DIR: join(folder, 'data'),
      PUBLIC_URL,
      ...(!parts.includes('accounts') && { ISSUER_URL: ISSUER, JWKS_URL: `${issuer.url}/jwks` }),
    }),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

export type Place = Awaited<ReturnType<typeof openPlace>>;

/** The program with these parts in a process of its own, which notes the modules that it loads. */
export const startAt = async (
  place: Place,
  parts: readonly PartName[],
  file = HELPDESK,
  program = PROGRAM,
) => {
  await using opening = new AsyncDisposableStack();
  const noted = join(place.folder, `modules of ${parts.join(' and ')}`);
  const annals = opening.use(
    spawnAnnals(['--import', './test/engines/note-modules.ts', program], {
      ...place.environmentFor(parts, file),
      NOTE_MODULES_IN: noted,
    }),
  );
  const [, url = ''] = await annals.said(/"url":"([^"]+)","msg":"Annals is ready\."/);
  const resources = opening.move();
  return {
    url,
    mint: place.mint,
    database: place.database,
    printed: annals.output,
    get: (path: string, accept: string) =>
      fetch(`${url}${path}`, { headers: { accept }, redirect: 'manual' }),
    async modules() {
      const urls = (await readFile(noted, 'utf8')).split('\n').filter((each) => each.startsWith('file:'));
      return urls.map((each) => relative(ROOT, fileURLToPath(each)));
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

/** The same at a place of its own. */
export const startWith = async (parts: readonly PartName[], file = HELPDESK, program = PROGRAM) => {
  await using opening = new AsyncDisposableStack();
  const place = opening.use(await openPlace());
  const started = opening.use(await startAt(place, parts, file, program));
  const resources = opening.move();
  return { ...started, [Symbol.asyncDispose]: () => resources.disposeAsync() };
};
