import { once } from 'node:events';
import { withWords } from '#kernel/assembly/words.ts';
import { StartInterrupted, StartRefused } from '#kernel/base/start-refused.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { demandDomain } from '#process/demand-served.ts';
import type { OwnRoutes } from '#process/own-routes.ts';
import type { ProcessContext } from '#process/run.ts';
import { load, type Role, runRole, type ServedParts } from '#process/run-role.ts';
import { operationsOf } from '#shared/rest/operations.ts';
import { withLoadedFiles } from './loaded-files.ts';
import { DEVELOPED, type Report, type Request } from './protocol.ts';
import { refusalIn } from './refusal.ts';

/** All roles, and the routes of development, from the composition. */
export type Developing = {
  /** Starts all roles; `isFirst` if nothing was served before. */
  startAll(context: ProcessContext, isFirst: boolean): Promise<void>;
  /** Loads the code of all roles, which is the same for every declaration. */
  prepare(): Promise<unknown>;
  /** Routes beside those of the installation. */
  routes(
    served: { readonly files: readonly string[]; readonly domain: Domain },
    own: OwnRoutes | undefined,
  ): Promise<OwnRoutes>;
  /** Work after the start, which reports lines. */
  afterStart(context: ProcessContext, note: (line: string) => void): Promise<void>;
};

/**
 * A process that `dev` has started. It loads everything but the domain, and waits until the domain has changed: a
 * restart then only loads the declaration, and opens the roles.
 */
export const runDeveloped = async (served: ServedParts, developing: Developing): Promise<void> => {
  if (process.send === undefined || process.env.NODE_ENV === 'production')
    throw new StartRefused('Only `dev` starts such a process: run npm run dev.');
  // Programs that a module of the domain starts are no such processes.
  delete process.env[DEVELOPED];
  process.once('disconnect', () => process.exit());
  await Promise.all([developing.prepare(), prepareParts(served)]);
  report({ says: 'ready' });
  await asked('load');
  const { files, result } = await withLoadedFiles(() => loadDomain(served));
  if (result.status === 'rejected') {
    report({ says: 'refused', files, why: refusalIn(result.reason) });
    return leave();
  }
  report({ says: 'accepted', files });
  const { isFirst } = await asked('serve');
  process.removeAllListeners('disconnect');
  // In order, so that the database and the log are left as after any stop.
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  const role: Role = {
    startRole: async (context) => {
      await developing.startAll({ ...context, beforeListening: () => takeOver(context.signal) }, isFirst);
      report({ says: 'serving' });
      const note = (line: string) => report({ says: 'note', line });
      developing.afterStart(context, note).catch((error: unknown) => note(refusalIn(error)));
    },
  };
  const { domain } = result.value;
  const routes = await developing.routes({ files: Object.keys(files), domain }, served.routes);
  await runRole(async () => role, {
    ...result.value,
    domain: { ...domain, develops: true },
    routes,
    args: [],
  });
};

/** Refuses by an error, not by an exit of the process. */
const loadDomain = async (served: ServedParts): ReturnType<typeof load> => {
  const domain = await withWords(demandDomain(await served.domain()));
  const loaded = await load({ ...served, domain: async () => domain });
  operationsOf(loaded.domain);
  return loaded;
};

const prepareParts = ({ parts }: ServedParts): Promise<unknown> =>
  Promise.all(parts.flatMap(({ adds }) => Object.values(adds).map((loadAddition) => loadAddition())));

const report = (said: Report): void => void process.send?.(said);

/** Everything else is open by then, so that nothing listens for as short a time as possible. */
const takeOver = async (signal: AbortSignal): Promise<void> => {
  const listening = asked('listen', signal);
  report({ says: 'opened' });
  await listening.catch((cause: unknown) => {
    throw signal.aborted ? new StartInterrupted('Stopped before the domain was served.', { cause }) : cause;
  });
};

const asked = async <Does extends Request['does']>(
  does: Does,
  signal?: AbortSignal,
): Promise<Extract<Request, { does: Does }>> => {
  for (;;) {
    const [request] = (await once(process, 'message', { signal })) as [Request];
    if (request.does === does) return request as Extract<Request, { does: Does }>;
  }
};

/** Once the report has left. */
const leave = (): void => {
  process.disconnect();
};
