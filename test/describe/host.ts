import { afterAll, beforeAll, describe, test } from 'vitest';
import type { Domain } from '#kernel/registry/registry.ts';
import type { Host, Runner } from '../../testing/describe-domain/host.ts';
import { temporaryDataDir } from '../engines/data-dir.ts';
import { createDatabase } from '../engines/database.ts';
import { startInstallation } from '../engines/installation.ts';
import { startRole } from '../engines/role-process.ts';

/** With the limits on time of the project that a file belongs to. */
export const runner: Runner = {
  describe: (name, body) => void describe(name, body),
  test: (name, body) => void test(name, body),
  beforeAll: (work) => beforeAll(work),
  afterAll: (work) => afterAll(work),
};

/** Processes on the PostgreSQL of the run. `file` exports the domain; publishing is served if it is empty. */
export const hostOf = (domain: Domain, file: string): Host => ({
  runner,
  createDatabase,
  createFolder: temporaryDataDir,
  start: (settings) =>
    startInstallation({ settings: { ...settings, ...(file !== '' && { DOMAIN_FILE: file }) }, of: { domain, main: 'main.ts' } }),
  async startProjector(settings) {
    const projector = startRole('main.ts projector', settings);
    try {
      await projector.logged('Annals is ready.');
      return projector;
    } catch (error) {
      await projector[Symbol.asyncDispose]();
      throw error;
    }
  },
});
