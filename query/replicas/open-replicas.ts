import type { ReplicaOptions, Replicas, Spread } from './replicas.ts';

/** The replicas of READ_DATABASE_URL. */
export const openReplicas = async (options: ReplicaOptions): Promise<Replicas> =>
  options.urls.length === 0 ? NONE : (await import('./spread.ts')).spreadOverReplicas(options);

/** Without replicas, reads cost nothing more. */
const NONE: Replicas = { spread: (make) => onPrimaryAlone(make({})), async [Symbol.asyncDispose]() {} };

const onPrimaryAlone = <Reads>(reads: Reads): Spread<Reads> => ({
  of: (part) => onPrimaryAlone(part(reads)),
  read: (work) => work(reads),
});
