import { afterAll, beforeAll, describe, test } from 'vitest';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Part } from '#process/part.ts';
import type { Host, Runner } from '../../testing/describe-domain/host.ts';
import type { Settings } from '../../testing/installation.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { createDatabase } from '../engines/database.ts';
import { startInstallation } from '../engines/installation.ts';
import { startRole } from '../engines/role-process.ts';

/** With the time limits of the project that a file belongs to. */
export const runner: Runner = {
  describe: (name, body) => void describe(name, body),
  test: (name, body) => void test(name, body),
  beforeAll: (work) => beforeAll(work),
  afterAll: (work) => afterAll(work),
};

type More = { readonly parts?: readonly Part[]; readonly settings?: Settings };

/** Processes on the PostgreSQL of the run. `file` exports the domain; by default publishing. */
export const hostOf = (domain: Domain, file: string, { parts, settings: given }: More = {}): Host => ({
  runner,
  createDatabase,
  createFolder: temporaryDataDir,
  start: (settings) =>
    startInstallation({
      settings: { ...settings, ...given, ...(file !== '' && { DOMAIN_FILE: file }) },
      of: { domain, main: 'main.ts', ...(parts && { parts }) },
    }),
  startProjector: (settings) => startReady('projector', settings),
  startQuery: (settings) => startReady('query', settings),
});

const startReady = async (
  role: string,
  settings: Settings,
): Promise<AsyncDisposable & { readonly url: string }> => {
  await using opening = new AsyncDisposableStack();
  const started = opening.use(startRole(`main.ts ${role}`, settings));
  const { url } = await started.logged('Annals is ready.');
  const resources = opening.move();
  return { url: String(url), [Symbol.asyncDispose]: () => resources.disposeAsync() };
};
