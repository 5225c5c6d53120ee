import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { type ProcessContext, run } from './run.ts';
import type { Served } from './served.ts';

export type Role = { readonly startRole: (context: ProcessContext) => Promise<void> };

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
