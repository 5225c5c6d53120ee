import { publishing } from '#domain/publishing.ts';
import type { Sender } from '../../webhook-dispatcher/deliver/delivery.ts';
import { openSender } from '../../webhook-dispatcher/deliver/send.ts';
import { createEndpointSecrets } from '../../webhook-dispatcher/endpoint-secrets.ts';
import { openRunLedger, type RunLedger } from '../../webhook-dispatcher/ledger/run-ledger.ts';
import { createRunner, type Runner } from '../../webhook-dispatcher/runner.ts';
import type { DispatcherDependencies } from '../../webhook-dispatcher/service.ts';
import { POLICY } from './policy.ts';

export type RunProcess = AsyncDisposable & Pick<Runner, 'run' | 'handOver'>;

type Wraps = {
  readonly ledger?: (ledger: RunLedger) => RunLedger;
  readonly sender?: (sender: Sender) => Sender;
};

const RUNS_MAX = 256;

/** The dependencies of a dispatcher process to run webhooks, without a queue. */
export const openRunProcess = (
  given: DispatcherDependencies,
  { ledger = (same) => same, sender = (same) => same }: Wraps,
): RunProcess => {
  const opened = new AsyncDisposableStack();
  const { pool, eventLog, keys, config, log, clock } = given;
  const secrets = createEndpointSecrets({ domain: publishing, eventLog, keys, clock });
  const opens = {
    ledger: ledger(openRunLedger(publishing, pool, { hours: 120, failures: 5 })),
    sender: sender(
      opened.use(
        openSender({
          ...{ domain: publishing, pool, eventLog, keys, clock },
          ...{ settings: config.webhooks, publicUrl: config.publicUrl },
        }),
      ),
    ),
  };
  const deaf = { observer: { sent() {} }, disable: async () => {}, enqueue() {} };
  const runner = opened.use(
    createRunner({ ...opens, ...deaf, policy: POLICY, secrets, log, clock, runsMax: RUNS_MAX }),
  );
  return { run: runner.run, handOver: runner.handOver, [Symbol.asyncDispose]: () => opened.disposeAsync() };
};
