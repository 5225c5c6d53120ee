import { demandServed } from '#process/demand-served.ts';
import { loadAdditions, type Part } from '#process/part.ts';
import { load, orExit, type Role, runRole, type ServedParts } from '#process/run-role.ts';
import type { Served } from '#process/served.ts';
import { isDeveloped } from './develop/protocol.ts';

/** Each is loaded only in its own process, to save memory. */
type Roles = Readonly<Record<string, () => Promise<Role>>>;

const OF_THE_CORE: Roles = {
  command: () => import('./command/role.ts'),
  query: () => import('./query/role.ts'),
  projector: () => import('./projector/role.ts'),
};

const rolesOf = async (parts: readonly Part[]): Promise<Roles> =>
  Object.assign({}, OF_THE_CORE, ...(await loadAdditions(parts, 'roles')));

/**
 * Serves a domain and its parts, as the arguments say: all roles in one process, one role alone (`query`), or
 * an operator command (`audit verify`). A `main.ts` that calls it is all that an installation of another domain
 * needs.
 */
export const start = async (
  given: Served,
  args: readonly string[] = process.argv.slice(2),
): Promise<void> => {
  const served = await withAllParts(given);
  const [first = '', ...others] = args;
  if (isDevelopment(args)) return (await import('./developed.ts')).startDeveloping(served, others);
  const roles = await rolesOf(served.parts);
  const role = Object.hasOwn(roles, first) ? roles[first] : undefined;
  if (role !== undefined) return runRole(role, { ...(await load(served)), role: first, args: others });
  if (first === '' || first.startsWith('-'))
    return runRole(() => oneOrMany(served), { ...(await load(served)), roles: Object.keys(roles), args });
  return operate(served, args);
};

/** `dev`, and a process that it has started. */
const isDevelopment = ([first, ...others]: readonly string[]): boolean =>
  isDeveloped(process.env) || (first === 'dev' && !others.some((each) => each === '--help' || each === '-h'));

/** Unless it names its parts. */
const withAllParts = (given: Served): Promise<ServedParts> =>
  orExit(async () => {
    demandServed(given);
    return { ...given, parts: given.parts ?? (await import('./parts.ts')).ALL_PARTS };
  });

/** In this process, or in several. */
const oneOrMany = async ({ demo }: Served): Promise<Role> => {
  const { startOneOrMany } = await import('./workers.ts');
  return { startRole: (context) => startOneOrMany(context, { hasDemo: demo !== undefined }) };
};

const allRoles = async ({ demo }: Served): Promise<Role> => {
  const { startAll } = await import('./all-roles.ts');
  return { startRole: async (context) => void (await startAll(context, { hasDemo: demo !== undefined })) };
};

/** The command line for operators only. */
export const operate = async (
  given: Served,
  args: readonly string[] = process.argv.slice(2),
): Promise<void> => {
  const served = await withAllParts(given);
  if (isDevelopment(args)) return (await import('./developed.ts')).startDeveloping(served, args.slice(1));
  const { domain, parts, scan } = await load(served);
  await import('./shared/needed/all.ts');
  const { runCommandLine } = await import('./command-line/program.ts');
  const { openTerminal } = await import('./command-line/terminal.ts');
  const serve = () => runRole(() => allRoles(served), { domain, parts, scan, args: [] });
  using terminal = openTerminal({ ...served, domain, serve });
  process.exitCode = await runCommandLine(args, terminal);
};
