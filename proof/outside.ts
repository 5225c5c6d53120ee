import type { Registry } from 'prom-client';
import type { LogIdentity } from '#kernel/base/brands.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { AuditSettings } from '#process/config.ts';
import { openPublishedFiles } from '#process/engines/open-published-files.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { Pool } from '#shared/database/pool.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import type { Log } from '#shared/log.ts';
import { forgetWitnesses } from './cosign/witness-rows.ts';

type Dependencies = {
  readonly pool: Pool;
  readonly eventLog: { readonly identity: LogIdentity };
  readonly masterKey: MasterKey;
  readonly settings: Pick<AuditSettings, 'isTreePrivate' | 'timeStamps' | 'treeUrl' | 'witnesses'>;
  readonly log: Log;
  readonly metrics: Registry;
  readonly clock: Clock;
};

type Offer = (note: string) => void;

/**
 * Witnesses, an authority for time stamps, and a place for static files get the heads. Their code is loaded only if
 * there are some.
 */
export const sendOutside = async (given: Dependencies, opening: AsyncDisposableStack): Promise<Offer> => {
  const publish = await openPublishing(given, opening);
  const ask = await openWitnesses(given, opening);
  return (note) => {
    publish?.(note);
    ask(note);
  };
};

const openPublishing = async (
  { settings, ...dependencies }: Dependencies,
  opening: AsyncDisposableStack,
): Promise<Offer | undefined> => {
  if (settings.treeUrl === undefined) return undefined;
  if (settings.isTreePrivate)
    throw new StartRefused(
      'AUDIT_TREE is private, and AUDIT_TREE_URL publishes the tree for everybody: set one of them alone.',
    );
  const files = opening.use(await openPublishedFiles(settings.treeUrl, 'AUDIT_TREE_URL'));
  const { startPublishing } = await import('./published/service.ts');
  return opening.use(startPublishing({ ...dependencies, files })).offer;
};

const openWitnesses = async (
  { settings, ...dependencies }: Dependencies,
  opening: AsyncDisposableStack,
): Promise<Offer> => {
  const { url, everyMs = 0 } = settings.timeStamps ?? {};
  const stamps =
    url === undefined ? undefined : opening.use(await openTimeStamps({ ...dependencies, url, everyMs }));
  if (settings.witnesses === undefined) {
    await forgetWitnesses(dependencies.pool);
    return (note) => stamps?.offer(note, false);
  }
  const { startWitnesses } = await import('./cosign/service.ts');
  const onWitnessed = (note: string) => stamps?.offer(note, true);
  const given = { ...dependencies, onWitnessed, setting: settings.witnesses };
  const witnesses = opening.use(await startWitnesses(given));
  return (note) => witnesses.offer(note);
};

const openTimeStamps = async (given: Omit<Dependencies, 'settings'> & { url: string; everyMs: number }) =>
  (await import('./time/time-stamps.ts')).TimeStamps.open(given);
