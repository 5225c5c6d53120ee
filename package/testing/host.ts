import type { Domain } from '#kernel/registry/registry.ts';
import { startAll } from '../../all-roles.ts';
import { startRole as startProjectorRole } from '../../projector/role.ts';
import { startRole as startQueryRole } from '../../query/role.ts';
import type { Host } from '../../testing/describe-domain/host.ts';
import { createAdmin } from '../../testing/installation.ts';
import { createTestFolder, startInProcess } from './in-process.ts';
import { createTestDatabase } from './test-database.ts';

/** The suite finds its own changes to the database, and the server logs them as errors. */
const QUIET = { LOG_LEVEL: 'fatal' };

/** Everything runs in the test's process, which serves the very domain it is given. */
export const hostOf = (domain: Domain): Omit<Host, 'runner'> => ({
  createDatabase: () => createTestDatabase(),
  createFolder: createTestFolder,
  async start(given) {
    await using opening = new AsyncDisposableStack();
    const { started, settings } = opening.use(await startInProcess(domain, { ...QUIET, ...given }, startAll));
    const admin = await createAdmin(settings, domain);
    const resources = opening.move();
    return {
      domain,
      admin,
      settings,
      fetch,
      url: started.url,
      [Symbol.asyncDispose]: () => resources.disposeAsync(),
    };
  },
  startProjector: (settings) => startInProcess(domain, settings, startProjectorRole),
  async startQuery(given) {
    const { settings, [Symbol.asyncDispose]: dispose } = await startInProcess(domain, given, startQueryRole);
    return { url: `http://127.0.0.1:${settings.PORT}`, [Symbol.asyncDispose]: dispose };
  },
});
