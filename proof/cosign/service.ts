import { readFile } from 'node:fs/promises';
import type { Registry } from 'prom-client';
import type { LogIdentity } from '#kernel/base/brands.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { type Clock, dateElsewhereMs } from '#shared/clock/clock.ts';
import type { Pool } from '#shared/database/pool.ts';
import { fileFailure } from '#shared/folder.ts';
import type { MasterKey } from '#shared/keys/master-key.ts';
import type { Log } from '#shared/log.ts';
import { leavesOf } from '../tree/leaves.ts';
import { SIGNATURES_MAX } from '../tree/note.ts';
import { type Policy, PolicyWrong, parsePolicy } from '../tree/policy.ts';
import { originOf } from '../tree/tree-head.ts';
import { gauge } from '../watch/gauge.ts';
import { addressesOf } from './endpoints.ts';
import { isWitnessed } from './enough.ts';
import { forgetWitnessed, keepWitnesses, readWitnessed, readWitnesses } from './witness-rows.ts';
import { Witnesses, type WitnessesDependencies } from './witnesses.ts';

type Dependencies = Pick<WitnessesDependencies, 'onWitnessed'> & {
  readonly pool: Pool;
  readonly masterKey: MasterKey;
  readonly eventLog: { readonly identity: LogIdentity };
  readonly log: Log;
  readonly clock: Clock;
  readonly metrics: Registry;
  /** The policy, or the path of its file. */
  readonly setting: string;
};

/** Witnesses of the log. The process that grows the tree offers them its heads. */
export const startWitnesses = async ({ setting, ...dependencies }: Dependencies): Promise<Witnesses> => {
  const { pool, masterKey, eventLog, metrics } = dependencies;
  const policy = await readWitnessPolicy(setting);
  const origin = originOf(eventLog.identity);
  await keepWitnesses(
    pool,
    addressesOf(policy).map(([url, witnesses]) => ({
      log: origin,
      url,
      names: witnesses.map(({ name }) => name),
    })),
  );
  const witnessed = await readWitnessed(pool, origin);
  // Under a stricter policy, it takes another head.
  if (witnessed !== undefined && !isWitnessed(witnessed.note, policy)) await forgetWitnessed(pool, origin);
  observe({ pool, metrics, origin, clock: dependencies.clock });
  return Witnesses.open({ ...dependencies, leaves: leavesOf(masterKey), origin, policy });
};

const readWitnessPolicy = async (setting: string): Promise<Policy> => {
  const policy = await parse(setting);
  const silent = policy.witnesses.find(({ url }) => url === undefined);
  if (policy.witnesses.length === 0)
    throw new StartRefused('AUDIT_WITNESSES names no witness: add a line “witness <name> <vkey> <url>”.');
  if (silent !== undefined)
    throw new StartRefused(`AUDIT_WITNESSES has no address of the witness “${silent.name}”.`);
  if (policy.witnesses.length > KEYS_MAX)
    throw new StartRefused(
      `AUDIT_WITNESSES has ${policy.witnesses.length} keys of witnesses: a checkpoint has room for ${KEYS_MAX}.`,
    );
  return policy;
};

/** The log signs too. */
const KEYS_MAX = SIGNATURES_MAX - 1;

const parse = async (setting: string): Promise<Policy> => {
  try {
    return parsePolicy(setting.includes('\n') ? setting : await readFile(setting, 'utf8'));
  } catch (error) {
    const reason = error instanceof PolicyWrong ? error.message : fileFailure(error);
    if (reason === undefined) throw error;
    throw new StartRefused(`AUDIT_WITNESSES cannot be used: ${reason}`, { cause: error });
  }
};

type Observed = {
  readonly pool: Pool;
  readonly metrics: Registry;
  readonly origin: string;
  readonly clock: Clock;
};

/** Every process reports the metrics, whichever asks the witnesses. */
const observe = ({ pool, metrics, origin, clock }: Observed): void => {
  const witnesses = () => readWitnesses(pool, origin);
  gauge(
    metrics,
    {
      name: 'annals_audit_witnessed_events',
      help: 'Events covered by a head that enough witnesses cosigned.',
    },
    async () => (await readWitnessed(pool, origin))?.size ?? 0,
  );
  gauge(
    metrics,
    {
      name: 'annals_audit_witness_refusals',
      help: 'Witnesses that say that the log contradicts what they have seen before.',
    },
    async () => (await witnesses()).filter(({ isRefusing }) => isRefusing).length,
  );
  gauge(
    metrics,
    {
      name: 'annals_audit_witness_silent_seconds',
      help: 'How long the witness has not cosigned that has not done so for the longest time; 0 if all do.',
    },
    async () => {
      const since = (await witnesses()).flatMap(({ failingSince }) => failingSince?.getTime() ?? []);
      return since.length === 0 ? 0 : Math.max(dateElsewhereMs(clock) - Math.min(...since), 0) / 1_000;
    },
  );
};
