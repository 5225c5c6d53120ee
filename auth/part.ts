import type { Issuer, OpenedIssuer } from '#process/issuer.ts';
import { prepareFirstMinute } from './first-minute.ts';
import { openAuth } from './open-auth.ts';
import { isPagePath } from './pages/page-paths.ts';
import type { AuthService } from './service.ts';

/** The authorization server in a process with the other roles. */
export const openAccounts = async (
  ...[context, foundation, gateway]: Parameters<Issuer['open']>
): Promise<OpenedIssuer & { readonly auth: AuthService }> => {
  const { auth, authentication } = await openAuth(context, foundation, gateway);
  return {
    auth,
    authentication,
    routes: auth.routes,
    isPage: isPagePath,
    fastPaths: [auth.fastPath],
    prepareFirstMinute: () => prepareFirstMinute({ ...foundation, ...auth, gateway }, context.config.dataDir),
  };
};

export const part: Issuer = { open: openAccounts };
