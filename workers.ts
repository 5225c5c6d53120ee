import type { ProcessContext } from '#process/run.ts';

/** All roles, in one process or in its workers. The primary process of workers loads none of their code. */
export const startOneOrMany = async (
  context: ProcessContext,
  options: { readonly hasDemo: boolean },
): Promise<void> => {
  const { config, worker } = context;
  if (worker === undefined && config.workers > 1) {
    const { startPrimary } = await import('#process/workers/primary.ts');
    return startPrimary(context);
  }
  const { startAll, startFollowers } = await import('./all-roles.ts');
  if (worker?.isFollowers) await startFollowers(context, worker);
  else await startAll(context, options);
};
