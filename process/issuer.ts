import type { RequestHandler } from 'express';
import { protectedResourceRoutes } from '#edge/authenticate/protected-resource.ts';
import type { ResourceServer } from '#edge/authenticate/resource-server.ts';
import type { IsPage } from '#edge/http/cors.ts';
import type { FastPath } from '#edge/http/fast-path.ts';
import type { CommandGateway } from '#shared/command-gateway/command-gateway.ts';
import { openAuthentication } from './authentication.ts';
import type { FirstMinute } from './first-minute-file.ts';
import type { Foundation } from './foundation.ts';
import type { ProcessContext } from './run.ts';

/** The issuer of the tokens that a process with all roles takes. */
export type Issuer = {
  open(context: ProcessContext, foundation: Foundation, gateway: CommandGateway): Promise<OpenedIssuer>;
};

export type OpenedIssuer = {
  readonly authentication: ResourceServer;
  readonly routes: RequestHandler;
  readonly isPage?: IsPage;
  readonly fastPaths?: readonly FastPath[];
  /** Makes the accounts with which a new development installation can be tried. */
  prepareFirstMinute?(): Promise<FirstMinute>;
};

declare module './part.ts' {
  interface Additions {
    readonly issuer: Issuer;
  }
}

/** Another server, which ISSUER_URL names. Callers whom it refuses learn where to get a token. */
export const otherIssuer: Issuer = {
  async open(context, foundation) {
    const authentication = await openAuthentication(context, foundation);
    const { issuerUrl: issuer, publicUrl: resource } = context.config;
    return {
      authentication,
      routes: protectedResourceRoutes({ domain: foundation.domain, issuer, resource }),
    };
  },
};
