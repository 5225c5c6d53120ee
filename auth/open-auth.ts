import { openResourceServer, type ResourceServer } from '#edge/authenticate/resource-server.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Config } from '#process/config.ts';
import type { Foundation } from '#process/foundation.ts';
import type { ProcessContext } from '#process/run.ts';
import type { CommandGateway } from '#shared/command-gateway/command-gateway.ts';
import type { Log } from '#shared/log.ts';
import { forgetDemo, forgetFirstMinute } from './forget-first-minute.ts';
import { demandPlain, type Mail } from './mail/mail.ts';
import { type AuthService, startAuthService } from './service.ts';

/**
 * The authorization server of a process, and the verification of its tokens, which reads its keys directly.
 */
export const openAuth = async (
  { config, log, resources }: ProcessContext,
  foundation: Foundation,
  gateway: CommandGateway,
): Promise<{ readonly auth: AuthService; readonly authentication: ResourceServer }> => {
  const mail = await openMail({ config, log });
  if (mail !== undefined) resources.use(mail);
  const auth = resources.use(await startAuthService({ ...foundation, config, log, gateway, mail }));
  if (config.environment === 'production') {
    const forgetting = { ...auth, pool: foundation.pool };
    if (await forgetFirstMinute(forgetting))
      log.warn('Removed the client and the password that development creates.');
    if (await forgetDemo(forgetting, config.dataDir))
      log.warn('A demo was created here in development: removed the password of its administrator.');
  }
  const { issuerUrl: issuer, publicUrl: audience, ingressSecret } = config;
  const { loadKeys, elsewhere } = auth;
  const authentication = resources.use(
    await openResourceServer({ ...foundation, log, issuer, audience, ingressSecret, loadKeys, elsewhere }),
  );
  return { auth, authentication };
};

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
