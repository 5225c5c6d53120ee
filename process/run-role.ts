import { withWords } from '#kernel/assembly/words.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { withParts } from '#kernel/registry/parts.ts';
import { demandPackagesOf } from '#shared/load-engine.ts';
import { loadNeeded } from '#shared/needed/load-needed.ts';
import { demandDomain } from './demand-served.ts';
import type { Part } from './part.ts';
import { type ProcessContext, run } from './run.ts';
import type { Served } from './served.ts';

export type Role = { readonly startRole: (context: ProcessContext) => Promise<void> };

declare module './part.ts' {
  interface Additions {
    /** By the name that starts one alone. */
    readonly roles: Readonly<Record<string, () => Promise<Role>>>;
  }
}

/** An installation that has decided on its parts. */
export type ServedParts = Served & { readonly parts: readonly Part[] };

/** Loads its code only when its process starts. */
export const runRole = async (
  role: () => Promise<Role>,
  options: Parameters<typeof run>[1],
): Promise<never> => run(async (context) => (await role()).startRole(context), options);

/** Starts one role alone, with the arguments of the program. */
export const runRoleAlone = async (
  name: string,
  role: () => Promise<Role>,
  served: ServedParts,
): Promise<never> => runRole(role, { ...(await load(served)), role: name, args: process.argv.slice(2) });

/** Loads the domain, as the installation serves it. */
export const load = ({
  domain,
  parts,
  routes,
  scan,
}: ServedParts): Promise<Pick<ProcessContext, 'domain' | 'parts' | 'routes' | 'scan'>> =>
  orExit(async () => {
    const names = parts.map(({ name }) => name);
    demandPackagesOf(names);
    const served = withParts(await withWords(demandDomain(await domain())), names);
    await loadNeeded(served);
    return { domain: served, parts, routes, scan };
  });

/** A refusal of the start is one sentence, without a stack. */
export const orExit = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StartRefused)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(error.exitCode);
  }
};
