import { openResourceServer, type ResourceServer } from '#edge/authenticate/resource-server.ts';
import type { Foundation } from '#process/foundation.ts';
import type { ProcessContext } from '#process/run.ts';
import type { CommandGateway } from '#shared/command-gateway/command-gateway.ts';
import { forgetDemo, forgetFirstMinute } from './first-minute.ts';
import { openMail } from './open-mail.ts';
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
