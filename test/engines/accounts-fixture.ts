import { test as base } from 'vitest';
import type { Role } from '#kernel/base/events/fields.ts';
import { openAccountsSite } from './accounts-site.ts';
import { somebodyAt } from './own-account.ts';
import { startSmtpReceiver } from './smtp-receiver.ts';

/** An accounts site for each file, with a receiver of its mail. */
export const test = base
  .extend('smtpOptions', { scope: 'file' }, {} as Parameters<typeof startSmtpReceiver>[0])
  .extend('smtp', { scope: 'file' }, async ({ smtpOptions }, { onCleanup }) => {
    const smtp = await startSmtpReceiver(smtpOptions);
    onCleanup(() => smtp[Symbol.asyncDispose]());
    return smtp;
  })
  .extend('siteOptions', { scope: 'file' }, {} as NonNullable<Parameters<typeof openAccountsSite>[0]>)
  .extend('site', { scope: 'file' }, async ({ siteOptions, smtp }, { onCleanup }) => {
    const site = await openAccountsSite({ ...siteOptions, smtp });
    onCleanup(() => site[Symbol.asyncDispose]());
    return site;
  })
  .extend(
    'aPerson',
    { scope: 'file' },
    ({ site }) =>
      (role?: Role) =>
        somebodyAt(site, role),
  );
