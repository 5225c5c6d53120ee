import type { Foundation } from '#process/foundation.ts';
import { loadAdditions } from '#process/part.ts';
import type { ProcessContext } from '#process/run.ts';
import type { Blobs } from '#shared/blobs/blobs.ts';
import { startCommandService } from './service.ts';

/** Starts the command side in a process, with the commands of the parts. */
export const startCommands = async (
  { config, log, parts }: ProcessContext,
  foundation: Foundation,
  options: { readonly blobs: Blobs; readonly follows?: boolean },
) =>
  startCommandService(
    { ...foundation, ...options, log, webhooks: config.webhooks, issuerUrl: config.issuerUrl },
    await loadAdditions(parts, 'command'),
  );
