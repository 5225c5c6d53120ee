import { Router } from 'express';
import { StartRefused } from '#kernel/base/start-refused.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { isRoleOfKernel, rolesOf } from '#kernel/registry/roles.ts';
import type { Upstream } from '#process/upstreams.ts';
import type { Clock } from '#shared/clock/clock.ts';
import type { Log } from '#shared/log.ts';
import type { SignInElsewhere } from '../accounts/sign-in-elsewhere.ts';
import type { OwnAccountDependencies } from '../own-account/dependencies.ts';
import { routesOf } from '../own-account/pages.ts';
import { gitHubConnection } from './github.ts';
import { identitiesPage, linkAnswerRoutes } from './identities-page.ts';
import { openIdConnection } from './openid.ts';
import { returnRoutes, signInPathOf } from './return-paths.ts';
import { type Configured, freshnessFor, type UpstreamDependencies, upstreamSignInRoutes } from './sign-in.ts';

type Dependencies = {
  readonly upstreams: readonly Upstream[];
  readonly domain: Domain;
  readonly clock: Clock;
  readonly log: Log;
};

/** Sign-in with accounts at the identity providers of the settings. */
export type Upstreams = {
  readonly names: readonly string[];
  elsewhere(dependencies: Omit<UpstreamDependencies, 'configured'>): SignInElsewhere;
  /** The page of linked accounts, and the way back from the providers. */
  accountRoutes(dependencies: OwnAccountDependencies & Omit<UpstreamDependencies, 'configured'>): Router;
};

export const openUpstreams = ({ upstreams, domain, clock, log }: Dependencies): Upstreams => {
  demandRoles(domain, upstreams);
  const configured: readonly Configured[] = upstreams.map((upstream) => ({
    upstream,
    connection:
      upstream.kind === 'github' ? gitHubConnection(upstream) : openIdConnection(upstream, { clock, log }),
  }));
  const names = configured.map(({ upstream }) => upstream.name);
  return {
    names,
    elsewhere: (dependencies) => ({
      offersFor(asked) {
        const isFresh = freshnessFor(asked) !== 'any';
        const { uid } = asked.interaction;
        // One that cannot show a new sign-in would only refuse it afterwards.
        return configured
          .filter(({ connection }) => !isFresh || connection.provesFreshness)
          .map(({ connection: { name, label } }) => ({ label, url: signInPathOf(uid, name) }));
      },
      signInRoutes: (signingIn, showAgain) =>
        upstreamSignInRoutes({ ...dependencies, configured, signingIn, showAgain }),
    }),
    accountRoutes: (given) => {
      const dependencies = { ...given, configured };
      return Router().use(
        returnRoutes(names),
        linkAnswerRoutes(dependencies),
        routesOf(dependencies, identitiesPage(dependencies)),
      );
    },
  };
};

const demandRoles = (domain: Domain, upstreams: readonly Upstream[]): void => {
  const roles = rolesOf(domain).filter((each) => !isRoleOfKernel(domain, each));
  for (const { name, accounts } of upstreams)
    for (const { role } of accounts)
      if (!roles.includes(role))
        throw new StartRefused(
          `UPSTREAMS gives accounts of ${name} the role “${role}”, which nobody can get by signing in: use one of ${roles.join(', ')}.`,
        );
};
