import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Config } from '#process/config.ts';
import type { Log } from '#shared/log.ts';
import { demandPlain, type Mail } from './mail/mail.ts';

/**
 * Opens the mail of the settings. Without them, development prints messages; elsewhere there is no mail, and
 * nobody can sign up.
 */
export const openMail = async ({
  config,
  log,
}: {
  config: Pick<Config, 'mail' | 'environment' | 'signUp'>;
  log: Log;
}): Promise<Mail | undefined> => {
  if (config.mail !== undefined) {
    // Loaded only if it is used.
    const { openSmtpMail } = await import('./mail/smtp/smtp-mail.ts');
    return openSmtpMail(config.mail);
  }
  if (config.environment === 'production' && config.signUp !== 'off') throw new StartRefused(NO_MAIL);
  return config.environment === 'development' ? openLogMail(log) : undefined;
};

const NO_MAIL =
  'SIGNUP lets people create accounts, but without MAIL_URL their addresses cannot be confirmed: set MAIL_URL and MAIL_FROM, or SIGNUP=off and ' +
  'invite people with `npm run annals -- invite`.';

/** Prints messages for developers. They contain links that open accounts, so this is for development only. */
export const openLogMail = (log: Log): Mail => ({
  reachesPeople: false,
  async send(message) {
    demandPlain(message);
    const { to, subject, text } = message;
    // In the text itself: logs redact fields with these names, for good reason everywhere else.
    log.info(`Mail to ${to}, not sent in development: ${subject}\n${text}`);
  },
  [Symbol.asyncDispose]: async () => {},
});
