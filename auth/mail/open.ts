import type { Config } from '#shared/config.ts';
import type { Log } from '#shared/log.ts';
import { openLogMail } from './log/log-mail.ts';
import type { Mail } from './mail.ts';

/** The mail that the settings name; without them it is printed in development, and there is none elsewhere. */
export const openMail = async ({ config, log }: { config: Pick<Config, 'mail' | 'environment'>; log: Log }): Promise<Mail | undefined> => {
  if (config.mail !== undefined) {
    // Loaded only where it is used.
    const { openSmtpMail } = await import('./smtp/smtp-mail.ts');
    return openSmtpMail(config.mail);
  }
  return config.environment === 'development' ? openLogMail(log) : undefined;
};
