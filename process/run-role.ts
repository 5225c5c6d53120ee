import { StartRefused } from '#kernel/base/start-refused.ts';
import type { LoadDemo } from '#kernel/demo/demo.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { type ProcessContext, run } from './run.ts';

export type Role = { readonly startRole: (context: ProcessContext) => Promise<void> };

/**
 * The domain of an installation. It is loaded in a function, because a declaration may be refused: then only
 * that error is printed.
 */
export type Served = { domain(): Promise<Domain>; readonly demo?: LoadDemo };

/** Loads its code only when its process starts. */
export const runRole = async (
  role: () => Promise<Role>,
  options: Parameters<typeof run>[1],
): Promise<never> => run(async (context) => (await role()).startRole(context), options);

/** Starts one role alone, with the arguments of the program. */
export const runRoleAlone = async (name: string, role: () => Promise<Role>, served: Served): Promise<never> =>
  runRole(role, { domain: await loadDomain(served), role: name, args: process.argv.slice(2) });

export const loadDomain = async ({ domain }: Served): Promise<Domain> => {
  try {
    return await domain();
  } catch (error) {
    if (!(error instanceof StartRefused)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(error.exitCode);
  }
};
