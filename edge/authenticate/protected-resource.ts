import { Router } from 'express';
import { serves } from '#kernel/registry/parts.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { policyOf } from '#shared/policy.ts';
import { refuseOtherMethods } from '../http/answer-errors.ts';

const METADATA_PATH = '/.well-known/oauth-protected-resource';
const HOUR_S = 3_600;

type Options = {
  readonly domain: Domain;
  readonly issuer: string;
  /** The URL of our API. */
  readonly resource: string;
};

/** RFC 9728: describes to a client that our API refused how to get a token for it. */
export const protectedResourceRoutes = ({ domain, issuer, resource }: Options): Router => {
  const metadata = {
    resource,
    authorization_servers: [issuer],
    scopes_supported: policyOf(domain).scopes,
    bearer_methods_supported: ['header'],
    resource_name: 'Annals',
    ...(serves(domain, 'docs') && { resource_documentation: `${resource}/docs` }),
    dpop_signing_alg_values_supported: ['ES256', 'Ed25519', 'EdDSA'],
    tls_client_certificate_bound_access_tokens: true,
  };
  // Section 3.1: for a resource with a path, the well-known part goes between host and path.
  const { pathname } = new URL(resource);
  const path = pathname === '/' ? METADATA_PATH : `${METADATA_PATH}${pathname}`;
  return Router()
    .get([METADATA_PATH, path], (_request, response) => {
      response
        .set({ 'Access-Control-Allow-Origin': '*', 'Cache-Control': `public, max-age=${HOUR_S}` })
        .json(metadata);
    })
    .all([METADATA_PATH, path], refuseOtherMethods('GET', 'HEAD'));
};
