import type { Defs, Domain } from '#kernel/registry/registry.ts';
import { type FollowerOptions, startFollower } from '#shared/follower/follower.ts';
import type { LostUploadDependencies } from './lost-uploads.ts';

type CoverRemoverDependencies = LostUploadDependencies & { readonly domain: Domain } & Omit<
    FollowerOptions,
    'name' | 'act' | 'prepare' | 'write' | 'committed' | 'isRequired'
  >;

/** A short delay before removal is harmless. */
const REST_MS = 200;

/**
 * Removes files that aggregates have lost, in one process at a time. It follows the log independently, so
 * that unavailable storage delays neither cascading deletions nor erasures. Without fields for files, it only moves
 * its checkpoint.
 */
export const startCoverRemover = async (dependencies: CoverRemoverDependencies): Promise<AsyncDisposable> => {
  const { domain, pool, eventLog, log, metrics, clock } = dependencies;
  const removing = hasUploads(domain)
    ? (await import('./lost-uploads.ts')).removingLostUploads(dependencies)
    : { concerns: () => false, act: async () => {} };
  return startFollower({
    name: 'cover-remover',
    isRequired: false,
    restMs: REST_MS,
    pool,
    eventLog,
    log,
    metrics,
    clock,
    ...removing,
  });
};

const hasUploads = ({ kinds }: Domain): boolean =>
  Object.values(kinds).some(({ fields, lists }) =>
    [fields, ...Object.values(lists).map((list) => list.fields)].some((defs: Defs) =>
      Object.values(defs).some((def) => def?.kind === 'upload'),
    ),
  );
