import type { Config } from '#shared/config.ts';
import type { Log } from '#shared/log.ts';
import { StartRefused } from '#shared/start-refused.ts';
import { openLogMail } from './log/log-mail.ts';
import type { Mail } from './mail.ts';

/** The mail that the settings name; without them it is printed in development, and there is none elsewhere: then nobody can sign up. */
export const openMail = async ({
  config,
  log,
}: {
  config: Pick<Config, 'mail' | 'environment' | 'signUp'>;
  log: Log;
}): Promise<Mail | undefined> => {
  if (config.mail !== undefined) {
    // Loaded only where it is used.
    const { openSmtpMail } = await import('./smtp/smtp-mail.ts');
    return openSmtpMail(config.mail);
  }
  if (config.environment === 'production' && config.signUp !== 'off') throw new StartRefused(NO_MAIL);
  return config.environment === 'development' ? openLogMail(log) : undefined;
};

const NO_MAIL =
  'SIGNUP lets people create accounts, and there is no MAIL_URL to confirm their addresses by: set MAIL_URL and MAIL_FROM, or SIGNUP=off and ' +
  'invite people with `npm run annals -- invite`.';
