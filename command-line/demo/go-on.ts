import { readFirstMinute } from '#process/first-minute-file.ts';
import { openMasterKey } from '#shared/keys/master-key-file.ts';
import { createEmailHash } from '../../auth/accounts/email-hash.ts';
import { withCommandSide } from '../installation/command-side.ts';
import { openInstallation } from '../installation/installation.ts';
import type { Terminal } from '../terminal.ts';
import { keepTraffic } from './traffic.ts';
import type { Wanted } from './wanted.ts';

/** Lets the people of a running demo continue for a while. */
export const goOn = async (
  wanted: Wanted & { readonly trafficMs: number },
  terminal: Terminal,
): Promise<void> => {
  const { config, planned, seed, trafficMs } = wanted;
  const { signal, rewrite, complain } = terminal;
  await using installation = await openInstallation(terminal);
  const url = wanted.url ?? (await readFirstMinute(config.dataDir))?.url ?? config.publicUrl;
  const emailHash = createEmailHash(await openMasterKey(config));
  let done = 0;
  const onStep = (steps: number, leftMs: number): void => {
    done = steps;
    rewrite?.(`${steps} actions, ${Math.ceil(leftMs / 1_000)} s left`);
  };
  complain(`Generating activity for ${trafficMs / 1_000} s; Ctrl+C ends it.`);
  await withCommandSide(terminal, installation, (side) =>
    keepTraffic({ side, seed, planned, url, emailHash, durationMs: trafficMs, signal, onStep }),
  );
  rewrite?.('');
  complain(`${done} actions were performed.`);
};
